package review

import (
	"context"
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// decision is an admin's decision about a held submission.
type decision struct {
	leaderboard.HeldDecision
	held *leaderboard.Held // as read before the lock; after Apply the present state
}

// Collect asks for the entries that an approval changes.
func (d *decision) Collect(n *commit.Needs) { n.Entries(d.held.Member, d.held.Periods) }

// Apply decides, under the lock of the board. The same decision again changes nothing.
func (d *decision) Apply(b *commit.Board, by leaderboard.Caller) error {
	r := commit.PartOf[*reviews](b)
	h := r.found[d.ID]
	switch {
	case h == nil:
		return leaderboard.ErrHeldNotFound
	case h.State == d.AsDecided():
		d.held = h
		return nil
	case h.State != leaderboard.HeldStateWaiting:
		return leaderboard.ErrHeldDecided
	}
	decided := *h
	decided.Board = b.Name()
	if d.Approve {
		outcome, err := d.enter(b, &decided, by)
		if err != nil {
			return err
		}
		decided.Outcome = outcome
	}
	decided.State, decided.DecidedTime, decided.DecidedBy, decided.Note = d.AsDecided(), b.Clock(), by.Key, d.Note
	if err := b.Audit(by, d.change(h, &decided)); err != nil {
		return err
	}
	r.settle(&decided)
	d.held = &decided
	return nil
}

// settle notes a decision.
func (r *reviews) settle(h *leaderboard.Held) {
	r.found[h.ID] = h
	r.waiting[h.Member] = slices.DeleteFunc(slices.Clone(r.waiting[h.Member]), func(o *leaderboard.Held) bool { return o.ID == h.ID })
	r.decided = append(r.decided, h)
}

// enter applies an approved submission to the periods that it came in.
func (d *decision) enter(b *commit.Board, h *leaderboard.Held, by leaderboard.Caller) (leaderboard.Status, error) {
	sub, rules := b.Rules().Approved(h, b.Clock())
	return b.Enter(&commit.Late{
		Attempt: commit.Attempt{Board: b, Sub: &sub, Caller: &leaderboard.Caller{Key: h.Actor, RequestID: h.RequestID}},
		Periods: h.Periods, Rules: rules, Reopen: d.Reopen, Actor: by.Key,
		Skip: func(cur *leaderboard.Entry) bool { return rules.Late(h, cur) },
	})
}

// heldState is the audit's record of a held submission.
type heldState struct {
	State   leaderboard.HeldState `json:"state"`
	Score   int64                 `json:"score"`
	Outcome leaderboard.Status    `json:"outcome,omitempty"`
	Reason  string                `json:"reason,omitempty"` // of the admin: an erasure removes it
}

func (d *decision) change(before, after *leaderboard.Held) commit.AuditChange {
	action := leaderboard.AuditActionHeldReject
	if d.Approve {
		action = leaderboard.AuditActionHeldApprove
	}
	return commit.AuditChange{
		Action: action, Board: after.Board, Member: before.Member,
		Before: heldState{State: before.State, Score: before.Score},
		After:  heldState{after.State, after.Score, after.Outcome, after.Note},
	}
}

// DecideHeld approves or rejects a held submission. The same decision again returns the first result. Errors: the errors of
// Submit, ErrHeldNotFound, ErrHeldDecided when it was decided otherwise, ErrPeriodClosed and ErrPeriodNotFound for the
// periods of its submission, a *leaderboard.RuleError when the board's rules no longer take it.
func (s *Store) DecideHeld(ctx context.Context, asked leaderboard.HeldDecision) (leaderboard.Held, error) {
	if broken := asked.Check(); broken != nil {
		return leaderboard.Held{}, mysql.Wrap("decide", broken)
	}
	h, err := s.HeldOne(ctx, asked.ID)
	if err != nil {
		return h, err
	}
	if leaderboard.CheckMember(h.Member) != nil {
		return leaderboard.Held{}, mysql.Wrap("decide", leaderboard.ErrHeldNotFound)
	}
	w := &decision{asked, &h}
	if err := s.writer.Do(ctx, h.Board, w); err != nil {
		return leaderboard.Held{Board: h.Board}, err
	}
	decided := *w.held
	decided.Board = h.Board
	return decided, nil
}
