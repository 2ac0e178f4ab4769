package cache

import (
	"context"
	"errors"

	"leaderboard"
	"leaderboard/cache/residency"
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
			r.visits.add(p)
			if err == nil {
				r.opts.OnAnswer(leaderboard.SourceLocal, false)
			}
			return v, true, err
		case verdict == watch.VerdictUnknown && err == nil:
			r.opts.OnAnswer(leaderboard.SourceLocal, true)
			return of.stale(v), true, nil
		case verdict == watch.VerdictUnknown, !r.opts.Resident.Await(ctx, p.ID, m, at):
			return v, false, nil
		}
	}
	return v, false, nil
}

// fromMemories answers about several periods when all of them are in memory, each as new as the watch wants it.
func fromMemories[V any](ctx context.Context, r *Reader, periods []leaderboard.PeriodRef,
	ask func(resident.Combined) (V, error), states func(V) []leaderboard.State,
) (v V, ok bool, err error) {
	if r.opts.Resident == nil {
		return v, false, nil
	}
	all, missing := make(resident.Combined, len(periods)), false
	for i := range periods { // each counts as read, so that all of them come
		all[i] = r.opts.Resident.Get(&periods[i], residency.WeightDeep)
		missing = missing || all[i] == nil
	}
	if missing {
		return v, false, nil
	}
	for range memoryAttempts {
		fresh := true
		for i, m := range all {
			at := m.At().Revision
			switch r.opts.Watch.Check(ctx, periods[i].ID, at) {
			case watch.VerdictFresh:
				continue
			case watch.VerdictDiverged:
				r.opts.Resident.Drop(periods[i].ID, m)
				return v, false, nil
			case watch.VerdictUnknown:
				return v, false, nil
			}
			if fresh = false; !r.opts.Resident.Await(ctx, periods[i].ID, m, at) {
				return v, false, nil
			}
		}
		if !fresh {
			continue
		}
		v, err = ask(all) // of states that are not older than those judged
		switch {
		case err != nil && !isAnswer(err):
			return v, false, nil
		case err == nil && !allFresh(r.opts.Watch, periodIDs(periods), states(v)):
			continue
		}
		r.opts.OnResident()
		if err == nil {
			r.opts.OnAnswer(leaderboard.SourceLocal, false)
		}
		return v, true, err
	}
	return v, false, nil
}
