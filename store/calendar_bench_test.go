package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"leaderboard"
	"leaderboard/internal/devserver"
)

// BenchmarkWindows compares single submits from 128 callers to a board with all eight windows with those to a board
// with one: eight times the rows. MySQL has its durable defaults, as in production: a commit then costs what it costs, and
// is shared by all windows.
//
//	go test ./store -run '^$' -bench Windows -benchtime 10x
func BenchmarkWindows(b *testing.B) {
	server, err := devserver.StartMySQL(b.Context(), devserver.Config{Dir: b.TempDir(), MySQLOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Stop(context.Background()) })
	db := connect(b, server.DSN+"mysql")
	if _, err := db.ExecContext(b.Context(), "CREATE DATABASE bench"); err != nil {
		b.Fatal(err)
	}
	s := open(b, server.DSN+"bench", nil)
	boards := map[string][]leaderboard.Window{
		"one": {leaderboard.AllTime},
		"eight": {
			leaderboard.AllTime, leaderboard.Hour, leaderboard.Day, leaderboard.Week, leaderboard.Month, leaderboard.Quarter, leaderboard.Year,
			leaderboard.Season,
		},
	}
	seasons := []leaderboard.SeasonRule{{Name: "ever", StartsAt: 1, EndsAt: leaderboard.MaxTime}}
	for name, windows := range boards {
		rules := leaderboard.Rules{Policy: leaderboard.Latest, Windows: windows, Seasons: seasons}
		if _, _, err := s.PutBoard(b.Context(), name, rules); err != nil {
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
		several += rate("eight")
	}
	b.ReportMetric(single/float64(b.N), "one/s")
	b.ReportMetric(several/float64(b.N), "eight/s")
	b.ReportMetric(several/single, "ratio")
	b.ReportMetric(0, "ns/op")
}
