package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	submitConns  = 128
	batchConns   = 4
	plainPool    = 32
	bulkRows     = 500
	writeSeconds = 4
	writeRounds  = 3
	plainTable   = "bench_plain"
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
	if err := compare("single-entry submits, 128 connections", "autocommit upserts, pool of 32, no HTTP", "≥ 1.8", single, plain); err != nil {
		return err
	}
	if err := compare("single-entry submits, 128 connections", "bare loop of 500-row upserts", "≥ 0.45", single, bulk); err != nil {
		return err
	}
	return compare("submits of 500 entries, 4 connections", "bare loop of 500-row upserts", "≥ 0.8", w.submits(batchConns, bulkRows), bulk)
}

// submits returns a load of submits with n entries each, members at random.
func (w *world) submits(conns, n int) func() (float64, error) {
	return w.submitsTo(boardPath, w.members, conns, n)
}

func (w *world) submitsTo(path string, members, conns, n int) func() (float64, error) {
	return func() (float64, error) {
		result := load{addr: w.addr, conns: conns, length: w.seconds(writeSeconds), request: func(_, _ int, buf []byte) []byte {
			return appendSubmit(buf, path, members, n)
		}}.run()
		return result.perSecond() * float64(n), result.failure()
	}
}

// plainTable makes a table like entries with the same rows.
func (w *world) plainTable(ctx context.Context) error {
	for _, q := range []string{
		"DROP TABLE IF EXISTS " + plainTable,
		"CREATE TABLE " + plainTable + " LIKE entries",
		"INSERT INTO " + plainTable + " " + entryRow + " SELECT period_id, member, score, tiebreak, created_at FROM entries",
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
		" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_at = VALUES(created_at)"
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
