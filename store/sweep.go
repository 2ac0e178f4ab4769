package store

import (
	"context"
	"errors"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/sweep"
)

// Housekeeping removes what nobody needs any more, and finishes what was left halfway. All methods may be called concurrently.
type Housekeeping struct {
	db        *mysql.DB
	writer    *Writer
	sweeper   *sweep.Sweeper
	indexes   *Indexes
	boards    *Boards
	events    *Events
	hidden    *HiddenMembers
	erasures  *Erasures
	changeTTL time.Duration

	// Where the round under way has to begin.
	closing  sweep.Turns[int64] // by period
	retained sweep.Pass[string, leaderboard.Board]
}

// Sweep does the housekeeping: it closes periods that have ended, deletes those that their boards do not keep, and boards
// that were deleted, forgets idempotency keys older than KeyTTL, records of changes older than AuditTTL, commits in the change log older than ChangeTTL, and
// runs that are older than 30 days or not among the last 10,000 (but for the records of reopened periods). Rank indexes
// follow the log, and are saved. It goes on hiding, restoring and erasing members. These jobs take turns, in slices of
// time, and each remembers where it stopped, so that none delays the others however much it has to do; one that fails does
// not end the others. Sweep returns when nothing is left to do or ctx ends; the next call goes on. It may be interrupted and
// repeated at any time, also by several processes at once. It uses only the database clock, and deletes nothing because of
// its age for an hour after that leapt forward.
func (s *Housekeeping) Sweep(ctx context.Context) error {
	now, end, err := s.sweeper.Begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	return sweep.Round(ctx, []sweep.Job{
		{Name: "sweep indexes", Run: s.sweepIndexes}, // before the log that they follow is pruned
		{Name: "sweep changes", Run: s.sweeper.Changes},
		{Name: "close periods", Run: s.closePeriods(now)},
		{Name: "sweep keys", Run: s.sweeper.Keys},
		{Name: "sweep runs", Run: s.sweeper.Runs},
		{Name: "sweep audit", Run: s.sweeper.Audit},
		{Name: "sweep bars", Run: s.sweeper.Bars},
		{Name: "sweep sessions", Run: s.sweeper.Sessions},
		{Name: "sweep plays", Run: s.sweeper.Plays},
		{Name: "sweep metadata", Run: s.sweeper.Metadata},
		{Name: "sweep held", Run: s.sweeper.Held},
		{Name: "sweep submissions", Run: s.sweeper.Submissions},
		{Name: "sweep events", Run: s.sweepEvents},
		{Name: "sweep hidden members", Run: s.hidden.sweep},
		{Name: "sweep erasures", Run: s.erasures.sweep},
		{Name: "give up periods", Run: s.giveUpPeriods},
		{Name: "sweep periods", Run: s.sweeper.Periods},
		{Name: "sweep boards", Run: s.sweeper.Boards},
	})
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

// sweepEvents deletes events that are older than leaderboard.EventTTL, and those about erased members that were delivered.
func (s *Housekeeping) sweepEvents(ctx context.Context, slice sweep.Slice) (more bool, err error) {
	more, err = s.events.RemoveAged(ctx, s.sweeper.Before(leaderboard.EventTTL), slice.Over)
	return more, errors.Join(err, s.events.RemoveTold(ctx))
}

// sweepIndexes brings the rank indexes up to date from the log.
func (s *Housekeeping) sweepIndexes(ctx context.Context, slice sweep.Slice) (more bool, err error) {
	return s.indexes.Sweep(ctx, slice.Over)
}
