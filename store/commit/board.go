package commit

import (
	"fmt"
	"slices"

	"leaderboard/internal/audit"
	"leaderboard/internal/boards"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Board is a board as its lock found it, with the changes of a batch.
type Board struct {
	known      *boards.Known
	clock      leaderboard.Micros // database clock, read under the lock: it decides which periods are current
	periods    []*Period          // the current ones, in the order of the board's windows; at least one
	past       []*Period          // past periods that requests name, in the order of their ids
	keys       map[string]keyRow
	asides     []Aside       // the parts that are reasons to set entries aside
	parts      []BoardPart   // of features, in the order of the list; nil for a feature without work there
	audit      []audit.Row   // the actions of requests that the audit records
	random     func() uint64 // bits of ids
	rolledOver bool          // periods were begun or closed in this transaction

	open     []*Period // all open periods that the lock found
	rollover boards.Rollover
}

// all returns the periods that may have changed.
func (b *Board) all() []*Period { return append(slices.Clip(b.periods), b.past...) }

// isAside reports whether there is a reason to set the entries of a member aside.
func (b *Board) isAside(member string) bool {
	for _, a := range b.asides {
		if a.SetsAside(member) {
			return true
		}
	}
	return false
}

// moveMembers moves the entries of members in the current periods to their side. In past periods the requests that name
// them move them.
func (b *Board) moveMembers(members []string) {
	if len(b.asides) == 0 {
		return
	}
	for _, p := range b.periods {
		for _, m := range members {
			p.move(m)
		}
	}
}

// done passes the result of an attempt to the parts.
func (b *Board) done(a *Attempt, res *leaderboard.Result) {
	each(b, func(p Finisher) { p.Done(a, res) })
}

// checkRules returns an ErrUnknownRule when a board has a rule that no part carries out.
func checkRules(parts []Part, b *leaderboard.Board) error {
	for _, rule := range leaderboard.RulesOfParts(&b.Rules) {
		if !slices.ContainsFunc(parts, func(p Part) bool { return p.Rule() == rule }) {
			return fmt.Errorf("%w: %s of board %s", leaderboard.ErrUnknownRule, rule, b.Name)
		}
	}
	return nil
}

// The methods of boards and periods that parts use.

// ID returns the id of the board, 0 if it is not known yet.
func (b *Board) ID() int64 { return b.known.Board.ID }

// Name returns the name of the board.
func (b *Board) Name() string { return b.known.Board.Name }

// Rules returns the rules of the board, which nobody may change.
func (b *Board) Rules() *leaderboard.Rules { return &b.known.Board.Rules }

// Clock returns the database clock, read under the lock.
func (b *Board) Clock() leaderboard.Micros { return b.clock }

// Random returns random bits for ids.
func (b *Board) Random() uint64 { return b.random() }

// PeriodIDs returns the ids of the current periods, in the order of the board's windows, none if none exist yet.
func (b *Board) PeriodIDs() []int64 { return b.known.Periods }

// Current returns the current periods, in the order of the board's windows: at least one.
func (b *Board) Current() []*Period { return b.periods }

// Periods returns the current periods, followed by the past periods that requests name.
func (b *Board) Periods() []*Period { return append(slices.Clip(b.periods), b.past...) }

// Audit adds a row to the audit, which the batch writes.
func (b *Board) Audit(by leaderboard.Caller, c AuditChange) error {
	row, err := audit.RowOf(by, c)
	if err == nil {
		b.audit = append(b.audit, row)
	}
	return err
}

// ID returns the id of the period, 0 if it does not exist.
func (p *Period) ID() int64 { return p.ref.ID }

// IsAside reports whether there is a reason to set the entry of a member aside.
func (p *Period) IsAside(member string) bool { return p.board != nil && p.board.isAside(member) }

// FoundAside records a stored entry that is set aside.
func (p *Period) FoundAside(e *leaderboard.Entry) { p.aside.found(e.Member, e) }

// Seq returns the seq of the period, at the state that the batch has led to so far.
func (p *Period) Seq() int64 { return p.lastSeq }

// Clock returns the database clock, read under the lock.
func (p *Period) Clock() leaderboard.Micros { return p.clock }

// Revision returns the revision that the batch has led the period to, once it is written.
func (p *Period) Revision() leaderboard.Revision {
	return leaderboard.Revision{Incarnation: p.ref.Incarnation, Seq: p.lastSeq, AsOf: p.committed}
}

// Key returns the sort key of an entry.
func (p *Period) Key(e leaderboard.Entry) rank.Key { return p.codec.Key(e) }

// Stored returns the submitted form of a stored entry's score and tiebreak.
func (p *Period) Stored(score, tiebreak int64) (int64, int64) { return p.codec.Stored(score, tiebreak) }

// Changed reports whether the submission would change the period.
func (d *Decision) Changed() bool { return d.changed }

// Next returns the entry that the submission would make.
func (d *Decision) Next() leaderboard.Entry { return d.next }

// Assigned returns the created_time that the submission would be given.
func (d *Decision) Assigned() leaderboard.Micros { return d.now }

// Late is a submission that enters periods after it came.
type Late struct {
	Attempt
	Periods []int64            // the periods that it was submitted to
	Rules   *leaderboard.Rules // the rules by which it is decided
	Reopen  bool               // also closed ones, as a correction
	Actor   string             // whose correction it is
	Skip    func(cur *leaderboard.Entry) bool
}

// Enter applies a submission to its periods that still exist, except periods whose current entry Skip accepts. Errors:
// ErrPeriodClosed, ErrPeriodNotFound if none exists, a RuleError if a rule is broken. After an error nothing has changed.
func (b *Board) Enter(late *Late) (leaderboard.Status, error) {
	var periods []*Period
	for _, p := range b.Periods() {
		if slices.Contains(late.Periods, p.ref.ID) && p.missing == nil {
			if p.closed && !late.Reopen {
				return "", leaderboard.ErrPeriodClosed
			}
			periods = append(periods, p)
		}
	}
	if len(periods) == 0 {
		return "", leaderboard.ErrPeriodNotFound
	}
	decisions := make([]Decision, len(periods))
	for i, p := range periods {
		d := p.decide(late.Rules, *late.Sub)
		if d.broken != nil {
			return "", d.broken
		}
		d.changed = d.changed && !late.Skip(d.cur)
		decisions[i] = d
	}
	status := leaderboard.StatusUnchanged
	for i, p := range periods {
		before := p.lastSeq
		if b.carryOutIn(p, &late.Attempt, &decisions[i]); decisions[i].changed {
			status = leaderboard.StatusApplied
			p.corrected(late.Actor, before)
		}
	}
	b.done(&late.Attempt, b.entered(periods, decisions, late.Sub, status))
	return status, nil
}

// entered returns the result of a submission in the current period of the board's first window. If it was only for other
// periods, the result shows that period unchanged.
func (b *Board) entered(periods []*Period, decisions []Decision, sub *leaderboard.Submission, status leaderboard.Status) *leaderboard.Result {
	first := b.periods[0]
	if i := slices.Index(periods, first); i >= 0 {
		res := decisions[i].result(first, sub)
		return &res
	}
	res := &leaderboard.Result{Member: sub.Member, Status: status}
	first.show(res, first.entry(sub.Member), sub)
	return res
}
