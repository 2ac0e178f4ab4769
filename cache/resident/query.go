package resident

import (
	"bytes"
	"slices"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// read calls f with the state of the period, which does not change meanwhile. Errors: leaderboard.ErrSeqAhead when the
// period has not reached minSeq, rank.ErrDamaged.
func (p *Period) read(minSeq int64, f func(leaderboard.State) error) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	switch {
	case p.damaged:
		return rank.ErrDamaged
	case p.at.Seq < minSeq:
		return leaderboard.ErrSeqAhead
	}
	return f(p.state())
}

// state returns the state of the period as answers have it.
func (p *Period) state() leaderboard.State {
	return leaderboard.State{Revision: p.at.Revision, Total: p.at.Total, Source: leaderboard.SourceLocal}
}

// Page returns a run of consecutive entries, as leaderboard.Rankings does.
func (p *Period) Page(q leaderboard.PageQuery) (page *leaderboard.Page, err error) {
	err = p.read(q.MinSeq, func(state leaderboard.State) error {
		start, err := p.pageStart(q, state.Total)
		if err != nil {
			return err
		}
		page = &leaderboard.Page{State: state}
		limit := max(0, min(int64(q.Limit), state.Total-start))
		if page.Entries = make([]leaderboard.Ranked, 0, limit); limit == 0 {
			return nil
		}
		at := p.order.nth(start)
		ranks := p.ranks(at, q.Mode)
		records := make([]*record, 0, limit)
		size := 0
		for range limit {
			n, _ := p.order.record(at)
			records = append(records, p.slab.at(n))
			size += int(records[len(records)-1].length())
			at = p.order.next(at)
		}
		ids := p.ids(records, size)
		for i, r := range records {
			if i > 0 {
				ranks = ranks.Next(records[i-1].head.Tied(&r.head))
			}
			e := p.codec.Decode(r.head)
			e.Member = ids[:r.length()]
			ids = ids[r.length():]
			page.Entries = append(page.Entries, leaderboard.Ranked{Ranks: ranks, Entry: e})
		}
		if start+limit < state.Total {
			page.Next = string(p.key(records[len(records)-1]))
		}
		return nil
	})
	return page, err
}

// ids returns the members of records one after another, in one piece of memory per page.
func (p *Period) ids(records []*record, size int) string {
	b := make([]byte, 0, size)
	for _, r := range records {
		b = append(b, p.slab.member(r)...)
	}
	return string(b)
}

// pageStart returns the number of entries ahead of a page.
func (p *Period) pageStart(q leaderboard.PageQuery, total int64) (int64, error) {
	switch {
	case q.Around != "":
		n, ok := p.members.find([]byte(q.Around))
		if !ok {
			return 0, leaderboard.ErrNotRanked
		}
		return rank.StartAround(q, p.order.ahead(p.order.place(n)), total), nil
	case q.After != "":
		return p.through(rank.Key(q.After)), nil
	}
	return min(max(q.Offset, 0), total), nil
}

// through returns the number of entries ahead of a key, including the entry at the key.
func (p *Period) through(key rank.Key) int64 {
	ahead := p.upTo(key)
	if len(key) < rank.HeadLen {
		return ahead
	}
	if n, ok := p.members.find([]byte(key[rank.HeadLen:])); ok && p.slab.at(n).head == rank.HeadOf(key) {
		return ahead + 1
	}
	return ahead
}

// upTo returns the number of entries ahead of a key.
func (p *Period) upTo(key rank.Key) int64 {
	if len(key) < rank.HeadLen {
		return p.before(key)
	}
	return p.order.ahead(p.search(rank.HeadOf(key), []byte(key[rank.HeadLen:])))
}

// before returns the number of entries whose key is ahead of a prefix of a key.
func (p *Period) before(begin rank.Key) int64 {
	var room [rank.HeadLen]byte
	return p.order.ahead(p.order.find(func(h *rank.Head, _ uint32) bool { return rank.Key(h.AppendTo(room[:0])) < begin }))
}

// ranks returns the ranks of the entry at a place.
func (p *Period) ranks(at position, mode leaderboard.Mode) leaderboard.Ranks {
	groups, better := p.order.group(at)
	ranks := leaderboard.Ranks{Strict: p.order.ahead(at) + 1, Tied: better + 1}
	if mode.WithDense() {
		ranks.Dense = groups
	}
	return ranks
}

// key returns the sort key of a record.
func (p *Period) key(r *record) rank.Key {
	var room [rank.HeadLen + leaderboard.MaxMember]byte
	return rank.Key(append(r.head.AppendTo(room[:0]), p.slab.member(r)...))
}

// entry is the record of one of many queried members.
type entry struct {
	head   rank.Head
	number uint32
}

// find returns the entries of members, and the members without an entry.
func (p *Period) find(members []string) (found []entry, notRanked []string) {
	numbers := p.members.findAll(members)
	found = make([]entry, 0, len(members))
	for i, n := range numbers {
		if n == 0 {
			notRanked = append(notRanked, members[i])
			continue
		}
		found = append(found, entry{p.slab.at(n - 1).head, n - 1})
	}
	return found, notRanked
}

// keys returns the sort keys of entries, all in one piece of memory.
func (p *Period) keys(entries []entry) []rank.Key {
	size := len(entries) * rank.HeadLen
	for i := range entries {
		size += int(p.slab.at(entries[i].number).length())
	}
	b := make([]byte, 0, size)
	for i := range entries {
		b = append(entries[i].head.AppendTo(b), p.slab.member(p.slab.at(entries[i].number))...)
	}
	all, keys := rank.Key(b), make([]rank.Key, len(entries))
	for i := range entries {
		n := rank.HeadLen + int(p.slab.at(entries[i].number).length())
		keys[i], all = all[:n], all[n:]
	}
	return keys
}

