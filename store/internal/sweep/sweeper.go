package sweep

import (
	"context"
	"sync/atomic"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

const (
	// Rows is how many rows one statement of the housekeeping deletes: enough to get on, few enough to keep locks, undo
	// and replication short.
	Rows = 1000
	// DeletedMark begins the name of a board that is being deleted. No board can be called so.
	DeletedMark = "~"
)

// Config has the time for which rows are kept, and the data kept with entries.
type Config struct {
	KeyTTL, ChangeTTL, AuditTTL time.Duration

	Kept entries.Kept // nil: nothing
}

// Sweeper remembers from round to round where its jobs stopped. One round uses it at a time, see Begin; PurgeBoard and
// Delete may be called at any time.
type Sweeper struct {
	db        *mysql.DB
	cfg       Config
	alsoPurge []string // see PurgeToo
	followers []FollowedSeqs
	busy      chan struct{} // has a value while a round is under way, which owns the fields below

	clock    clock
	now      time.Time // of the database, when the round began
	doubted  bool      // ages by it cannot be trusted
	boards   Turns[int64]
	logs     Pass[int64, oldest]
	measured LogSize // by the pass under way
	ahead    map[int64]ahead
	runsUpTo int64 // up to this id there are only runs that are kept

	logSize atomic.Pointer[LogSize] // may be read at any time
	purge   atomic.Pointer[leaderboard.Purge]
}

// New returns a Sweeper that remembers nothing.
func New(d *mysql.DB, cfg Config) *Sweeper {
	return &Sweeper{db: d, cfg: cfg, busy: make(chan struct{}, 1), ahead: map[int64]ahead{}}
}

// PurgeToo has statements delete rows of boards that are deleted, before the boards go. They take the id of a board and how
// many rows they delete. It is called before all other methods.
func (s *Sweeper) PurgeToo(queries ...string) { s.alsoPurge = append(s.alsoPurge, queries...) }

// FollowedSeqs returns up to which seq the log of a period is no longer needed, by the id of the period. Other periods need
// none of their log.
type FollowedSeqs func(ctx context.Context) (map[int64]int64, error)

// KeepLog has Changes keep the commits that a follower still needs. It is called before all other methods.
func (s *Sweeper) KeepLog(followed FollowedSeqs) { s.followers = append(s.followers, followed) }

// Begin begins a round: it waits for the round under way, and reads the database clock. end ends the round.
func (s *Sweeper) Begin(ctx context.Context) (now time.Time, end func(), err error) {
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return now, nil, mysql.Translate(ctx, "begin", ctx.Err())
	}
	end = func() { <-s.busy }
	clock, err := s.db.Clock(ctx)
	if err != nil {
		end()
		return now, nil, err
	}
	now = clock.Time()
	if s.now, s.doubted = now, !s.clock.believe(now, time.Now()); s.doubted {
		s.db.Log.Warn("the clock of the database leapt forward: nothing is deleted for its age", "clock", now, "until", s.clock.believed)
	}
	return now, end, nil
}

// Before returns the moment before which rows are older than age.
func (s *Sweeper) Before(age time.Duration) time.Time {
	if s.doubted {
		return time.Unix(0, 0).UTC()
	}
	return s.now.Add(-age)
}

// Delete runs one bounded statement and returns how many rows it changed.
func (s *Sweeper) Delete(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := s.db.Pool.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
