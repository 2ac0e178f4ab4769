package read

import (
	"context"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// Members implements leaderboard.Rankings: one statement for the entries, and one for the ranks of twenty of those that
// the answer shows.
func (s *Reader) Members(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	var out *leaderboard.Standings
	err := s.read(ctx, ref, q.MinSeq, func(v *view) error {
		keys, err := v.members(ctx, q.Members)
		if err != nil {
			return err
		}
		selection := rank.Select(&q, keys)
		ranks, err := v.ranks(ctx, selection.Keys(), q.Mode)
		if err != nil {
			return err
		}
		if out, err = selection.Standings(v.codec, ranks); err != nil {
			return err
		}
		out.State, out.NotRanked = v.state, notRanked(q.Members, keys)
		return nil
	})
	if err != nil {
		return nil, db.Translate(ctx, "members", err)
	}
	return out, nil
}

// ranks returns the ranks of entries in order.
func (v *view) ranks(ctx context.Context, keys []rank.Key, mode leaderboard.Mode) ([]leaderboard.Ranks, error) {
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
	ranks, better := make([]leaderboard.Ranks, 0, len(keys)), make([]int64, 0, len(groups))
	for i, k := range probes {
		if len(k) == rank.PrefixLen {
			better = append(better, ahead[i])
			continue
		}
		ranks = append(ranks, leaderboard.Ranks{Strict: ahead[i] + 1, Tied: better[len(better)-1] + 1})
	}
	if !mode.WithDense() || len(groups) == 0 {
		return ranks, nil
	}
	dense, err := v.dense(ctx, mode, groups, better)
	if err != nil {
		return nil, err
	}
	group := 0
	for i := range ranks {
		if i > 0 && !rank.Tied(keys[i-1], keys[i]) {
			group++
		}
		ranks[i].Dense = dense[group]
	}
	return ranks, nil
}

// notRanked returns the members that none of the keys is of.
func notRanked(members []string, keys []rank.Key) []string {
	ranked := make(map[string]bool, len(keys))
	for _, k := range keys {
		ranked[k.Member()] = true
	}
	var out []string
	for _, m := range members {
		if !ranked[m] {
			out = append(out, m)
		}
	}
	return out
}

// ScoreRank implements leaderboard.Rankings, in one statement.
func (s *Reader) ScoreRank(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	var out *leaderboard.ScoreRank
	err := s.read(ctx, ref, q.MinSeq, func(v *view) error {
		prefix := v.codec.Prefix(q.Score, q.Tiebreak)
		ahead, err := v.before(ctx, []rank.Key{prefix, prefix + entries.AfterTied})
		if err != nil {
			return err
		}
		out = &leaderboard.ScoreRank{State: v.state, Ranks: leaderboard.Ranks{Strict: ahead[1] + 1, Tied: ahead[0] + 1}}
		return nil
	})
	if err != nil {
		return nil, db.Translate(ctx, "score rank", err)
	}
	return out, nil
}
