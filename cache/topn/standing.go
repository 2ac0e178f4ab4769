package cache

import (
	"cmp"
	"context"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

// places are what a copy says of members, in the order asked for.
type places struct {
	head
	codec rank.Codec
	mode  leaderboard.Mode
	keys  []rank.Key   // "" for members that the copy does not hold
	ranks []rank.Ranks // Dense only when that is the mode, 0 when it is too deep to count
}

// places looks members up: one round trip for any number.
func (c *Copies) places(ctx context.Context, p leaderboard.PeriodRef, mode leaderboard.Mode, members []string) (*places, head, error) {
	args := make([]any, 0, len(members)+2)
	args = append(args, format(p), string(mode))
	for _, m := range members {
		args = append(args, m)
	}
	h, err := c.run(ctx, c.scripts.members, p, args...)
	if err != nil {
		return nil, h, err
	}
	pl := &places{head: h, codec: rank.CodecOf(p.Rules), mode: mode, keys: h.rest.keys(), ranks: make([]rank.Ranks, len(members))}
	at, tied, dense := h.rest.ints(), h.rest.ints(), h.rest.ints()
	if h.rest.err != nil {
		return nil, h, h.rest.err
	}
	for i, k := range pl.keys {
		if k == "" {
			continue
		}
		if !k.Valid() {
			return nil, h, ErrDamaged
		}
		pl.ranks[i] = rank.Ranks{Strict: at[i] + 1, Tied: tied[i]}
		if mode == leaderboard.ModeDense {
			pl.ranks[i].Dense = dense[i]
		}
	}
	return pl, h, nil
}

// standings answer q, which is not narrow and whose members are those from the given place on. Errors: ErrUncovered,
// ErrBehind.
func (pl *places) standings(from int, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	if pl.Seq < q.MinSeq {
		return nil, ErrBehind
	}
	var notRanked []string
	held := make([]int, 0, len(q.Members))
	for i := from; i < from+len(q.Members); i++ {
		switch {
		case pl.ranks[i].In(pl.mode) != 0:
			held = append(held, i)
		case pl.keys[i] == "" && pl.complete():
			notRanked = append(notRanked, q.Members[i-from])
		default:
			return nil, ErrUncovered // too deep for the mode, or maybe outside of the copy
		}
	}
	slices.SortFunc(held, func(a, b int) int { return cmp.Compare(pl.keys[a], pl.keys[b]) })
	keys, ranks := make([]rank.Key, len(held)), make([]rank.Ranks, len(held))
	for i, at := range held {
		keys[i], ranks[i] = pl.keys[at], pl.ranks[at]
	}
	selection := rank.Select(&q, keys)
	s, err := selection.Standings(pl.codec, pl.mode, ranks)
	if err != nil {
		return nil, ErrDamaged
	}
	s.State, s.NotRanked = pl.State, notRanked
	return s, nil
}
