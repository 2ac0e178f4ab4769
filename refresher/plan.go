package refresher

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"leaderboard/leaderboard"
)

const (
	// minTriggerLook and maxTriggerLook bound how often triggers are checked, else ten times in the shortest time they name.
	minTriggerLook = time.Second
	maxTriggerLook = 30 * time.Second
	// minIdle is how long a board is followed at least after it was read.
	minIdle = time.Minute
	// maxSpread is the longest time over which boards due at the same minute are spread, else half of the time until the
	// next tick. It does not change which work counts as done since the tick.
	maxSpread = 10 * time.Minute
)

// plan is when one board is due.
type plan struct {
	board   leaderboard.Board
	random  func() float64 // 0 to 1, for jitter
	wall    wallClock
	current map[leaderboard.Window]time.Time // when the copy was last known to lack nothing, or was refreshed; belongs to the worker that has the plan
	refused map[leaderboard.Window]bool      // the copy was refused for lack of memory, and still is; belongs to the worker that has the plan

	// Owned by the keeper of the plans.
	busy      bool
	place     int       // in the queue, -1 when it is not there
	due       time.Time // in the queue: next
	following bool      // it is read here: catch-ups and looks are due
	read      time.Time // last
	periods   []leaderboard.Period
	clock     leaderboard.Micros // of the database, when they were so
	boardRead time.Time          // when follow first got them
	idle      time.Duration      // how long after it was read it is followed

	full     schedule // nil: none
	tick     time.Time
	tickWall time.Time     // the reading of the wall clock then
	interval time.Duration // from tick to the next one
	nextFull time.Time     // tick and its place in the spread

	every       time.Duration // 0: none
	nextCatchUp time.Time

	triggers []leaderboard.Trigger
	look     time.Duration // 0: none
	nextLook time.Time
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

// queue is a heap of plans; the top is due first.
type queue []*plan

// Len implements heap.Interface.
func (q queue) Len() int { return len(q) }

// Less implements heap.Interface.
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }

// Swap implements heap.Interface.
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(p any) {
	one := p.(*plan)
	one.place = len(*q)
	*q = append(*q, one)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	p := (*q)[last]
	(*q)[last], *q = nil, (*q)[:last]
	p.place = -1
	return p
}

// newPlan makes the plan of a board, in which only full refreshes are due.
func newPlan(b leaderboard.Board, now time.Time, random func() float64, wall wallClock) *plan {
	p := &plan{board: b, random: random, wall: wall, current: map[leaderboard.Window]time.Time{}, refused: map[leaderboard.Window]bool{}, place: -1, every: b.Rules.IncrementalEvery()}
	for _, w := range b.Rules.Windows {
		p.current[w] = now
	}
	if b.Rules.Refresh.Full != "" {
		if full, ok := parseCron(b.Rules.Refresh.Full); ok {
			p.full = full
			p.scheduleFull(now)
			p.catchTick(now, b.CreatedTime.Time())
		}
	}
	p.idle = max(minIdle, p.every)
	triggers, err := leaderboard.ParseTriggers(b.Rules.Refresh.Dynamic)
	if err == nil && len(triggers) > 0 {
		shortest := triggers[0].Every
		for _, t := range triggers {
			shortest, p.idle = min(shortest, t.Every), max(p.idle, t.Every)
		}
		p.triggers, p.look = triggers, min(max(shortest/10, minTriggerLook), maxTriggerLook)
	}
	return p
}

// resume makes catch-ups and looks due. The first ones of all boards are spread over their intervals.
func (p *plan) resume(now time.Time) {
	p.following = true
	if p.every > 0 {
		p.nextCatchUp = now.Add(time.Duration(p.random() * float64(p.every)))
	}
	if p.look > 0 {
		p.nextLook = now.Add(p.look)
	}
}

// wallClock returns the reading of a wall clock at a moment. Only cron expressions use it; everything else uses
// monotonic time, which no step of the clock changes.
type wallClock func(now time.Time) time.Time

func wallOf(now time.Time) time.Time { return now.Round(0) }

func (p *plan) scheduleFull(now time.Time) {
	p.nextFull, p.tick = time.Time{}, time.Time{}
	wall := p.wall(now)
	if p.tickWall = p.full(wall); !p.tickWall.IsZero() {
		p.tick = now.Add(p.tickWall.Sub(wall))
		p.interval = 2 * maxSpread
		if next := p.full(p.tickWall); !next.IsZero() {
			p.interval = next.Sub(p.tickWall)
		}
		p.nextFull = p.tick.Add(p.delay())
	}
}

