// Package sweep does the housekeeping that needs no writer: it deletes boards, periods, idempotency keys, commits of the
// change log and runs whose time is over, in slices.
//
// Read round.go (how jobs share the time of a round), then purge.go (boards and periods), log.go (the change log) and
// aged.go (keys and runs); clock.go has when the clock is believed.
package sweep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"leaderboard/internal/mysql"
)

// sliceTime is how long a job works before the others have their turn.
const sliceTime = 2 * time.Second

// failedTurns is how many turns of one job may fail in a round.
const failedTurns = 3

// Job is a kind of housekeeping.
type Job struct {
	Name string
	// Run works until there is no more to do or its slice is over, and reports whether there may be more, apart from
	// failures. It remembers where it stopped.
	Run func(ctx context.Context, slice Slice) (more bool, err error)
}

// Slice is the time of one turn. The zero value never ends.
type Slice struct{ until time.Time }

// Over reports whether the time of the turn is over.
func (s Slice) Over() bool { return !s.until.IsZero() && !time.Now().Before(s.until) }

// Round gives each job a turn, and further turns to jobs with more work, until all are done or ctx ends: then they continue
// in the next round. A job that does not end is cut off before it takes the time of the jobs after it. The errors are the
// errors of the jobs, with their names.
func Round(ctx context.Context, jobs []Job) error {
	var failed []error
	failures := map[string]int{}
	for len(jobs) > 0 && ctx.Err() == nil {
		var unfinished []Job
		for i, job := range jobs {
			more, err := turn(ctx, job, len(jobs)-i)
			if err != nil {
				failed = append(failed, mysql.Translate(ctx, job.Name, err))
				failures[job.Name]++
			}
			if more && failures[job.Name] < failedTurns {
				unfinished = append(unfinished, job)
			}
		}
		jobs = unfinished
	}
	return errors.Join(failed...)
}

// turn runs a job that shares the time left with the jobs after it.
func turn(ctx context.Context, job Job, sharing int) (more bool, err error) {
	slice := sliceTime
	if end, ok := ctx.Deadline(); ok {
		share := time.Until(end) / time.Duration(sharing)
		slice = min(slice, share/2)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	return job.Run(ctx, Slice{time.Now().Add(slice)})
}

// Turns remembers how often each piece of work that waits was begun, so that a failing or slow piece does not delay the
// others. The zero value is ready. It belongs to one job.
type Turns[K comparable] struct{ begun map[K]int }

// Begin notes that a piece of work has its turn.
func (t *Turns[K]) Begin(key K) {
	if t.begun == nil {
		t.begun = map[K]int{}
	}
	t.begun[key]++
}

// Order sorts the work that waits by the number of turns, fewest first, and otherwise keeps its order. It forgets all other
// work.
func Order[K comparable, V any](t *Turns[K], waiting []V, key func(V) K) {
	begun := make(map[K]int, len(waiting))
	for _, v := range waiting {
		if n, ok := t.begun[key(v)]; ok {
			begun[key(v)] = n
		}
	}
	t.begun = begun
	slices.SortStableFunc(waiting, func(a, b V) int { return cmp.Compare(begun[key(a)], begun[key(b)]) })
}
