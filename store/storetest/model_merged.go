package storetest

import (
	"context"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

// mergedLook is the entries of several periods, put in one list and sorted.
type mergedLook struct {
	rules  *leaderboard.Rules
	states []leaderboard.State
	sorted []onBoard
}

type onBoard struct {
	leaderboard.Entry
	board string
}

// mergedLook enters the model; the caller leaves it.
func (m *Model) mergedLook(ctx context.Context, refs []leaderboard.PeriodRef, mode leaderboard.Mode) (*mergedLook, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	if broken := leaderboard.CheckMerged(refs, mode); broken != nil {
		return nil, broken
	}
	l := &mergedLook{rules: refs[0].Rules}
	for _, ref := range refs {
		v, err := m.lookAt(ref, ref.LastSeq)
		if err != nil {
			return nil, err
		}
		l.add(ref.Board, v.state, v.sorted)
	}
	return l, nil
}

func (l *mergedLook) add(board string, state leaderboard.State, entries []leaderboard.Entry) {
	l.states = append(l.states, state)
	for _, e := range entries {
		l.sorted = append(l.sorted, onBoard{e, board})
	}
	slices.SortFunc(l.sorted, l.compare)
}

func (l *mergedLook) compare(a, b onBoard) int {
	if c := l.rules.Compare(a.Entry, b.Entry); c != 0 {
		return c
	}
	if a.board < b.board {
		return -1
	}
	return 1
}

func (l *mergedLook) rank(at int, mode leaderboard.Mode) int64 {
	n := int64(1)
	for i, o := range l.sorted {
		if mode == leaderboard.ModeTied && l.rules.Better(o.Entry, l.sorted[at].Entry) || mode == leaderboard.ModeStrict && i < at {
			n++
		}
	}
	return n
}

func (l *mergedLook) ranked(at int, mode leaderboard.Mode) leaderboard.MergedRanked {
	e := l.sorted[at]
	return leaderboard.MergedRanked{Ranked: leaderboard.Ranked{Rank: l.rank(at, mode), Entry: e.Entry}, Board: e.board}
}

// MergedPage is store.Store.MergedPage: it sorts all entries of all boards.
func (m *Model) MergedPage(ctx context.Context, refs []leaderboard.PeriodRef, q leaderboard.MergedQuery) (*leaderboard.MergedPage, error) {
	defer m.leave()
	l, err := m.mergedLook(ctx, refs, q.Mode)
	if err != nil {
		return nil, err
	}
	return l.page(q)
}

func (l *mergedLook) page(q leaderboard.MergedQuery) (*leaderboard.MergedPage, error) {
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
	page := &leaderboard.MergedPage{States: l.states, Entries: []leaderboard.MergedRanked{}}
	for i := start; i < stop; i++ {
		page.Entries = append(page.Entries, l.ranked(i, q.Mode))
	}
	if stop < total && stop > start {
		page.Next, page.NextBoard = string(codec.Key(l.sorted[stop-1].Entry)), l.sorted[stop-1].board
	}
	return page, nil
}

// MergedMember is store.Store.MergedMember.
func (m *Model) MergedMember(ctx context.Context, refs []leaderboard.PeriodRef, q leaderboard.MergedMemberQuery) (*leaderboard.MergedStandings, error) {
	defer m.leave()
	l, err := m.mergedLook(ctx, refs, q.Mode)
	if err != nil {
		return nil, err
	}
	return l.member(q.Mode, q.Member), nil
}

func (l *mergedLook) member(mode leaderboard.Mode, member string) *leaderboard.MergedStandings {
	out := &leaderboard.MergedStandings{States: l.states, Entries: []leaderboard.MergedStanding{}}
	for i, e := range l.sorted {
		if e.Member == member {
			out.Entries = append(out.Entries, leaderboard.MergedStanding{MergedRanked: l.ranked(i, mode), Tied: l.rank(i, leaderboard.ModeTied)})
		}
	}
	return out
}
