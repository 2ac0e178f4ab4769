package read

import (
	"context"
	"fmt"
	"slices"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
	"leaderboard/store/internal/index"
)

// maxPage is the greatest limit of a page: a slice around a member with both sides at their greatest.
const maxPage = 2*leaderboard.MaxAroundSide + 1

// Page implements leaderboard.Rankings. A page by offset or cursor in strict mode is one statement, one around a member
// two; tied ranks take one more, dense ranks a transaction.
func (s *Reader) Page(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	q.Limit, q.Offset = min(max(q.Limit, 0), maxPage), max(q.Offset, 0)
	var page *leaderboard.Page
	err := s.read(ctx, ref, q.MinSeq, func(v *view) error {
		keys, start, err := v.run(ctx, q)
		if err != nil {
			return err
		}
		page, err = v.page(ctx, q, keys, start)
		return err
	})
	if err != nil {
		return nil, db.Translate(ctx, "page", err)
	}
	return page, nil
}

// page numbers the entries of a page.
func (v *view) page(ctx context.Context, q leaderboard.PageQuery, keys []rank.Key, start int64) (*leaderboard.Page, error) {
	var first leaderboard.Ranks
	if len(keys) > 0 {
		var err error
		if first, err = v.first(ctx, q, keys[0], start); err != nil {
			return nil, err
		}
	}
	page := &leaderboard.Page{State: v.state, Entries: make([]leaderboard.Ranked, len(keys))}
	for i, r := range rank.Number(first, keys) {
		e, err := v.codec.Entry(keys[i])
		if err != nil {
			return nil, err
		}
		page.Entries[i] = leaderboard.Ranked{Ranks: r, Entry: e}
	}
	if n := int64(len(keys)); n > 0 && start+n < v.state.Total {
		page.Next = string(keys[n-1])
	}
	return page, nil
}

// first returns the ranks of the first entry of a page, which has so many ahead of it.
func (v *view) first(ctx context.Context, q leaderboard.PageQuery, key rank.Key, ahead int64) (leaderboard.Ranks, error) {
	r := leaderboard.Ranks{Strict: ahead + 1, Tied: ahead + 1}
	group := []rank.Key{key.Prefix()}
	afterAnother := q.Around == "" && q.After != "" && !rank.Tied(rank.Key(q.After), key) // so none ahead is tied with it
	if ahead > 0 && !afterAnother {
		better, err := v.before(ctx, group)
		if err != nil {
			return r, err
		}
		r.Tied = better[0] + 1
	}
	if !q.Mode.WithDense() {
		return r, nil
	}
	dense, err := v.dense(ctx, q.Mode, group, []int64{r.Tied - 1})
	if err == nil {
		r.Dense = dense[0]
	}
	return r, err
}

// run reads the entries of a page; start is the number of entries ahead of them.
func (v *view) run(ctx context.Context, q leaderboard.PageQuery) (keys []rank.Key, start int64, err error) {
	switch {
	case q.Around != "":
		return v.around(ctx, q)
	case q.After != "":
		return v.after(ctx, rank.Key(q.After), q.Limit)
	case q.Offset > int64(v.reader.target): // entries in the first bucket are skipped from the top
		return v.deep(ctx, q.Offset, q.Limit)
	}
	sc := entries.Scan{Range: entries.Everything(), Offset: q.Offset, Limit: q.Limit}
	if t := v.reader.indexes.Ready(v.ref); t != nil {
		if err := v.bound(t, &sc, q.Offset); err != nil {
			return nil, 0, err
		}
	}
	r, err := v.query(ctx, entries.Query{Scans: []entries.Scan{sc}})
	if err != nil {
		return nil, 0, err
	}
	return r.Keys[0], q.Offset, checkWhole(&sc, r, q.Offset)
}

