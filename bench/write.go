package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
)

const (
	submitConns  = 128
	batchConns   = 4
	plainPool    = 32
	bulkRows     = 500
	writeSeconds = 4
	writeRounds  = 3
	plainTable   = "bench_plain"

	severalBoards = 8
	severalConns  = 64
)

// measureWrites holds submits over HTTP against SQL loops without HTTP, lock or log, on a table of the same size.
func (w *world) measureWrites(ctx context.Context, rep *report, _ io.Writer) error {
	if err := w.plainTable(ctx); err != nil {
		return err
	}
	single := w.submits(submitConns, 1)
	bulk := func() (float64, error) { return w.plainUpserts(ctx, 1, bulkRows) }
	plain := func() (float64, error) { return w.plainUpserts(ctx, plainPool, 1) }
	compare := func(what, yardstick, goal string, ours, theirs func() (float64, error)) error {
		a, b, ratio, err := paired(writeRounds, ours, theirs)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		rep.add(row{What: what, Here: thousands(a) + " rows/s", Yardstick: yardstick + ": " + thousands(b) + " rows/s", Ratio: ratio, Goal: goal})
		return nil
	}
	if err := compare("single-entry submits, 128 connections", "autocommit upserts, pool of 32, no HTTP", "≥ 1.6", single, plain); err != nil {
		return err
	}
	if err := compare("single-entry submits, 128 connections", "bare loop of 500-row upserts", "≥ 0.32", single, bulk); err != nil {
		return err
	}
	if err := compare("submits of 500 entries, 4 connections", "bare loop of 500-row upserts", "≥ 0.88", w.submits(batchConns, bulkRows), bulk); err != nil {
		return err
	}
	return w.measureBoardsAtOnce(ctx, rep)
}

// measureBoardsAtOnce holds submits to several boards at once, by as many connections to each, against those to one of
// them, and says how long the slowest wait.
func (w *world) measureBoardsAtOnce(ctx context.Context, rep *report) error {
	var paths []string
	for i := range severalBoards {
		name := fmt.Sprintf("writes-%d", i+1)
		if _, _, err := w.api.PutBoard(ctx, name, leaderboard.Rules{Policy: leaderboard.PolicyLatest}); err != nil {
			return err
		}
		defer w.api.DeleteBoard(ctx, name) //nolint:errcheck // the next run makes the same
		if err := w.fillOverHTTP(ctx, name); err != nil {
			return err
		}
		paths = append(paths, "/v1/boards/"+name)
	}
	var p50s, p99s []time.Duration
	var tails []float64
	several := func() (float64, error) {
		result := w.submitLoad(paths, windowMembers, severalConns, 1)
		p50, p99 := result.quantile(0.5), result.quantile(0.99)
		p50s, p99s, tails = append(p50s, p50), append(p99s, p99), append(tails, float64(p99)/float64(p50))
		return result.perSecond(), result.failure()
	}
	a, b, ratio, err := paired(writeRounds, several, w.submitsTo(paths[0], windowMembers, severalConns, 1))
	if err != nil {
		return fmt.Errorf("%d boards: %w", severalBoards, err)
	}
	what := fmt.Sprintf("single-entry submits, %d connections, %d boards", severalConns, severalBoards)
	rep.add(row{What: what, Here: thousands(a) + " rows/s", Yardstick: "all of them to one: " + thousands(b) + " rows/s", Ratio: ratio, Goal: "≥ 0.8"})
	rep.add(row{What: what, Here: "p99 " + inMS(median(p99s)), Yardstick: "p50: " + inMS(median(p50s)), Ratio: median(tails), Goal: "≤ 5"})
	return nil
}

// submits returns a load of submits with n entries each, members at random.
func (w *world) submits(conns, n int) func() (float64, error) {
	return w.submitsTo(boardPath, w.members, conns, n)
}

func (w *world) submitsTo(path string, members, conns, n int) func() (float64, error) {
	return func() (float64, error) {
		result := w.submitLoad([]string{path}, members, conns, n)
		return result.perSecond() * float64(n), result.failure()
	}
}

// submitLoad submits n entries at a time to boards, each connection to one of them.
func (w *world) submitLoad(paths []string, members, conns, n int) *loadResult {
	return load{addr: w.addr, conns: conns, length: w.seconds(writeSeconds), request: func(conn, _ int, buf []byte) []byte {
		return appendSubmit(buf, paths[conn%len(paths)], members, n)
	}}.run()
}

// plainTable makes a table like entries with the same rows.
func (w *world) plainTable(ctx context.Context) error {
	for _, q := range []string{
		"DROP TABLE IF EXISTS " + plainTable,
		"CREATE TABLE " + plainTable + " LIKE entries",
		"INSERT INTO " + plainTable + " " + entryRow + " SELECT period_id, member, score, tiebreak, created_time FROM entries",
	} {
		if _, err := w.db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// plainUpserts repeats autocommit upserts of n rows from pool connections and returns rows a second.
func (w *world) plainUpserts(ctx context.Context, pool, n int) (float64, error) {
	query := "INSERT INTO " + plainTable + " " + entryRow + " VALUES " +
		strings.TrimSuffix(strings.Repeat("(?,?,?,0,NOW(6)),", n), ",") +
		" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_time = VALUES(created_time)"
	var period int64
	if err := w.db.QueryRowContext(ctx, "SELECT period_id FROM "+plainTable+" LIMIT 1").Scan(&period); err != nil {
		return 0, err
	}
	var (
		wg    sync.WaitGroup
		stop  atomic.Bool
		rows  atomic.Int64
		first atomic.Pointer[error]
	)
	start := time.Now()
	timer := time.AfterFunc(w.seconds(writeSeconds), func() { stop.Store(true) })
	defer timer.Stop()
	for range pool {
		wg.Go(func() {
			args := make([]any, 0, 3*n)
			for !stop.Load() {
				args = args[:0]
				for range n {
					args = append(args, period, randomMember(w.members), randomScore())
				}
				if _, err := w.db.ExecContext(ctx, query, args...); err != nil {
					first.CompareAndSwap(nil, &err)
					return
				}
				rows.Add(int64(n))
			}
		})
	}
	wg.Wait()
	if err := first.Load(); err != nil {
		return 0, *err
	}
	return float64(rows.Load()) / time.Since(start).Seconds(), nil
}
