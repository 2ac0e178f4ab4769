package commit

import (
	"context"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/mysql"
)

// Alone runs fn in a transaction that may lock one board, and commits it. It is for writes to a board outside of batches.
// Like a batch it waits until no other writer of this process works on the board; for a lock that another session holds it
// waits at most twice. By the error mysql.NotDone reports whether anything was done. fn may be called again.
func (w *Writer) Alone(ctx context.Context, board string, fn func(*sqlx.Tx) error) error {
	return w.alone(ctx, board, true, fn)
}

// TryAlone is Alone for frequent requests and for work that can be done later: it fails with an ErrUnavailable at once
// while another session is known to keep the board locked.
func (w *Writer) TryAlone(ctx context.Context, board string, fn func(*sqlx.Tx) error) error {
	return w.alone(ctx, board, false, fn)
}

func (w *Writer) alone(ctx context.Context, board string, wait bool, fn func(*sqlx.Tx) error) error {
	if err := w.boards.enter(ctx, board, wait); err != nil {
		return mysql.NotDone(ctx, err)
	}
	defer w.boards.unlock(board)
	blocked := w.boards.isBlocked(board)
	again := func(err error) bool {
		if !mysql.IsLockWait(err) {
			return mysql.RetryableOrDuplicate(err)
		}
		before := blocked
		w.boards.block(board, before)
		blocked = true
		return !before
	}
	err := mysql.Retry(again, func() error { return w.db.Locking(ctx, blocked, fn) })
	if err == nil {
		w.boards.unblock(board)
	}
	return mysql.NotDone(ctx, err)
}
