package resident

import (
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Moves returns the answers to moves, as leaderboard.Rankings does.
func (p *Period) Moves(q leaderboard.MovesQuery) (out *leaderboard.Moves, err error) {
	err = p.read(q.MinSeq, func(state leaderboard.State) error {
		out = &leaderboard.Moves{State: state, Moved: make([]*leaderboard.Moved, len(q.Moves))}
		for i := range q.Moves {
			if n, ok := p.members.find([]byte(q.Moves[i].Member)); ok {
				out.Moved[i] = p.moved(n, &q.Moves[i], q.Mode)
			}
		}
		return nil
	})
	return out, err
}

// moved returns the answer to a move of the member of a record.
func (p *Period) moved(n uint32, m *leaderboard.Move, mode leaderboard.Mode) *leaderboard.Moved {
	if m.New == nil {
		return &leaderboard.Moved{Ranks: p.ranks(p.order.place(n), mode)}
	}
	head := p.codec.Head(m.New)
	out := &leaderboard.Moved{Ranks: p.ranksWithout(n, head, mode), Replaced: p.slab.at(n).head != head}
	if m.Old == nil {
		return out
	}
	previous := out.Ranks
	if *m.Old != *m.New {
		previous = p.ranksWithout(n, p.codec.Head(m.Old), mode)
	}
	out.Previous, out.Passed = &previous, p.passed(m)
	return out
}

// ranksWithout returns the ranks that the member of a record has with a head, when its own entry is not counted.
func (p *Period) ranksWithout(n uint32, head rank.Head, mode leaderboard.Mode) leaderboard.Ranks {
	own := p.slab.at(n)
	better := p.group(&head)
	ranks := leaderboard.Ranks{Strict: p.order.ahead(p.search(head, p.slab.member(own))) + 1, Tied: p.order.ahead(better) + 1}
	if mode.WithDense() {
		ranks.Dense = p.groupsAhead(better) + 1
	}
	if own.head.Compare(&head) < 0 {
		ranks.Strict--
	}
	if own.head.Better(&head) {
		ranks.Tied--
		if mode.WithDense() && p.isAlone(n) {
			ranks.Dense--
		}
	}
	return ranks
}

// isAlone reports whether no other entry is tied with a record's entry.
func (p *Period) isAlone(n uint32) bool {
	own := &p.slab.at(n).head
	_, first := p.order.group(p.order.place(n))
	next := p.order.find(func(h *rank.Head, _ uint32) bool { return !own.Better(h) })
	return p.order.ahead(next) == first+1
}

// passed returns the friends that a move has passed.
func (p *Period) passed(m *leaderboard.Move) []string {
	if len(m.Friends) == 0 {
		return nil
	}
	from, to := p.codec.Head(m.Old), p.codec.Head(m.New)
	found, _ := p.find(m.Friends)
	between := found[:0]
	for _, e := range found {
		if e.head.Compare(&to) >= 0 && e.head.Compare(&from) <= 0 {
			between = append(between, e)
		}
	}
	return rank.Passed(p.codec.Key(*m.Old), p.codec.Key(*m.New), p.keys(between))
}
