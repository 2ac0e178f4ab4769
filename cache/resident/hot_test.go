package resident

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// TestBring: the periods that were read most elsewhere are in memory when Bring returns, even if other periods are not
// worth it, cannot be read or do not fit.
func TestBring(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, 100_000)
		hot, cold := w.board("hot", leaderboard.Rules{}, 20), w.board("cold", leaderboard.Rules{}, 20)
		large := w.board("large", leaderboard.Rules{}, 3000)
		began := time.Now()
		w.periods.Bring(t.Context(), []leaderboard.PeriodRef{cold, large, hot, {Board: "gone"}}, []int64{enough / 2, 1000, 2 * enough, 1000})
		if !w.periods.Holds(hot.ID) || w.periods.Holds(cold.ID) || w.periods.Holds(large.ID) {
			t.Errorf("in memory: hot %t, cold %t, large %t", w.periods.Holds(hot.ID), w.periods.Holds(cold.ID), w.periods.Holds(large.ID))
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %s", took)
		}
		if got := w.periods.Hottest(); len(got) != 1 || got[0].Board != "hot" || got[0].Window != leaderboard.WindowAllTime || got[0].Reads < enough {
			t.Errorf("the hottest are %+v", got)
		}
		if w.periods.Bring(t.Context(), nil, nil); time.Since(began) > time.Second {
			t.Error("it waited for nothing")
		}
	})
}

// TestBringGivesUp: a database that is away delays nothing, and a slow one not for longer than the caller wants.
func TestBringGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, mib)
		ref, slow := w.board("b", leaderboard.Rules{}, 20), w.board("slow", leaderboard.Rules{}, 20)
		w.failing.Store(true)
		began := time.Now()
		w.periods.Bring(t.Context(), []leaderboard.PeriodRef{ref}, []int64{1000})
		if took := time.Since(began); took > time.Second || w.loads.Load() != 1 {
			t.Errorf("it took %s, with %d loads", took, w.loads.Load())
		}
		w.failing.Store(false)
		w.hold = make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began = time.Now()
		w.periods.Bring(ctx, []leaderboard.PeriodRef{slow}, []int64{1000})
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it took %s", took)
		}
		close(w.hold)
	})
}
