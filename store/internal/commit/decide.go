package commit

import (
	"context"
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/audit"
)

// review decides about a held submission.
type review struct {
	header
	leaderboard.HeldDecision
	held *leaderboard.Held // as it was read before the lock; after apply as it is then
}

func newReview(h *leaderboard.Held, d leaderboard.HeldDecision) *review {
	return &review{header: headerOf(queueID{board: h.Board}, []string{h.Board}, 1, 0), HeldDecision: d, held: h}
}

func (r *review) collect(of func(board string) *needs) {
	n := of(r.queue.board)
	n.members, n.removed = append(n.members, r.held.Member), append(n.removed, r.held.Member)
	n.past = append(n.past, pastEntries{r.held.Member, r.held.Periods})
	n.decided = append(n.decided, r.ID)
}

// apply decides, under the lock of the board. The same decision again changes nothing.
func (r *review) apply(l *locked) error {
	b, err := l.board(r.queue.board)
	if err != nil {
		return err
	}
	h := b.reviews.asked[r.ID]
	switch {
	case h == nil:
		return leaderboard.ErrHeldNotFound
	case h.State == r.AsDecided():
		r.held = h
		return nil
	case h.State != leaderboard.HeldStateWaiting:
		return leaderboard.ErrHeldDecided
	}
	decided := *h
	decided.Board = r.queue.board
	if r.Approve {
		if decided.Outcome, err = r.enter(b, &decided); err != nil {
			return err
		}
	}
	decided.State, decided.DecidedTime, decided.DecidedBy, decided.Note = r.AsDecided(), b.clock, r.caller.Key, r.Note
	row, err := audit.RowOf(r.caller, r.change(h, &decided))
	if err != nil {
		return err
	}
	l.audit = append(l.audit, row)
	b.reviews.settle(&decided)
	r.held = &decided
	return nil
}

// settle notes a decision.
func (r *reviews) settle(h *leaderboard.Held) {
	r.asked[h.ID] = h
	r.waiting[h.Member] = slices.DeleteFunc(slices.Clone(r.waiting[h.Member]), func(o *leaderboard.Held) bool { return o.ID == h.ID })
	r.decided = append(r.decided, h)
}

// enter enters the submission in the periods that it came in, those that still exist.
func (r *review) enter(b *lockedBoard, h *leaderboard.Held) (leaderboard.Status, error) {
	var periods []*period
	for _, p := range b.all() {
		if slices.Contains(h.Periods, p.ref.ID) && p.missing == nil {
			if p.closed && !r.Reopen {
				return "", leaderboard.ErrPeriodClosed
			}
			periods = append(periods, p)
		}
	}
	if len(periods) == 0 {
		return "", leaderboard.ErrPeriodNotFound
	}
	sub, rules := b.known.Board.Rules.Approved(h, b.clock)
	decisions := make([]decision, len(periods))
	for i, p := range periods {
		d := p.decide(rules, sub)
		if d.broken != nil {
			return "", d.broken
		}
		if rules.Late(h, d.cur) {
			d.changed = false
		}
		decisions[i] = d
	}
	status := leaderboard.StatusUnchanged
	body := bodyOf(&sub)
	for i, p := range periods {
		before := p.lastSeq
		if p.carryOut(&sub, &decisions[i], body); decisions[i].changed {
			status = leaderboard.StatusApplied
			p.corrected(r.caller.Key, before)
		}
	}
	b.record(&sub, approvedResult(b, periods, decisions, &sub, status), &leaderboard.Caller{Key: h.Actor, RequestID: h.RequestID})
	return status, nil
}

// approvedResult returns what an approved submission came to in the current period of the board's first window; where it was for
// earlier periods alone that period is shown as it was.
func approvedResult(b *lockedBoard, periods []*period, decisions []decision, sub *leaderboard.Submission, status leaderboard.Status) *leaderboard.Result {
	first := b.periods[0]
	if i := slices.Index(periods, first); i >= 0 {
		res := decisions[i].result(first, sub)
		return &res
	}
	res := &leaderboard.Result{Member: sub.Member, Status: status}
	first.show(res, first.entry(sub.Member), sub)
	return res
}

// heldState is what the audit says of a held submission.
type heldState struct {
	State   leaderboard.HeldState `json:"state"`
	Score   int64                 `json:"score"`
	Outcome leaderboard.Status    `json:"outcome,omitempty"`
	Reason  string                `json:"reason,omitempty"` // of the admin: an erasure removes it
}

func (r *review) change(before, after *leaderboard.Held) audit.Change {
	action := leaderboard.AuditActionHeldReject
	if r.Approve {
		action = leaderboard.AuditActionHeldApprove
	}
	return audit.Change{
		Action: action, Board: r.queue.board, Member: before.Member,
		Before: heldState{State: before.State, Score: before.Score},
		After:  heldState{after.State, after.Score, after.Outcome, after.Note},
	}
}

// Decide approves or rejects a held submission, as it was read before. The same decision again returns what it was. Errors:
// those of Submit, ErrHeldNotFound, ErrHeldDecided when it was decided otherwise, ErrPeriodClosed and ErrPeriodNotFound of the
// periods that it came in, a *leaderboard.RuleError when the board's rules do not take it any more.
func (w *Writer) Decide(ctx context.Context, h leaderboard.Held, d leaderboard.HeldDecision) (leaderboard.Held, error) {
	if leaderboard.CheckMember(h.Member) != nil {
		return leaderboard.Held{}, mysql.Wrap("decide", leaderboard.ErrHeldNotFound)
	}
	r := newReview(&h, d)
	if err := w.do(ctx, r); err != nil {
		return leaderboard.Held{}, err
	}
	return *r.held, nil
}
