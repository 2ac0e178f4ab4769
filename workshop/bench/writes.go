package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/leaderboard"
)

const (
	submitConns  = 128
	fewConns     = 64
	manyConns    = 512
	batchConns   = 4
	plainPool    = 32
	bulkRows     = 500
	writeSeconds = 4
	writeRounds  = 3
	plainTable   = "bench_plain"

	severalBoards  = 8
	severalConns   = 64
	severalMembers = 20_000
)

// measureWrites holds submits over HTTP against SQL loops without HTTP, lock or log, on a table of the same size.
func (w *world) measureWrites(ctx context.Context, rep *report) error {
	if err := w.serve(ctx); err != nil {
		return err
	}
	if err := w.plainTable(ctx); err != nil {
		return err
	}
	if err := w.measureSingle(ctx, rep, ""); err != nil {
		return err
	}
	single, batches := w.submits(submitConns, 1), w.submits(batchConns, bulkRows)
	bulk := func() (float64, error) { return w.plainUpserts(ctx, 1, bulkRows) }
	err := addPairs(rep, []pairing{
		{"single submits, 128 connections", "loop of 500-row upserts", "≥ 0.32", single, bulk},
		{"submits of 500 entries, 4 connections", "loop of 500-row upserts", "≥ 0.88", batches, bulk},
		{"single submits with a condition, 128 connections", "without one", "≥ 0.9", w.conditional, single},
	})
	if err != nil {
		return err
	}
	return w.measureBoardsAtOnce(ctx, rep, "")
}

// measureSingle compares submits of one entry by a number of connections with plain upserts. where begins the text of each
// row.
func (w *world) measureSingle(ctx context.Context, rep *report, where string) error {
	const yardstick = "upserts"
	what := func(conns int) string { return fmt.Sprintf("%ssingle submits, %d connections", where, conns) }
	plain := func() (float64, error) { return w.plainUpserts(ctx, plainPool, 1) }
	few := w.submits(fewConns, 1)
	return addPairs(rep, []pairing{
		{what(submitConns), yardstick, "≥ 1.6", w.submits(submitConns, 1), plain},
		{what(fewConns), yardstick, "≥ 1.5", few, plain},
		{what(manyConns), fmt.Sprintf("%d connections", fewConns), "≥ 1.6", w.submits(manyConns, 1), few},
	})
}

// pairing is two ways to write, which return rows a second.
type pairing struct {
	what, yardstick, goal string
	here, there           func() (float64, error)
}

// addPairs adds a row per pairing.
func addPairs(rep *report, pairings []pairing) error {
	for _, c := range pairings {
		a, b, ratio, err := paired(writeRounds, c.here, c.there)
		if err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
		rep.add(row{what: c.what, here: thousands(a) + " rows/s", yardstick: c.yardstick + ": " + thousands(b) + " rows/s", ratio: ratio, goal: c.goal})
	}
	return nil
}

// measureBoardsAtOnce compares submits to several boards at once, by as many connections to each, with submits to one of
// them, and reports how long the slowest wait. where begins the text of each row.
func (w *world) measureBoardsAtOnce(ctx context.Context, rep *report, where string) error {
	var boards []string
	for i := range severalBoards {
		name := fmt.Sprintf("writes-%d", i+1)
		if _, _, err := w.api.PutBoard(ctx, name, leaderboard.Rules{Policy: leaderboard.PolicyLatest}); err != nil {
			return err
		}
		defer w.api.DeleteBoard(ctx, name) //nolint:errcheck // the next run makes the same
		if err := w.fillOverHTTP(name, severalMembers, ""); err != nil {
			return err
		}
		boards = append(boards, name)
	}
	var p50s, p99s, tails []float64
	several := func() (float64, error) {
		result := w.submitLoad(boards, severalMembers, severalConns, 1)
		p50, p99 := float64(result.quantile(0.5)), float64(result.quantile(0.99))
		p50s, p99s, tails = append(p50s, p50), append(p99s, p99), append(tails, p99/max(1, p50))
		return result.perSecond(), result.failure()
	}
	one := func() (float64, error) {
		result := w.submitLoad(boards[:1], severalMembers, severalConns, 1)
		return result.perSecond(), result.failure()
	}
	a, b, ratio, err := paired(writeRounds, several, one)
	if err != nil {
		return fmt.Errorf("%d boards: %w", severalBoards, err)
	}
	what := fmt.Sprintf("%ssingle submits, %d connections, %d boards", where, severalConns, severalBoards)
	rep.add(row{what: what, here: thousands(a) + " rows/s", yardstick: "all of them to one: " + thousands(b) + " rows/s", ratio: ratio, goal: "≥ 0.8"})
	rep.add(row{
		what: what, here: "p99 " + inMS(time.Duration(median(p99s))), yardstick: "p50: " + inMS(time.Duration(median(p50s))),
		ratio: median(tails), goal: "≤ 5",
	})
	return nil
}

// fillOverHTTP gives every member of a board a score, each entry with more members of JSON.
func (s *service) fillOverHTTP(board string, members int, more string) error {
	conn, err := dial(s.addr, answerLimit)
	if err != nil {
		return err
	}
	defer conn.close()
	for from := 0; from < members; from += bulkRows {
		request := appendScores(nil, board, "", min(bulkRows, members-from), more, func(i int) int { return from + i })
		if _, err := conn.send(request); err != nil {
			return err
		}
	}
	return nil
}

// submits returns a load of submits to the board, n entries each, that returns rows a second.
func (w *world) submits(conns, n int) func() (float64, error) {
	return func() (float64, error) {
		result := w.submitLoad([]string{benchBoard}, w.members, conns, n)
		return result.perSecond() * float64(n), result.failure()
	}
}

// conditional is submits of one entry by submitConns connections, each with a condition that holds.
func (w *world) conditional() (float64, error) {
	result := load{addrs: []string{w.addr}, conns: submitConns, length: w.seconds(writeSeconds), request: func(_, _ int, buf []byte) []byte {
		return appendConditional(buf, benchBoard, w.members, 1)
	}}.run()
	return result.perSecond(), result.failure()
}

// submitLoad submits n entries at a time to boards, each connection to one of them.
func (w *world) submitLoad(boards []string, members, conns, n int) *loadResult {
	return load{addrs: []string{w.addr}, conns: conns, length: w.seconds(writeSeconds), request: func(conn, _ int, buf []byte) []byte {
		return appendSubmit(buf, boards[conn%len(boards)], members, n)
	}}.run()
}

// plainTable makes a table like entries with the same rows.
func (w *world) plainTable(ctx context.Context) error {
	for _, q := range []string{
		"DROP TABLE IF EXISTS " + plainTable,
		"CREATE TABLE " + plainTable + " LIKE entries",
		"INSERT INTO " + plainTable + " " + entryRow + " SELECT period_id, member, score, tiebreak, created_time FROM entries",
	} {
		if err := w.board.exec(ctx, q); err != nil {
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
	return together(pool, n, w.seconds(writeSeconds), func() error {
		args := make([]any, 0, 3*n)
		for range n {
			args = append(args, w.board.ref.ID, randomMember(w.members), randomScore())
		}
		return w.board.exec(ctx, query, args...)
	})
}

// together has callers do something that writes n rows again and again, and returns rows a second.
func together(callers, n int, length time.Duration, do func() error) (float64, error) {
	var (
		wg    sync.WaitGroup
		rows  atomic.Int64
		first atomic.Pointer[error]
	)
	start := time.Now()
	for range callers {
		wg.Go(func() {
			for time.Since(start) < length {
				if err := do(); err != nil {
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
