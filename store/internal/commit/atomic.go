package commit

import (
	"leaderboard/leaderboard"
)

// An atomic request is carried out like any other, in memory, and taken back when one of its entries has failed. So each
// entry is decided on what those before it would have made, and the batch writes nothing of a request that is aborted.

// attempt is one entry of an atomic request.
type attempt struct {
	board  *lockedBoard // nil: none takes it
	sub    *leaderboard.Submission
	result *leaderboard.Result
}

// allOrNone has carry carry out the entries of a request and fill their results in. When one of them has failed, all is taken
// back, and the results say so.
func allOrNone(list []attempt, caller *leaderboard.Caller, carry func()) {
	undo := savepoint(list)
	carry()
	results := make([]*leaderboard.Result, len(list))
	for i := range list {
		results[i] = list[i].result
	}
	if !leaderboard.AbortAll(results) {
		return
	}
	undo()
	for _, a := range list {
		if a.board != nil {
			first := a.board.periods[0]
			first.show(a.result, first.entry(a.sub.Member), a.sub)
			a.board.record(a.sub, a.result, caller)
		}
	}
}

// savepoint returns a function that makes the boards of entries what they are now, as far as these entries can change them.
func savepoint(list []attempt) (undo func()) {
	var undos []func()
	marked := map[*lockedBoard]bool{}
	for _, a := range list {
		b := a.board
		if b == nil {
			continue
		}
		if !marked[b] {
			marked[b] = true
			undos = append(undos, b.mark())
		}
		for _, p := range b.periods {
			if p.missing == nil {
				undos = append(undos, p.markEntry(a.sub.Member))
			}
		}
	}
	return func() {
		for _, undo := range undos {
			undo()
		}
	}
}

// mark returns a function that takes back what is submitted to the board from now on, but for the entries themselves.
func (b *lockedBoard) mark() (undo func()) {
	records, unhold, was := len(b.records), b.reviews.mark(), make([]period, len(b.periods))
	for i, p := range b.periods {
		was[i] = *p
	}
	return func() {
		unhold()
		b.records = b.records[:records]
		for i, p := range b.periods {
			p.lastSeq, p.lastCreated, p.count, p.changes = was[i].lastSeq, was[i].lastCreated, was[i].count, p.changes[:len(was[i].changes)]
		}
	}
}

// markEntry returns a function that gives a member the entry that it has now, and the hidden one.
func (p *period) markEntry(member string) (undo func()) {
	visible, hidden := p.entries[member], p.hidden.entries[member]
	row, touched := p.hidden.touched[member]
	metadata := p.metadata.mark(member)
	return func() {
		metadata()
		p.entries[member] = visible
		if p.hidden.entries[member] != hidden {
			p.hidden.entries[member] = hidden
		}
		if !touched {
			delete(p.hidden.touched, member)
		} else {
			p.hidden.touched[member] = row
		}
	}
}
