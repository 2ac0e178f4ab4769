package residency

import (
	"cmp"
	"math"
	"slices"
	"time"
)

const (
	// halfLife is the time in which the heat of a period that is no longer read halves.
	halfLife = 10 * time.Second
	// warm is the heat from which a small period is loaded, and entriesPerHeat how many entries take one more: loading
	// pays once it costs less than the reads that it saves.
	warm           = 20
	entriesPerHeat = 2000
	// hotter is how much hotter than another a period has to be to take its place, minStay how long that one stays in any
	// case: two periods that are read alike and do not both fit do not take turns.
	hotter  = 2
	minStay = 30 * time.Second
	// idle is how long a period stays that nobody reads.
	idle = 5 * time.Minute
	// entryBytes is what an entry is expected to take before it is known.
	entryBytes = 72
)

// cooled returns a heat after some time without reads.
func cooled(heat float64, passed time.Duration) float64 {
	return heat * math.Exp2(-float64(passed)/float64(halfLife))
}

// candidate is a period that is in memory or may come to be.
type candidate struct {
	id       int64
	heat     float64 // reads, each halved in a half-life
	bytes    int64   // that it takes, or is expected to; 0 when nothing is known of its size
	pinned   bool    // the rules of its board keep it
	resident bool
	loaded   time.Time // of a resident one
	read     time.Time // last
	unfit    bool      // not to be loaded now: it is being loaded, the last attempt failed, or it is not to be resident
}

// worth says whether a period is read enough to be loaded.
func (c *candidate) worth() bool {
	return c.pinned || c.heat >= warm+float64(c.bytes)/(entryBytes*entriesPerHeat)
}

// choose returns which periods are to leave the memory, and which one is to be loaded, 0 for none. With those gone, and
// that one come, the periods take no more than budget.
func choose(now time.Time, budget int64, all []candidate) (leave []int64, load int64) {
	free := budget
	var residents, others []candidate
	for _, c := range all {
		switch {
		case c.resident && (c.unfit || now.Sub(c.read) > idle):
			leave = append(leave, c.id)
		case c.resident:
			free -= c.bytes
			residents = append(residents, c)
		case !c.unfit && c.worth():
			others = append(others, c)
		}
	}
	slices.SortFunc(residents, coldest)
	for free < 0 && len(residents) > 0 { // they have grown
		free += residents[0].bytes
		leave, residents = append(leave, residents[0].id), residents[1:]
	}
	slices.SortFunc(others, func(a, b candidate) int { return coldest(b, a) })
	for i := range others {
		if room, fits := makeRoom(now, &others[i], free, residents); fits {
			return append(leave, room...), others[i].id
		}
	}
	return leave, 0
}

// coldest orders candidates by who leaves first.
func coldest(a, b candidate) int {
	if a.pinned != b.pinned {
		if b.pinned {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.heat, b.heat), cmp.Compare(a.id, b.id))
}

// makeRoom returns which residents, given with the coldest first, leave for a candidate; false when too few may.
func makeRoom(now time.Time, c *candidate, free int64, residents []candidate) (leave []int64, fits bool) {
	for _, r := range residents {
		if c.bytes <= free {
			break
		}
		yields := !r.pinned && now.Sub(r.loaded) >= minStay && c.heat >= hotter*r.heat
		if c.pinned {
			yields = !r.pinned || now.Sub(r.read) >= minStay // a period that has ended, maybe
		}
		if yields {
			free += r.bytes
			leave = append(leave, r.id)
		}
	}
	return leave, c.bytes <= free
}
