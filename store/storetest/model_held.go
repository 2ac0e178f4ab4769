package storetest

import (
	"context"
	"slices"
	"time"

	"leaderboard/leaderboard"
)

// hold returns why a submission is not carried out now, nil when it is. at are the first entries of the first window as the
// request found them.
func (m *Model) hold(b *modelBoard, periods []*modelPeriod, sub leaderboard.Submission, by leaderboard.Caller, hidden bool, at []leaderboard.Entry) *leaderboard.RuleError {
	for i, p := range periods {
		now := max(m.clock(), p.lastCreated+1)
		next, changed, _ := b.Rules.Apply(p.entry(sub.Member, hidden), sub, now, m.clock())
		if !changed {
			continue
		}
		h := leaderboard.Holding{Next: next, First: i == 0, At: func(rank int) (leaderboard.Entry, bool) {
			if rank > len(at) {
				return leaderboard.Entry{}, false
			}
			return at[rank-1], true
		}}
		if play := b.plays[sub.Member]; by.Player != "" && play != nil && sub.Play != nil && *sub.Play == play.ID {
			h.Played = time.Duration(m.clock()-play.StartedTime) * time.Microsecond
		}
		why := leaderboard.AsRule(b.Rules.Hold(&sub, &by, &h))
		if why == nil {
			return nil
		}
		held := &leaderboard.Held{
			ID: m.nextID(), BoardID: b.ID, Board: b.Name, Member: sub.Member, State: leaderboard.HeldStateWaiting, Reason: why.Detail, Score: sub.Score,
			NewScore: next.Score, Tiebreak: next.Tiebreak, CreatedTime: now, HeldTime: m.clock(), Actor: by.Key, Sub: sub,
		}
		if sub.CreatedTime != nil {
			held.CreatedTime = *sub.CreatedTime
		}
		held.Sub.If, held.Sub.Play, held.Sub.CreatedTime = nil, nil, nil
		for _, p := range periods {
			held.Periods = append(held.Periods, p.ID)
		}
		return b.keepHeld(held, why)
	}
	return nil
}

// keepHeld keeps a submission that is held, in the place of the worst of its member when there is no room.
func (b *modelBoard) keepHeld(held *leaderboard.Held, why *leaderboard.RuleError) *leaderboard.RuleError {
	var waiting []*leaderboard.Held
	for _, h := range b.held {
		if h.Member == held.Member && h.State == leaderboard.HeldStateWaiting {
			waiting = append(waiting, h)
		}
	}
	worst, full := b.Rules.Worst(waiting, held)
	if full != nil {
		return leaderboard.AsRule(full)
	}
	if worst >= 0 {
		b.held = slices.DeleteFunc(slices.Clone(b.held), func(h *leaderboard.Held) bool { return h == waiting[worst] })
	}
	b.held = append(slices.Clip(b.held), held)
	return why
}

// Held is the model of review.Store.Held.
func (m *Model) Held(ctx context.Context, q leaderboard.HeldQuery) ([]leaderboard.Held, error) {
	defer m.leave()
	if err := m.enter(ctx, "Held"); err != nil {
		return nil, err
	}
	var out []leaderboard.Held
	for _, b := range m.boards {
		for _, h := range b.held {
			if h.State == q.State && (q.BoardID == 0 || q.BoardID == h.BoardID) && (q.Member == "" || q.Member == h.Member) && (q.Before == 0 || h.ID < q.Before) {
				out = append(out, *h)
			}
		}
	}
	slices.SortFunc(out, func(a, b leaderboard.Held) int { return int(b.ID - a.ID) })
	return out[:min(len(out), q.Limit)], nil
}

// HeldOne is the model of review.Store.HeldOne.
func (m *Model) HeldOne(ctx context.Context, id int64) (leaderboard.Held, error) {
	for _, state := range leaderboard.HeldStates() {
		list, err := m.Held(ctx, leaderboard.HeldQuery{State: state, Before: id + 1, Limit: 1})
		if err != nil || len(list) > 0 && list[0].ID == id {
			return append(list, leaderboard.Held{})[0], err
		}
	}
	return leaderboard.Held{}, leaderboard.ErrHeldNotFound
}

// DecideHeld is the model of review.Store.DecideHeld.
func (m *Model) DecideHeld(ctx context.Context, d leaderboard.HeldDecision) (leaderboard.Held, error) {
	defer m.leave()
	if err := m.enter(ctx, "DecideHeld"); err != nil {
		return leaderboard.Held{}, err
	}
	if broken := d.Check(); broken != nil {
		return leaderboard.Held{}, broken
	}
	for _, b := range m.boards {
		for _, h := range b.held {
			if h.ID == d.ID {
				m.current(b) // a period that has ended is closed
				err := m.decide(ctx, b, h, d)
				return *h, err
			}
		}
	}
	return leaderboard.Held{}, leaderboard.ErrHeldNotFound
}

func (m *Model) decide(ctx context.Context, b *modelBoard, h *leaderboard.Held, d leaderboard.HeldDecision) error {
	by := leaderboard.CallerOf(ctx)
	switch {
	case h.State == d.AsDecided():
		return nil
	case h.State != leaderboard.HeldStateWaiting:
		return leaderboard.ErrHeldDecided
	}
	if d.Approve {
		outcome, err := m.enterHeld(b, h, d.Reopen, by.Key)
		if err != nil {
			return err
		}
		h.Outcome = outcome
	}
	h.State, h.DecidedTime, h.DecidedBy, h.Note = d.AsDecided(), m.clock(), by.Key, d.Note
	return nil
}

// enterHeld enters a held submission in its periods.
func (m *Model) enterHeld(b *modelBoard, h *leaderboard.Held, reopen bool, actor string) (leaderboard.Status, error) {
	hidden := m.isHidden(b.ID, h.Member)
	sub, rules := b.Rules.Approved(h, m.clock())
	type decided struct {
		p       *modelPeriod
		changed bool
	}
	var all []decided
	for _, p := range b.periods {
		if !slices.Contains(h.Periods, p.ID) || m.periods[p.ID] == nil {
			continue
		}
		if p.State == leaderboard.PeriodStateClosed && !reopen {
			return "", leaderboard.ErrPeriodClosed
		}
		cur := p.entry(h.Member, hidden)
		_, changed, err := rules.Apply(cur, sub, max(m.clock(), p.lastCreated+1), m.clock())
		if err != nil {
			return "", err
		}
		all = append(all, decided{p, changed && !rules.Late(h, cur)})
	}
	if len(all) == 0 {
		return "", leaderboard.ErrPeriodNotFound
	}
	status := leaderboard.StatusUnchanged
	for _, d := range all {
		if !d.changed {
			continue
		}
		status = leaderboard.StatusApplied
		visible := int64(0)
		if _, change := d.p.submit(rules, sub, m.clock(), hidden, nil); change != nil {
			m.commit(b, d.p, []leaderboard.Change{*change})
			visible = 1
		}
		if d.p.State == leaderboard.PeriodStateClosed {
			m.recordCorrection(b, d.p, actor, visible)
		}
	}
	return status, nil
}

// firstEntries returns the entries of a period in order.
func (m *Model) firstEntries(rules *leaderboard.Rules, p *modelPeriod) []leaderboard.Entry {
	var out []leaderboard.Entry
	for _, e := range p.entries {
		out = append(out, e)
	}
	slices.SortFunc(out, rules.Compare)
	return out
}
