package read

import (
	"cmp"
	"context"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/entries"
)

// run is consecutive entries of all periods together.
type run struct {
	start  int64 // entries ahead of it
	keys   []rank.Key
	views  []int // which period each is of
	group  int64 // number, among all that was read, of the first entry that is tied with keys[0]
	better int64 // entries with a better (score, tiebreak) than keys[0], -1 when that is not known
}

// page reads a page.
func (m *combined) page(ctx context.Context, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	var (
		r   run
		err error
	)
	switch {
	case q.Around != "":
		r, err = m.around(ctx, q)
	case q.After != "":
		r, err = m.after(ctx, q)
	default:
		r, err = m.at(ctx, q.Offset, int64(q.Limit))
	}
	if err != nil {
		return nil, err
	}
	first := leaderboard.Ranks{Strict: r.start + 1}
	if len(r.keys) > 0 {
		if first.Tied, err = m.tied(ctx, &r); err != nil {
			return nil, err
		}
	}
	page := &leaderboard.CombinedPage{States: m.states(), Entries: make([]leaderboard.CombinedRanked, len(r.keys))}
	for i, ranks := range rank.Number(first, r.keys) {
		v := m.views[r.views[i]]
		e, err := v.codec.Entry(r.keys[i])
		if err != nil {
			return nil, err
		}
		page.Entries[i] = leaderboard.CombinedRanked{Ranked: leaderboard.Ranked{Ranks: ranks, Entry: e}, Board: v.ref.Board}
	}
	if n := len(r.keys); n > 0 && r.start+int64(n) < m.total {
		page.Next, page.NextBoard = string(r.keys[n-1]), m.views[r.views[n-1]].ref.Board
	}
	return page, nil
}

// tied returns the tied rank of the first entry of a run.
func (m *combined) tied(ctx context.Context, r *run) (int64, error) {
	switch {
	case r.start == 0:
		return 1, nil
	case r.better >= 0:
		return r.better + 1, nil
	}
	s, err := m.splits(ctx, []rank.Key{r.keys[0].Prefix()})
	if err != nil {
		return 0, err
	}
	return s[0].sum + 1, nil
}

// at reads the entries from number offset on.
func (m *combined) at(ctx context.Context, offset, limit int64) (run, error) {
	if offset >= m.total {
		return run{start: offset}, nil
	}
	b, err := m.find(ctx, offset, limit)
	if err != nil {
		return run{}, err
	}
	from, err := b.lo.bound()
	if err != nil {
		return run{}, err
	}
	to, err := b.far.bound()
	if err != nil {
		return run{}, err
	}
	skip := offset - b.lo.sum
	parts := make([]entries.Part, len(m.views))
	for i := range m.views {
		// After hi come as many entries as the run has that are not ahead of it, all of them perhaps of one period.
		most := b.hi.ahead[i] - b.lo.ahead[i] + max(0, offset+limit-b.hi.sum)
		most = min(most, skip+limit, b.far.ahead[i]-b.lo.ahead[i])
		parts[i] = entries.Part{Scan: entries.Scan{Range: entries.Range{From: from, To: to}, Limit: int(most)}, PeriodID: m.views[i].ref.ID}
	}
	r, err := m.scan(ctx, parts, skip, limit)
	if r.start = offset; len(r.keys) > 0 && r.keys[0].Prefix() >= b.lo.key {
		r.better = b.lo.sum + r.group // all that are tied with it are after lo
	}
	return r, err
}

// after reads the entries after a place.
func (m *combined) after(ctx context.Context, q leaderboard.CombinedQuery) (run, error) {
	key := rank.Key(q.After)
	if err := m.prepare(ctx); err != nil {
		return run{}, err
	}
	// One count for where the place is, and one for a place that is surely after the page.
	_, behind := m.edge(m.guess(key, atMost)+int64(max(q.Limit, 1)), atLeast)
	probes := make([][]rank.Key, len(m.views))
	froms := make([]entries.Bound, len(m.views))
	for i, v := range m.views {
		var err error
		if froms[i], err = entries.KeyBound(key, v.ref.Board <= q.AfterBoard); err != nil {
			return run{}, err
		}
		if probes[i] = []rank.Key{key}; v.ref.Board <= q.AfterBoard {
			probes[i][0] += "\x00" // the place right after the key: the entry with it, if there is one, is ahead of the page
		}
		if behind > probes[i][0] {
			probes[i] = append(probes[i], behind)
		}
	}
	ahead, err := m.ahead(ctx, probes)
	if err != nil {
		return run{}, err
	}
	lo, far := split{}, m.ending()
	for i := range m.views {
		lo.ahead = append(lo.ahead, ahead[i][0])
		lo.sum += ahead[i][0]
	}
	if s, ok := splitOf(behind, ahead); ok && s.sum >= lo.sum+int64(q.Limit) {
		far = s
	}
	to, err := far.bound()
	if err != nil {
		return run{}, err
	}
	parts := make([]entries.Part, len(m.views))
	for i := range m.views {
		sc := entries.Scan{Range: entries.Range{From: froms[i], To: to}, Limit: int(min(int64(q.Limit), far.ahead[i]-lo.ahead[i]))}
		parts[i] = entries.Part{Scan: sc, PeriodID: m.views[i].ref.ID}
	}
	r, err := m.scan(ctx, parts, 0, int64(q.Limit))
	r.start = lo.sum
	if len(r.keys) > 0 && !rank.Tied(key, r.keys[0]) {
		r.better = r.start
	}
	return r, err
}

// splitOf returns the split in front of a key that was counted second, if it was for all periods.
func splitOf(k rank.Key, ahead [][]int64) (split, bool) {
	s := split{key: k}
	for _, counts := range ahead {
		if len(counts) < 2 {
			return s, false
		}
		s.ahead = append(s.ahead, counts[1])
		s.sum += counts[1]
	}
	return s, true
}

// around reads the page around the best entry of a member.
func (m *combined) around(ctx context.Context, q leaderboard.CombinedQuery) (run, error) {
	entries, err := m.entries(ctx, q.Around)
	if err != nil {
		return run{}, err
	}
	if len(entries) == 0 {
		return run{}, leaderboard.ErrNotRanked
	}
	places, err := m.places(ctx, entries[:1])
	if err != nil {
		return run{}, err
	}
	start := rank.StartAround(leaderboard.PageQuery{Before: q.Before, Limit: q.Limit}, places[0].Strict-1, m.total)
	return m.at(ctx, start, int64(q.Limit))
}

// scan reads a part of each period, puts the parts together and returns limit entries, those after the first skip.
func (m *combined) scan(ctx context.Context, parts []entries.Part, skip, limit int64) (run, error) {
	keys, err := entries.ReadParts(ctx, m.reader.db, m.q, parts, func() {})
	if err != nil {
		return run{}, err
	}
	r := run{better: -1}
	at := make([]int, len(keys))
	var last rank.Key
	read, group := int64(0), int64(0)
	rank.Merge(keys, cmp.Compare[rank.Key], func(i int) bool {
		k := keys[i][at[i]]
		if read == 0 || !rank.Tied(last, k) {
			group = read
		}
		if read == skip {
			r.group = group
		}
		if read >= skip && limit > 0 {
			r.keys, r.views = append(r.keys, k), append(r.views, i)
		}
		at[i]++
		read++
		last = k
		return read < skip+limit
	})
	return r, nil
}
