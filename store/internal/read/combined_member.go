package read

import (
	"cmp"
	"context"
	"slices"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// placed is an entry of one of the periods.
type placed struct {
	view int
	key  rank.Key
}

// member gives all entries of a member their ranks.
func (m *combined) member(ctx context.Context, member string) (*leaderboard.CombinedStandings, error) {
	entries, err := m.entries(ctx, member)
	if err != nil {
		return nil, err
	}
	ranks, err := m.places(ctx, entries)
	if err != nil {
		return nil, err
	}
	out := &leaderboard.CombinedStandings{States: m.states(), Entries: make([]leaderboard.CombinedRanked, len(entries))}
	for i, p := range entries {
		v := m.views[p.view]
		e, err := v.codec.Entry(p.key)
		if err != nil {
			return nil, err
		}
		out.Entries[i] = leaderboard.CombinedRanked{Ranked: leaderboard.Ranked{Ranks: ranks[i], Entry: e}, Board: v.ref.Board}
	}
	return out, nil
}

// entries returns those of a member, in order.
func (m *combined) entries(ctx context.Context, member string) ([]placed, error) {
	if leaderboard.CheckMember(member) != nil {
		return nil, nil
	}
	byID := make(map[int64]int, len(m.views))
	for i, v := range m.views {
		byID[v.ref.ID] = i
	}
	rows, err := m.q.QueryContext(ctx, m.reader.db.Limited(m.entriesText(member)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []placed
	err = entries.EachPart(rows, func(id int64, k rank.Key) { found = append(found, placed{byID[id], k}) })
	slices.SortFunc(found, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.view, b.view))
	})
	return found, err
}

func (m *combined) entriesText(member string) string {
	t := (&db.Text{}).Str("SELECT period_id, member, score, tiebreak, created_time FROM entries FORCE INDEX (PRIMARY) WHERE period_id IN (")
	for i, v := range m.views {
		t.Comma(i).Int(v.ref.ID)
	}
	return t.Str(") AND member = ").Hex(member).Str(" LIMIT ").Int(int64(len(m.views))).String()
}

// places returns the ranks of entries among those of all periods.
func (m *combined) places(ctx context.Context, entries []placed) ([]leaderboard.Ranks, error) {
	probes := make([][]rank.Key, len(m.views))
	for i := range m.views {
		for _, p := range entries {
			probes[i] = append(probes[i], p.key.Prefix(), p.in(i))
		}
		slices.Sort(probes[i])
		probes[i] = slices.Compact(probes[i])
	}
	ahead, err := m.ahead(ctx, probes)
	if err != nil {
		return nil, err
	}
	ranks := make([]leaderboard.Ranks, len(entries))
	for i, p := range entries {
		r := leaderboard.Ranks{Strict: 1, Tied: 1}
		for j := range m.views {
			strict, _ := slices.BinarySearch(probes[j], p.in(j))
			tied, _ := slices.BinarySearch(probes[j], p.key.Prefix())
			r.Strict += ahead[j][strict]
			r.Tied += ahead[j][tied]
		}
		ranks[i] = r
	}
	return ranks, nil
}

// in returns the key in front of which are, in one of the periods, the entries that come ahead of this one: an equal
// one does in the periods of the boards before.
func (p placed) in(view int) rank.Key {
	if view < p.view {
		return p.key + "\x00"
	}
	return p.key
}
