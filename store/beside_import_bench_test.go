package store_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// BenchmarkBesideImport measures how long a single submission takes while imports of the same board run: at the server that imports,
// and at another one. One iteration is benchTurn long.
//
//	go test ./store -run '^$' -bench BesideImport -benchtime 3x
func BenchmarkBesideImport(b *testing.B) {
	for _, c := range []struct{ imports, rows int }{{1, 500}, {4, 1000}, {16, 500}} {
		b.Run(fmt.Sprintf("%d-imports-of-%d-rows", c.imports, c.rows), func(b *testing.B) {
			dsn := testenv.MySQL(b)
			here, there := open(b, dsn, nil), open(b, dsn, nil)
			dbtest.MakeBoard(b, here, benchBoard, leaderboard.Rules{})
			w := besideImport{b: b, took: map[*store.Store][]time.Duration{}}
			for b.Loop() {
				w.turn(here, there, c.imports, c.rows)
			}
			for s, at := range map[*store.Store]string{here: "here", there: "there"} {
				took := w.took[s]
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, at+"-p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, at+"-p99-ms")
			}
			b.ReportMetric(float64(w.imported)/b.Elapsed().Seconds(), "imported-rows/s")
		})
	}
}

type besideImport struct {
	b *testing.B

	mu       sync.Mutex // guards the fields below
	imported int
	took     map[*store.Store][]time.Duration // of single submissions
}

// turn has imports run at a server, and eight callers submit at each of both servers.
func (w *besideImport) turn(here, there *store.Store, imports, rows int) {
	const callers = 8
	ctx, cancel := context.WithTimeout(w.b.Context(), benchTurn)
	defer cancel()
	var all sync.WaitGroup
	repeat := func(s *store.Store, request func(n int) leaderboard.SubmitRequest, done func(time.Duration)) {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				r, start := request(n), time.Now()
				if _, err := s.Writer.Submit(w.b.Context(), r); err != nil {
					w.b.Error(err)
					return
				}
				w.mu.Lock()
				done(time.Since(start))
				w.mu.Unlock()
			}
		})
	}
	for i := range imports {
		repeat(here, func(n int) leaderboard.SubmitRequest {
			r := leaderboard.SubmitRequest{Board: benchBoard}
			for j := range rows {
				const prime = 1_000_003 // spreads the members over the index
				r.Entries = append(r.Entries, leaderboard.Submission{Member: fmt.Sprintf("i%d-%07d", i, (n*rows+j)*7919%prime), Score: int64(n * j)})
			}
			return r
		}, func(time.Duration) { w.imported += rows })
	}
	for _, s := range []*store.Store{here, there} {
		for i := range callers {
			repeat(s, func(n int) leaderboard.SubmitRequest { return dbtest.One(benchBoard, "", fmt.Sprint("m", i), int64(n)) },
				func(took time.Duration) { w.took[s] = append(w.took[s], took) })
		}
	}
	all.Wait()
}
