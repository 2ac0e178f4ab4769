package cache

import (
	"context"
	"errors"

	"leaderboard"
	"leaderboard/cache/residency"
	"leaderboard/cache/resident"
	"leaderboard/cache/watch"
)

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
		case err != nil && (!isAnswer(err) || errors.Is(err, leaderboard.ErrSeqAhead)):
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
