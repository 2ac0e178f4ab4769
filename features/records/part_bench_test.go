package records

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// BenchmarkRecord compares single submits from 128 callers to a board that records nothing with submits to a board that
// records all, in turns: how many times as long the latter take.
//
//	bin/testenv go test ./features/records -run '^$' -bench Record -benchtime 10x
func BenchmarkRecord(b *testing.B) {
	s := serve(b, testenv.MySQL(b), nil)
	for name, record := range map[string]leaderboard.Record{"none": leaderboard.RecordNone, "all": leaderboard.RecordAll} {
		if _, _, err := s.Boards.PutBoard(b.Context(), name, leaderboard.Rules{Policy: leaderboard.PolicyLatest, Record: record}); err != nil {
			b.Fatal(err)
		}
	}
	const callers, each = 128, 40
	ctx := leaderboard.WithCaller(b.Context(), leaderboard.Caller{Key: "k7f3abcdefgh", RequestID: "0123456789abcdef0123456789abcdef"})
	round := 0
	took := func(board string) time.Duration {
		round++
		start := time.Now()
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := range each {
					if _, err := s.Writer.Submit(ctx, dbtest.One(board, "", fmt.Sprint("m", c*each+i), int64(round))); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		return time.Since(start)
	}
	took("none")
	took("all")
	var none, all time.Duration
	for b.Loop() {
		none += took("none")
		all += took("all")
	}
	const submits = callers * each
	b.ReportMetric(float64(b.N)*submits/none.Seconds(), "none/s")
	b.ReportMetric(float64(b.N)*submits/all.Seconds(), "all/s")
	b.ReportMetric(float64(all)/float64(none), "ratio")
	b.ReportMetric(0, "ns/op")
}
