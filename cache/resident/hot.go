package resident

import (
	"cmp"
	"context"
	"slices"
	"time"

	"leaderboard/leaderboard"
)

// maxHot is how many periods Hottest returns.
const maxHot = 200

// Hottest returns the current periods in memory that were read most at the last choice.
func (r *Periods) Hottest() []leaderboard.HotPeriod {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hottest
}

func hottest(all []*candidate) (out []leaderboard.HotPeriod) {
	for _, c := range all {
		if ref := c.ref.Load(); c.resident && !ref.Closed {
			out = append(out, leaderboard.HotPeriod{Board: ref.Board, Window: ref.Window, Reads: int64(c.reads)})
		}
	}
	slices.SortFunc(out, func(a, b leaderboard.HotPeriod) int {
		return cmp.Or(cmp.Compare(b.Reads, a.Reads), cmp.Compare(a.Board, b.Board), cmp.Compare(a.Window, b.Window))
	})
	return out[:min(len(out), maxHot)]
}

// Bring counts reads that periods had in another process, and returns once the periods that are worth it are in memory,
// or when ctx ends.
func (r *Periods) Bring(ctx context.Context, refs []leaderboard.PeriodRef, reads []int64) {
	if r.opts.Memory == 0 || len(refs) == 0 {
		return
	}
	for i := range refs {
		if refs[i].HasRow() {
			r.Get(&refs[i], reads[i])
		}
	}
	ticker := time.NewTicker(bringEvery)
	defer ticker.Stop()
	// The choice under way may not have counted them yet, the next choice has.
	for from := r.idleChoices(); r.idleChoices() < from+2; {
		signal(r.wanted)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// bringEvery is the time between two choices of a process that has just started.
const bringEvery = 20 * time.Millisecond

// idleChoices returns how many choices have found nothing to load.
func (r *Periods) idleChoices() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.idle
}
