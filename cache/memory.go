package cache

import (
	"context"
	"errors"

	"leaderboard"
	"leaderboard/cache/resident"
	"leaderboard/cache/watch"
	"leaderboard/rank"
)

// memoryAttempts bounds how often a period in memory is asked again after it has moved on.
const memoryAttempts = 3

// fromMemory answers from the period in memory; ok is false when there is none, or it does not get as far as the
// database or the reader in time. While the database does not say how far it is, the answer is marked stale.
func fromMemory[V any](ctx context.Context, r *Reader, p *leaderboard.PeriodRef, weight, minSeq int64, of shape[V],
	ask func(*resident.Period) (V, error),
) (v V, ok bool, err error) {
	if r.opts.Resident == nil {
		return v, false, nil
	}
	m := r.opts.Resident.Get(p, weight)
	for attempt := 0; m != nil && attempt < memoryAttempts; attempt++ {
		at := m.At().Revision
		if v, err = ask(m); err == nil {
			at = of.state(v).Revision
		} else if errors.Is(err, rank.ErrDamaged) {
			break
		}
		verdict := r.opts.Watch.Check(ctx, p.ID, at)
		switch {
		case verdict == watch.VerdictDiverged:
			r.opts.Resident.Drop(p.ID, m)
			return v, false, nil
		case verdict == watch.VerdictFresh && at.Seq >= minSeq:
			r.opts.OnResident()
			r.visited(p)
			return v, true, err
		case verdict == watch.VerdictUnknown && err == nil:
			return of.stale(v), true, nil
		case verdict == watch.VerdictUnknown, !r.opts.Resident.Await(ctx, p.ID, m, at):
			return v, false, nil
		}
	}
	return v, false, nil
}
