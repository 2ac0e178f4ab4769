package store

import (
	"context"
	"fmt"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

const (
	// countsPerQuery bounds the subqueries of one statement.
	countsPerQuery = 40
	// DenseDepth is how many entries there may be ahead of one whose dense rank is asked for. Equal scores must be
	// looked at one by one to be numbered densely, no index of counts helps with that.
	DenseDepth = 100_000
)

// before counts the entries ahead of each key at the state of the view. keys are what beforeKey takes, in ascending
// order and all different.
func (v *view) before(ctx context.Context, keys []rank.Key) ([]int64, error) {
	out := make([]int64, 0, len(keys))
	base := rank.Span{}
	for chunk := range slices.Chunk(keys, countsPerQuery) {
		ahead, r, err := v.locate(ctx, chunk, nil, base)
		if err != nil {
			return nil, err
		}
		if !v.settled {
			err = v.settle(r.state)
		} else {
			err = v.carry(chunk, ahead, r.state)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, ahead...)
		base.From, base.Before = chunk[len(chunk)-1], out[len(out)-1] // a scan goes on where it ended
	}
	return out, nil
}

// carry takes numbers of entries ahead of keys from another state to that of the view.
func (v *view) carry(keys []rank.Key, ahead []int64, from leaderboard.State) error {
	if from == v.state {
		return nil
	}
	if v.index == nil {
		return errMoved
	}
	shifts, err := v.index.carry(keys, markOf(from), markOf(v.state))
	if err != nil {
		return err
	}
	for i := range ahead {
		ahead[i] += shifts[i]
	}
	return nil
}

// locate counts the entries ahead of each key, and asks for scans besides, in one statement. All of it is true at the
// state of the reply. Without an index it counts from base.From on, which base.Before entries are ahead of.
func (v *view) locate(ctx context.Context, keys []rank.Key, scans []scan, base rank.Span) ([]int64, reply, error) {
	if err := v.prepare(ctx); err != nil {
		return nil, reply{}, err
	}
	if err := v.turn(ctx); err != nil {
		return nil, reply{}, err
	}
	spans, at, err := v.spans(keys, base)
	if err != nil {
		return nil, reply{}, err
	}
	tallies, err := tallies(keys, spans)
	if err != nil {
		return nil, reply{}, err
	}
	r, err := v.store.ask(ctx, v.q, v.ref.ID, question{counts: tallies, scans: scans})
	if err != nil {
		return nil, r, err
	}
	ahead := sum(keys, spans, r.counts)
	if v.index == nil {
		return ahead, r, nil
	}
	froms := make([]rank.Key, len(spans))
	for i := range spans {
		froms[i] = spans[i].From
	}
	shifts, err := v.follow(ctx, froms, at, r.state)
	if err != nil {
		return nil, r, err
	}
	for i := range ahead {
		if at == markOf(r.state) && ahead[i]-spans[i].Before > spans[i].Count {
			return nil, r, fmt.Errorf("%w: %d entries in a bucket of %d", rank.ErrDamaged, ahead[i]-spans[i].Before, spans[i].Count)
		}
		ahead[i] += shifts[i]
	}
	return ahead, r, nil
}

// spans are the buckets of keys and the state at which the index says so.
func (v *view) spans(keys []rank.Key, base rank.Span) ([]rank.Span, rank.Mark, error) {
	if v.index != nil {
		return v.index.find(keys)
	}
	return slices.Repeat([]rank.Span{base}, len(keys)), rank.Mark{}, nil
}

// follow takes the index to the state of an answer, and returns by how much the number of entries ahead of each key
// changed since at, when the index was asked.
func (v *view) follow(ctx context.Context, keys []rank.Key, at rank.Mark, state leaderboard.State) ([]int64, error) {
	if !v.snapshot && state.Seq < at.Seq {
		return nil, fmt.Errorf("%w: the index was at seq %d before the database answered at %d", rank.ErrForked, at.Seq, state.Seq)
	}
	if err := v.store.indexes.reach(ctx, v.index, v.q, markOf(state)); err != nil {
		return nil, err
	}
	return v.index.carry(keys, at, markOf(state))
}

// tallies are what to count for the keys: the entries from the start of the bucket, or from the key before if that is in
// the same bucket. The prefix of a key, right before it and in the same bucket, takes no tally of its own.
func tallies(keys []rank.Key, spans []rank.Span) ([]tally, error) {
	out := make([]tally, 0, len(keys))
	last := cut{}
	for i, k := range keys {
		here, err := beforeKey(k)
		if err != nil {
			return nil, err
		}
		from := last
		if i == 0 || spans[i].From != spans[i-1].From {
			if from, err = beforeKey(spans[i].From); err != nil {
				return nil, err
			}
		}
		if prefixOfNext(keys, spans, i) {
			last = from
			continue
		}
		out = append(out, tally{interval{from, here}, wide(from, here, spans[i].To)})
		last = here
	}
	return out, nil
}

// wide says whether no more than one bucket is read when all entries with the score of here are.
func wide(from, here cut, to rank.Key) bool {
	if from.n > colScore+1 || here.n <= colMember {
		return false
	}
	if to == "" {
		return true
	}
	until, err := beforeKey(to)
	return err == nil && until.score < here.score
}

// prefixOfNext says whether key i is the prefix of the one that follows, in the same bucket.
func prefixOfNext(keys []rank.Key, spans []rank.Span, i int) bool {
	return len(keys[i]) == rank.PrefixLen && i+1 < len(keys) && len(keys[i+1]) > rank.HeadLen &&
		keys[i+1].Prefix() == keys[i] && spans[i+1].From == spans[i].From
}

// sum adds up what was counted for the keys.
func sum(keys []rank.Key, spans []rank.Span, counts []counted) []int64 {
	out := make([]int64, len(keys))
	for i := range keys {
		out[i] = spans[i].Before
		if i > 0 && spans[i].From == spans[i-1].From {
			out[i] = out[i-1]
		}
		if prefixOfNext(keys, spans, i) {
			out[i] += counts[0].all - counts[0].tied
			continue
		}
		if i > 0 && prefixOfNext(keys, spans, i-1) {
			out[i] += counts[0].tied
		} else {
			out[i] += counts[0].all
		}
		counts = counts[1:]
	}
	return out
}

// dense counts the different (score, tiebreak) ahead of each group of tied entries; ahead is the number of entries ahead
// of the last group. Numbers of this kind cannot be carried: it takes a transaction.
func (v *view) dense(ctx context.Context, groups []rank.Key, ahead int64) ([]int64, error) {
	if ahead > DenseDepth {
		return nil, &leaderboard.RuleError{
			Code:   leaderboard.CodeModeNotAvailable,
			Detail: fmt.Sprintf("dense ranks are known down to %d entries, this is behind %d; strict and tied ranks are known everywhere", DenseDepth, ahead),
		}
	}
	if !v.snapshot {
		return nil, errNeedsSnapshot
	}
	out := make([]int64, 0, len(groups))
	last, sum := beginning(), int64(0)
	for len(out) < len(groups) {
		t := (&text{}).str("SELECT ")
		dest := make([]any, min(countsPerQuery, len(groups)-len(out)))
		counts := make([]int64, len(dest))
		for i := range dest {
			here, err := beforeKey(groups[len(out)+i])
			if err != nil {
				return nil, err
			}
			t.comma(i).str("(SELECT COUNT(DISTINCT score, tiebreak) FROM entries FORCE INDEX (entries_order) WHERE period_id = ")
			t.int(v.ref.ID).str(" AND ")
			interval{last, here}.where(t)
			t.str(")")
			dest[i], last = &counts[i], here
		}
		if err := v.q.QueryRowContext(ctx, v.store.limited(t.String())).Scan(dest...); err != nil {
			return nil, err
		}
		for _, n := range counts {
			sum += n
			out = append(out, sum)
		}
	}
	return out, nil
}
