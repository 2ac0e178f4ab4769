package httpapi

import (
	"context"
	"slices"

	"leaderboard"
)

// look begins a reading method: the board, and the state that the answer is exact at.
func (f *fake) look(method string, p leaderboard.PeriodRef, minSeq int64) (*fakeBoard, leaderboard.State, error) {
	_, err := f.begin(method)
	if err != nil {
		return nil, leaderboard.State{}, err
	}
	b, err := f.find(p.Board)
	if err != nil {
		return nil, leaderboard.State{}, leaderboard.ErrPeriodNotFound
	}
	if minSeq > b.period.LastSeq {
		return nil, leaderboard.State{}, leaderboard.ErrSeqAhead
	}
	return b, leaderboard.State{
		Seq: b.period.LastSeq, AsOf: b.period.Committed, Total: b.period.EntryCount, Source: f.source, Stale: f.stale,
	}, nil
}

// ranked numbers all entries in a mode, by definition.
func (b *fakeBoard) ranked(mode leaderboard.Mode) []leaderboard.Ranked {
	out := make([]leaderboard.Ranked, len(b.entries))
	dense := int64(0)
	for i, e := range b.entries {
		out[i] = leaderboard.Ranked{Rank: int64(i) + 1, Entry: e}
		tied := i > 0 && !b.Rules.Better(b.entries[i-1], e)
		if !tied {
			dense++
		}
		switch {
		case mode == leaderboard.Tied && tied:
			out[i].Rank = out[i-1].Rank
		case mode == leaderboard.Dense:
			out[i].Rank = dense
		}
	}
	return out
}

func (f *fake) Page(_ context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	b, st, err := f.look("Page", p, q.MinSeq)
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	all := b.ranked(q.Mode)
	from := min(int(min(q.Offset, int64(len(all)))), len(all))
	switch {
	case q.Around != "":
		at := slices.IndexFunc(b.entries, func(e leaderboard.Entry) bool { return e.Member == q.Around })
		if at < 0 {
			return nil, leaderboard.ErrNotRanked
		}
		from = max(0, min(at-q.Before, len(all)-q.Limit))
	case q.After != "":
		from = 0
		for from < len(all) && string(b.codec().Key(all[from].Entry)) <= q.After {
			from++
		}
	}
	page := &leaderboard.Page{State: st, Entries: all[from:min(len(all), from+q.Limit)]}
	if n := len(page.Entries); n > 0 && from+n < len(all) {
		page.Next = string(b.codec().Key(page.Entries[n-1].Entry))
	}
	return page, nil
}

func (f *fake) Members(_ context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	b, st, err := f.look("Members", p, q.MinSeq)
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	out := &leaderboard.Standings{State: st}
	tied := b.ranked(leaderboard.Tied)
	for i, r := range b.ranked(q.Mode) {
		if slices.Contains(q.Members, r.Member) {
			out.Entries = append(out.Entries, leaderboard.Standing{Ranked: r, Tied: tied[i].Rank})
		}
	}
	for _, m := range q.Members {
		if !slices.ContainsFunc(b.entries, func(e leaderboard.Entry) bool { return e.Member == m }) {
			out.NotRanked = append(out.NotRanked, m)
		}
	}
	return out, nil
}

func (f *fake) ScoreRank(_ context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	b, st, err := f.look("ScoreRank", p, q.MinSeq)
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	out := &leaderboard.ScoreRank{State: st, Strict: 1, Tied: 1}
	probe := leaderboard.Entry{Score: q.Score, Tiebreak: q.Tiebreak}
	for _, e := range b.entries {
		if b.Rules.Better(e, probe) {
			out.Tied++
		}
		if !b.Rules.Better(probe, e) {
			out.Strict++
		}
	}
	return out, nil
}

func (f *fake) Distribution(_ context.Context, p leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	b, st, err := f.look("Distribution", p, q.MinSeq)
	defer f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	out := &leaderboard.Distribution{State: st}
	if len(b.entries) > 0 {
		lo, hi := b.entries[0].Score, b.entries[0].Score
		for _, e := range b.entries {
			lo, hi = min(lo, e.Score), max(hi, e.Score)
		}
		out.Buckets = []leaderboard.Bucket{{From: lo, To: hi, Count: int64(len(b.entries))}}
	}
	return out, nil
}
