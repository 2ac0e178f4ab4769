package store_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// BenchmarkPast asks MySQL what a member had in 30 days of 5,000 entries each, and for the rank in one of them, in turns,
// and says how many times the price of one rank the former is. Indexes are warm, no answer is kept.
//
//	bin/testenv go test ./store -run '^$' -bench Past -benchtime 2000x
func BenchmarkPast(b *testing.B) {
	const days, members = 30, 5000
	var offset atomic.Int64
	s := open(b, testenv.MySQL(b), dbtest.ClockBy(&offset))
	board, _, err := s.Boards.PutBoard(b.Context(), "past", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}})
	if err != nil {
		b.Fatal(err)
	}
	for range days {
		for from := 0; from < members; from += 1000 {
			r := leaderboard.SubmitRequest{Board: "past"}
			for i := range 1000 {
				r.Entries = append(r.Entries, leaderboard.Submission{Member: fmt.Sprint("m", from+i), Score: rand.Int64N(members)})
			}
			if _, err := s.Writer.Submit(b.Context(), r); err != nil {
				b.Fatal(err)
			}
		}
		offset.Add(int64(24 * time.Hour))
	}
	periods, err := s.Boards.PeriodsBefore(b.Context(), board.ID, leaderboard.WindowDay, leaderboard.MaxTime, days)
	if err != nil || len(periods) != days {
		b.Fatalf("%d periods, %v", len(periods), err)
	}
	refs := make([]leaderboard.PeriodRef, days)
	for i := range periods {
		refs[i] = periods[i].Ref(&board)
	}
	past := func(member string) {
		out, err := s.Entries.Past(b.Context(), refs, member)
		if err != nil || len(out) != days || out[0].Ranked == nil || out[days-1].Ranked == nil {
			b.Fatalf("%+v, %v", out, err)
		}
	}
	one := func(member string) {
		out, err := s.Entries.Members(b.Context(), refs[rand.IntN(days)], leaderboard.MembersQuery{Members: []string{member}})
		if err != nil || len(out.Entries) != 1 {
			b.Fatalf("%+v, %v", out, err)
		}
	}
	for range 50 {
		past("m0")
		one("m0")
	}
	var took [2]time.Duration
	for b.Loop() {
		member := fmt.Sprint("m", rand.IntN(members))
		began := time.Now()
		past(member)
		between := time.Now()
		one(member)
		took[0], took[1] = took[0]+between.Sub(began), took[1]+time.Since(between)
	}
	b.ReportMetric(float64(took[0].Microseconds())/float64(b.N), "µs/past")
	b.ReportMetric(float64(took[1].Microseconds())/float64(b.N), "µs/rank")
	b.ReportMetric(float64(took[0])/float64(took[1]), "ratio")
	b.ReportMetric(0, "ns/op")
}
