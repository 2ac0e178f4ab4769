package store

import (
	"context"

	"leaderboard"
	"leaderboard/rank"
)

// Members implements leaderboard.Rankings: one statement for the entries, and one for the ranks of twenty of them.
func (s *Store) Members(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	var out *leaderboard.Standings
	err := s.read(ctx, ref, q.MinSeq, func(v *view) error {
		keys, err := v.members(ctx, q.Members)
		if err != nil {
			return err
		}
		ranks, err := v.ranks(ctx, keys, q.Mode)
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

// ranks are the ranks of entries in order; Dense only when that is the mode.
func (v *view) ranks(ctx context.Context, keys []rank.Key, mode leaderboard.Mode) ([]rank.Ranks, error) {
	probes := make([]rank.Key, 0, 2*len(keys)) // of each group of tied entries its prefix, and the entries
	var groups []rank.Key
	for i, k := range keys {
		if i == 0 || !rank.Tied(keys[i-1], k) {
			groups = append(groups, k.Prefix())
			probes = append(probes, k.Prefix())
		}
		probes = append(probes, k)
	}
	ahead, err := v.before(ctx, probes)
	if err != nil {
		return nil, err
	}
	ranks := make([]rank.Ranks, 0, len(keys))
	better, group := int64(0), -1
	for i, k := range probes {
		if len(k) == rank.PrefixLen {
			better, group = ahead[i], group+1
			continue
		}
		ranks = append(ranks, rank.Ranks{Strict: ahead[i] + 1, Tied: better + 1, Dense: int64(group)})
	}
	if mode != leaderboard.Dense {
		return ranks, nil
	}
	values, err := v.dense(ctx, groups, better)
	if err != nil {
		return nil, err
	}
	for i := range ranks {
		ranks[i].Dense = values[ranks[i].Dense] + 1
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
	var out *leaderboard.ScoreRank
	err := s.read(ctx, ref, q.MinSeq, func(v *view) error {
		prefix := v.codec.Prefix(q.Score, q.Tiebreak)
		ahead, err := v.before(ctx, []rank.Key{prefix, prefix + behindTied})
		if err != nil {
			return err
		}
		out = &leaderboard.ScoreRank{State: v.state, Strict: ahead[1] + 1, Tied: ahead[0] + 1}
		return nil
	})
	if err != nil {
		return nil, translate(ctx, "score rank", err)
	}
	return out, nil
}
