package refresher

import (
	"context"
	"sync"
	"time"

	"leaderboard"
)

const (
	boardsPage = 500
	// scheduleStep is the least time between two looks through all plans, so that many boards cost little.
	scheduleStep = 50 * time.Millisecond
	// cronJitter spreads boards that are due at the same minute; it does not shift what counts as done since then.
	cronJitter = 2 * time.Second
	// Triggers are looked at ten times in the shortest time that they name, within these bounds.
	minTriggerLook = time.Second
	maxTriggerLook = 30 * time.Second
)

// plan is when one board is due. It belongs to the goroutine of Run, and to the task that works on it while busy.
type plan struct {
	board leaderboard.Board
	busy  bool

	full     schedule // nil: none
	tick     time.Time
	nextFull time.Time // tick and its jitter

	every       time.Duration // 0: none
	nextCatchUp time.Time

	triggers []leaderboard.Trigger
	look     time.Duration
	nextLook time.Time
	current  map[leaderboard.Window]time.Time // when the copy was last known to lack nothing, or was refreshed
}

// next is the earliest time at which something is due, false when nothing ever is.
func (p *plan) next() (time.Time, bool) {
	var first time.Time
	for _, t := range []time.Time{p.nextFull, p.nextCatchUp, p.nextLook} {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first, !first.IsZero()
}

// Run keeps the schedules of all boards until ctx ends, then waits for the runs that it began. Failures are logged and
// do not end it.
func (r *Refresher) Run(ctx context.Context) error {
	s := &scheduler{r: r, plans: map[int64]*plan{}, done: make(chan *plan), slots: make(chan struct{}, r.cfg.Parallel)}
	defer s.drain()
	var reload time.Time
	for ctx.Err() == nil {
		now := time.Now()
		if !now.Before(reload) {
			s.reload(ctx, now)
			reload = now.Add(r.cfg.Reload)
		}
		wake := reload
		for _, p := range s.plans {
			if p.busy {
				continue
			}
			if t, ok := p.next(); ok && !t.After(now) {
				s.launch(ctx, p)
			} else if ok && t.Before(wake) {
				wake = t
			}
		}
		s.waitUntil(ctx, latest(wake, now.Add(scheduleStep)))
	}
	return nil
}

// waitUntil returns at that moment, or at the end of ctx. Tasks that end in the meantime free their plans, and may be
// due again earlier.
func (s *scheduler) waitUntil(ctx context.Context, wake time.Time) {
	timer := time.NewTimer(time.Until(wake))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case p := <-s.done:
			s.finished(p)
			if t, ok := p.next(); ok && t.Before(wake) {
				wake = latest(t, time.Now().Add(scheduleStep))
				timer.Reset(time.Until(wake))
			}
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

type scheduler struct {
	r     *Refresher
	plans map[int64]*plan // by board
	done  chan *plan
	slots chan struct{}
	wg    sync.WaitGroup
	busy  int
}

func (s *scheduler) launch(ctx context.Context, p *plan) {
	p.busy = true
	s.busy++
	s.wg.Go(func() {
		s.slots <- struct{}{}
		s.r.due(ctx, p)
		<-s.slots
		s.done <- p
	})
}

func (s *scheduler) finished(p *plan) {
	p.busy = false
	s.busy--
}

// drain takes back the plans that tasks still work on.
func (s *scheduler) drain() {
	for s.busy > 0 {
		s.finished(<-s.done)
	}
	s.wg.Wait()
}

// reload brings the plans in line with the boards. When MySQL does not answer, the plans stay as they are.
func (s *scheduler) reload(ctx context.Context, now time.Time) {
	seen := map[int64]bool{}
	after := ""
	for {
		boards, err := s.r.cfg.Boards.Boards(ctx, after, boardsPage)
		if err != nil {
			if ctx.Err() == nil {
				s.r.cfg.Logger.Warn("schedules are not brought up to date for now", "error", err)
			}
			return
		}
		for _, b := range boards {
			seen[b.ID] = true
			if p := s.plans[b.ID]; p == nil || (p.board.Version != b.Version && !p.busy) {
				s.plans[b.ID] = s.r.newPlan(b, now)
			}
		}
		if len(boards) < boardsPage {
			break
		}
		after = boards[len(boards)-1].Name
	}
	for id := range s.plans {
		if !seen[id] {
			delete(s.plans, id)
		}
	}
}

// newPlan makes the plan of a board. The first catch-ups of all boards are spread over their intervals.
func (r *Refresher) newPlan(b leaderboard.Board, now time.Time) *plan {
	p := &plan{board: b, current: map[leaderboard.Window]time.Time{}}
	for _, w := range b.Rules.Windows {
		p.current[w] = now
	}
	if b.Rules.Refresh.Full != "" {
		if s, ok := parseCron(b.Rules.Refresh.Full); ok {
			p.full = s
			r.scheduleFull(p, now)
		}
	}
	if p.every = b.Rules.IncrementalEvery(); p.every > 0 {
		p.nextCatchUp = now.Add(time.Duration(r.cfg.Random() * float64(p.every)))
	}
	triggers, err := leaderboard.ParseTriggers(b.Rules.Refresh.Dynamic)
	if err == nil && len(triggers) > 0 {
		shortest := triggers[0].Every
		for _, t := range triggers {
			shortest = min(shortest, t.Every)
		}
		p.triggers, p.look = triggers, min(max(shortest/10, minTriggerLook), maxTriggerLook)
		p.nextLook = now.Add(p.look)
	}
	return p
}

func (r *Refresher) scheduleFull(p *plan, now time.Time) {
	p.nextFull = time.Time{}
	if p.tick = p.full(now); !p.tick.IsZero() {
		p.nextFull = p.tick.Add(time.Duration(r.cfg.Random() * float64(cronJitter)))
	}
}

// jittered is d give or take a tenth, so that boards and processes do not march in step.
func (r *Refresher) jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*r.cfg.Random()))
}
