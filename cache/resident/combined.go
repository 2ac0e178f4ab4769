package resident

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

// Combined is several periods ranked as one, see leaderboard.CombinedRankings: given in the order of their boards'
// names, ordered alike.
type Combined []*Period

// placed is an entry of one of the periods.
type placed struct {
	period int
	record *record
}

// read calls f while none of the periods changes. They are locked in the order of the names, so that two readers of some
// of the same do not wait for each other. Errors: leaderboard.ErrSeqAhead when one has not reached the state that its
// ref says, rank.ErrDamaged.
func (c Combined) read(refs []leaderboard.PeriodRef, f func(states []leaderboard.State) error) error {
	for _, p := range c {
		p.mu.RLock()
		defer p.mu.RUnlock()
	}
	states := make([]leaderboard.State, len(c))
	for i, p := range c {
		switch {
		case p.damaged:
			return rank.ErrDamaged
		case p.at.Seq < refs[i].LastSeq:
			return leaderboard.ErrSeqAhead
		}
		states[i] = leaderboard.State{Revision: p.at.Revision, Total: p.at.Total, Source: leaderboard.SourceLocal}
	}
	return f(states)
}

// Page returns a page as leaderboard.CombinedRankings does.
func (c Combined) Page(refs []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (page *leaderboard.CombinedPage, err error) {
	err = c.read(refs, func(states []leaderboard.State) error {
		start, ahead, err := c.start(refs, &q, leaderboard.Total(states))
		if err != nil {
			return err
		}
		page = &leaderboard.CombinedPage{States: states}
		entries := c.run(ahead, min(max(0, q.Limit), leaderboard.MaxLimit))
		page.Entries = make([]leaderboard.CombinedRanked, len(entries))
		var ranks leaderboard.Ranks
		for i, e := range entries {
			if ranks.Strict++; i == 0 {
				ranks = leaderboard.Ranks{Strict: start + 1, Tied: c.better(e.record) + 1}
			} else if !entries[i-1].record.head.Tied(&e.record.head) {
				ranks.Tied = ranks.Strict
			}
			page.Entries[i] = c.ranked(refs, e, ranks)
		}
		if n := len(entries); n > 0 && start+int64(n) < leaderboard.Total(states) {
			last := entries[n-1]
			page.Next, page.NextBoard = string(c[last.period].key(last.record)), refs[last.period].Board
		}
		return nil
	})
	return page, err
}

// Member returns all entries of a member as leaderboard.CombinedRankings does.
func (c Combined) Member(refs []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (out *leaderboard.CombinedStandings, err error) {
	err = c.read(refs, func(states []leaderboard.State) error {
		out = &leaderboard.CombinedStandings{States: states, Entries: []leaderboard.CombinedRanked{}}
		for _, e := range c.entries(q.Member) {
			_, ahead := c.ahead(e)
			out.Entries = append(out.Entries, c.ranked(refs, e, leaderboard.Ranks{Strict: ahead + 1, Tied: c.better(e.record) + 1}))
		}
		return nil
	})
	return out, err
}

func (c Combined) ranked(refs []leaderboard.PeriodRef, e placed, ranks leaderboard.Ranks) leaderboard.CombinedRanked {
	entry := c[e.period].codec.Decode(e.record.head)
	entry.Member = string(c[e.period].slab.member(e.record))
	return leaderboard.CombinedRanked{Ranked: leaderboard.Ranked{Ranks: ranks, Entry: entry}, Board: refs[e.period].Board}
}

// start returns the number of entries ahead of a page, in all and in each period.
func (c Combined) start(refs []leaderboard.PeriodRef, q *leaderboard.CombinedQuery, total int64) (int64, []int64, error) {
	start := min(max(q.Offset, 0), total)
	switch {
	case q.Around != "":
		entries := c.entries(q.Around)
		if len(entries) == 0 {
			return 0, nil, leaderboard.ErrNotRanked
		}
		_, before := c.ahead(entries[0])
		start = rank.StartAround(leaderboard.PageQuery{Before: q.Before, Limit: q.Limit}, before, total)
	case q.After != "":
		sum, ahead := int64(0), make([]int64, len(c))
		for i, p := range c {
			if key := rank.Key(q.After); refs[i].Board <= q.AfterBoard {
				ahead[i] = p.through(key)
			} else {
				ahead[i] = p.upTo(key)
			}
			sum += ahead[i]
		}
		return sum, ahead, nil
	}
	return start, c.split(start), nil
}

// entries returns the entries of a member, best first.
func (c Combined) entries(member string) []placed {
	var found []placed
	for i, p := range c {
		if n, ok := p.members.find([]byte(member)); ok {
			found = append(found, placed{i, p.slab.at(n)})
		}
	}
	slices.SortFunc(found, func(a, b placed) int {
		return cmp.Or(a.record.head.Compare(&b.record.head), cmp.Compare(a.period, b.period))
	})
	return found
}

// ahead returns the number of entries ahead of one, in each period and in all: of entries with equal keys those of the
// boards before.
func (c Combined) ahead(e placed) (each []int64, sum int64) {
	each = make([]int64, len(c))
	member := c[e.period].slab.member(e.record)
	for i, p := range c {
		each[i] = p.order.ahead(p.search(e.record.head, member))
		if i < e.period {
			if n, ok := p.members.find(member); ok && p.slab.at(n).head == e.record.head {
				each[i]++
			}
		}
		sum += each[i]
	}
	return each, sum
}

// better returns the number of entries with a better (score, tiebreak) than one.
func (c Combined) better(r *record) int64 {
	var n int64
	for _, p := range c {
		n += p.order.ahead(p.order.find(func(h *rank.Head, _ uint32) bool {
			return h[0] < r.head[0] || h[0] == r.head[0] && h[1] < r.head[1]
		}))
	}
	return n
}

// split returns how many entries of each period are ahead of the place with n entries ahead of it in all: a selection in
// several sorted lists at once. An entry of the largest part that is left is placed in all of them, and what is on the
// wrong side of it is done with. Where entries are spread alike over the periods the place is near a share of the part,
// so entries a little to both sides of that are tried; every third time it is the one in the middle, which halves the part
// however they are spread.
func (c Combined) split(n int64) []int64 {
	low, high := make([]int64, len(c)), make([]int64, len(c))
	for i, p := range c {
		high[i] = p.at.Total
	}
	for try := 0; ; try++ {
		largest, left, want := 0, int64(0), n
		for i := range c {
			if left, want = left+high[i]-low[i], want-low[i]; high[i]-low[i] > high[largest]-low[largest] {
				largest = i
			}
		}
		part := high[largest] - low[largest]
		if part == 0 {
			return low
		}
		aim := 0.5
		if aside := math.Sqrt(float64(left)); try%3 == 0 {
			aim = (float64(want) - aside) / float64(left)
		} else if try%3 == 1 {
			aim = (float64(want) + aside) / float64(left)
		}
		middle := low[largest] + min(max(int64(aim*float64(part)), 0), part-1)
		p := c[largest]
		number, _ := p.order.record(p.order.nth(middle))
		each, sum := c.ahead(placed{largest, p.slab.at(number)})
		for i := range c {
			if sum < n {
				low[i] = max(low[i], each[i])
			} else {
				high[i] = min(high[i], each[i])
			}
		}
		if sum < n {
			low[largest] = middle + 1
		}
	}
}

// run returns the next entries of all periods, after those that are ahead of it in each.
func (c Combined) run(ahead []int64, limit int) []placed {
	at := make([]place, len(c))
	next := make([]*record, len(c)) // nil at the end of a period
	for i, p := range c {
		at[i] = p.order.nth(ahead[i])
		next[i] = p.recordAt(at[i])
	}
	var out []placed
	for len(out) < limit {
		first := -1
		for i, r := range next {
			if r != nil && (first < 0 || c.isAhead(i, r, first, next[first])) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		out = append(out, placed{first, next[first]})
		at[first] = c[first].order.next(at[first])
		next[first] = c[first].recordAt(at[first])
	}
	return out
}

// isAhead says whether record a of period i comes ahead of record b of period j, a period before it.
func (c Combined) isAhead(i int, a *record, j int, b *record) bool {
	order := a.head.Compare(&b.head)
	if order == 0 {
		order = bytes.Compare(c[i].slab.member(a), c[j].slab.member(b))
	}
	return order < 0
}

// recordAt returns the record at a place, nil at the end.
func (p *Period) recordAt(at place) *record {
	n, ok := p.order.record(at)
	if !ok {
		return nil
	}
	return p.slab.at(n)
}
