package read

import (
	"context"
	"fmt"
	"slices"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/entries"
	"leaderboard/store/internal/index"
)

// countsPerQuery bounds the subqueries of one statement.
const countsPerQuery = 40

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
		if !v.hasState {
			err = v.setState(r.State)
		} else {
			err = v.rebase(chunk, ahead, r.State)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, ahead...)
		base.From, base.Before = chunk[len(chunk)-1], out[len(out)-1] // a scan goes on where it ended
	}
	return out, nil
}

// rebase takes numbers of entries ahead of keys from another state to that of the view.
func (v *view) rebase(keys []rank.Key, ahead []int64, from leaderboard.State) error {
	if from == v.state {
		return nil
	}
	if v.index == nil {
		return errMoved
	}
	deltas, err := v.index.Rebase(keys, index.RankState(from), index.RankState(v.state))
	if err != nil {
		return err
	}
	for i := range ahead {
		ahead[i] += deltas[i]
	}
	return nil
}

// locate counts the entries ahead of each key, and asks for scans besides, in one statement. All of it is true at the
// state of the result. Without an index it counts from base.From on, which base.Before entries are ahead of.
func (v *view) locate(ctx context.Context, keys []rank.Key, scans []entries.Scan, base rank.Span) ([]int64, entries.Result, error) {
	if err := v.prepare(ctx); err != nil {
		return nil, entries.Result{}, err
	}
	if err := v.admitScan(ctx); err != nil {
		return nil, entries.Result{}, err
	}
	spans, at, err := v.spans(keys, base)
	if err != nil {
		return nil, entries.Result{}, err
	}
	counts, err := entries.Counts(keys, spans)
	if err != nil {
		return nil, entries.Result{}, err
	}
	qu := entries.Query{Counts: counts, Scans: scans}
	r, err := v.ask(ctx, qu)
	if err != nil {
		return nil, r, err
	}
	ahead, err := v.sumUp(ctx, keys, spans, at, r)
	return ahead, r, err
}

// sumUp makes the numbers of entries ahead of each key, at the state of the result, out of its counts and of what the
// index said of the buckets.
func (v *view) sumUp(ctx context.Context, keys []rank.Key, spans []rank.Span, at rank.State, r entries.Result) ([]int64, error) {
	ahead := entries.Sum(keys, spans, r.Counts)
	if v.index == nil {
		return ahead, nil
	}
	froms := make([]rank.Key, len(spans))
	for i := range spans {
		froms[i] = spans[i].From
	}
	deltas, err := v.catchUp(ctx, froms, at, r.State)
	if err != nil {
		return nil, err
	}
	for i := range ahead {
		if at == index.RankState(r.State) && ahead[i]-spans[i].Before > spans[i].Count {
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

// catchUp takes the index to the state of an answer, and returns by how much the number of entries ahead of each key
// changed since at, when the index was asked.
func (v *view) catchUp(ctx context.Context, keys []rank.Key, at rank.State, state leaderboard.State) ([]int64, error) {
	if !v.snapshot && state.Seq < at.Seq {
		return nil, fmt.Errorf("%w: the index was at seq %d before the database answered at %d", rank.ErrDiverged, at.Seq, state.Seq)
	}
	if err := v.reader.indexes.Reach(ctx, v.index, v.q, index.RankState(state)); err != nil {
		return nil, err
	}
	return v.index.Rebase(keys, at, index.RankState(state))
}
