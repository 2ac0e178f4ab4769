package store

import (
	"context"

	"leaderboard/rank"
)

// splitAtOnce bounds the buckets that are cut together; cutting takes time in proportion to all buckets.
const splitAtOnce = 64

// cutting is a place where an overgrown bucket is to be cut, and how many entries lay between from and there at a state.
type cutting struct {
	span rank.Span // the bucket
	from rank.Key  // where the bucket, or the cutting before in it, begins
	at   rank.Key
	left int64
	mark rank.Mark
}

// split cuts overgrown buckets into parts of about the target, and returns how many buckets there were to cut.
func (x *indexes) split(ctx context.Context, t *tracker) (int, error) {
	spans := t.overgrown(splitAtOnce)
	var cuttings []cutting
	for _, span := range spans {
		found, err := x.cuttings(ctx, t, span)
		if err != nil {
			return 0, err
		}
		cuttings = append(cuttings, found...)
	}
	if len(cuttings) == 0 {
		return 0, nil
	}
	newest := cuttings[len(cuttings)-1].mark
	if err := x.reach(ctx, t, x.store.db, newest); err != nil {
		return 0, err
	}
	return len(spans), t.cut(cuttings)
}

// cuttings counts where to cut one bucket, part by part, each with one statement.
func (x *indexes) cuttings(ctx context.Context, t *tracker, span rank.Span) ([]cutting, error) {
	until, err := beforeKey(span.To)
	if err != nil {
		return nil, err
	}
	if span.To == "" {
		until = end()
	}
	parts := span.Count / t.target
	size := (span.Count + parts - 1) / parts
	var out []cutting
	from := span.From
	for range parts - 1 {
		start, err := beforeKey(from)
		if err != nil {
			return nil, err
		}
		r, err := x.store.ask(ctx, x.store.db, t.ref.ID, question{scans: []scan{{iv: interval{start, until}, offset: size - 1, limit: 2}}})
		if err != nil {
			return nil, err
		}
		keys := r.keys[0]
		if len(keys) < 2 {
			break
		}
		at := between(keys[0], keys[1])
		out = append(out, cutting{span: span, from: from, at: at, left: size, mark: markOf(r.state)})
		from = at
	}
	return out, nil
}

// overgrown are at most n of the buckets to be split.
func (t *tracker) overgrown(n int) []rank.Span {
	t.mu.RLock()
	defer t.mu.RUnlock()
	spans := t.index.Overgrown()
	return spans[:min(n, len(spans))]
}

// cut carries what was counted to the state of the index, and splits there.
func (t *tracker) cut(cuttings []cutting) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken != nil {
		return t.broken
	}
	at := t.index.At()
	var cuts []rank.Cut
	for _, c := range cuttings {
		if t.index.Find(c.span.From).From != c.span.From {
			continue // merged with its neighbour since
		}
		p, err := t.past.path(c.mark, at)
		if err != nil {
			return err
		}
		shifts := p.shifts([]rank.Key{c.from, c.at})
		cuts = append(cuts, rank.Cut{At: c.at, Left: c.left + shifts[1] - shifts[0]})
	}
	err := t.index.Split(at.Seq, cuts)
	if err != nil && !isGap(err) {
		t.broken = err
	}
	return err
}
