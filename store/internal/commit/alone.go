package commit

import (
	"context"

	"github.com/jmoiron/sqlx"

	"leaderboard/store/internal/db"
)

// Alone runs fn in a transaction that may lock one board, and commits it: for what writes to a board and is no batch. It
// waits for its turn like a batch, and also for a board that another session keeps locked, but twice at most. An error
// tells whether anything was done, see db.NotDone; fn may be called again.
func (w *Writer) Alone(ctx context.Context, board string, fn func(*sqlx.Tx) error) error {
	return w.alone(ctx, board, true, fn)
}

// TryAlone is Alone for what many may ask for, or what can be done later: it fails with an ErrUnavailable at once while
// another session is known to keep the board locked.
func (w *Writer) TryAlone(ctx context.Context, board string, fn func(*sqlx.Tx) error) error {
	return w.alone(ctx, board, false, fn)
}

func (w *Writer) alone(ctx context.Context, board string, patient bool, fn func(*sqlx.Tx) error) error {
	if err := w.boards.enter(ctx, board, patient); err != nil {
		return db.NotDone(ctx, err)
	}
	defer w.boards.unlock(board)
	barred := w.boards.isBarred(board)
	again := func(err error) bool {
		if !db.IsLockWait(err) {
			return db.RetryableOrDuplicate(err)
		}
		before := barred
		w.boards.bar(board, before)
		barred = true
		return !before
	}
	err := db.Retry(again, func() error { return w.db.Locking(ctx, barred, fn) })
	if err == nil {
		w.boards.unbar(board)
	}
	return db.NotDone(ctx, err)
}
