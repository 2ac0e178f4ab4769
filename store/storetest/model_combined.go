package storetest

import (
	"context"
	"slices"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// combinedLook is the entries of several periods, put in one list and sorted.
type combinedLook struct {
	rules  *leaderboard.Rules
	states []leaderboard.State
	sorted []onBoard
}

type onBoard struct {
	leaderboard.Entry
	board string
}

// combinedLook enters the model; the caller leaves it.
func (m *Model) combinedLook(ctx context.Context, method string, refs []leaderboard.PeriodRef, mode leaderboard.Mode) (*combinedLook, error) {
	if err := m.enter(ctx, method); err != nil {
		return nil, err
	}
	if broken := leaderboard.CheckCombined(refs, mode); broken != nil {
		return nil, broken
	}
	l := &combinedLook{rules: refs[0].Rules}
	for _, ref := range refs {
		v, err := m.lookAt(ref, ref.LastSeq)
		if err != nil {
			return nil, err
		}
		l.add(ref.Board, v.state, v.sorted)
	}
	return l, nil
}

func (l *combinedLook) add(board string, state leaderboard.State, entries []leaderboard.Entry) {
	l.states = append(l.states, state)
	for _, e := range entries {
		l.sorted = append(l.sorted, onBoard{e, board})
	}
	slices.SortFunc(l.sorted, l.compare)
}

func (l *combinedLook) compare(a, b onBoard) int {
	if c := l.rules.Compare(a.Entry, b.Entry); c != 0 {
		return c
	}
	if a.board < b.board {
		return -1
	}
	return 1
}

func (l *combinedLook) ranked(at int) leaderboard.CombinedRanked {
	e := l.sorted[at]
	ranks := leaderboard.Ranks{Strict: int64(at) + 1, Tied: 1}
	for _, o := range l.sorted {
		if l.rules.Better(o.Entry, e.Entry) {
			ranks.Tied++
		}
	}
	return leaderboard.CombinedRanked{Ranked: leaderboard.Ranked{Ranks: ranks, Entry: e.Entry}, Board: e.board}
}

// CombinedPage is the model of store.Entries.CombinedPage: it sorts all entries of all boards.
func (m *Model) CombinedPage(ctx context.Context, refs []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	defer m.leave()
	l, err := m.combinedLook(ctx, "CombinedPage", refs, q.Mode)
	if err != nil {
		return nil, err
	}
	return l.page(q)
}

func (l *combinedLook) page(q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	total := len(l.sorted)
	start := int(min(q.Offset, int64(total)))
	codec := rank.CodecOf(l.rules)
	switch {
	case q.Around != "":
		at := slices.IndexFunc(l.sorted, func(e onBoard) bool { return e.Member == q.Around })
		if at < 0 {
			return nil, leaderboard.ErrNotRanked
		}
		start = max(0, min(at-q.Before, total-q.Limit))
	case q.After != "":
		for start = 0; start < total; start++ {
			e := l.sorted[start]
			if k := string(codec.Key(e.Entry)); k > q.After || k == q.After && e.board > q.AfterBoard {
				break
			}
		}
	}
	stop := min(start+q.Limit, total)
	page := &leaderboard.CombinedPage{States: l.states, Entries: []leaderboard.CombinedRanked{}}
	for i := start; i < stop; i++ {
		page.Entries = append(page.Entries, l.ranked(i))
	}
	if stop < total && stop > start {
		page.Next, page.NextBoard = string(codec.Key(l.sorted[stop-1].Entry)), l.sorted[stop-1].board
	}
	return page, nil
}

// CombinedMember is the model of store.Entries.CombinedMember.
func (m *Model) CombinedMember(ctx context.Context, refs []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	defer m.leave()
	l, err := m.combinedLook(ctx, "CombinedMember", refs, q.Mode)
	if err != nil {
		return nil, err
	}
	return l.member(q.Member), nil
}

func (l *combinedLook) member(member string) *leaderboard.CombinedStandings {
	out := &leaderboard.CombinedStandings{States: l.states, Entries: []leaderboard.CombinedRanked{}}
	for i, e := range l.sorted {
		if e.Member == member {
			out.Entries = append(out.Entries, l.ranked(i))
		}
	}
	return out
}
