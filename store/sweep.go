package store

import (
	"context"
	"slices"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/sweep"
)

// Housekeeping removes data that nobody needs any longer, and finishes interrupted work. All methods may be called
// concurrently once all jobs are added.
type Housekeeping struct {
	db        *mysql.DB
	writer    *Writer
	sweeper   *sweep.Sweeper
	indexes   *Indexes
	boards    *Boards
	hidden    *HiddenMembers
	erasures  *Erasures
	changeTTL time.Duration
	added     []Job

	// Where the round under way has to begin.
	closing  sweep.Turns[int64] // by period
	retained sweep.Pass[string, leaderboard.Board]
}

// Sweep does the housekeeping: it closes periods that have ended, deletes periods that their boards do not keep, and
// deleted boards, forgets idempotency keys older than KeyTTL, records of changes older than AuditTTL, commits in the change
// log older than ChangeTTL, and runs that are older than 30 days or not among the last 10,000 (except records of reopened
// periods). Rank indexes follow the log, and are saved. It continues hides, restorations and erasures of members. These
// jobs take turns, in slices of time, and each remembers where it stopped, so that none delays the others however much it
// has to do; a failing job does not end the others. Sweep returns when nothing is left to do or ctx ends; the next call
// continues. It may be interrupted and repeated at any time, also by several processes at once. It uses only the database
// clock, and deletes nothing because of its age for an hour after that leapt forward.
func (s *Housekeeping) Sweep(ctx context.Context) error {
	now, end, err := s.sweeper.Begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	return sweep.Round(ctx, slices.Concat([]Job{
		{Name: "sweep indexes", Run: s.sweepIndexes}, // before the log that they follow is pruned
		{Name: "sweep changes", Run: s.sweeper.Changes},
		{Name: "close periods", Run: s.closePeriods(now)},
		{Name: "sweep keys", Run: s.sweeper.Keys},
		{Name: "sweep runs", Run: s.sweeper.Runs},
		{Name: "sweep audit", Run: s.sweeper.Audit},
		{Name: "sweep events", Run: s.sweepEvents},
		{Name: "sweep hidden members", Run: s.hidden.sweep},
		{Name: "sweep erasures", Run: s.erasures.sweep},
	}, s.added, []Job{
		{Name: "give up periods", Run: s.giveUpPeriods},
		{Name: "sweep periods", Run: s.sweeper.Periods},
		{Name: "sweep boards", Run: s.sweeper.Boards},
	}))
}

// Add adds jobs, such as features' jobs, to each Sweep. It is called before the first Sweep.
func (s *Housekeeping) Add(jobs ...Job) { s.added = append(s.added, jobs...) }

// AddPurge adds statements that delete the rows of a board that is deleted, before its own goes. They take the id of the board and
// how many rows they delete, as in "DELETE FROM plays WHERE board_id = ? ORDER BY member LIMIT ?". It is called before the first Sweep.
func (s *Housekeeping) AddPurge(queries ...string) { s.sweeper.PurgeToo(queries...) }

// KeepLog keeps commits in the change log that a feature still needs, for a day at most. It is called before the first Sweep.
func (s *Housekeeping) KeepLog(followed FollowedSeqs) { s.sweeper.KeepLog(followed) }

// Sweeper returns the Sweeper with which jobs delete rows.
func (s *Housekeeping) Sweeper() Sweeper { return Sweeper{s.sweeper} }

// SweepRows is how many rows one statement of a job deletes.
const SweepRows = sweep.Rows

// Sweeper deletes rows for a Job, while that has its turn.
type Sweeper struct{ of *sweep.Sweeper }

// Before returns the moment before which rows are older than age by the database clock. For an hour after the clock leapt
// forward no row counts as old.
func (s Sweeper) Before(age time.Duration) time.Time { return s.of.Before(age) }

// Delete runs one bounded statement and returns how many rows it changed.
func (s Sweeper) Delete(ctx context.Context, query string, args ...any) (int64, error) {
	return s.of.Delete(ctx, query, args...)
}

// Aged deletes rows that are older than a limit, see Before, until the slice is over, by statements that take a span of
// time. next finds the time up to which there is a number of rows, as in "SELECT started_at FROM plays WHERE started_at >=
// ? AND started_at < ? ORDER BY started_at LIMIT ?, 1"; remove deletes as many, as in "DELETE FROM plays WHERE started_at
// >= ? AND started_at < ? ORDER BY started_at LIMIT ?". more reports whether there may be more.
func (s Sweeper) Aged(ctx context.Context, slice Slice, next, remove string, limit time.Time) (more bool, err error) {
	return s.of.Aged(ctx, slice, next, remove, limit)
}

// Purge returns how much is left to delete of boards and periods that are gone for all readers, as the housekeeping of this process last
// found it. It does no I/O.
func (s *Housekeeping) Purge() leaderboard.Purge { return s.sweeper.Purge() }

// ChangeLog returns how many changes the log has, and by how much the oldest of them is older than ChangeTTL, as the
// housekeeping of this process last found it, before it deleted old ones; known is false before the first time. From then on
// overdue grows while nothing is deleted.
func (s *Housekeeping) ChangeLog() (changes int64, overdue time.Duration, known bool) {
	size := s.sweeper.LogSize()
	if size.Changes == 0 {
		return 0, 0, !size.At.IsZero()
	}
	return size.Changes, max(0, size.Oldest+time.Since(size.At)-s.changeTTL), true
}

// sweepEvents deletes events that are older than leaderboard.EventTTL.
func (s *Housekeeping) sweepEvents(ctx context.Context, slice Slice) (more bool, err error) {
	return outbox.RemoveAged(ctx, s.db, s.sweeper.Before(leaderboard.EventTTL), slice.Over)
}

// sweepIndexes brings the rank indexes up to date from the log.
func (s *Housekeeping) sweepIndexes(ctx context.Context, slice Slice) (more bool, err error) {
	return s.indexes.Sweep(ctx, slice.Over)
}
