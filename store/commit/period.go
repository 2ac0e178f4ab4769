package commit

import (
	"slices"
	"strings"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Period is a period's row as the lock found it, with the changes of a batch. It belongs to one batch.
type Period struct {
	ref         leaderboard.PeriodRef
	codec       rank.Codec
	lastSeq     int64
	lastCreated leaderboard.Micros
	committed   leaderboard.Micros
	count       int64
	clock       leaderboard.Micros // database clock, read under the lock

	// missing is why there is no current period. Such a period has no row.
	missing *leaderboard.RuleError

	closed      bool // a past period that a request names: current periods are open
	corrections []correction

	entries map[string]*leaderboard.Entry // current entries of the members concerned
	changes []leaderboard.Change
	board   *Board // knows which entries are set aside
	aside   asideEntries
}

// correction is a correction of a closed period.
type correction struct {
	actor    string
	from, to int64 // seq; the same when only an entry that is set aside was corrected
}

// Decision is the effect that a submission would have on a period.
type Decision struct {
	cur     *leaderboard.Entry
	next    leaderboard.Entry
	changed bool
	broken  *leaderboard.RuleError
	now     leaderboard.Micros // the last assigned created_time
}

// decideAll returns the effects that a submission would have on a board's current periods. When it breaks a rule in a
// period, the first decision has that rule, and nothing may be carried out: a limit may be reached in one window and not in
// another.
func decideAll(periods []*Period, sub leaderboard.Submission) []Decision {
	decisions := make([]Decision, 0, len(periods))
	for i, p := range periods {
		d := p.decide(p.ref.Rules, sub)
		if d.broken != nil && i > 0 {
			decisions[0].broken = d.broken.In(p.ref.Window)
			return decisions
		}
		if decisions = append(decisions, d); d.broken != nil {
			return decisions
		}
	}
	return decisions
}

// carryOutAll carries out the decisions, unless a rule is broken. The result is the result of the first period.
func (b *Board) carryOutAll(a *Attempt, decisions []Decision) leaderboard.Result {
	if decisions[0].broken == nil {
		for i := range decisions {
			b.carryOutIn(b.periods[i], a, &decisions[i])
		}
	}
	return decisions[0].result(b.periods[0], a.Sub)
}

// decide returns the effect that a submission would have on the period by rules, and changes nothing.
func (p *Period) decide(rules *leaderboard.Rules, sub leaderboard.Submission) Decision {
	if p.missing != nil {
		return Decision{broken: p.missing}
	}
	d := Decision{cur: p.entry(sub.Member), now: max(p.clock, p.lastCreated+1)}
	var err error
	d.next, d.changed, err = rules.Apply(d.cur, sub, d.now, p.clock)
	d.broken = leaderboard.AsRule(err)
	return d
}

// carryOutIn records the change that was decided on for a period, if any.
func (b *Board) carryOutIn(p *Period, a *Attempt, d *Decision) {
	if !d.changed {
		return
	}
	if a.Sub.CreatedTime == nil && d.next.CreatedTime == d.now { // it was not kept
		p.lastCreated = d.now
	}
	p.record(a.Sub.Member, d.cur, &d.next)
	each(b, func(o Observer) { o.Entry(p, a.Sub.Member, d.cur, &d.next, a) })
}

// result returns the result for the submitter, of a period.
func (d *Decision) result(p *Period, sub *leaderboard.Submission) leaderboard.Result {
	res := leaderboard.Result{Member: sub.Member, Status: leaderboard.StatusUnchanged}
	if d.broken != nil || !d.changed {
		p.show(&res, d.cur, sub)
		if res.Old, res.New = d.cur, d.cur; d.broken != nil {
			res.Fail(d.broken)
		}
		return res
	}
	p.show(&res, &d.next, sub)
	res.Status, res.Previous, res.Old, res.New = leaderboard.StatusApplied, nil, d.cur, &d.next
	if d.cur != nil {
		res.Previous = &d.cur.Score
	}
	return res
}

// show sets the entry of a result to e, which may be nil.
func (p *Period) show(res *leaderboard.Result, e *leaderboard.Entry, sub *leaderboard.Submission) {
	var t *leaderboard.Tiebreak
	if p.ref.Rules != nil {
		t = &p.ref.Rules.Tiebreak
	}
	res.Show(e, t, sub.Plain())
}

// entry returns the entry to which a member's submission is applied, which may be set aside.
func (p *Period) entry(member string) *leaderboard.Entry {
	if p.IsAside(member) {
		return p.aside.entries[member]
	}
	return p.entries[member]
}

// remove takes a member's entry out of a period, also if it is set aside; ok is false when the member has no entry.
func (b *Board) remove(p *Period, member string) (res leaderboard.Result, ok bool) {
	for _, cur := range []*leaderboard.Entry{p.aside.entries[member], p.entries[member]} {
		if cur != nil {
			res, ok = leaderboard.Result{Member: member, Status: leaderboard.StatusApplied, Previous: &cur.Score}, true
		}
	}
	if p.aside.entries[member] != nil {
		p.aside.set(member, nil)
	}
	if cur := p.entries[member]; cur != nil {
		p.log(member, cur, nil)
	}
	each(b, func(o Observer) { o.Entry(p, member, nil, nil, nil) })
	return res, ok
}

// move moves a member's entry to where it belongs: shown or set aside. To everybody it
// disappears, or appears with the time at which its score was reached: a change like any other.
func (p *Period) move(member string) {
	visible, kept := p.entries[member], p.aside.entries[member]
	switch aside := p.IsAside(member); {
	case aside && visible != nil:
		p.aside.set(member, visible)
		p.log(member, visible, nil)
	case !aside && kept != nil && visible == nil:
		p.aside.set(member, nil)
		p.log(member, nil, kept)
	}
}

// corrected notes that the period was corrected from a seq on, when it is closed.
func (p *Period) corrected(actor string, from int64) {
	if p.closed {
		p.corrections = append(p.corrections, correction{actor, from, p.lastSeq})
	}
}

// record makes next (nil: none) the member's entry. If it is set aside no reader sees it; old is the result of entry.
func (p *Period) record(member string, old, next *leaderboard.Entry) {
	if p.IsAside(member) {
		p.aside.set(member, next)
		return
	}
	p.log(member, old, next)
}

// log changes what everybody sees.
func (p *Period) log(member string, old, next *leaderboard.Entry) {
	p.lastSeq++
	c := leaderboard.Change{Seq: p.lastSeq, Member: member, Old: old, New: next}
	p.count += growth(&c)
	p.changes = append(p.changes, c)
	p.entries[member] = next
}

// growth returns by how many entries a change makes a period larger.
func growth(c *leaderboard.Change) int64 {
	switch {
	case c.Old == nil:
		return 1
	case c.New == nil:
		return -1
	default:
		return 0
	}
}

// toWrite returns the entries that differ from the ones found, by member bytes (the order of the primary key, so that
// neighbours are written together), and the members whose entries must be deleted.
func (p *Period) toWrite() (upserts []*leaderboard.Entry, gone []string) {
	seen := make(map[string]bool, len(p.changes))
	for _, c := range p.changes {
		if seen[c.Member] {
			continue
		}
		seen[c.Member] = true
		switch e := p.entries[c.Member]; {
		case e != nil:
			upserts = append(upserts, e)
		case c.Old != nil:
			gone = append(gone, c.Member)
		}
	}
	slices.SortFunc(upserts, func(a, b *leaderboard.Entry) int { return strings.Compare(a.Member, b.Member) })
	slices.Sort(gone)
	return upserts, gone
}

// commits returns the changes as rows of the change log with at most a number of changes each, none without changes. The
// time of each row is later than the time before it, so that it names the state that the row leads to.
func (p *Period) commits(most int) []*leaderboard.Commit {
	var out []*leaderboard.Commit
	count := p.count
	for i := range p.changes {
		count -= growth(&p.changes[i])
	}
	for changes := range slices.Chunk(p.changes, most) {
		for i := range changes {
			count += growth(&changes[i])
		}
		c := &leaderboard.Commit{
			PeriodID: p.ref.ID, Incarnation: p.ref.Incarnation, FirstSeq: changes[0].Seq, LastSeq: changes[len(changes)-1].Seq,
			PrevCommittedAt: p.committed, CommittedAt: leaderboard.CommitTime(p.clock, p.committed, changes), EntryCount: count, Changes: changes,
		}
		p.committed = c.CommittedAt
		out = append(out, c)
	}
	return out
}

// commit returns all changes as one row of the change log, nil when nothing changed.
func (p *Period) commit() *leaderboard.Commit {
	if len(p.changes) == 0 {
		return nil
	}
	return p.commits(len(p.changes))[0]
}

// firstOf returns the period of a board's first window, at the state after a request; nil if there is no such period.
func firstOf(periods []*Period) *leaderboard.PeriodRef {
	p := periods[0]
	if p.missing != nil {
		return nil
	}
	ref := p.ref
	ref.LastSeq = p.lastSeq
	return &ref
}

// seqsOf returns the seq of a board's first window, and with several windows the seqs of all.
func seqsOf(periods []*Period) (seq int64, seqs map[leaderboard.Window]int64) {
	if len(periods) > 1 {
		seqs = make(map[leaderboard.Window]int64, len(periods))
		for _, p := range periods {
			seqs[p.ref.Window] = p.lastSeq
		}
	}
	return periods[0].lastSeq, seqs
}
