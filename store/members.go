package store

import (
	"context"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

// Members implements leaderboard.Rankings. The ranks of all members together cost one scan down to the worst of them:
// what is counted is the distance from each to the next.
func (s *Store) Members(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	var out *leaderboard.Standings
	err := s.view(ctx, ref, q.MinSeq, func(v *view) error {
		keys, err := v.members(ctx, q.Members)
		if err != nil {
			return err
		}
		slices.Sort(keys)
		ranks, err := v.allRanks(ctx, keys, q.Mode == leaderboard.Dense)
		if err != nil {
			return err
		}
		out, err = v.standings(q, keys, ranks)
		return err
	})
	if err != nil {
		return nil, translate(ctx, "members", err)
	}
	return out, nil
}

// allRanks are the ranks of entries in order; Dense only when it is asked for.
func (v *view) allRanks(ctx context.Context, keys []rank.Key, dense bool) ([]rank.Ranks, error) {
	ranks := make([]rank.Ranks, len(keys))
	steps := make([]interval, 0, 2*len(keys)) // per entry: up to its group, and on to the entry itself
	groups := make([]interval, 0, len(keys))
	at, group := beginning(), beginning()
	for _, k := range keys {
		here, err := keyCut(k, false)
		if err != nil {
			return nil, err
		}
		next := groupCut(here.score, here.tiebreak, false)
		groups = append(groups, interval{group, next})
		if next != group {
			steps = append(steps, interval{at, next}, interval{next, here})
		} else {
			steps = append(steps, interval{at, at}, interval{at, here})
		}
		at, group = here, next
	}
	counts, err := v.store.counter.count(ctx, v.q, v.ref.ID, steps)
	if err != nil {
		return nil, err
	}
	var distinct []int64
	if dense {
		if distinct, err = v.store.counter.distinct(ctx, v.q, v.ref.ID, groups); err != nil {
			return nil, err
		}
	}
	before, better, values := int64(0), int64(0), int64(0)
	for i := range keys {
		before += counts[2*i]
		if i == 0 || !rank.Tied(keys[i-1], keys[i]) {
			better = before
		}
		before += counts[2*i+1]
		ranks[i] = rank.Ranks{Strict: before + 1, Tied: better + 1}
		if dense {
			values += distinct[i]
			ranks[i].Dense = values + 1
		}
	}
	return ranks, nil
}

func (v *view) standings(q leaderboard.MembersQuery, keys []rank.Key, ranks []rank.Ranks) (*leaderboard.Standings, error) {
	out := &leaderboard.Standings{State: v.state, Entries: make([]leaderboard.Standing, 0, len(keys))}
	ranked := make(map[string]bool, len(keys))
	for i, k := range keys {
		e, err := v.codec.Entry(k)
		if err != nil {
			return nil, err
		}
		ranked[e.Member] = true
		out.Entries = append(out.Entries, leaderboard.Standing{
			Ranked: leaderboard.Ranked{Rank: ranks[i].In(q.Mode), Entry: e}, Tied: ranks[i].Tied,
		})
	}
	for _, m := range q.Members {
		if !ranked[m] {
			out.NotRanked = append(out.NotRanked, m)
		}
	}
	return out, nil
}

// ScoreRank implements leaderboard.Rankings, in one statement.
func (s *Store) ScoreRank(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	score, tiebreak := rank.CodecOf(ref.Rules).Stored(q.Score, q.Tiebreak)
	before, behind := groupCut(score, tiebreak, false), groupCut(score, tiebreak, true)
	t := (&text{}).str("SELECT " + stateColumns)
	for _, iv := range []interval{{beginning(), before}, {before, behind}} {
		countColumn(t.str(","), ref.ID, "COUNT(*)", iv)
	}
	t.str(" FROM periods p WHERE p.id = ").int(ref.ID).str(" AND p.state <> 'deleting'")
	var better, tied int64
	state, err := scanState(s.db.DB.QueryRowContext(ctx, s.limited(t.String())), &better, &tied)
	if err == nil && state.Seq < q.MinSeq {
		err = leaderboard.ErrSeqAhead
	}
	if err != nil {
		return nil, translate(ctx, "score rank", err)
	}
	return &leaderboard.ScoreRank{State: state, Strict: better + tied + 1, Tied: better + 1}, nil
}
