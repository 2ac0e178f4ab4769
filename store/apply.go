package store

import (
	"slices"
	"strings"

	"leaderboard"
	"leaderboard/rank"
)

// period is a period's row as the lock found it, and what a batch makes of it. It belongs to one batch.
type period struct {
	ref         leaderboard.PeriodRef
	codec       rank.Codec
	lastSeq     int64
	lastCreated leaderboard.Micros
	committed   leaderboard.Micros
	count       int64
	clock       leaderboard.Micros // database clock, read under the lock

	// outside: there is no current period, and this is why. Such a period has no row.
	outside *leaderboard.RuleError

	past   bool // not a current one: only a removal that names it has it here
	closed bool
	actors []reopening

	entries map[string]*leaderboard.Entry // current entries of the members concerned
	changes []leaderboard.Change
	hidden  hiddenMembers // of the board and everywhere; shared with other periods
	shadow  shadow        // entries of members who are hidden, or were
}

// reopening is a correction of a closed period.
type reopening struct {
	actor    string
	from, to int64 // seq; the same when only a hidden entry was corrected
}

// decision is what a submission would make of a period.
type decision struct {
	cur     *leaderboard.Entry
	next    leaderboard.Entry
	changed bool
	broken  *leaderboard.RuleError
	now     leaderboard.Micros // what was assigned as created_time
}

// decide changes nothing.
func (p *period) decide(sub leaderboard.Submission) decision {
	if p.outside != nil {
		return decision{broken: p.outside}
	}
	d := decision{cur: p.entry(sub.Member), now: max(p.clock, p.lastCreated+1)}
	var err error
	d.next, d.changed, err = p.ref.Rules.Apply(d.cur, sub, d.now, p.clock)
	d.broken = leaderboard.AsRule(err)
	return d
}

// carryOut records the change that was decided on, if any.
func (p *period) carryOut(sub leaderboard.Submission, d *decision) {
	if !d.changed {
		return
	}
	if sub.CreatedTime == nil {
		p.lastCreated = d.now
	}
	p.record(sub.Member, d.cur, &d.next)
}

// result is what the submitter is told.
func (d *decision) result(member string) leaderboard.Result {
	res := leaderboard.Result{Member: member, Status: leaderboard.StatusUnchanged, Rule: d.broken}
	if d.cur != nil {
		res.Score, res.Previous, res.CreatedTime = &d.cur.Score, &d.cur.Score, &d.cur.CreatedTime
	}
	switch {
	case d.broken != nil:
		res.Status = leaderboard.StatusRejected
	case d.changed:
		res.Status, res.Score, res.CreatedTime = leaderboard.StatusApplied, &d.next.Score, &d.next.CreatedTime
	}
	return res
}

// remove takes a member's entry away, a hidden one too; ok is false when there is none.
func (p *period) remove(member string) (res leaderboard.Result, ok bool) {
	for _, cur := range []*leaderboard.Entry{p.shadow.entries[member], p.entries[member]} {
		if cur != nil {
			res, ok = leaderboard.Result{Member: member, Status: leaderboard.StatusApplied, Previous: &cur.Score}, true
		}
	}
	if p.shadow.entries[member] != nil {
		p.shadow.set(member, nil)
	}
	if cur := p.entries[member]; cur != nil {
		p.log(member, cur, nil)
	}
	return res, ok
}

// record makes next the member's entry, nil for none. Of a hidden member that is the one in the shadow, and nothing that
// anybody sees; old is what entry said.
func (p *period) record(member string, old, next *leaderboard.Entry) {
	if p.hidden.on(p.ref.BoardID, member) {
		p.shadow.set(member, next)
		return
	}
	p.log(member, old, next)
}

// log changes what everybody sees.
func (p *period) log(member string, old, next *leaderboard.Entry) {
	if old == nil {
		p.count++
	}
	if next == nil {
		p.count--
	}
	p.lastSeq++
	p.changes = append(p.changes, leaderboard.Change{Seq: p.lastSeq, Member: member, Old: old, New: next})
	p.entries[member] = next
}