// Members returns the standings of given members, as leaderboard.Rankings does.
func (p *Period) Members(q leaderboard.MembersQuery) (out *leaderboard.Standings, err error) {
	err = p.read(q.MinSeq, func(state leaderboard.State) error {
		found, notRanked := p.find(q.Members)
		best, self := p.best(&q, found)
		if self != nil {
			q.Self = ""
		}
		selection := rank.Select(&q, p.keys(best))
		ranks := make([]leaderboard.Ranks, 0, len(best))
		for i := range selection.Needed() {
			ranks = append(ranks, p.ranks(p.order.place(best[i].number), q.Mode))
		}
		var err error
		if out, err = selection.Standings(p.codec, ranks); err != nil {
			return err
		}
		out.State, out.NotRanked, out.Ranked = state, notRanked, len(found)
		if self != nil {
			out.Self = self
		}
		return nil
	})
	return out, err
}

// maxInserted is the length up to which the best of many are found by insertion, without sorting all.
const maxInserted = 64

// best returns the entries that the answer to a query shows, and the entries ahead of them, in order; and the entry of
// the member that the answer always includes, if it is not among them. When few of many are shown, not all are sorted.
func (p *Period) best(q *leaderboard.MembersQuery, found []entry) ([]entry, *leaderboard.Standing) {
	most := max(0, q.Offset) + q.Limit
	if q.Limit == 0 || most > maxInserted || most >= len(found) || q.Mode == leaderboard.ModeDense || q.Mode == leaderboard.ModeAll {
		slices.SortFunc(found, p.compare)
		return found, nil
	}
	best := make([]entry, 0, most+1)
	for _, e := range found {
		if len(best) == most && p.compare(e, best[most-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, e, p.compare)
		best = slices.Insert(best, at, e)[:min(len(best)+1, most)]
	}
	n, ok := p.members.find([]byte(q.Self))
	if !ok || q.Self == "" || !slices.ContainsFunc(found, func(e entry) bool { return e.number == n }) ||
		slices.ContainsFunc(best, func(e entry) bool { return e.number == n }) {
		return best, nil
	}
	r := p.slab.at(n)
	self := entry{r.head, n}
	position, better := leaderboard.Ranks{Strict: 1, Tied: 1}, make(map[[2]uint64]struct{}, len(found))
	for _, e := range found {
		if p.compare(e, self) < 0 {
			position.Strict++
			if !e.head.Tied(&self.head) {
				position.Tied++
				better[[2]uint64{e.head[0], e.head[1]}] = struct{}{}
			}
		}
	}
	position.Dense = int64(len(better)) + 1
	one := p.codec.Decode(r.head)
	one.Member = string(p.slab.member(r))
	return best, &leaderboard.Standing{Ranked: leaderboard.Ranked{Ranks: p.ranks(p.order.place(n), q.Mode), Entry: one}, Position: position}
}

// compare orders entries as the period does, best first.
func (p *Period) compare(a, b entry) int {
	if c := a.head.Compare(&b.head); c != 0 {
		return c
	}
	return bytes.Compare(p.slab.member(p.slab.at(a.number)), p.slab.member(p.slab.at(b.number)))
}

// ScoreRank returns the rank that a new entry would have, as leaderboard.Rankings does.
func (p *Period) ScoreRank(q leaderboard.ScoreQuery) (out *leaderboard.ScoreRank, err error) {
	err = p.read(q.MinSeq, func(state leaderboard.State) error {
		head := p.codec.Head(&leaderboard.Entry{Score: q.Score, Tiebreak: q.Tiebreak})
		better := p.group(&head)
		asGood := p.order.find(func(h *rank.Head, _ uint32) bool {
			return h[0] < head[0] || h[0] == head[0] && h[1] <= head[1]
		})
		ranks := leaderboard.Ranks{Strict: p.order.ahead(asGood) + 1, Tied: p.order.ahead(better) + 1}
		ranks.Dense = p.groupsAhead(better) + 1
		out = &leaderboard.ScoreRank{State: state, Ranks: ranks}
		return nil
	})
	return out, err
}

// group returns the first place whose entry is not better than a head.
func (p *Period) group(head *rank.Head) position {
	return p.order.find(func(h *rank.Head, _ uint32) bool { return h.Better(head) })
}

// groupsAhead returns how many groups of tied entries are ahead of the place where one begins, or of the end.
func (p *Period) groupsAhead(at position) int64 {
	if _, ok := p.order.record(at); !ok {
		return p.order.groups.Sum(len(p.order.blocks))
	}
	groups, _ := p.order.group(at)
	return groups - 1
}

// Distribution returns a histogram of the scores, as leaderboard.Rankings does.
func (p *Period) Distribution(q leaderboard.DistributionQuery) (out *leaderboard.Distribution, err error) {
	err = p.read(q.MinSeq, func(state leaderboard.State) error {
		out = &leaderboard.Distribution{State: state}
		if state.Total == 0 {
			return nil
		}
		var scores [4]int64
		for i, place := range rank.HistogramPlaces(state.Total) {
			scores[i] = p.score(place)
		}
		h := rank.NewHistogram(p.codec, scores, q.Buckets)
		ahead := make([]int64, 0, len(h.Edges()))
		for _, edge := range h.Edges() {
			ahead = append(ahead, p.before(edge))
		}
		out.Buckets = h.Buckets(ahead, state.Total)
		return nil
	})
	return out, err
}

// score returns the score of entry n from 0.
func (p *Period) score(n int64) int64 {
	record, _ := p.order.record(p.order.nth(n))
	return p.codec.Decode(p.slab.at(record).head).Score
}
