package read

import (
	"context"
	"fmt"
	"slices"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/rank"
	"leaderboard/store/internal/index"
)

// countsPerQuery bounds the subqueries of one statement.
const countsPerQuery = 64

// counted is the numbers of entries ahead of some places.
type counted struct {
	keys  []rank.Key // ascending, all different
	ahead []int64
}

// before returns the number of entries ahead of a place, which must have been counted.
func (c *counted) before(k rank.Key) int64 {
	i, _ := slices.BinarySearch(c.keys, k)
	return c.ahead[i]
}

// add adds further counts.
func (c *counted) add(more *counted) {
	for i, k := range more.keys {
		if at, found := slices.BinarySearch(c.keys, k); !found {
			c.keys, c.ahead = slices.Insert(c.keys, at, k), slices.Insert(c.ahead, at, more.ahead[i])
		}
	}
}

// last returns the last of the first n places, the beginning for n 0.
func (c *counted) last(n int) rank.Span {
	if n == 0 {
		return rank.Span{}
	}
	return rank.Span{From: c.keys[n-1], Before: c.ahead[n-1]}
}

// counting is the way in which the entries ahead of the keys of one view are counted: the place to start from, the state,
// and the number of counts.
type counting struct {
	spans  []rank.Span
	at     rank.State
	counts int
}

// count counts, for each view, the entries ahead of keys, which BeforeKey accepts, in any order: in one statement for up to
// countsPerQuery counts, in any number of periods. last: this is the last statement of the transaction.
func count(ctx context.Context, views []*view, keys [][]rank.Key, last bool) ([]counted, error) {
	out, wanted := make([]counted, len(views)), []*view{}
	for i, v := range views {
		sorted := slices.Clone(keys[i])
		slices.Sort(sorted)
		if out[i].keys = slices.Compact(sorted); len(sorted) > 0 {
			wanted = append(wanted, v)
		}
	}
	if err := prepare(ctx, wanted); err != nil {
		return nil, err
	}
	for _, v := range wanted {
		if err := v.mayScan(); err != nil {
			return nil, err
		}
	}
	asked, all := make([]counting, len(views)), []periodCount{}
	for i, v := range views {
		c := &asked[i]
		var err error
		if c.spans, c.at, err = v.spans(out[i].keys); err != nil {
			return nil, v.fault(err)
		}
		counts, err := entries.Counts(out[i].keys, c.spans)
		if err != nil {
			return nil, err
		}
		c.counts = len(counts)
		for _, count := range counts {
			all = append(all, periodCount{count, v.ref.ID})
		}
	}
	found, err := views[0].sendCounts(ctx, all, last)
	if err != nil {
		return nil, err
	}
	for i, v := range views {
		n := asked[i].counts
		if out[i].ahead, err = v.sumUp(out[i].keys, &asked[i], found[:n]); err != nil {
			return nil, v.fault(err)
		}
		if found = found[n:]; v.index == nil {
			v.known.add(&out[i])
		}
	}
	return out, nil
}

// count counts for one view.
func (v *view) count(ctx context.Context, keys []rank.Key, last bool) (counted, error) {
	out, err := count(ctx, []*view{v}, [][]rank.Key{keys}, last)
	if err != nil {
		return counted{}, err
	}
	return out[0], nil
}

// spans returns the place from which to count for each key: with an index the start of its bucket, and the state of the
// index, otherwise the last counted place before it.
func (v *view) spans(keys []rank.Key) ([]rank.Span, rank.State, error) {
	if v.index != nil {
		return v.index.Find(keys)
	}
	spans := make([]rank.Span, len(keys))
	for i, k := range keys {
		n, found := slices.BinarySearch(v.known.keys, k)
		if found {
			n++
		}
		spans[i] = v.known.last(n)
	}
	return spans, rank.State{}, nil
}

// sumUp returns the numbers of entries ahead of each key, at the state of the view, from the counts and the index's numbers
// for the buckets.
func (v *view) sumUp(keys []rank.Key, c *counting, counts []entries.Counted) ([]int64, error) {
	ahead := entries.Sum(keys, c.spans, counts)
	if v.index == nil {
		return ahead, nil
	}
	froms, to := make([]rank.Key, len(c.spans)), index.RankState(v.state)
	for i := range c.spans {
		froms[i] = c.spans[i].From
	}
	deltas, err := v.index.Rebase(froms, c.at, to)
	if err != nil {
		return nil, err
	}
	for i := range ahead {
		if c.at == to && ahead[i]-c.spans[i].Before > c.spans[i].Count {
			return nil, fmt.Errorf("%w: %d entries in a bucket of %d", rank.ErrDamaged, ahead[i]-c.spans[i].Before, c.spans[i].Count)
		}
		ahead[i] += deltas[i]
	}
	return ahead, nil
}

// periodCount is a count in one of the periods.
type periodCount struct {
	entries.Count
	periodID int64
}

func (l *looking) sendCounts(ctx context.Context, all []periodCount, last bool) ([]entries.Counted, error) {
	out := make([]entries.Counted, 0, len(all))
	for chunk := range slices.Chunk(all, countsPerQuery) {
		t := (&mysql.Text{}).Str("SELECT 1")
		var one int
		counts, dest := make([]int64, len(chunk)), []any{&one}
		for i := range chunk {
			chunk[i].Subquery(t, chunk[i].periodID)
			dest = append(dest, &counts[i])
		}
		if last && len(out)+len(chunk) == len(all) {
			l.last()
		}
		if err := l.q.QueryRowContext(ctx, l.reader.db.Limited(t.String())).Scan(dest...); err != nil {
			return nil, err
		}
		for _, n := range counts {
			out = append(out, entries.Unpack(n))
		}
	}
	return out, nil
}
