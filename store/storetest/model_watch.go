package storetest

import (
	"context"

	"leaderboard/leaderboard"
)

// Revisions is the model of store.Entries.Revisions. There are no API keys.
func (m *Model) Revisions(ctx context.Context, periods []int64) (map[int64]leaderboard.Revision, error) {
	defer m.leave()
	if err := m.enter(ctx, "Revisions"); err != nil {
		return nil, err
	}
	found := map[int64]leaderboard.Revision{leaderboard.ClockPeriod: {AsOf: m.clock()}}
	for _, id := range periods {
		if p := m.periods[id]; p != nil {
			found[id] = p.Revision()
		} else if id == leaderboard.BoardsPeriod {
			found[id] = leaderboard.Revision{Seq: m.changes}
		} else if boardID, ok := leaderboard.BoardOf(id); ok {
			for _, b := range m.boards {
				if b.ID == boardID {
					found[id] = b.Revision()
				}
			}
		}
	}
	return found, nil
}