// after reads the entries after a cursor.
func (v *view) after(ctx context.Context, cursor rank.Key, limit int) ([]rank.Key, int64, error) {
	behind, err := entries.KeyBound(cursor, true)
	if err != nil {
		return nil, 0, err
	}
	sc := entries.Scan{Range: entries.Range{From: behind, To: entries.End()}, Limit: limit}
	if err := v.prepare(ctx); err != nil {
		return nil, 0, err
	}
	if v.index != nil {
		spans, _, err := v.index.Find([]rank.Key{cursor})
		if err == nil {
			err = v.bound(v.index, &sc, spans[0].Before+spans[0].Count)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	// The key right after the cursor's: its entry, if it is still there, is ahead of the page too.
	ahead, r, err := v.locate(ctx, []rank.Key{cursor + "\x00"}, []entries.Scan{sc}, rank.Span{})
	if err == nil {
		err = v.adopt(r.State)
	}
	if err != nil {
		return nil, 0, err
	}
	return r.Keys[0], ahead[0], checkWhole(&sc, r, ahead[0])
}

// adopt makes the state of an answer that holds all that is needed the state of the view.
func (v *view) adopt(state leaderboard.State) error {
	if v.snapshot && state != v.state {
		return errMoved
	}
	return v.setState(state)
}

// deep reads the entries after the first offset ones, from the start of the bucket that they are in.
func (v *view) deep(ctx context.Context, offset int64, limit int) ([]rank.Key, int64, error) {
	if err := v.prepare(ctx); err != nil {
		return nil, 0, err
	}
	if err := v.admitScan(ctx); err != nil {
		return nil, 0, err
	}
	var (
		from  rank.Key
		ahead int64
		at    rank.State
		err   error
	)
	if v.index != nil {
		if from, ahead, at, err = v.nth(ctx, offset); err != nil {
			return nil, 0, err
		}
	}
	start, err := entries.BeforeKey(from)
	if err != nil {
		return nil, 0, err
	}
	sc := entries.Scan{Range: entries.Range{From: start, To: entries.End()}, Offset: offset - ahead, Limit: limit}
	if v.index != nil {
		if err := v.bound(v.index, &sc, offset); err != nil {
			return nil, 0, err
		}
	}
	page := entries.Query{Scans: []entries.Scan{sc}}
	r, err := v.ask(ctx, page)
	if err == nil {
		err = v.adopt(r.State)
	}
	switch {
	case err != nil:
		return nil, 0, err
	case r.State.Total <= offset:
		return nil, offset, nil
	case v.index == nil:
		return r.Keys[0], offset, nil
	}
	deltas, err := v.catchUp(ctx, []rank.Key{from}, at, r.State)
	if err != nil {
		return nil, 0, err
	}
	if deltas[0] != 0 {
		return nil, 0, fmt.Errorf("%w: entries were put ahead of a page", errMoved)
	}
	return r.Keys[0], offset, checkWhole(&sc, r, offset)
}

// nth returns where to start reading for the entry number n from 0, and the number of entries ahead of that, at a state
// that is the one of the transaction if there is one.
func (v *view) nth(ctx context.Context, n int64) (rank.Key, int64, rank.State, error) {
	if !v.snapshot {
		return v.index.Nth(n, nil)
	}
	m := index.RankState(v.state)
	if err := v.reader.indexes.Reach(ctx, v.index, v.q, m); err != nil {
		return "", 0, m, err
	}
	return v.index.Nth(n, &m)
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
	start := rank.StartAround(q, ahead[0], v.state.Total)
	keys, start, err := v.deep(ctx, start, q.Limit)
	if err != nil || v.snapshot {
		return keys, start, err
	}
	at, found := slices.BinarySearch(keys, key)
	switch {
	case q.Before >= q.Limit:
		return nil, 0, errNeedsSnapshot // the page does not reach to the member
	case !found, start != rank.StartAround(q, start+int64(at), v.state.Total):
		return nil, 0, fmt.Errorf("%w: so did the member", errMoved)
	}
	return keys, start, nil
}

// bound ends a scan that needs the entries up to limit after start soon after them. It matters for speed alone: the
// optimizer looks at a range from both ends and in between, which takes as long as to read a hundred entries when the
// range is the rest of a large period.
func (v *view) bound(t *index.Tracker, sc *entries.Scan, start int64) error {
	if v.snapshot {
		return nil // the last attempt: it must not fail because the index is at another state
	}
	to := t.Until(start + int64(sc.Limit))
	if to == "" {
		return nil
	}
	var err error
	sc.Range.To, err = entries.BeforeKey(to)
	return err
}

// checkWhole is errMoved when a bound kept entries from a page that starts after so many.
func checkWhole(sc *entries.Scan, r entries.Result, start int64) error {
	if n := len(r.Keys[0]); sc.Range.To != entries.End() && n < sc.Limit && start+int64(n) < r.State.Total {
		return fmt.Errorf("%w: a page was cut off", errMoved)
	}
	return nil
}
