package cache

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

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

// held are the keys of members in the order asked for, "" for those that the copy does not hold: one round trip.
func (c *Copies) held(ctx context.Context, p leaderboard.PeriodRef, members []string) ([]rank.Key, head, error) {
	raw, values, err := c.heldOnce(ctx, p, members)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err = c.scripts.held.Load(ctx, c.client).Err(); err == nil {
			raw, values, err = c.heldOnce(ctx, p, members)
		}
	}
	if err != nil {
		return nil, head{}, fmt.Errorf("cache: copy of period %d: %w", p.ID, err)
	}
	h, err := parseHead(raw)
	if err != nil {
		return nil, head{}, err
	}
	if len(values) != len(members) {
		return nil, h, ErrDamaged // not a hash, or not there any more
	}
	c.keepAlive(ctx, p, &h)
	keys := make([]rank.Key, len(values))
	for i, v := range values {
		if s, ok := v.(string); ok {
			if keys[i] = rank.Key(s); !keys[i].Valid() {
				return nil, h, ErrDamaged
			}
		}
	}
	return keys, h, nil
}

// heldOnce reads the state and the keys in one transaction. The error is that of the state.
func (c *Copies) heldOnce(ctx context.Context, p leaderboard.PeriodRef, members []string) (state, values []any, err error) {
	keys := c.keys(p)
	tx := c.client.TxPipeline()
	stateCmd := tx.EvalShaRO(ctx, c.scripts.held.Hash(), keys, format(p))
	valuesCmd := tx.HMGet(ctx, keys[1], members...)
	if _, err := tx.Exec(ctx); err != nil && stateCmd.Err() == nil && valuesCmd.Err() == nil {
		return nil, nil, err
	}
	state, err = stateCmd.Slice()
	return state, valuesCmd.Val(), err
}
