package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/devserver"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// BenchmarkWindows compares single submits from 128 callers to a board with all eight windows with submits to a board with
// one window: eight times the rows. MySQL has its durable defaults, as in production: all windows share the cost of a
// commit.
//
//	go test ./store -run '^$' -bench Windows -benchtime 10x
func BenchmarkWindows(b *testing.B) {
	s := openDurable(b)
	boards := map[string][]leaderboard.Window{
		"one": {leaderboard.WindowAllTime},
		"eight": {
			leaderboard.WindowAllTime, leaderboard.WindowHour, leaderboard.WindowDay, leaderboard.WindowWeek, leaderboard.WindowMonth, leaderboard.WindowQuarter, leaderboard.WindowYear,
			leaderboard.WindowSeason,
		},
	}
	seasons := []leaderboard.SeasonRule{{Name: "ever", StartsAt: 1, EndsAt: leaderboard.MaxTime}}
	for name, windows := range boards {
		rules := leaderboard.Rules{Policy: leaderboard.PolicyLatest, Windows: windows, Seasons: seasons}
		if _, _, err := s.Boards.PutBoard(b.Context(), name, rules); err != nil {
			b.Fatal(err)
		}
	}
	rate := func(board string) float64 {
		return callers(b, func(member string) error {
			_, err := s.Writer.Submit(b.Context(), dbtest.One(board, "", member, rand.Int64()))
			return err
		})
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

// BenchmarkMultiBoard compares submits of one entry to each of four boards in one request with submits in four requests,
// one after the other, from 128 callers.
//
//	go test ./store -run '^$' -bench MultiBoard -benchtime 10x
func BenchmarkMultiBoard(b *testing.B) {
	s := openDurable(b)
	boards := []string{"a", "b", "c", "d"}
	for _, name := range boards {
		dbtest.MakeBoard(b, s, name, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	}
	var together, apart float64
	for b.Loop() {
		together += callers(b, func(member string) error {
			_, err := s.Writer.SubmitMultiBoard(b.Context(), multiBoard("", member, rand.Int64(), boards...))
			return err
		})
		apart += callers(b, func(member string) error {
			for _, name := range boards {
				if _, err := s.Writer.Submit(b.Context(), dbtest.One(name, "", member, rand.Int64())); err != nil {
					return err
				}
			}
			return nil
		})
	}
	b.ReportMetric(together/float64(b.N), "together/s")
	b.ReportMetric(apart/float64(b.N), "apart/s")
	b.ReportMetric(together/apart, "ratio")
	b.ReportMetric(0, "ns/op")
}

// openDurable returns a store on a separate server with durable defaults.
func openDurable(b *testing.B) *store.Store {
	b.Helper()
	server, err := devserver.StartMySQL(b.Context(), devserver.Config{Dir: b.TempDir(), MySQLOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Stop(context.Background()) })
	db := dbtest.Connect(b, server.DSN+"mysql")
	if _, err := db.ExecContext(b.Context(), "CREATE DATABASE bench"); err != nil {
		b.Fatal(err)
	}
	return open(b, server.DSN+"bench", nil)
}

// callers has 128 callers do it 60 times each for members at random, and returns how often a second it was done.
func callers(b *testing.B, do func(member string) error) float64 {
	const callers, each, members = 128, 60, 20_000
	start := time.Now()
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				if err := do(fmt.Sprint("m", rand.IntN(members))); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return callers * each / time.Since(start).Seconds()
}
