package resident

import (
	"cmp"
	"slices"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Past returns a member's entry in each of several periods, with its strict and tied ranks. No period changes
// meanwhile. It takes each step for all periods, like findAll. Errors: leaderboard.ErrSeqAhead when a period has not
// reached the state in its ref, rank.ErrDamaged.
func Past(in []*Period, refs []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	defer lock(in, refs)()
	out, searches := make([]leaderboard.PastEntry, len(in)), make([]search, len(in))
	for i, p := range in {
		switch {
		case p.damaged:
			return nil, rank.ErrDamaged
		case p.at.Seq < refs[i].LastSeq:
			return nil, leaderboard.ErrSeqAhead
		}
		out[i].State = p.state()
		searches[i] = p.members.begin(member)
	}
	records := make([]record, len(in)) // found by the searches; their names are read next
	for i, p := range in {
		if n := searches[i].number; n != 0 {
			records[i] = *p.slab.at(n - 1)
		}
	}
	for i, p := range in {
		if p.members.end(&searches[i], member); searches[i].number != 0 {
			records[i] = *p.slab.at(searches[i].number - 1)
		}
	}
	places := make([]position, len(in))
	for i, p := range in {
		if n := searches[i].number; n != 0 {
			places[i] = p.order.place(n - 1)
		}
	}
	ranked := make([]leaderboard.Ranked, len(in))
	for i, p := range in {
		if searches[i].number == 0 {
			continue
		}
		e := p.codec.Decode(records[i].head)
		e.Member = member
		ranked[i] = leaderboard.Ranked{Ranks: p.ranks(places[i], leaderboard.ModeStrict), Entry: e}
		out[i].Ranked = &ranked[i]
	}
	return out, nil
}

// lock keeps periods from changing until unlock is called. They are locked in the order of their boards' names and of their ids, so
// that two readers of some of the same periods never wait for each other.
func lock(in []*Period, refs []leaderboard.PeriodRef) (unlock func()) {
	order := make([]int, len(in))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(refs[a].Board, refs[b].Board), cmp.Compare(refs[a].ID, refs[b].ID))
	})
	for _, i := range order {
		in[i].mu.RLock()
	}
	return func() {
		for _, p := range in {
			p.mu.RUnlock()
		}
	}
}
