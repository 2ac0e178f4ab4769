package commit

import (
	"slices"
)

// Move moves the entries of a member that was hidden or restored to their side, in the current periods and in the periods
// that it names.
type Move struct {
	Board     string
	Member    string
	PeriodIDs []int64
	Reopen    bool // also in closed periods, which is recorded with the actor
	Actor     string
}

type move struct {
	header
	Move
}

// pastCost is the number of submitted entries for which a named period counts in a batch: it is locked, and may get its own
// commit.
const pastCost = 10

// newMove returns a move. It does not count towards the limits of waiting requests: moves come one at a time.
func newMove(m Move) *move {
	r := &move{header: headerOf(queueID{board: m.Board}, []string{m.Board}, 1, 0), Move: m}
	r.load.cost, r.urgent = max(1, pastCost*len(m.PeriodIDs)), true
	return r
}

func (m *move) collect(of func(board string) *Needs) {
	n := of(m.Board)
	n.members = append(n.members, m.Member)
	n.past = append(n.past, pastEntries{m.Member, m.PeriodIDs})
}

// apply moves the entries in the named periods; the lock has moved the entries in the current ones. A closed period does
// not change unless it is reopened.
func (m *move) apply(l *locked) error {
	b, err := l.toMoveOn(m.Board)
	if err != nil {
		return err
	}
	for _, p := range b.past {
		if p.closed && !m.Reopen || !slices.Contains(m.PeriodIDs, p.ref.ID) {
			continue
		}
		before := p.lastSeq
		if p.move(m.Member); p.lastSeq > before {
			p.corrected(m.Actor, before)
		}
	}
	return nil
}
