package commit

import (
	"leaderboard/leaderboard"
)

// An atomic request is carried out like any other, in memory, and undone when one of its entries has failed. So each entry
// is decided on the result of the entries before it, and the batch writes nothing of an aborted request.

// allOrNone lets carry carry out the entries of a request and fill their results in. If an entry has failed, all is undone,
// as the results say.
func allOrNone(list []Attempt, carry func()) {
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
	for i := range list {
		if a := &list[i]; a.Board != nil {
			first := a.Board.periods[0]
			first.show(a.result, first.entry(a.Sub.Member), a.Sub)
			a.Board.done(a, a.result)
		}
	}
}

// savepoint returns a function that restores the present state of the boards of entries, as far as these entries can change
// it.
func savepoint(list []Attempt) (undo func()) {
	members := map[*Board][]string{}
	for i := range list {
		if b := list[i].Board; b != nil {
			members[b] = append(members[b], list[i].Sub.Member)
		}
	}
	var undos []func()
	for b, of := range members {
		undos = append(undos, b.mark(of))
	}
	return func() {
		for _, undo := range undos {
			undo()
		}
	}
}

// mark returns a function that undoes the submissions to the board for members from now on.
func (b *Board) mark(members []string) (undo func()) {
	var undos []func()
	each(b, func(p Marker) { undos = append(undos, p.Mark(members)) })
	for _, p := range b.periods {
		if p.missing == nil {
			undos = append(undos, p.mark(members))
		}
	}
	return func() {
		for _, undo := range undos {
			undo()
		}
	}
}

// mark returns a function that gives members the entries that they have now, also those set aside, and the period its state.
func (p *Period) mark(members []string) (undo func()) {
	was, entries := *p, make([]func(), len(members))
	for i, m := range members {
		entries[i] = p.markEntry(m)
	}
	return func() {
		p.lastSeq, p.lastCreated, p.count, p.changes = was.lastSeq, was.lastCreated, was.count, p.changes[:len(was.changes)]
		for _, undo := range entries {
			undo()
		}
	}
}

// markEntry returns a function that gives a member the entry that it has now, and the one set aside.
func (p *Period) markEntry(member string) (undo func()) {
	visible, aside := p.entries[member], p.aside.entries[member]
	row, touched := p.aside.touched[member]
	return func() {
		p.entries[member] = visible
		if p.aside.entries[member] != aside {
			p.aside.entries[member] = aside
		}
		if !touched {
			delete(p.aside.touched, member)
		} else {
			p.aside.touched[member] = row
		}
	}
}
