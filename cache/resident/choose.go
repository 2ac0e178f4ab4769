package resident

import (
	"cmp"
	"slices"
	"time"
)

const (
	// much is the factor by which a period must be read more than another to replace it, and minStay the least time that
	// each stays, so that two periods that are read alike and do not both fit do not replace each other all the time.
	much    = 2
	minStay = 30 * time.Second
	// idle is how long a period stays in memory without a read.
	idle = 5 * time.Minute
)

// choose returns the periods that must leave the memory, and the period to load, or nil. After both, the periods take
// no more than budget.
func choose(now time.Time, budget int64, all []*candidate) (leave []*candidate, load *candidate) {
	free := budget
	var residents, others []*candidate
	for _, c := range all {
		switch {
		case c.resident && (c.unfit || now.Sub(c.lastRead) > idle):
			leave = append(leave, c)
		case c.resident:
			free -= c.bytes
			residents = append(residents, c)
		case !c.unfit && c.worth():
			others = append(others, c)
		}
	}
	slices.SortFunc(residents, leastRead)
	for free < 0 && len(residents) > 0 { // they have grown
		free += residents[0].bytes
		leave, residents = append(leave, residents[0]), residents[1:]
	}
	slices.SortFunc(others, func(a, b *candidate) int { return leastRead(b, a) })
	for _, c := range others {
		if room, fits := makeRoom(now, c, free, residents); fits {
			return append(leave, room...), c
		}
	}
	return leave, nil
}

// leastRead orders candidates: the first one leaves first.
func leastRead(a, b *candidate) int {
	if a.pinned != b.pinned {
		if b.pinned {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.reads, b.reads), cmp.Compare(a.id, b.id))
}

// makeRoom returns which residents, given with the least read first, leave for a candidate; false when too few may leave.
func makeRoom(now time.Time, c *candidate, free int64, residents []*candidate) (leave []*candidate, fits bool) {
	for _, r := range residents {
		if c.bytes <= free {
			break
		}
		yields := !r.pinned && now.Sub(r.loaded) >= minStay && c.reads >= much*r.reads
		if c.pinned {
			yields = !r.pinned || now.Sub(r.lastRead) >= minStay // a period that has ended, maybe
		}
		if yields {
			free += r.bytes
			leave = append(leave, r)
		}
	}
	return leave, c.bytes <= free
}
