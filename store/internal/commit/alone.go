package commit

import (
	"context"

	"github.com/jmoiron/sqlx"

	"leaderboard/store/internal/db"
)

// Alone runs fn in a transaction that may lock one board, and commits it: for what writes to a board and is no batch. It
// has its turn like a batch, and waits like one for a board that somebody else keeps locked, but twice at most. An error
// says whether anything was done, see db.NotDone; fn may be called again.
func (w *Writer) Alone(ctx context.Context, board string, fn func(*sqlx.Tx) error) error {
	return w.alone(ctx, board, true, fn)
}

// AloneUnlessBarred is Alone for what many may ask for, or what can be done later: of those who need a board that
// somebody keeps locked one waits, and the others get an ErrUnavailable at once.
func (w *Writer) AloneUnlessBarred(ctx context.Context, board string, fn func(*sqlx.Tx) error) error {
	return w.alone(ctx, board, false, fn)
}

func (w *Writer) alone(ctx context.Context, board string, patient bool, fn func(*sqlx.Tx) error) error {
	if err := w.mutexes.enter(ctx, board, patient); err != nil {
		return db.NotDone(ctx, err)
	}
	defer w.mutexes.unlock(board)
	barred := w.mutexes.barred.has(board)
	again := func(err error) bool {
		if !db.IsLockWait(err) {
			return db.RetryableOrDuplicate(err)
		}
		before := barred
		w.bar(board, before)
		barred = true
		return !before
	}
	err := db.Retry(again, func() error { return w.db.Locking(ctx, barred, fn) })
	if err == nil {
		w.mutexes.barred.remove(board)
	}
	return db.NotDone(ctx, err)
}
