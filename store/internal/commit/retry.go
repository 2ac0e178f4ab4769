package commit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// tryAll tries a batch until its outcome is decided. It is repeated when the server rolled it back, after a deadlock for
// instance, and once when its connection was lost before COMMIT was sent: in both cases nothing has happened.
func (b *batch) tryAll(ctx context.Context) error {
	id := b.queue.id
	reconnected, patient := false, !id.several && b.mutexes.barred.has(id.board)
	b.begun = time.Now()
	b.retries.earn(len(b.requests))
	for attempt := 1; ; attempt++ {
		err := b.try(ctx, patient)
		if err == nil || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
			if err == nil {
				b.gotLocks()
			}
			return err
		}
		lockWait := db.IsLockWait(err)
		_, blocked := b.db.BlockedSince()
		if lockWait && b.locking != "" {
			if b.bar(b.locking, false); patient || blocked {
				b.stuck(b.locking)
			}
			patient = true
		}
		if db.IsDiskFull(err) {
			b.stuck()
		}
		for _, r := range b.requests {
			r.head().recall() // nothing has happened
		}
		again := db.Retryable(err) && attempt < db.Attempts && !(lockWait && (id.several || blocked))
		if id.several && db.IsDuplicate(err) {
			// One key came through two servers at once, for boards of which none is the same: the second finds it now.
			err, again = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err), attempt < db.Attempts
		}
		if db.ConnectionLost(err) && !reconnected {
			reconnected, again = true, true
		}
		if !again || ctx.Err() != nil || !lockWait && !b.retries.spend() { // few wait for locks, none more often than Attempts
			return db.Translate(context.Background(), "batch", err)
		}
		b.db.Log.DebugContext(ctx, "batch is repeated", "board", id.board, "attempt", attempt, "error", err)
	}
}

// bar says that somebody else keeps a board locked, for as long as the wait for it may take now.
func (c *committer) bar(board string, stuck bool) {
	c.mutexes.barred.add(board, c.db.Config.LockWait+time.Second, stuck)
}

// stuck says that a batch cannot be committed, though the database answers, because of boards that somebody keeps locked or
// for want of an answer to COMMIT. What waits behind it is refused.
func (b *batch) stuck(boards ...string) {
	if b.db.Away() != nil {
		return
	}
	b.db.Blocked(b.begun)
	for _, name := range boards {
		b.bar(name, true)
	}
	if id := b.queue.id; len(boards) > 0 && !id.several {
		b.queue.refuse(errLocked(id.board))
	}
}

func (b *batch) gotLocks() {
	for name := range b.needs {
		b.mutexes.barred.remove(name)
	}
}

// budget keeps what is tried again few beside what is asked for: while a server fails often, repeating everything would
// give it twice as much to do.
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

// spend says whether one more retry may be made.
func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owed+1 > retriesAtOnce {
		return false
	}
	b.owed++
	return true
}
