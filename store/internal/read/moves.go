package read

import (
	"context"
	"slices"

	"leaderboard/internal/entries"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// moving is a move as keys: of the member's entry in the state ("" without one), of the new entry, of the old entry (""
// without one), and of the friends' entries.
type moving struct {
	own, new, old rank.Key
	friends       []rank.Key
}

// movingOf finds the keys of moves.
func (v *view) movingOf(q *leaderboard.MovesQuery, entryOf map[string]rank.Key) []moving {
	out := make([]moving, len(q.Moves))
	for i := range q.Moves {
		m, to := &q.Moves[i], &out[i]
		if to.own = entryOf[m.Member]; to.own == "" {
			continue
		}
		if to.new = to.own; m.New == nil {
			continue
		}
		if to.new = v.codec.Key(*m.New); m.Old == nil {
			continue
		}
		to.old = v.codec.Key(*m.Old)
		for _, f := range m.Friends {
			if key, ok := entryOf[f]; ok {
				to.friends = append(to.friends, key)
			}
		}
	}
	return out
}

// keys returns the keys whose ranks are needed.
func (m *moving) keys() []rank.Key {
	switch {
	case m.own == "":
		return nil
	case m.old == "":
		return []rank.Key{m.new}
	}
	return []rank.Key{m.new, m.old}
}

// probesOfMoves returns the places to count for the ranks of moves. Whether the member's own entry is alone in its group
// matters to the dense ranks behind it.
func (b *questionBatch) probesOfMoves(a *question) []rank.Key {
	var probes []rank.Key
	for i := range a.moving {
		m := &a.moving[i]
		for _, k := range m.keys() {
			probes = append(probes, k.Prefix(), k)
		}
		if a.mode.WithDense() && m.own != "" {
			probes = append(probes, m.own.Prefix(), m.own.Prefix()+entries.AfterTied)
		}
	}
	return probes
}

// moved completes the answer to a question about moves.
func (b *questionBatch) moved(ctx context.Context, a *question, c *counted) (*leaderboard.Moves, error) {
	dense, err := b.denseOfMoves(ctx, a, c)
	if err != nil {
		return nil, err
	}
	out := &leaderboard.Moves{State: b.state, Moved: make([]*leaderboard.Moved, len(a.moving))}
	for i := range a.moving {
		m := &a.moving[i]
		if m.own == "" {
			continue
		}
		one := &leaderboard.Moved{Ranks: m.ranks(m.new, c, dense), Replaced: m.new != m.own}
		if m.old != "" {
			previous := m.ranks(m.old, c, dense)
			one.Previous, one.Passed = &previous, rank.Passed(m.old, m.new, m.friends)
		}
		out.Moved[i] = one
	}
	return out, nil
}

// ranks returns the ranks of a key when the member's own entry is not counted.
func (m *moving) ranks(k rank.Key, c *counted, dense map[rank.Key]int64) leaderboard.Ranks {
	group := k.Prefix()
	r := leaderboard.Ranks{Strict: c.before(k) + 1, Tied: c.before(group) + 1, Dense: dense[group]}
	if m.own < k {
		r.Strict--
	}
	if m.own.Prefix() >= group {
		return r
	}
	r.Tied--
	if r.Dense > 0 && c.before(m.own.Prefix()+entries.AfterTied)-c.before(m.own.Prefix()) == 1 {
		r.Dense--
	}
	return r
}

// denseOfMoves returns the dense ranks of the groups of all keys, all entries counted; nothing in modes without.
func (b *questionBatch) denseOfMoves(ctx context.Context, a *question, c *counted) (map[rank.Key]int64, error) {
	if !a.mode.WithDense() {
		return nil, nil
	}
	var groups []rank.Key
	for i := range a.moving {
		for _, k := range a.moving[i].keys() {
			groups = append(groups, k.Prefix())
		}
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	better := make([]int64, len(groups))
	for i, g := range groups {
		better[i] = c.before(g)
	}
	ranks, err := b.dense(ctx, a.mode, groups, better)
	if err != nil {
		return nil, err
	}
	out := make(map[rank.Key]int64, len(groups))
	for i, g := range groups {
		out[g] = ranks[i]
	}
	return out, nil
}
