package cache

import (
	"context"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

// narrowAttempts bounds how often the two halves of an answer are asked for again because the copy moved between them.
const narrowAttempts = 3

// narrow answers a question about some of many members: first the keys of all of them, which say who is shown, then the
// places of those, at the same state. The errors are those of Page; a copy that moves on all the time is ErrUncovered.
func (c *Copies) narrow(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, head, error) {
	for range narrowAttempts {
		keys, h, err := c.held(ctx, p, q.Members)
		switch {
		case err != nil:
			return nil, h, err
		case h.Seq < q.MinSeq:
			return nil, h, ErrBehind
		}
		var absent []string
		for i, k := range keys {
			if k == "" {
				absent = append(absent, q.Members[i])
			}
		}
		if absent != nil && !h.complete() {
			return nil, h, ErrUncovered
		}
		keys = slices.DeleteFunc(keys, func(k rank.Key) bool { return k == "" })
		slices.Sort(keys)
		s, same, err := c.narrowed(ctx, p, &q, keys, h.State)
		if err != nil {
			return nil, h, err
		}
		if same {
			s.State, s.NotRanked = h.State, absent
			return s, h, nil
		}
	}
	return nil, head{}, ErrUncovered
}

// narrowed is the second half; same is false when the copy is not at the state of the first one any more.
func (c *Copies) narrowed(ctx context.Context, p leaderboard.PeriodRef, q *leaderboard.MembersQuery, keys []rank.Key,
	at leaderboard.State,
) (s *leaderboard.Standings, same bool, err error) {
	selection := rank.Select(q, keys)
	shown := selection.Keys()
	ranks := make([]rank.Ranks, len(shown))
	if len(shown) > 0 {
		members := make([]string, len(shown))
		for i, k := range shown {
			members[i] = k.Member()
		}
		pl, _, err := c.places(ctx, p, q.Mode, members)
		if err != nil || pl.State != at {
			return nil, false, err
		}
		for _, r := range pl.ranks {
			if r.In(q.Mode) == 0 {
				return nil, false, ErrUncovered // too deep for the mode
			}
		}
		ranks = pl.ranks
	}
	s, err = selection.Standings(rank.CodecOf(p.Rules), q.Mode, ranks)
	if err != nil {
		return nil, false, ErrDamaged
	}
	return s, true, nil
}

// held are the keys of members in the order asked for, "" for those that the copy does not hold.
func (c *Copies) held(ctx context.Context, p leaderboard.PeriodRef, members []string) ([]rank.Key, head, error) {
	args := make([]any, 0, len(members)+1)
	args = append(args, format(p))
	for _, m := range members {
		args = append(args, m)
	}
	h, err := c.run(ctx, c.scripts.held, p, args...)
	if err != nil {
		return nil, h, err
	}
	keys := h.rest.keys()
	if h.rest.err == nil && len(keys) != len(members) {
		h.rest.fail("want a key per member")
	}
	for _, k := range keys {
		if k != "" && !k.Valid() {
			return nil, h, ErrDamaged
		}
	}
	return keys, h, h.rest.err
}
