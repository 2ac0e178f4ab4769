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
	keys []rank.Key             // "" for members that the copy does not hold
	list []leaderboard.Standing // Rank 0: the copy does not hold the member, or not its rank in the mode
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
	pl := &places{head: h, keys: h.rest.keys(), list: make([]leaderboard.Standing, len(members))}
	at, tied, dense := h.rest.ints(), h.rest.ints(), h.rest.ints()
	if h.rest.err != nil {
		return nil, h, h.rest.err
	}
	codec := rank.CodecOf(p.Rules)
	for i, k := range pl.keys {
		if k == "" {
			continue
		}
		ranks := rank.Ranks{Strict: at[i] + 1, Tied: tied[i]}
		if mode == leaderboard.Dense {
			ranks.Dense = dense[i]
		}
		e, err := codec.Entry(k)
		if err != nil {
			return nil, h, ErrDamaged
		}
		pl.list[i] = leaderboard.Standing{Ranked: leaderboard.Ranked{Rank: ranks.In(mode), Entry: e}, Tied: ranks.Tied}
	}
	return pl, h, nil
}

// standings answer q, whose members are those from the given place on. Errors: ErrUncovered, ErrBehind.
func (pl *places) standings(from int, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	if pl.Seq < q.MinSeq {
		return nil, ErrBehind
	}
	s := &leaderboard.Standings{State: pl.State}
	held := make([]int, 0, len(q.Members))
	for i := from; i < from+len(q.Members); i++ {
		switch {
		case pl.list[i].Rank != 0:
			held = append(held, i)
		case pl.keys[i] == "" && pl.complete():
			s.NotRanked = append(s.NotRanked, q.Members[i-from])
		default:
			return nil, ErrUncovered
		}
	}
	slices.SortFunc(held, func(a, b int) int { return cmp.Compare(pl.keys[a], pl.keys[b]) })
	s.Entries = make([]leaderboard.Standing, len(held))
	for i, at := range held {
		s.Entries[i] = pl.list[at]
	}
	return s, nil
}
