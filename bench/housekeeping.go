package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/store"
)

// What the housekeeping is given to do, at factor 1 of -housekeeping.
const (
	housekeepingDatabase = "leaderboard_housekeeping"
	sweptPeriods         = 400_000
	sweptEntries         = 5_000_000 // of a deleted board
	sweptKeys            = 10_000_000
	sweptMembers         = 10          // erased, and as many hidden
	sweptLogTTL          = time.Minute // store.Config.ChangeTTL
	sweepRound           = 45 * time.Second
	sweepsMost           = time.Hour
)

// measureHousekeeping gives one process all of it at once, while it commits to a board, and lets rounds follow each other.
func (w *world) measureHousekeeping(ctx context.Context, rep *report, log io.Writer) error {
	h, err := w.fillHousekeeping(ctx, log)
	if err != nil {
		return err
	}
	defer func() { _ = h.close() }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var working sync.WaitGroup
	defer working.Wait()
	defer cancel(nil)
	working.Go(func() { h.write(ctx, cancel) })
	working.Go(func() { h.watch(ctx, cancel) })
	began := time.Now()
	for !h.finished() && time.Since(began) < sweepsMost && ctx.Err() == nil {
		round, end := context.WithTimeout(ctx, sweepRound)
		err := h.swept.Sweep(round)
		end()
		if err != nil && ctx.Err() == nil {
			fmt.Fprintln(log, "a round:", err)
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	h.report(rep)
	idle := time.Now()
	if err := h.swept.Sweep(ctx); err != nil {
		return err
	}
	rep.add(row{What: fmt.Sprintf("a round beside %s closed periods, with nothing to do but the log", thousands(h.periods)), Here: inSeconds(time.Since(idle))})
	return nil
}

// housekeeping is a board that is written to, and what there is to do beside it.
type housekeeping struct {
	*board
	swept                  *store.Store
	periods, entries, keys int

	mu      sync.Mutex
	began   time.Time
	left    map[string]int64
	done    map[string]time.Duration // when nothing was left
	logSpan time.Duration            // the most that the log of the active board reached back
}

// leftovers are the statements that count, or show, what is left to do.
func leftovers() map[string]string {
	return map[string]string{
		"erasures": "SELECT COUNT(*) FROM erasures",
		"hides":    "SELECT COUNT(*) FROM hidden_members WHERE state = 'hiding'",
		"keys":     "SELECT COUNT(*) FROM (SELECT 1 FROM idempotency_keys WHERE created_at < NOW() - INTERVAL 1 DAY LIMIT 1) k",
		"board":    "SELECT COUNT(*) FROM boards WHERE state = 'deleting'",
	}
}

// fillHousekeeping makes it, by statements that make many rows each.
func (w *world) fillHousekeeping(ctx context.Context, log io.Writer) (*housekeeping, error) {
	if err := recreate(ctx, w.mysql.DSN, housekeepingDatabase); err != nil {
		return nil, err
	}
	b, err := newBoard(ctx, w.mysql.DSN+housekeepingDatabase, minMembers)
	if err != nil {
		return nil, err
	}
	scaled := func(n int) int { return max(1000, int(float64(n)*w.housekeeping)) }
	h := &housekeeping{
		board: b, periods: scaled(sweptPeriods), entries: scaled(sweptEntries), keys: scaled(sweptKeys),
		left: map[string]int64{}, done: map[string]time.Duration{},
	}
	h.swept, err = b.open(func(c *store.Config) { c.ChangeTTL = sweptLogTTL })
	if err == nil {
		err = h.fill(ctx, log)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return h, nil
}

func (h *housekeeping) fill(ctx context.Context, log io.Writer) error {
	const slice = 100_000
	bar := newProgress(log, "filling", h.periods+h.entries+h.keys)
	run := func(query string, args ...any) error { return h.exec(ctx, query, args...) }
	err := run("CREATE TABLE bench_numbers (n INT NOT NULL PRIMARY KEY)")
	if err == nil {
		err = run("INSERT INTO bench_numbers WITH RECURSIVE d (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM d WHERE n < 9)" +
			" SELECT a.n * 10000 + b.n * 1000 + c.n * 100 + d.n * 10 + e.n FROM d a, d b, d c, d d, d e")
	}
	if err == nil {
		err = run("INSERT INTO boards (name, state, rules, created_at, updated_at) VALUES ('~gone', 'deleting', '{}', NOW(6), NOW(6))")
	}
	const period = "INSERT INTO periods (incarnation, board_id, window_name, name, starts_at, ends_at, state, last_created_time, committed_at) "
	if err == nil {
		err = run(period + "SELECT 1, id, 'all_time', '', '1970-01-01', NULL, 'deleting', NOW(6), NOW(6) FROM boards WHERE name = '~gone'")
	}
	for _, part := range []struct {
		rows  int
		query string // takes from which number on, and how many
		args  []any
	}{
		{h.periods, period + "SELECT 1 + n, ?, 'hour', CONCAT('h', ? + n), '1970-01-01' + INTERVAL ? + n HOUR, '1970-01-01' + INTERVAL ? + n + 1 HOUR, 'closed', '1970-01-01', '1970-01-01'" +
			" FROM bench_numbers WHERE n < ?", []any{h.ref.BoardID}},
		{h.entries, "INSERT INTO entries " + entryRow + " SELECT p.id, LPAD(? + n, 9, '0'), (? + n) * 7919 MOD 1000003, ? MOD 1, NOW(6) FROM bench_numbers, periods p, boards b" +
			" WHERE b.name = '~gone' AND p.board_id = b.id AND n < ?", nil},
		{h.keys, "INSERT INTO idempotency_keys (board_id, idempotency_key, request_hash, created_at, receipt) SELECT ?, CONCAT('key-', LPAD(? + n, 9, '0')), REPEAT('h', 32)," +
			" NOW(6) - INTERVAL 2 DAY + INTERVAL (? + n + ? * 0) MICROSECOND, REPEAT('r', 16) FROM bench_numbers WHERE n < ?", []any{h.ref.BoardID}},
	} {
		for from := 0; from < part.rows && err == nil; from += slice {
			n := min(slice, part.rows-from)
			err = run(part.query, append(part.args[:len(part.args):len(part.args)], from, from, from, n)...)
			bar.add(n)
		}
	}
	if err == nil {
		err = h.addMembers(ctx)
	}
	bar.end("ready")
	return err
}

// addMembers submits for those who are to be hidden and erased, and says that it has been begun.
func (h *housekeeping) addMembers(ctx context.Context) error {
	err := h.exec(ctx, "UPDATE boards SET has_hidden = 1 WHERE id = ?", h.ref.BoardID)
	for i := range sweptMembers {
		for _, kind := range []string{"hidden", "erased"} {
			if err == nil {
				err = h.submit(ctx, kind+strconv.Itoa(i), i)
			}
		}
		if err == nil {
			err = h.exec(ctx, "INSERT INTO hidden_members (board_id, member, state, reason, hidden_at) VALUES (0, ?, 'hiding', 'bench', NOW(6))", "hidden"+strconv.Itoa(i))
		}
		if err == nil {
			err = h.exec(ctx, "INSERT INTO erasures (member, started_at) VALUES (?, NOW(6))", "erased"+strconv.Itoa(i))
		}
	}
	return err
}

func (h *housekeeping) submit(ctx context.Context, member string, score int) error {
	_, err := h.store.Submit(ctx, leaderboard.SubmitRequest{Board: benchBoard, Entries: []leaderboard.Submission{{Member: member, Score: int64(score)}}})
	return err
}

// write commits twenty times a second until ctx ends.
func (h *housekeeping) write(ctx context.Context, fail func(error)) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := h.submit(ctx, "writer", i); err != nil && ctx.Err() == nil {
			fail(err)
			return
		}
	}
}

// watch notes once a second what is left, and how far the log of the active board reaches back.
func (h *housekeeping) watch(ctx context.Context, fail func(error)) {
	h.mu.Lock()
	h.began = time.Now()
	h.mu.Unlock()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := h.look(ctx); err != nil && ctx.Err() == nil {
			fail(err)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (h *housekeeping) look(ctx context.Context) error {
	for what, query := range leftovers() {
		var left int64
		if err := h.db.QueryRowContext(ctx, query).Scan(&left); err != nil {
			return err
		}
		h.mu.Lock()
		if h.left[what] = left; left == 0 && h.done[what] == 0 {
			h.done[what] = time.Since(h.began)
		}
		h.mu.Unlock()
	}
	var span float64 // seconds
	const oldest = "SELECT COALESCE((SELECT TIMESTAMPDIFF(MICROSECOND, committed_at, NOW(6)) FROM changes WHERE period_id = ? ORDER BY last_seq LIMIT 1), 0) / 1e6"
	if err := h.db.QueryRowContext(ctx, oldest, h.ref.ID).Scan(&span); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logSpan = max(h.logSpan, time.Duration(span*float64(time.Second)))
	return nil
}

func (h *housekeeping) finished() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.done) == len(leftovers())
}

func (h *housekeeping) report(rep *report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	timed := func(what, done string, most time.Duration) {
		r := row{What: what, Here: "not finished"}
		took, ok := h.done[done]
		if ok {
			r.Here = inSeconds(took)
		}
		if most > 0 {
			r.Goal, r.Met = "≤ "+inSeconds(most), "no"
			if ok && took <= most {
				r.Met = "yes"
			}
		}
		rep.add(r)
	}
	timed(fmt.Sprintf("%d members erased from %s periods", sweptMembers, thousands(h.periods)), "erasures", 3*time.Minute)
	timed(fmt.Sprintf("%d members hidden everywhere", sweptMembers), "hides", 3*time.Minute)
	timed(thousands(h.keys)+" idempotency keys forgotten", "keys", 0)
	timed(fmt.Sprintf("a deleted board of %s entries gone", thousands(h.entries)), "board", 0)
	span := row{What: "the log of the active board reached back at most, where a minute is kept", Here: inSeconds(h.logSpan), Goal: "≤ " + inSeconds(3*sweptLogTTL), Met: "no"}
	if h.logSpan <= 3*sweptLogTTL {
		span.Met = "yes"
	}
	rep.add(span)
}
