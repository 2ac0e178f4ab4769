package refresher

import (
	"context"
	"errors"
	"time"

	"leaderboard"
)

// dueTimeout bounds looking at a copy and its period.
const dueTimeout = 2 * time.Second

// duty is what of a plan is due.
type duty struct {
	full, catchUp, look bool
	tick                time.Time // of full
}

// take says what is due and sets when it is next.
func (r *Refresher) take(p *plan, now time.Time) duty {
	reached := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	d := duty{full: reached(p.nextFull), catchUp: reached(p.nextCatchUp), look: reached(p.nextLook), tick: p.tick}
	if d.full {
		r.scheduleFull(p, now)
	}
	if d.catchUp {
		p.nextCatchUp = now.Add(r.jittered(p.every))
	}
	if d.look {
		p.nextLook = now.Add(r.jittered(p.look))
	}
	return d
}

// due does what is due of one plan, for each window of the board.
func (r *Refresher) due(ctx context.Context, p *plan) {
	now := time.Now()
	d := r.take(p, now)
	for _, w := range p.board.Rules.Windows {
		req, ok := r.wanted(ctx, p, w, d, now)
		if !ok {
			continue
		}
		// A failure is logged and recorded where it happens.
		if _, err := r.RunOnce(ctx, req); err == nil {
			p.current[w] = time.Now()
		}
	}
}

// wanted looks at the copy of a board's current period and says which run it needs, if any. A board without a copy is
// cold: nobody reads it, so nothing is done.
func (r *Refresher) wanted(ctx context.Context, p *plan, w leaderboard.Window, d duty, now time.Time) (Request, bool) {
	ctx, cancel := context.WithTimeout(ctx, dueTimeout)
	defer cancel()
	period, err := r.cfg.Boards.CurrentPeriod(ctx, p.board, w)
	if errors.Is(err, leaderboard.ErrPeriodNotFound) { // nobody has asked for it since it began: it is cold
		p.current[w] = now
		return Request{}, false
	}
	if err != nil {
		r.skipped(ctx, p, err)
		return Request{}, false
	}
	req := Request{
		Ref: leaderboard.PeriodRef{ID: period.ID, BoardID: p.board.ID, Board: p.board.Name, Window: w, Name: period.Name(), Rules: &p.board.Rules},
	}
	sent := time.Now()
	info, err := r.cfg.Copies.Info(ctx, req.Ref)
	switch {
	case err != nil:
		r.skipped(ctx, p, err)
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
		if period, err = r.cfg.Boards.CurrentPeriod(ctx, p.board, w); err != nil {
			r.skipped(ctx, p, err)
			return Request{}, false
		}
	}
	req.Kind = leaderboard.RunKindIncremental
	behind := period.LastSeq - info.Seq
	switch {
	case behind == 0 && period.Committed == info.AsOf && !info.Short:
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

func (r *Refresher) skipped(ctx context.Context, p *plan, err error) {
	if ctx.Err() == nil || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		r.cfg.Logger.Warn("scheduled refresh skipped", "board", p.board.Name, "error", err)
	}
}
