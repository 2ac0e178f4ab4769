package store_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"leaderboard"
	"leaderboard/internal/testenv"
)

// BenchmarkWindows compares single submits from 128 callers to a board with all seven windows with those to a board
// with one: seven times the rows.
func BenchmarkWindows(b *testing.B) {
	s := open(b, testenv.MySQL(b), nil)
	boards := map[string][]leaderboard.Window{
		"one": {leaderboard.AllTime},
		"seven": {
			leaderboard.AllTime, leaderboard.Hour, leaderboard.Day, leaderboard.Week, leaderboard.Month, leaderboard.Quarter, leaderboard.Year,
		},
	}
	for name, windows := range boards {
		if _, _, err := s.PutBoard(b.Context(), name, leaderboard.Rules{Policy: leaderboard.Latest, Windows: windows}); err != nil {
			b.Fatal(err)
		}
	}
	const callers, each, members = 128, 60, 20_000
	rate := func(board string) float64 {
		start := time.Now()
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for range each {
					if _, err := s.Submit(b.Context(), one(board, "", fmt.Sprint("m", rand.IntN(members)), rand.Int64())); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		return callers * each / time.Since(start).Seconds()
	}
	var single, several float64
	for b.Loop() {
		single += rate("one")
		several += rate("seven")
	}
	b.ReportMetric(single/float64(b.N), "one/s")
	b.ReportMetric(several/float64(b.N), "seven/s")
	b.ReportMetric(several/single, "ratio")
	b.ReportMetric(0, "ns/op")
}
