package refresher

import (
	"container/heap"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"leaderboard/cache"
	"leaderboard/leaderboard"
)

const (
	// dueTimeout bounds looking at a copy and its period.
	dueTimeout = 2 * time.Second
	// wallStep is the greatest difference between the clock of this machine and the elapsed time.
	wallStep = time.Second
	// fullMemory is the part of its memory beyond which a Redis gets no copies of boards that are not read.
	fullMemory = 0.8
)

// scheduler keeps the schedules of the boards that are read here, and of boards with a cron expression. Other boards
// cost nothing, except that after a change of boards the list of all boards is read.
type scheduler struct {
	boards   Boards
	copies   Copies
	refresh  func(context.Context, Request) (leaderboard.Run, error)
	refuse   func(context.Context, leaderboard.PeriodRef, leaderboard.RunReason)
	memory   func(context.Context, leaderboard.PeriodRef) (float64, error)
	observer Observer
	random   func() float64
	wall     wallClock
	every    time.Duration // between two looks whether boards have changed
	listed   *cache.Table[map[int64]leaderboard.Board]
	log      *slog.Logger
	permits  *semaphore.Weighted
	tasks    sync.WaitGroup
	earlier  chan struct{} // holds a value when something is due earlier than run knows

	mu    sync.Mutex // of all plans, too
	plans map[int64]*plan
	queue queue // of the plans that no worker has
}

func newScheduler(
	cfg *Config, refresh func(context.Context, Request) (leaderboard.Run, error), refuse func(context.Context, leaderboard.PeriodRef, leaderboard.RunReason),
) *scheduler {
	return &scheduler{
		boards: cfg.Boards, copies: cfg.Copies, refresh: refresh, refuse: refuse, memory: cfg.Memory, observer: cfg.Observer, random: cfg.Random, wall: cfg.wall, every: cfg.Reload, listed: newCronBoards(cfg), log: cfg.Logger,
		permits: semaphore.NewWeighted(int64(cfg.Parallel)), earlier: make(chan struct{}, 1), plans: map[int64]*plan{},
	}
}

// follow takes a board that is being read, as MySQL described it last. It does not block.
func (s *scheduler) follow(l leaderboard.Listing) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.plans[l.Board.ID]
	if p == nil || p.board.Version != l.Board.Version {
		p = s.put(newPlan(l.Board, now, s.random, s.wall))
	}
	if p.periods == nil || p.clock != l.Clock {
		p.periods, p.clock, p.boardRead = l.Periods, l.Clock, now
	}
	p.read = now
	if !p.following {
		p.resume(now)
		s.enqueue(p)
	}
}

// put makes a plan the plan of its board.
func (s *scheduler) put(p *plan) *plan {
	if old := s.plans[p.board.ID]; old != nil {
		s.remove(old)
	}
	s.plans[p.board.ID] = p
	return p
}

func (s *scheduler) remove(p *plan) {
	delete(s.plans, p.board.ID)
	if p.place >= 0 {
		heap.Remove(&s.queue, p.place)
	}
}

// enqueue gives a plan its place by when it is due, unless a worker has it or it was replaced.
func (s *scheduler) enqueue(p *plan) {
	due, ok := p.next()
	if !ok || p.busy || s.plans[p.board.ID] != p {
		return
	}
	p.due = due
	if p.place >= 0 {
		heap.Fix(&s.queue, p.place)
	} else {
		heap.Push(&s.queue, p)
	}
	if p.place == 0 {
		select {
		case s.earlier <- struct{}{}:
		default:
		}
	}
}

// run begins due work until ctx ends, then waits for it to end. Failures are logged and do not end it.
func (s *scheduler) run(ctx context.Context) {
	defer s.tasks.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var reload time.Time
	began, ahead := time.Now(), time.Duration(0)
	wallBegan := s.wall(began)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.earlier:
		}
		now := time.Now()
		// Clocks drift and are set: the meaning of cron expressions is looked up again.
		if gained := s.wall(now).Sub(wallBegan) - now.Sub(began); (gained - ahead).Abs() > wallStep {
			ahead = gained
			s.clockStepped(now)
		}
		if !now.Before(reload) {
			s.reload(ctx, now)
			reload = now.Add(s.every)
		}
		timer.Reset(time.Until(s.launch(ctx, now, reload)))
	}
}

// clockStepped computes again when all cron expressions are due.
func (s *scheduler) clockStepped(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Info("the clock of this machine was set: schedules follow it", "clock", s.wall(now))
	for _, p := range s.plans {
		p.clockStepped(now)
		s.enqueue(p)
	}
}