// outcome is what has to be written: the entries that differ from the ones found, by member bytes (the order of the
// primary key, so that neighbours are written together), and the members whose entries are gone.
func (p *period) outcome() (upserts []*leaderboard.Entry, gone []string) {
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

// commit is the row of the change log, nil when nothing changed. Its time is later than the one before, so that it
// names the state that it leads to.
func (p *period) commit() *leaderboard.Commit {
	if len(p.changes) == 0 {
		return nil
	}
	return &leaderboard.Commit{
		PeriodID: p.ref.ID, FirstSeq: p.changes[0].Seq, LastSeq: p.lastSeq,
		PrevCommittedAt: p.committed, CommittedAt: leaderboard.CommitTime(p.clock, p.committed, p.changes),
		EntryCount: p.count, Changes: p.changes,
	}
}

// receipts applies the requests of a batch in order of arrival to what was found and gives each its answer. The rows of
// idempotency keys to add come back by key, the order in which every batch adds them.
func receipts(reqs []*request, f *found) (answers []answer, keys []keyRow) {
	answers = make([]answer, len(reqs))
	for i, r := range reqs {
		if r.key == "" {
			answers[i] = r.answer(f)
			continue
		}
		if row, ok := f.keys[r.key]; ok {
			if answers[i] = row.answer; row.hash != r.hash {
				answers[i] = answer{err: leaderboard.ErrKeyReused}
			}
			continue
		}
		if answers[i] = r.answer(f); answers[i].err == nil {
			row := keyRow{key: r.key, hash: r.hash, answer: answers[i]}
			f.keys[r.key] = row // for a second request with the key in this very batch
			keys = append(keys, row)
		}
	}
	slices.SortFunc(keys, func(a, b keyRow) int { return strings.Compare(a.key, b.key) })
	return answers, keys
}

// answer applies one request to what was found.
func (r *request) answer(f *found) (a answer) {
	if f.boards != nil {
		a.across = r.applyAcross(f.boards, f.none)
	} else {
		a.receipt, a.err = r.apply(f.periods)
	}
	return a
}

// apply carries one request out on the periods concerned, the board's first window first.
func (r *request) apply(periods []*period) (leaderboard.Receipt, error) {
	switch {
	case r.remove != "":
		return r.applyRemove(periods)
	case r.settle != "":
		return r.applySettle(periods)
	}
	receipt := leaderboard.Receipt{Results: make([]leaderboard.Result, 0, len(r.entries))}
	for _, sub := range r.entries {
		receipt.Results = append(receipt.Results, submitAll(periods, sub))
	}
	seqsOf(&receipt, periods)
	return receipt, nil
}

// submitAll applies a submission to a board's current periods, or to none when it breaks a rule in one of them: a limit
// may be reached in one window and not in another. The result is that of the first.
func submitAll(periods []*period, sub leaderboard.Submission) leaderboard.Result {
	decisions := make([]decision, 0, len(periods))
	for i, p := range periods {
		if p.past {
			break // these stand behind the current ones
		}
		d := p.decide(sub)
		if d.broken != nil {
			if i > 0 {
				decisions[0].broken = d.broken.In(p.ref.Window)
			} else {
				decisions = append(decisions, d)
			}
			return decisions[0].result(sub.Member)
		}
		decisions = append(decisions, d)
	}
	for i := range decisions {
		periods[i].carryOut(sub, &decisions[i])
	}
	return decisions[0].result(sub.Member)
}

func (r *request) applyRemove(periods []*period) (leaderboard.Receipt, error) {
	var receipt leaderboard.Receipt
	known, past := r.periodID == 0, false
	for _, p := range periods {
		if (r.periodID == 0 && p.past) || (r.periodID != 0 && r.periodID != p.ref.ID) {
			continue
		}
		if p.closed && !r.reopen {
			return receipt, leaderboard.ErrPeriodClosed
		}
		known = true
		before := p.lastSeq
		res, ok := p.remove(r.remove)
		if p.closed && ok {
			p.actors = append(p.actors, reopening{r.actor, before, p.lastSeq})
		}
		if ok && len(receipt.Results) == 0 {
			receipt.Results = append(receipt.Results, res)
		}
		if p.past {
			receipt.Seq, past = p.lastSeq, true // 0 when nobody was ever seen there
		}
	}
	switch {
	case !known:
		return receipt, leaderboard.ErrPeriodNotFound
	case len(receipt.Results) == 0:
		return receipt, leaderboard.ErrNotRanked
	}
	if !past {
		seqsOf(&receipt, periods)
	}
	return receipt, nil
}

func seqsOf(receipt *leaderboard.Receipt, periods []*period) {
	if i := slices.IndexFunc(periods, func(p *period) bool { return p.past }); i >= 0 {
		periods = periods[:i]
	}
	receipt.Seq = periods[0].lastSeq
	if len(periods) > 1 {
		receipt.Seqs = make(map[leaderboard.Window]int64, len(periods))
		for _, p := range periods {
			receipt.Seqs[p.ref.Window] = p.lastSeq
		}
	}
}