// catchTick makes a tick due whose spread is not over: the server that had it may be gone, and if the work is done, only a
// check is left. A board has no ticks from before it was made.
func (p *plan) catchTick(now, made time.Time) {
	wall := p.wall(now)
	tick := p.full(wall.Add(-p.spread()))
	if tick.IsZero() || tick.After(wall) || tick.Before(made) {
		return
	}
	if next := p.full(tick); !next.IsZero() {
		p.interval = next.Sub(tick)
	}
	p.tickWall, p.tick = tick, now.Add(tick.Sub(wall))
	p.nextFull = now.Add(p.delay())
}

// spread is the time over which boards due at the same minute are distributed.
func (p *plan) spread() time.Duration { return min(p.interval/2, maxSpread) }

// delay is how far into the spread the board is due.
func (p *plan) delay() time.Duration { return time.Duration(p.random() * float64(p.spread())) }

// clockStepped computes again, by the present clock, when the full refresh is due: a skipped refresh is due soon.
func (p *plan) clockStepped(now time.Time) {
	if p.full == nil || p.tickWall.IsZero() {
		return
	}
	if wall := p.wall(now); !p.tickWall.After(wall) {
		if soon := now.Add(p.delay()); soon.Before(p.nextFull) {
			p.nextFull = soon
		}
	} else {
		p.scheduleFull(now)
	}
}

// jittered returns d give or take a tenth, so that boards and processes do not all work at the same moments.
func (p *plan) jittered(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.9 + 0.2*p.random()))
}

// dueTasks are the parts of a plan that are due, and the periods that the board had when it was read last.
type dueTasks struct {
	full, catchUp, look bool
	tick                time.Time // of full
	interval            time.Duration
	read                bool // since the tick before
	unsure              bool // the board was read since MySQL described periods
	periods             []leaderboard.Period
}

func (d *dueTasks) any() bool { return d.full || d.catchUp || d.look }

// period returns the period of a window that was under way when the board was read last.
func (d *dueTasks) period(w leaderboard.Window) (leaderboard.Period, bool) {
	for _, p := range d.periods {
		if p.Window == w && p.ID != 0 {
			return p, true
		}
	}
	return leaderboard.Period{}, false
}

// popDue returns the due parts of the plan and sets when they are due next. A board that is no longer read gets no
// catch-ups.
func (p *plan) popDue(now time.Time) dueTasks {
	reached := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	d := dueTasks{full: reached(p.nextFull), tick: p.tick, interval: p.interval, read: p.read.After(p.tick.Add(-p.interval)), unsure: p.read.After(p.boardRead), periods: p.periods}
	if d.full {
		p.scheduleFull(now)
	}
	if now.Sub(p.read) > p.idle {
		p.following, p.nextCatchUp, p.nextLook, p.periods = false, time.Time{}, time.Time{}, nil
		d.periods = nil
		return d
	}
	if d.catchUp = reached(p.nextCatchUp); d.catchUp {
		p.nextCatchUp = now.Add(p.jittered(p.every))
	}
	if d.look = reached(p.nextLook); d.look {
		p.nextLook = now.Add(p.jittered(p.look))
	}
	return d
}

// finish records that the due work is done, and returns whether the next tick has come meanwhile. That tick is skipped,
// because a tick does not begin before the previous tick has ended.
func (p *plan) finish(d *dueTasks, now time.Time) (late bool) {
	if late = d.full && !p.nextFull.IsZero() && !now.Before(p.nextFull); late {
		p.scheduleFull(now)
	}
	return late
}

// triggered reports whether one of the triggers asks for a refresh of a copy that lacks a number of changes and was
// complete some time ago.
func triggered(triggers []leaderboard.Trigger, behind int64, since time.Duration) bool {
	for _, t := range triggers {
		if behind >= t.Changes && since >= t.Every {
			return true
		}
	}
	return false
}

// schedule returns when a full refresh is next due after a moment, the zero time for never.
type schedule func(after time.Time) time.Time

// parseCron reads five fields (minute, hour, day of month, month, day of week); times are UTC. false: not a cron
// expression, or an expression that never matches, such as 30 February.
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

// CheckRules returns the faults in the part of a board's rules that only the refresher understands.
func CheckRules(r leaderboard.Rules) []leaderboard.FieldError {
	if r.Refresh.Full == "" {
		return nil
	}
	if _, ok := parseCron(r.Refresh.Full); !ok {
		return []leaderboard.FieldError{{Pointer: "/refresh/full", Detail: "want a cron expression of five fields in UTC, such as 0 4 * * *"}}
	}
	return nil
}