// launch begins due work and returns when something is due next, before wake.
func (s *scheduler) launch(ctx context.Context, now, wake time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 0 {
		p := s.queue[0]
		if p.due.After(now) {
			if p.due.Before(wake) {
				wake = p.due
			}
			break
		}
		heap.Pop(&s.queue)
		p.busy = true
		s.tasks.Go(func() {
			if s.permits.Acquire(ctx, 1) == nil {
				s.work(ctx, p)
				s.permits.Release(1)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			p.busy = false
			s.enqueue(p)
		})
	}
	return wake
}

// reload updates the plans from the list of boards: it finds boards with a cron expression that are not read here, and
// drops plans that are no longer needed. When MySQL does not answer, the last list counts.
func (s *scheduler) reload(ctx context.Context, now time.Time) {
	err := s.listed.Renew(ctx)
	listed := s.listed.Value()
	if listed == nil {
		if ctx.Err() == nil {
			s.log.Warn("schedules are not brought up to date for now", "error", err)
		}
		return
	}
	for _, b := range listed {
		s.plan(b, now) // a reader may have brought an older version since
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, p := range s.plans {
		if _, ok := listed[id]; !ok && now.Sub(p.read) > p.idle {
			s.remove(p)
		}
	}
}

// plan makes the plan of a board that has a cron expression, unless there is a plan of that version.
func (s *scheduler) plan(b leaderboard.Board, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.plans[b.ID]
	if old != nil && old.board.Version >= b.Version {
		return
	}
	p := newPlan(b, now, s.random, s.wall)
	if old != nil && old.following {
		p.periods, p.clock, p.boardRead, p.read = old.periods, old.clock, old.boardRead, old.read
		p.resume(now)
	}
	s.enqueue(s.put(p))
}

// work does the due work of one plan, for each window of the board.
func (s *scheduler) work(ctx context.Context, p *plan) {
	now := time.Now()
	s.mu.Lock()
	d := p.popDue(now)
	s.mu.Unlock()
	if !d.any() {
		return
	}
	for _, w := range p.board.Rules.Windows {
		req, ok := s.wanted(ctx, p, w, d, now)
		if !ok {
			continue
		}
		// A failure is logged and recorded where it happens.
		if _, err := s.refresh(ctx, req); err == nil {
			p.current[w], p.refused[w] = time.Now(), false
		}
	}
	s.mu.Lock()
	late := p.finish(&d, time.Now())
	s.mu.Unlock()
	if late {
		s.observer.TickPassedOver()
		s.log.Warn("a scheduled refresh had not ended when the next one was due, which is passed over", "board", p.board.Name, "tick", d.tick)
	}
}

// wanted looks at the copy of a board's current period and returns which run it needs, if any. A board without a copy is
// cold: it is not read, so only a full refresh does anything. Otherwise MySQL is asked only when its last answer does not
// decide.
func (s *scheduler) wanted(ctx context.Context, p *plan, w leaderboard.Window, d dueTasks, now time.Time) (Request, bool) {
	ctx, cancel := context.WithTimeout(ctx, dueTimeout)
	defer cancel()
	period, ok := d.period(w)
	switch {
	case !ok && !d.full:
		return Request{}, false
	case d.full:
		if period, ok = s.lookUp(ctx, p, w); !ok {
			p.current[w] = now
			return Request{}, false
		}
	}
	req := Request{Ref: period.Ref(&p.board)}
	sent := time.Now()
	info, err := s.copies.Info(ctx, req.Ref)
	switch {
	case err != nil:
		s.skipped(ctx, p, err)
		return Request{}, false
	case d.full && s.due(p, d, &period, &info, sent):
		if !d.read && s.full(ctx, req.Ref) {
			if !p.refused[w] { // once, not at every tick
				s.refuse(ctx, req.Ref, leaderboard.RunReasonMemory)
			}
			p.refused[w] = true
			return Request{}, false
		}
		req.Kind, req.Reason, req.AskedAt = leaderboard.RunKindFull, leaderboard.RunReasonSchedule, d.tick
		return req, true
	case !info.Exists:
		p.current[w] = now
		return Request{}, false
	}
	if info.Seq > period.LastSeq || d.unsure && !d.full {
		// A write may have come since MySQL was asked, or the database went back in time.
		latest, ok := s.lookUp(ctx, p, w)
		if !ok || latest.ID != period.ID {
			return Request{}, false
		}
		period = latest
	}
	req.Kind = leaderboard.RunKindIncremental
	behind := period.LastSeq - info.Seq
	switch {
	case period.Revision() == info.Revision && !info.Short:
		p.current[w] = now
	case d.catchUp:
		req.Reason = leaderboard.RunReasonSchedule
		return req, true
	case d.look && triggered(p.triggers, behind, now.Sub(p.current[w])):
		req.Reason = leaderboard.RunReasonDynamic
		return req, true
	}
	return Request{}, false
}

// due reports whether a full refresh has something to do: the copy is missing, or it is from before the tick and either
// not at the present revision or about to expire without reads. sent is when info was asked for.
func (s *scheduler) due(p *plan, d dueTasks, period *leaderboard.Period, info *leaderboard.CopyInfo, sent time.Time) bool {
	if !info.Exists {
		return true
	}
	if info.BuildStarted <= info.RedisNow && info.BuildStarted >= info.RedisNow+leaderboard.Micros(d.tick.Sub(sent).Microseconds()) {
		return false
	}
	return info.Short || info.Revision != period.Revision() || info.TTL < min(d.interval, p.board.Rules.TTL()/2)
}

// full reports whether the Redis that would have a copy is nearly full.
func (s *scheduler) full(ctx context.Context, ref leaderboard.PeriodRef) bool {
	share, err := s.memory(ctx, ref)
	return err == nil && share > fullMemory
}

// lookUp asks MySQL for the current period of a window; false: the window has no current period, or MySQL does not
// answer.
func (s *scheduler) lookUp(ctx context.Context, p *plan, w leaderboard.Window) (leaderboard.Period, bool) {
	period, err := s.boards.CurrentPeriod(ctx, p.board, w)
	gone := errors.Is(err, leaderboard.ErrPeriodNotFound) || errors.Is(err, leaderboard.ErrBoardNotFound)
	if err != nil && !gone {
		s.skipped(ctx, p, err)
	}
	return period, err == nil
}

func (s *scheduler) skipped(ctx context.Context, p *plan, err error) {
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		s.log.Warn("scheduled refresh skipped", "board", p.board.Name, "error", err)
	}
}
