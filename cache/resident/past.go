package resident

import (
	"cmp"
	"hash/maphash"
	"slices"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Past returns a member's entry in each of several periods, with its strict and tied ranks. No period changes
// meanwhile. It takes each step for all periods, like findAll, and each step reads little, so that the processor waits for the memory
// of many periods at a time. Errors: leaderboard.ErrSeqAhead when a period has not reached the state in its ref, rank.ErrDamaged.
func Past(in []*Period, refs []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	defer lock(in, refs)()
	out := make([]leaderboard.PastEntry, len(in))
	for i, p := range in {
		switch {
		case p.damaged:
			return nil, rank.ErrDamaged
		case p.at.Seq < refs[i].LastSeq:
			return nil, leaderboard.ErrSeqAhead
		}
		out[i].State = p.state()
	}
	found, ranked := findPast(in, member), make([]leaderboard.Ranked, len(in))
	for i, p := range in {
		f := &found[i]
		if f.number == 0 {
			continue
		}
		e := p.codec.Decode(f.record.head)
		e.Member = member
		ranked[i] = leaderboard.Ranked{Ranks: p.ranks(f.place, leaderboard.ModeStrict), Entry: e}
		out[i].Ranked = &ranked[i]
	}
	return out, nil
}

// pastEntry is the entry of a member in one of several periods: the search for it, its record, and the record's place.
type pastEntry struct {
	search
	record record
	name   []byte // of the first record that may be the member's
	place  position
}

// findPast finds a member's entry in each of several periods whose locks are held; number is 0 where the member has no entry.
func findPast(in []*Period, member string) []pastEntry {
	found, hash := make([]pastEntry, len(in)), maphash.String(seed, member)
	for i, p := range in {
		found[i].search = p.members.in(hash)
	}
	for i := range found {
		found[i].begin()
	}
	for i, p := range in {
		if f := &found[i]; f.number != 0 {
			f.record = *p.slab.at(f.number - 1)
		}
	}
	for i, p := range in {
		if f := &found[i]; f.number != 0 {
			f.name = p.slab.member(&f.record)
		}
	}
	for i, p := range in {
		f := &found[i]
		if f.number == 0 || string(f.name) == member {
			continue
		}
		if p.members.end(&f.search, member); f.number != 0 {
			f.record = *p.slab.at(f.number - 1)
		}
	}
	for i, p := range in {
		if f := &found[i]; f.number != 0 {
			f.place.block = p.order.blockOf(&f.record)
		}
	}
	for i, p := range in {
		if f := &found[i]; f.number != 0 {
			f.place.n = p.order.blocks[f.place.block].find(f.number - 1)
		}
	}
	return found
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
