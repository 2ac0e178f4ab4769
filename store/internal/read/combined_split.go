package read

import (
	"context"
	"fmt"
	"slices"

	"leaderboard/rank"
	"leaderboard/store/internal/entries"
)

// split is a place in the order of the entries of all periods: in front of those whose keys are not less than key, or,
// as end, after all of them. Where it is was counted: ahead of it are so many entries of each period.
type split struct {
	key   rank.Key
	end   bool
	ahead []int64
	sum   int64
}

// beginning and ending are the splits that need no counting.
func (m *combined) beginning() split { return split{ahead: make([]int64, len(m.views))} }

func (m *combined) ending() split {
	s := split{end: true, sum: m.total}
	for _, v := range m.views {
		s.ahead = append(s.ahead, v.state.Total)
	}
	return s
}

// isAfter says whether the split lies after the place in front of a key.
func (s *split) isAfter(k rank.Key) bool { return s.end || s.key > k }

// bound returns the split in the order of one period.
func (s *split) bound() (entries.Bound, error) {
	if s.end {
		return entries.End(), nil
	}
	return entries.BeforeKey(s.key)
}

// splits counts the splits in front of keys, which are in ascending order and all different.
func (m *combined) splits(ctx context.Context, keys []rank.Key) ([]split, error) {
	ahead, err := m.ahead(ctx, slices.Repeat([][]rank.Key{keys}, len(m.views)))
	if err != nil {
		return nil, err
	}
	out := make([]split, len(keys))
	for i, k := range keys {
		out[i] = split{key: k, ahead: make([]int64, len(m.views))}
		for j := range m.views {
			out[i].ahead[j] = ahead[j][i]
			out[i].sum += ahead[j][i]
		}
	}
	return out, nil
}

// bracket is what is known of where a run of entries lies: lo has no more than offset entries ahead of it, hi more, and
// far at least those up to the end of the run.
type bracket struct{ lo, hi, far split }

// find brackets the entries from number offset on, limit of them, so narrowly that few more than those are between lo
// and hi. It selects in several sorted lists at once: a place is chosen, the entries ahead of it are counted in each,
// and the part on the wrong side is done with. The indexes in memory know about where the place is, so one round of
// counting does as a rule; then, or without indexes, the entry in the middle of the largest part is tried, which takes
// that part into halves.
func (m *combined) find(ctx context.Context, offset, limit int64) (bracket, error) {
	b := bracket{lo: m.beginning(), hi: m.ending(), far: m.ending()}
	if err := m.prepare(ctx); err != nil {
		return b, err
	}
	if err := b.narrow(ctx, m, m.estimate(offset, limit), offset, limit); err != nil {
		return b, err
	}
	for b.hi.sum-b.lo.sum > m.enough() {
		key, err := m.middle(ctx, &b)
		if err != nil {
			return b, err
		}
		last := b.hi.sum - b.lo.sum
		if err := b.narrow(ctx, m, []rank.Key{key}, offset, limit); err != nil {
			return b, err
		}
		if b.hi.sum-b.lo.sum >= last {
			return b, fmt.Errorf("%w: the middle of a part is at its end", errMoved) // the counts contradict each other
		}
	}
	return b, nil
}

// enough returns how many entries may be read in vain: reading that many takes about as long as another round of
// counting. It is more than there are periods, so that the largest part has a middle.
func (m *combined) enough() int64 {
	return int64(max(4*m.reader.target, 4*len(m.views)))
}

// narrow counts splits in front of keys and moves the bracket's sides to them.
func (b *bracket) narrow(ctx context.Context, m *combined, keys []rank.Key, offset, limit int64) error {
	if len(keys) == 0 {
		return nil
	}
	found, err := m.splits(ctx, keys)
	if err != nil {
		return err
	}
	for _, s := range found {
		switch {
		case s.sum <= offset && !b.lo.isAfter(s.key):
			b.lo = s
		case s.sum > offset && b.hi.isAfter(s.key):
			b.hi = s
		}
		if s.sum >= offset+limit && b.far.isAfter(s.key) {
			b.far = s
		}
	}
	return nil
}

// middle returns the key of the entry in the middle of what one period has in the bracket, the one that has most.
func (m *combined) middle(ctx context.Context, b *bracket) (rank.Key, error) {
	most, widest := 0, int64(0)
	for i := range m.views {
		if n := b.hi.ahead[i] - b.lo.ahead[i]; n > widest {
			most, widest = i, n
		}
	}
	v := m.views[most]
	one := stretch{start: b.lo.ahead[most] + widest/2, limit: 1}
	if err := v.fill(ctx, []*stretch{&one}, false); err != nil {
		return "", v.done(err)
	}
	if len(one.keys) == 0 {
		return "", fmt.Errorf("%w: the middle of a part is after its end", errMoved)
	}
	return one.keys[0], nil
}

// The kinds of a guess, see merged.guess.
const (
	atLeast = iota // in halves of a bucket
	perhaps
	atMost
)

// estimate returns where the indexes, as far as they are at the state of the transaction, say to look: boundaries of
// buckets that are surely not too far, about there on either side, surely too far, and surely after the last entry.
func (m *combined) estimate(offset, limit int64) []rank.Key {
	surely, _ := m.edge(offset, atMost)
	below, above := m.edge(offset, perhaps)
	_, tooFar := m.edge(offset, atLeast)
	_, behind := m.edge(offset+max(limit, 1)-1, atLeast)
	keys := []rank.Key{surely, below, above, tooFar, behind}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if keys[0] == "" {
		keys = keys[1:]
	}
	return keys
}

// edge returns the last boundary of a bucket that no more than n entries are ahead of, and the first that more are
// ahead of, going by guesses of one kind; "" when there is none.
func (m *combined) edge(n, kind int64) (below, above rank.Key) {
	for _, v := range m.views {
		if v.index == nil {
			continue
		}
		for from, to := int64(0), v.index.At().Total-1; from <= to; {
			span, ok := v.index.Span((from + to) / 2)
			switch {
			case !ok:
				to = -1 // it has become shorter
			case span.From <= below:
				from = span.Before + span.Count
			case above != "" && span.From >= above:
				to = span.Before - 1
			case m.guess(span.From, kind) <= n:
				below, from = span.From, span.Before+span.Count
			default:
				above, to = span.From, span.Before-1
			}
		}
	}
	return below, above
}

// guess returns how many entries are ahead of a key, counting none, half or all of each bucket that the key is inside
// of. A period without an index is one bucket.
func (m *combined) guess(k rank.Key, kind int64) int64 {
	var n int64
	for _, v := range m.views {
		if v.index == nil {
			n += v.state.Total * kind / atMost
			continue
		}
		span := v.index.Bucket(k)
		if n += span.Before; span.From != k {
			n += span.Count * kind / atMost
		}
	}
	return n
}
