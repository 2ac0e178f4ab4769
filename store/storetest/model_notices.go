package storetest

import (
	"cmp"
	"context"
	"slices"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Notice is a change of a period that passed a member who asked for notices.
type Notice struct {
	Board, Period string
	PeriodID      int64
	Seq, Minute   int64 // of the change
	Member, By    string
	// Score is the member's at the change; Previous and New are the passing member's.
	Score, Previous, New int64
}

// Notices returns the members that the changes after a seq passed, in a period of the board's first window, in order: by
// the board's rule notify, each change alone. It sorts all entries again before each change.
func (m *Model) Notices(ctx context.Context, board string, period, after int64) (out []Notice, err error) {
	defer m.leave()
	if err := m.enter(ctx, "Notices"); err != nil {
		return nil, err
	}
	b, p := m.boards[board], m.periods[period]
	codec, entries := rank.CodecOf(&b.Rules), map[string]leaderboard.Entry{}
	for _, commit := range p.log {
		for _, c := range commit.Changes {
			if c.Seq > after && c.Old != nil && c.New != nil {
				for _, e := range m.passedBy(b, codec, entries, c) {
					out = append(out, Notice{
						Board: board, Period: p.Name(), PeriodID: p.ID, Seq: c.Seq, Minute: commit.CommittedAt.Time().Unix() / 60,
						Member: e.Member, By: c.Member, Score: e.Score, Previous: c.Old.Score, New: c.New.Score,
					})
				}
			}
			if delete(entries, c.Member); c.New != nil {
				entries[c.Member] = *c.New
			}
		}
	}
	return out, nil
}

// passedBy returns the entries that a change passes, of members who get notices.
func (m *Model) passedBy(b *modelBoard, codec rank.Codec, entries map[string]leaderboard.Entry, c leaderboard.Change) (passed []leaderboard.Entry) {
	sorted := make([]leaderboard.Entry, 0, len(entries))
	for _, e := range entries {
		sorted = append(sorted, e)
	}
	slices.SortFunc(sorted, func(x, y leaderboard.Entry) int { return cmp.Compare(codec.Key(x), codec.Key(y)) })
	rule, from, to := b.Rules.Notify, codec.Key(*c.Old), codec.Key(*c.New)
	for place, e := range sorted {
		told := place < rule.Within
		if rule.Passed == leaderboard.NotifyPassedFriends {
			told = m.friends[e.Member][c.Member] && len(passed) < rule.Within
		}
		if key := codec.Key(e); told && key > to && key < from {
			passed = append(passed, e)
		}
	}
	return passed
}

// Ranked reports whether a member has an entry that is shown in a period.
func (m *Model) Ranked(period int64, member string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, there := m.periods[period].entries[member]
	return there
}
