package storetest

import (
	"context"

	"leaderboard/leaderboard"
)

// Past implements leaderboard.Pasts.
func (m *Model) Past(ctx context.Context, refs []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	defer m.leave()
	if err := m.enter(ctx, "Past"); err != nil {
		return nil, err
	}
	var out []leaderboard.PastEntry
	for _, ref := range refs {
		v, err := m.answer(ref, ref.LastSeq)
		if err != nil {
			return nil, err
		}
		entry := leaderboard.PastEntry{State: v.state}
		if i := v.place(member); i >= 0 {
			entry.Ranked = &leaderboard.Ranked{Ranks: v.ranks(v.sorted[i], leaderboard.ModeStrict), Entry: v.sorted[i]}
		}
		out = append(out, entry)
	}
	return out, nil
}
