package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// BenchmarkHidden compares single submits from 128 callers to a board without hidden members with submits to a board with
// 1,000 hidden members, who do not submit: the cost of the check.
//
//	go test ./store -run '^$' -bench Hidden -benchtime 10x
func BenchmarkHidden(b *testing.B) {
	s := open(b, testenv.MySQL(b), nil)
	for _, name := range []string{"plain", "hidden"} {
		if _, _, err := s.Boards.PutBoard(b.Context(), name, leaderboard.Rules{Policy: leaderboard.PolicyLatest}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 1000 {
		if _, err := s.Hidden.Hide(b.Context(), leaderboard.HideRequest{Board: "hidden", Member: fmt.Sprint("h", i), Reason: "r"}); err != nil {
			b.Fatal(err)
		}
	}
	const callers, each = 128, 40
	round := 0
	rate := func(board string) float64 {
		round++
		start := time.Now()
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := range each {
					if _, err := s.Writer.Submit(b.Context(), dbtest.One(board, "", fmt.Sprint("m", c*each+i), int64(round))); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		return callers * each / time.Since(start).Seconds()
	}
	rate("plain")
	rate("hidden")
	var plain, hidden float64
	for b.Loop() {
		plain += rate("plain")
		hidden += rate("hidden")
	}
	b.ReportMetric(plain/float64(b.N), "plain/s")
	b.ReportMetric(hidden/float64(b.N), "hidden/s")
	b.ReportMetric(hidden/plain, "ratio")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkHideEverywhere hides a member everywhere and restores the member, with 2,000 boards; every tenth has an entry of
// the member.
//
//	go test ./store -run '^$' -bench HideEverywhere -benchtime 5x
func BenchmarkHideEverywhere(b *testing.B) {
	s := open(b, testenv.MySQL(b), nil)
	for i := range 2000 {
		name := fmt.Sprint("b", i)
		dbtest.MakeBoard(b, s, name, leaderboard.Rules{})
		if i%10 > 0 {
			continue
		}
		if _, err := s.Writer.Submit(b.Context(), dbtest.One(name, "", "m", 5)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := s.Hidden.Hide(b.Context(), ban("", "m")); err != nil {
			b.Fatal(err)
		}
		if err := s.Hidden.Restore(b.Context(), ban("", "m")); err != nil {
			b.Fatal(err)
		}
	}
}
