package store

import (
	"context"
	"fmt"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

// run reads the entries of a page; start is the number of entries ahead of them.
func (v *view) run(ctx context.Context, q leaderboard.PageQuery) (keys []rank.Key, start int64, err error) {
	switch {
	case q.Around != "":
		return v.around(ctx, q)
	case q.After != "":
		return v.after(ctx, rank.Key(q.After), q.Limit)
	case q.Offset > int64(v.store.cfg.IndexTarget): // entries in the first bucket are skipped from the top
		return v.deep(ctx, q.Offset, q.Limit)
	}
	sc := scan{iv: everything(), offset: q.Offset, limit: q.Limit}
	if t := v.store.indexes.ready(v.ref.ID); t != nil {
		if err := v.bound(t, &sc, q.Offset); err != nil {
			return nil, 0, err
		}
	}
	r, err := v.look(ctx, question{scans: []scan{sc}})
	if err != nil {
		return nil, 0, err
	}
	return r.keys[0], q.Offset, checkWhole(&sc, r, q.Offset)
}

// after reads the entries behind a cursor.
func (v *view) after(ctx context.Context, cursor rank.Key, limit int) ([]rank.Key, int64, error) {
	behind, err := keyCut(cursor, true)
	if err != nil {
		return nil, 0, err
	}
	sc := scan{iv: interval{behind, end()}, limit: limit}
	if err := v.prepare(ctx); err != nil {
		return nil, 0, err
	}
	if v.index != nil {
		spans, _, err := v.index.find([]rank.Key{cursor})
		if err == nil {
			err = v.bound(v.index, &sc, spans[0].Before+spans[0].Count)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	// The key right behind the cursor's: its entry, if it is still there, is ahead of the page too.
	ahead, r, err := v.locate(ctx, []rank.Key{cursor + "\x00"}, []scan{sc}, rank.Span{})
	if err == nil {
		err = v.adopt(r.state)
	}
	if err != nil {
		return nil, 0, err
	}
	return r.keys[0], ahead[0], checkWhole(&sc, r, ahead[0])
}

// adopt makes the state of an answer that holds all that is needed the state of the view.
func (v *view) adopt(state leaderboard.State) error {
	if v.snapshot && state != v.state {
		return errMoved
	}
	return v.settle(state)
}

// deep reads the entries behind the first offset ones, from the start of the bucket that they are in.
func (v *view) deep(ctx context.Context, offset int64, limit int) ([]rank.Key, int64, error) {
	if err := v.prepare(ctx); err != nil {
		return nil, 0, err
	}
	if err := v.turn(ctx); err != nil {
		return nil, 0, err
	}
	var (
		from  rank.Key
		ahead int64
		at    rank.Mark
		err   error
	)
	if v.index != nil {
		if from, ahead, at, err = v.nth(ctx, offset); err != nil {
			return nil, 0, err
		}
	}
	start, err := beforeKey(from)
	if err != nil {
		return nil, 0, err
	}
	sc := scan{iv: interval{start, end()}, offset: offset - ahead, limit: limit}
	if v.index != nil {
		if err := v.bound(v.index, &sc, offset); err != nil {
			return nil, 0, err
		}
	}
	r, err := v.store.ask(ctx, v.q, v.ref.ID, question{scans: []scan{sc}})
	if err == nil {
		err = v.adopt(r.state)
	}
	switch {
	case err != nil:
		return nil, 0, err
	case r.state.Total <= offset:
		return nil, offset, nil
	case v.index == nil:
		return r.keys[0], offset, nil
	}
	shifts, err := v.follow(ctx, []rank.Key{from}, at, r.state)
	if err != nil {
		return nil, 0, err
	}
	if shifts[0] != 0 {
		return nil, 0, fmt.Errorf("%w: entries were put ahead of a page", errMoved)
	}
	return r.keys[0], offset, checkWhole(&sc, r, offset)
}

// nth is where to start reading for the entry number n from 0, and the number of entries ahead of that, at a state that
// is the one of the transaction if there is one.
func (v *view) nth(ctx context.Context, n int64) (rank.Key, int64, rank.Mark, error) {
	if !v.snapshot {
		return v.index.nth(n, nil)
	}
	m := markOf(v.state)
	if err := v.store.indexes.reach(ctx, v.index, v.q, m); err != nil {
		return "", 0, m, err
	}
	return v.index.nth(n, &m)
}

// around reads the page around a member: Before entries ahead of it when there are that many, filled up to Limit at
// both ends. Where the page starts is found out first; that it is right at the state of its entries shows in them.
func (v *view) around(ctx context.Context, q leaderboard.PageQuery) ([]rank.Key, int64, error) {
	key, err := v.member(ctx, q.Around)
	if err != nil {
		return nil, 0, err
	}
	ahead, err := v.before(ctx, []rank.Key{key})
	if err != nil {
		return nil, 0, err
	}
	start := startAround(q, ahead[0], v.state.Total)
	keys, start, err := v.deep(ctx, start, q.Limit)
	if err != nil || v.snapshot {
		return keys, start, err
	}
	at, found := slices.BinarySearch(keys, key)
	switch {
	case q.Before >= q.Limit:
		return nil, 0, errNeedsSnapshot // the page does not reach to the member
	case !found, start != startAround(q, start+int64(at), v.state.Total):
		return nil, 0, fmt.Errorf("%w: so did the member", errMoved)
	}
	return keys, start, nil
}

// startAround is where the page around the entry with so many ahead of it begins.
func startAround(q leaderboard.PageQuery, ahead, total int64) int64 {
	return max(0, min(ahead-int64(max(q.Before, 0)), total-int64(q.Limit)))
}

// bound ends a scan that needs the entries up to limit behind start soon behind them. It matters for speed alone: the
// optimizer looks at a range from both ends and in between, which takes as long as to read a hundred entries when the range
// is the rest of a large period.
func (v *view) bound(t *tracker, sc *scan, start int64) error {
	if v.snapshot {
		return nil // the last attempt: it must not fail because the index is at another state
	}
	to := t.until(start + int64(sc.limit))
	if to == "" {
		return nil
	}
	var err error
	sc.iv.to, err = beforeKey(to)
	return err
}

// checkWhole is errMoved when a bound kept entries from a page that starts behind so many.
func checkWhole(sc *scan, r reply, start int64) error {
	if n := len(r.keys[0]); sc.iv.to != end() && n < sc.limit && start+int64(n) < r.state.Total {
		return fmt.Errorf("%w: a page was cut off", errMoved)
	}
	return nil
}
