package commit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// tryAll tries a batch until its outcome is decided. It is repeated when the server rolled it back, after a deadlock for
// instance, and once when its connection was lost before COMMIT was sent: in both cases nothing has happened.
func (b *batch) tryAll(ctx context.Context) error {
	id := b.queue.id
	reconnected, longWait := false, !id.several && b.boards.isBlocked(id.board)
	b.begun = time.Now()
	b.retries.earn(len(b.requests))
	for attempt := 1; ; attempt++ {
		err := b.try(ctx, longWait)
		if err == nil {
			b.boards.unblock(b.names()...)
		}
		if err == nil || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
			return err
		}
		lockWait := mysql.IsLockWait(err)
		_, blocked := b.db.BlockedSince()
		if lockWait && b.locking != "" {
			if b.boards.block(b.locking, false); longWait || blocked {
				b.stuck(b.locking)
			}
			longWait = true
		}
		if mysql.IsDiskFull(err) {
			b.stuck()
		}
		for _, r := range b.requests {
			r.head().recall() // nothing has happened
		}
		again := mysql.Retryable(err) && attempt < mysql.Attempts && !(lockWait && (id.several || blocked))
		if id.several && mysql.IsDuplicate(err) {
			// The same key came through two servers at once, for disjoint sets of boards; the retry of this batch finds the
			// key.
			err, again = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err), attempt < mysql.Attempts
		}
		if mysql.ConnectionLost(err) && !reconnected {
			reconnected, again = true, true
		}
		if !again || ctx.Err() != nil || !lockWait && !b.retries.spend() { // few wait for locks, none more often than Attempts
			return mysql.Translate(context.Background(), "batch", err)
		}
		b.db.Log.DebugContext(ctx, "batch is repeated", "board", id.board, "attempt", attempt, "error", err)
	}
}

// stuck notes that a batch cannot be committed, though the database answers, because another session keeps boards locked,
// COMMIT is not answered, or the disk is full. Requests that wait behind it for such a board are refused.
func (b *batch) stuck(boards ...string) {
	if b.db.Away() != nil {
		return
	}
	b.db.Blocked(b.begun)
	for _, name := range boards {
		b.boards.block(name, true)
	}
	if id := b.queue.id; len(boards) > 0 && !id.several {
		b.queue.refuse(errLocked(id.board))
	}
}

// budget allows few retries in proportion to requests: a server that fails often would have twice the work if everything
// were repeated.
type budget struct {
	mu   sync.Mutex
	owed float64 // retries that may not be made now
}

const (
	retriesPerRequest = 0.05
	retriesAtOnce     = 10
)

// earn counts requests, which allow for retries.
func (b *budget) earn(requests int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owed = max(0, b.owed-float64(requests)*retriesPerRequest)
}

// spend reports whether one more retry may be made, and counts it.
func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owed+1 > retriesAtOnce {
		return false
	}
	b.owed++
	return true
}
