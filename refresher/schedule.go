package refresher

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"golang.org/x/sync/semaphore"

	"leaderboard"
)

const (
	boardsPage = 500
	// scheduleStep is the least time between two looks through all plans, so that many boards cost little.
	scheduleStep = 50 * time.Millisecond
	// cronJitter spreads boards that are due at the same minute; it does not shift what counts as done since then.
	cronJitter = 2 * time.Second
	// minTriggerLook and maxTriggerLook bound how often triggers are checked, else ten times in the shortest time they name.
	minTriggerLook = time.Second
	maxTriggerLook = 30 * time.Second
)

// Boards is what the schedule follows. Boards lists by name, from the one after a name; CurrentPeriod comes from MySQL
// itself, never from a cache.
type Boards interface {
	Boards(ctx context.Context, after string, limit int) ([]leaderboard.Board, error)
	CurrentPeriod(ctx context.Context, b leaderboard.Board, w leaderboard.Window) (leaderboard.Period, error)
}

// plan is when one board is due. It belongs to the goroutine of scheduler.run, and to the task that works on it while
// busy.
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

// next returns the earliest time at which something is due, false when nothing ever is.
func (p *plan) next() (time.Time, bool) {
	var first time.Time
	for _, t := range []time.Time{p.nextFull, p.nextCatchUp, p.nextLook} {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first, !first.IsZero()
}

// scheduler keeps the schedules of all boards. Its plans belong to the goroutine of run, the rest does not change.
type scheduler struct {
	boards  Boards
	copies  Copies
	refresh func(context.Context, Request) (leaderboard.Run, error)
	random  func() float64
	every   time.Duration // between two looks at the list of boards
	log     *slog.Logger

	plans   map[int64]*plan // by board
	done    chan *plan
	permits *semaphore.Weighted
	busy    int
}

func newScheduler(cfg *Config, refresh func(context.Context, Request) (leaderboard.Run, error)) *scheduler {
	return &scheduler{
		boards: cfg.Boards, copies: cfg.Copies, refresh: refresh, random: cfg.Random, every: cfg.Reload, log: cfg.Logger,
		plans: map[int64]*plan{}, done: make(chan *plan), permits: semaphore.NewWeighted(int64(cfg.Parallel)),
	}
}

// run begins what is due until ctx ends, then waits for what it began. Failures are logged and do not end it.
func (s *scheduler) run(ctx context.Context) {
	var reload time.Time
	for ctx.Err() == nil {
		now := time.Now()
		if !now.Before(reload) {
			s.reload(ctx, now)
			reload = now.Add(s.every)
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
	for s.busy > 0 {
		s.finished(<-s.done)
	}
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

func (s *scheduler) launch(ctx context.Context, p *plan) {
	p.busy = true
	s.busy++
	go func() {
		if s.permits.Acquire(ctx, 1) == nil {
			s.due(ctx, p)
			s.permits.Release(1)
		}
		s.done <- p
	}()
}

func (s *scheduler) finished(p *plan) {
	p.busy = false
	s.busy--
}

// reload brings the plans in line with the boards. When MySQL does not answer, the plans stay as they are.
func (s *scheduler) reload(ctx context.Context, now time.Time) {
	seen := map[int64]bool{}
	after := ""
	for {
		boards, err := s.boards.Boards(ctx, after, boardsPage)
		if err != nil {
			if ctx.Err() == nil {
				s.log.Warn("schedules are not brought up to date for now", "error", err)
			}
			return
		}
		for _, b := range boards {
			seen[b.ID] = true
			if p := s.plans[b.ID]; p == nil || (p.board.Version != b.Version && !p.busy) {
				s.plans[b.ID] = s.newPlan(b, now)
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
func (s *scheduler) newPlan(b leaderboard.Board, now time.Time) *plan {
	p := &plan{board: b, current: map[leaderboard.Window]time.Time{}}
	for _, w := range b.Rules.Windows {
		p.current[w] = now
	}
	if b.Rules.Refresh.Full != "" {
		if full, ok := parseCron(b.Rules.Refresh.Full); ok {
			p.full = full
			s.scheduleFull(p, now)
		}
	}
	if p.every = b.Rules.IncrementalEvery(); p.every > 0 {
		p.nextCatchUp = now.Add(time.Duration(s.random() * float64(p.every)))
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

func (s *scheduler) scheduleFull(p *plan, now time.Time) {
	p.nextFull = time.Time{}
	if p.tick = p.full(now); !p.tick.IsZero() {
		p.nextFull = p.tick.Add(time.Duration(s.random() * float64(cronJitter)))
	}
}

// jittered returns d give or take a tenth, so that boards and processes do not all work at the same moments.
func (s *scheduler) jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*s.random()))
}

// dueTimeout bounds looking at a copy and its period.
const dueTimeout = 2 * time.Second

// dueTasks are the parts of a plan that are due.
type dueTasks struct {
	full, catchUp, look bool
	tick                time.Time // of full
}

// take says what is due and sets when it is next.
func (s *scheduler) take(p *plan, now time.Time) dueTasks {
	reached := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	d := dueTasks{full: reached(p.nextFull), catchUp: reached(p.nextCatchUp), look: reached(p.nextLook), tick: p.tick}
	if d.full {
		s.scheduleFull(p, now)
	}
	if d.catchUp {
		p.nextCatchUp = now.Add(s.jittered(p.every))
	}
	if d.look {
		p.nextLook = now.Add(s.jittered(p.look))
	}
	return d
}

// due does what is due of one plan, for each window of the board.
func (s *scheduler) due(ctx context.Context, p *plan) {
	now := time.Now()
	d := s.take(p, now)
	for _, w := range p.board.Rules.Windows {
		req, ok := s.wanted(ctx, p, w, d, now)
		if !ok {
			continue
		}
		// A failure is logged and recorded where it happens.
		if _, err := s.refresh(ctx, req); err == nil {
			p.current[w] = time.Now()
		}
	}
}

// wanted looks at the copy of a board's current period and says which run it needs, if any. A board without a copy is
// cold: nobody reads it, so nothing is done.
func (s *scheduler) wanted(ctx context.Context, p *plan, w leaderboard.Window, d dueTasks, now time.Time) (Request, bool) {
	ctx, cancel := context.WithTimeout(ctx, dueTimeout)
	defer cancel()
	period, err := s.boards.CurrentPeriod(ctx, p.board, w)
	if errors.Is(err, leaderboard.ErrPeriodNotFound) { // nobody has asked for it since it began: it is cold
		p.current[w] = now
		return Request{}, false
	}
	if err != nil {
		s.skipped(ctx, p, err)
		return Request{}, false
	}
	req := Request{Ref: period.Ref(&p.board)}
	sent := time.Now()
	info, err := s.copies.Info(ctx, req.Ref)
	switch {
	case err != nil:
		s.skipped(ctx, p, err)
		return Request{}, false
	case !info.Exists:
		p.current[w] = now
		return Request{}, false
	}
	if d.full && info.BuildStarted < info.RedisNow+leaderboard.Micros(d.tick.Sub(sent).Microseconds()) {
		req.Kind, req.Reason, req.AskedAt = leaderboard.RunKindFull, leaderboard.RunReasonSchedule, d.tick
		return req, true
	}
	if info.Seq > period.LastSeq {
		// Either a write came between the two looks, or the database went back in time.
		if period, err = s.boards.CurrentPeriod(ctx, p.board, w); err != nil {
			s.skipped(ctx, p, err)
			return Request{}, false
		}
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

// triggered says whether one of the triggers asks for a refresh of a copy that lacks so many changes and was whole so
// long ago.
func triggered(triggers []leaderboard.Trigger, behind int64, since time.Duration) bool {
	for _, t := range triggers {
		if behind >= t.Changes && since >= t.Every {
			return true
		}
	}
	return false
}

func (s *scheduler) skipped(ctx context.Context, p *plan, err error) {
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		s.log.Warn("scheduled refresh skipped", "board", p.board.Name, "error", err)
	}
}

// schedule says when a full refresh is next due after a moment, the zero time for never.
type schedule func(after time.Time) time.Time

// parseCron reads five fields (minute, hour, day of month, month, day of week); times are UTC. false: not a cron
// expression, or one that never comes, such as 30 February.
func parseCron(expression string) (schedule, bool) {
	if strings.ContainsAny(expression, "=@") { // time zones and descriptors, which the parser would take
		return nil, false
	}
	s, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(expression)
	if err != nil || s.Next(time.Unix(0, 0).UTC()).IsZero() {
		return nil, false
	}
	return func(after time.Time) time.Time { return s.Next(after.UTC()) }, true
}

// CheckRules says what is wrong with the part of a board's rules that only the refresher understands.
func CheckRules(r leaderboard.Rules) []leaderboard.FieldError {
	if r.Refresh.Full == "" {
		return nil
	}
	if _, ok := parseCron(r.Refresh.Full); !ok {
		return []leaderboard.FieldError{{Pointer: "/refresh/full", Detail: "want a cron expression of five fields in UTC, such as 0 4 * * *"}}
	}
	return nil
}
