package refresher

import (
	"context"
	"time"

	"leaderboard"
)

// slotKey is what requests are coalesced by.
type slotKey struct {
	period int64
	kind   leaderboard.RunKind
}

// slot holds the run at work and the one after it. Its fields belong to Refresher.mu.
type slot struct {
	open   *job // takes more requests: it has not looked at the truth yet
	active *job
	built  time.Time // start of the last build by this process
}

// job is one run and everybody who shares it.
type job struct {
	slot *slot
	req  Request // the first one

	// Owned by Refresher.mu.
	asked  time.Time // the latest moment at which a sharer asked for a build
	forced bool      // a sharer wants a build, not just a copy

	announced chan struct{}   // closed once first and startErr are set
	first     leaderboard.Run // as it began
	startErr  error

	done chan struct{}   // closed once run and err are set
	run  leaderboard.Run // as it ended
	err  error
}

func (j *job) wait(ctx context.Context) (leaderboard.Run, error) {
	select {
	case <-j.done:
		return j.run, j.err
	case <-ctx.Done():
		return leaderboard.Run{}, ctx.Err()
	}
}

// maxIdleSlots bounds what is remembered of periods that have no run.
const maxIdleSlots = 1024

// join finds the job that fulfils a request, or begins one.
func (r *Refresher) join(req Request) *job {
	if req.AskedAt.IsZero() {
		req.AskedAt = time.Now()
	}
	forced := req.Reason != leaderboard.RunReasonDemand
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.slot(slotKey{req.Ref.ID, req.Kind})
	if !forced && s.active != nil {
		return s.active
	}
	if j := s.open; j != nil {
		if forced && (!j.forced || req.AskedAt.After(j.asked)) {
			j.asked, j.forced = req.AskedAt, true
		}
		return j
	}
	j := &job{slot: s, req: req, asked: req.AskedAt, forced: forced, announced: make(chan struct{}), done: make(chan struct{})}
	if r.closed {
		j.startErr, j.err = ErrClosed, ErrClosed
		close(j.announced)
		close(j.done)
		return j
	}
	s.open = j
	previous := s.active
	r.wg.Add(1)
	go r.work(j, previous)
	return j
}

func (r *Refresher) slot(key slotKey) *slot {
	s, ok := r.slots[key]
	if ok {
		return s
	}
	if len(r.slots) >= maxIdleSlots {
		for k, old := range r.slots {
			if old.open == nil && old.active == nil && time.Since(old.built) > r.cfg.MinGap {
				delete(r.slots, k)
			}
		}
	}
	s = &slot{}
	r.slots[key] = s
	return s
}

// begin closes the job to further sharers: from here on it looks at the truth.
func (r *Refresher) begin(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.slot.open == j {
		j.slot.open, j.slot.active = nil, j
	}
}

// end publishes the outcome of a job.
func (r *Refresher) end(j *job, run leaderboard.Run, err error) {
	r.mu.Lock()
	if j.slot.open == j {
		j.slot.open = nil
	}
	if j.slot.active == j {
		j.slot.active = nil
	}
	r.mu.Unlock()
	j.run, j.err = run, err
	close(j.done)
}

// wishes are what the sharers of a job want so far.
func (r *Refresher) wishes(j *job) (asked time.Time, forced bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return j.asked, j.forced
}
