package read

import (
	"context"
	"fmt"
	"slices"

	"leaderboard/rank"
	"leaderboard/store/internal/entries"
	"leaderboard/store/internal/index"
)

// countsPerQuery bounds the subqueries of one statement.
const countsPerQuery = 64

// counted says how many entries are ahead of places.
type counted struct {
	keys  []rank.Key // ascending, all different
	ahead []int64
}

// before returns the number of entries ahead of a place, which is one of those that were counted.
func (c *counted) before(k rank.Key) int64 {
	i, _ := slices.BinarySearch(c.keys, k)
	return c.ahead[i]
}

// count counts the entries ahead of each key, which are what BeforeKey takes, in any order. last: nothing is asked after
// that.
func (v *view) count(ctx context.Context, keys []rank.Key, last bool) (counted, error) {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	out := counted{keys: slices.Compact(keys)}
	if len(keys) == 0 {
		return out, nil
	}
	if err := v.prepare(ctx); err != nil {
		return out, err
	}
	if err := v.admitScan(ctx); err != nil {
		return out, err
	}
	base := rank.Span{}
	for len(out.ahead) < len(out.keys) {
		chunk := out.keys[len(out.ahead):min(len(out.ahead)+countsPerQuery, len(out.keys))]
		if last && len(out.ahead)+len(chunk) == len(out.keys) {
			v.last()
		}
		ahead, err := v.countChunk(ctx, chunk, base)
		if err != nil {
			return out, err
		}
		out.ahead = append(out.ahead, ahead...)
		base.From, base.Before = chunk[len(chunk)-1], ahead[len(ahead)-1] // a scan goes on where it ended
	}
	return out, nil
}

// countChunk counts in one statement. Without an index it counts from base.From on, which base.Before entries are ahead of.
func (v *view) countChunk(ctx context.Context, keys []rank.Key, base rank.Span) ([]int64, error) {
	spans, at, err := v.spans(keys, base)
	if err != nil {
		return nil, err
	}
	counts, err := entries.Counts(keys, spans)
	if err != nil {
		return nil, err
	}
	r, err := (&entries.Query{Counts: counts}).Run(ctx, v.reader.db, v.q, v.ref.ID)
	if err != nil {
		return nil, err
	}
	return v.sumUp(keys, spans, at, r.Counts)
}

// sumUp makes the numbers of entries ahead of each key, at the state of the view, out of what was counted and of what the
// index said of the buckets.
func (v *view) sumUp(keys []rank.Key, spans []rank.Span, at rank.State, counts []entries.Counted) ([]int64, error) {
	ahead := entries.Sum(keys, spans, counts)
	if v.index == nil {
		return ahead, nil
	}
	froms, to := make([]rank.Key, len(spans)), index.RankState(v.state)
	for i := range spans {
		froms[i] = spans[i].From
	}
	deltas, err := v.index.Rebase(froms, at, to)
	if err != nil {
		return nil, err
	}
	for i := range ahead {
		if at == to && ahead[i]-spans[i].Before > spans[i].Count {
			return nil, fmt.Errorf("%w: %d entries in a bucket of %d", rank.ErrDamaged, ahead[i]-spans[i].Before, spans[i].Count)
		}
		ahead[i] += deltas[i]
	}
	return ahead, nil
}

// spans returns the buckets of keys and the state at which the index says so.
func (v *view) spans(keys []rank.Key, base rank.Span) ([]rank.Span, rank.State, error) {
	if v.index != nil {
		return v.index.Find(keys)
	}
	return slices.Repeat([]rank.Span{base}, len(keys)), rank.State{}, nil
}
