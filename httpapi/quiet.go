package httpapi

import (
	"context"

	"leaderboard"
)

// A quiet period is over and nobody played in it. MySQL has no row of it, so queries about it are answered here: with a
// page without entries, not with a period that is not found.

// rankingsOf returns what answers queries about a period.
func rankingsOf(rankings leaderboard.Rankings, ref *leaderboard.PeriodRef) leaderboard.Rankings {
	if ref.Quiet() {
		return quietRankings{}
	}
	return rankings
}

// quietState returns the state of a quiet period, which it has had since it ended.
func quietState(ref *leaderboard.PeriodRef) leaderboard.State {
	return leaderboard.State{Revision: leaderboard.Revision{AsOf: ref.AsOf}, Source: leaderboard.SourceLocal}
}

// quietRankings implements leaderboard.Rankings for quiet periods.
type quietRankings struct{}

// state returns the state of the period, unless a later one is asked for.
func (quietRankings) state(p *leaderboard.PeriodRef, minSeq int64) (leaderboard.State, error) {
	if minSeq > 0 {
		return leaderboard.State{}, leaderboard.ErrSeqAhead
	}
	return quietState(p), nil
}

// Page returns one without entries.
func (r quietRankings) Page(_ context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	st, err := r.state(&p, q.MinSeq)
	if err == nil && q.Around != "" {
		err = leaderboard.ErrNotRanked
	}
	return &leaderboard.Page{State: st}, err
}

// Members returns no standings.
func (r quietRankings) Members(_ context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	st, err := r.state(&p, q.MinSeq)
	return &leaderboard.Standings{State: st, NotRanked: q.Members}, err
}

// ScoreRank returns the first rank, which any score would have.
func (r quietRankings) ScoreRank(_ context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	st, err := r.state(&p, q.MinSeq)
	return &leaderboard.ScoreRank{State: st, Ranks: leaderboard.Ranks{Strict: 1, Tied: 1, Dense: 1}}, err
}

// Distribution returns one without buckets.
func (r quietRankings) Distribution(_ context.Context, p leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	st, err := r.state(&p, q.MinSeq)
	return &leaderboard.Distribution{State: st}, err
}

// combinedRankings asks about the periods that are not quiet, and adds the states of the others.
type combinedRankings struct{ of leaderboard.CombinedRankings }

// CombinedPage returns that of the periods with entries.
func (m combinedRankings) CombinedPage(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	seen, err := withoutQuiet(periods, q.Mode)
	switch {
	case err != nil:
		return nil, err
	case len(seen) == len(periods):
		return m.of.CombinedPage(ctx, periods, q)
	case len(seen) == 0 && q.Around != "":
		return nil, leaderboard.ErrNotRanked
	case len(seen) == 0:
		return &leaderboard.CombinedPage{States: statesWith(periods, nil)}, nil
	}
	page, err := m.of.CombinedPage(ctx, seen, q)
	if err != nil {
		return nil, err
	}
	out := *page // it is shared
	out.States = statesWith(periods, page.States)
	return &out, nil
}

// CombinedMember returns that of the periods with entries.
func (m combinedRankings) CombinedMember(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	seen, err := withoutQuiet(periods, q.Mode)
	switch {
	case err != nil:
		return nil, err
	case len(seen) == len(periods):
		return m.of.CombinedMember(ctx, periods, q)
	case len(seen) == 0:
		return &leaderboard.CombinedStandings{States: statesWith(periods, nil)}, nil
	}
	found, err := m.of.CombinedMember(ctx, seen, q)
	if err != nil {
		return nil, err
	}
	out := *found // it is shared
	out.States = statesWith(periods, found.States)
	return &out, nil
}

// withoutQuiet returns the periods that have entries. All of them together can be ranked as one.
func withoutQuiet(periods []leaderboard.PeriodRef, mode leaderboard.Mode) (seen []leaderboard.PeriodRef, err error) {
	for i := range periods {
		if !periods[i].Quiet() {
			seen = append(seen, periods[i])
		}
	}
	if len(seen) < len(periods) {
		err = leaderboard.CheckCombined(periods, mode)
	}
	return seen, err
}

// statesWith puts the states of quiet periods between those of the others.
func statesWith(periods []leaderboard.PeriodRef, seen []leaderboard.State) []leaderboard.State {
	out := make([]leaderboard.State, len(periods))
	for i := range periods {
		if periods[i].Quiet() {
			out[i] = quietState(&periods[i])
		} else {
			out[i], seen = seen[0], seen[1:]
		}
	}
	return out
}
