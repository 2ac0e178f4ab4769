package cache

import (
	"context"

	"golang.org/x/sync/errgroup"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// topsAtOnce bounds the tops that one query reads at the same time.
const topsAtOnce = 8

// CombinedPage implements leaderboard.CombinedRankings. The first entries are merged out of the boards' tops, each from the
// nearest layer that has it; everything else is answered by the periods in memory if all of them are there, or by the
// database.
func (r *Reader) CombinedPage(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	if broken := leaderboard.CheckCombined(periods, q.Mode); broken != nil {
		return nil, broken
	}
	q.Mode = leaderboard.ModeStrict // the answer has all ranks
	if !q.Uncached && q.Around == "" && q.After == "" && q.Offset <= leaderboard.MaxLimit-int64(q.Limit) {
		return r.mergeTops(ctx, periods, q)
	}
	return as[*leaderboard.CombinedPage](r.answer(ctx, newPending(combinedPageQuestion{manyPeriods{periods}, q})))
}

// CombinedMember implements leaderboard.CombinedRankings.
func (r *Reader) CombinedMember(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	if broken := leaderboard.CheckCombined(periods, q.Mode); broken != nil {
		return nil, broken
	}
	q.Mode = leaderboard.ModeStrict
	return as[*leaderboard.CombinedStandings](r.answer(ctx, newPending(combinedMemberQuestion{manyPeriods{periods}, q})))
}

// togetherTimes bounds how often answers about several periods are requested again because one became old while the slowest
// was awaited.
const togetherTimes = 3

// together gets the parts of an answer, each judged when it arrives, until no part is old when the last part arrives. It
// reports whether a part is old even so. An answer of one part needs no states.
func (r *Reader) together(ctx context.Context, periods []leaderboard.PeriodRef, get func() (of int, at []leaderboard.State, err error)) (late bool, err error) {
	for range togetherTimes {
		of, at, err := get()
		if err != nil || of == 1 {
			return false, err
		}
		if q := (&pastQuestion{manyPeriods: manyPeriods{periods}}); isStale(q, states(at)) || r.judge(ctx, q, states(at)) == feed.VerdictFresh {
			return false, nil
		}
	}
	return true, nil
}

// mergeTops merges the tops of the boards. Each top has as many entries as the page reaches down to, so no entry of the page
// can be missing. The tops may be of different moments, and the answer names the state of each.
func (r *Reader) mergeTops(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	page := &leaderboard.CombinedPage{States: make([]leaderboard.State, len(periods)), Entries: make([]leaderboard.CombinedRanked, 0, q.Limit)}
	runs := make([][]leaderboard.Ranked, len(periods))
	late, err := r.together(ctx, periods, func() (int, []leaderboard.State, error) {
		tops, err := r.tops(ctx, periods, topLimitOf(q))
		for i, top := range tops {
			page.States[i], runs[i] = top.State, top.Entries
		}
		return len(tops), page.States, err
	})
	if err != nil {
		return nil, err
	}
	for i := range page.States {
		page.States[i].Stale = page.States[i].Stale || late
	}
	rules := periods[0].Rules
	at, ranks := make([]int, len(runs)), leaderboard.Ranks{}
	var last leaderboard.Entry
	compare := func(a, b leaderboard.Ranked) int { return rules.Compare(a.Entry, b.Entry) }
	rank.Merge(runs, compare, func(run int) bool {
		if ranks.Strict == q.Offset+int64(q.Limit) {
			return false
		}
		e := runs[run][at[run]].Entry
		at[run]++
		ranks = ranks.Next(ranks.Strict > 0 && !rules.Better(last, e))
		if last = e; ranks.Strict > q.Offset {
			page.Entries = append(page.Entries, leaderboard.CombinedRanked{Ranked: leaderboard.Ranked{Ranks: ranks, Entry: e}, Board: periods[run].Board})
		}
		return true
	})
	if n := len(page.Entries); n > 0 && ranks.Strict < leaderboard.Total(page.States) {
		page.Next, page.NextBoard = string(rank.CodecOf(rules).Key(last)), page.Entries[n-1].Board
	}
	return page, nil
}

// topLimitOf returns how many entries of each board a page takes: the same for many pages, so that they share the tops.
func topLimitOf(q leaderboard.CombinedQuery) int {
	const short = 100
	switch {
	case q.Offset == 0:
		return q.Limit
	case q.Offset+int64(q.Limit) <= short:
		return short
	default:
		return leaderboard.MaxLimit
	}
}

// tops reads the first entries of each board, in the board's own mode, in which they are read most.
func (r *Reader) tops(ctx context.Context, periods []leaderboard.PeriodRef, limit int) ([]*leaderboard.Page, error) {
	tops := make([]*leaderboard.Page, len(periods))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(topsAtOnce)
	for i := range periods {
		p := &periods[i]
		group.Go(func() (err error) {
			q := leaderboard.PageQuery{Query: leaderboard.Query{Mode: p.Rules.Mode, MinSeq: p.LastSeq}, Limit: limit}
			tops[i], err = r.Page(ctx, *p, q)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return tops, nil
}
