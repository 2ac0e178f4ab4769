package derived

import (
	"context"

	"leaderboard/store/internal/db"
)

// leadership is the locks by which processes share the following of derived boards. A lock only saves work: what makes a
// step right is the check in its transaction.
type leadership struct{ locks *db.Locks }

func leadOf(boardID int64) db.Lock { return db.Lock{Kind: "derive", ID: boardID} }

// LeadDerived says whether this process is the one that follows the sources of a board, and makes it so when nobody is.
// It does not wait for another process. The caller asks again from time to time: the server gives the lock up with the
// connection. Errors: ErrUnavailable.
func (l *leadership) LeadDerived(ctx context.Context, boardID int64) (bool, error) {
	lead, err := l.locks.Keeps(ctx, leadOf(boardID))
	if err == nil && !lead {
		lead, err = l.locks.Take(ctx, leadOf(boardID))
	}
	return lead, db.Translate(ctx, "lead", err)
}

// YieldDerived releases the leadership of a board to other processes.
func (l *leadership) YieldDerived(ctx context.Context, boardID int64) error {
	return db.Translate(ctx, "yield", l.locks.Release(ctx, leadOf(boardID)))
}
