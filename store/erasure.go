package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
	"leaderboard/store/internal/sweep"
)

// How a member is erased.
//
// A row of erasures comes first, so whatever happens then, Sweep goes on where it stopped. What is kept of the member
// besides entries goes next, then the entries, period by period in the order of their ids, each through the writer of
// its board: the ranks below close up, and the copies, the rank indexes and the derived boards follow as after any
// other change. That the member is hidden is erased last: a hidden entry of somebody who is not hidden would be shown.
// Every step may be repeated, and run by several processes at once.

const (
	// erasePeriods is how many periods are looked through at once for entries of a member.
	erasePeriods = 1000
	// eraseTogether is how many entries are removed at the same time: those of one board go in one batch.
	eraseTogether = 16
	// erasuresAtOnce is how many erasures are looked at together.
	erasuresAtOnce = 1000
)

// erasure is a row of erasures.
type erasure struct {
	Member  []byte    `db:"member"`
	After   int64     `db:"after_period"`
	Entries int64     `db:"removed_count"`
	Actor   string    `db:"actor"`
	Started time.Time `db:"started_at"`
}

func (e *erasure) state(done bool) leaderboard.Erasure {
	return leaderboard.Erasure{Member: string(e.Member), Done: done, Entries: e.Entries, StartedAt: leaderboard.MicrosOf(e.Started)}
}

// Forget removes a member everywhere: the entries in all periods of all boards, closed ones and hidden entries too, the
// profile, the lists of friends in both directions, and the record of who was hidden. Corrections of closed periods are
// recorded as runs of kind RunKindReopen, with the actor. It works until it is done or ctx ends; then Sweep finishes
// it, and the same call again goes on and tells how far it is. What is submitted about the member meanwhile may stay:
// end that first. A member that nobody knows is erased at once. Errors: a *leaderboard.RuleError, ErrOverloaded,
// ErrUnavailable; the work is not lost by one.
func (s *Store) Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error) {
	if broken := leaderboard.CheckMember(member); broken != nil {
		return leaderboard.Erasure{}, db.Wrap("forget", broken)
	}
	begin := "INSERT INTO erasures (member, actor, started_at) VALUES (?, ?, " + s.db.Sysdate() + ") ON DUPLICATE KEY UPDATE member = VALUES(member)"
	if _, err := s.db.ExecContext(ctx, begin, []byte(member), db.CutText(actor, db.MaxActor)); err != nil {
		return leaderboard.Erasure{}, db.Translate(ctx, "forget", err)
	}
	e := &erasure{Member: []byte(member)}
	done, err := s.erase(ctx, e, sweep.Slice{})
	if ctx.Err() != nil {
		err = nil // it has begun, and that is the answer
	}
	return e.state(done), db.Translate(ctx, "forget", err)
}

// erase goes on with an erasure until its slice is over, and says whether it is done.
func (s *Store) erase(ctx context.Context, e *erasure, slice sweep.Slice) (done bool, err error) {
	err = s.db.GetContext(ctx, e, "SELECT member, after_period, removed_count, actor, started_at FROM erasures WHERE member = ?", e.Member)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil // another process has finished it
	}
	if err == nil {
		err = s.erasePerson(ctx, e.Member)
	}
	for last := false; err == nil && !last; {
		if slice.Over() {
			return false, nil
		}
		last, err = s.eraseEntries(ctx, e)
	}
	for _, query := range []string{
		"DELETE FROM hidden_members WHERE member = ? LIMIT ?", "DELETE FROM hidden_log WHERE member = ? LIMIT ?",
		"DELETE FROM erasures WHERE member = ? LIMIT ?",
	} {
		if err == nil {
			err = s.deleteAll(ctx, query, e.Member)
		}
	}
	return err == nil, err
}

// erasePerson deletes what is kept of a member besides entries. A celebrity is on many lists: they go in steps.
func (s *Store) erasePerson(ctx context.Context, member []byte) error {
	for _, query := range []string{
		"DELETE FROM profiles WHERE member = ? LIMIT ?",
		"DELETE FROM friends WHERE member = ? ORDER BY friend LIMIT ?",
		"DELETE FROM friend_lists WHERE member = ? LIMIT ?",
	} {
		if err := s.deleteAll(ctx, query, member); err != nil {
			return err
		}
	}
	for more := true; more; {
		var err error
		if more, err = s.unfriend(ctx, member); err != nil {
			return err
		}
	}
	return nil
}

// deleteAll deletes the rows of a member in statements of sweep.Rows rows.
func (s *Store) deleteAll(ctx context.Context, query string, member []byte) error {
	for {
		var n int64
		err := db.Retry(db.Retryable, func() (err error) { // somebody may change one of the lists just now
			n, err = s.sweeper.Delete(ctx, query, member, sweep.Rows)
			return err
		})
		if err != nil || n < sweep.Rows {
			return err
		}
	}
}

// erasePlace is a period of a board.
type erasePlace struct {
	ID    int64  `db:"id"`
	Board []byte `db:"name"`
}

// eraseEntries removes the entries of the next periods and notes that they are done; last when there are no more.
func (s *Store) eraseEntries(ctx context.Context, e *erasure) (last bool, err error) {
	var places []erasePlace
	const next = "SELECT p.id, b.name FROM periods p FORCE INDEX (PRIMARY) JOIN boards b ON b.id = p.board_id" +
		" WHERE p.id > ? AND p.state <> 'deleting' AND b.state = 'open' ORDER BY p.id LIMIT ?"
	if err := s.db.SelectContext(ctx, &places, s.db.Limited(next), e.After, erasePeriods); err != nil || len(places) == 0 {
		return err == nil, err
	}
	boards := make(map[int64]string, len(places))
	for _, p := range places {
		boards[p.ID] = string(p.Board)
	}
	var found []int64
	if err := s.db.SelectContext(ctx, &found, s.db.Limited(entriesIn(places, string(e.Member)))); err != nil {
		return false, err
	}
	holding := map[int64]string{}
	for _, stored := range found {
		id, _ := entries.PeriodOf(stored)
		holding[id] = boards[id]
	}
	removed, err := s.removeAll(ctx, e, holding)
	if err != nil {
		return false, err
	}
	e.After, e.Entries = places[len(places)-1].ID, e.Entries+removed
	const note = "UPDATE erasures SET after_period = GREATEST(after_period, ?), removed_count = removed_count + ? WHERE member = ?"
	_, err = s.db.ExecContext(ctx, note, e.After, removed, e.Member)
	return len(places) < erasePeriods, err
}

// entriesIn finds in which of the periods a member has an entry, or a hidden one.
func entriesIn(places []erasePlace, member string) string {
	ids := make([]int64, 0, 2*len(places))
	for _, p := range places {
		ids = append(ids, p.ID, entries.HiddenIn(p.ID))
	}
	t := (&db.Text{}).Str("SELECT period_id FROM entries FORCE INDEX (PRIMARY) WHERE (")
	for from := 0; from < len(ids); from += db.MaxRows {
		if from > 0 {
			t.Str(" OR ")
		}
		t.Str("period_id IN (").Ints(ids[from:min(from+db.MaxRows, len(ids))]).Str(")")
	}
	return t.Str(") AND member = ").Hex(member).Str(" LIMIT ").Int(int64(len(ids))).String()
}

// removeAll removes the entries in these periods, several at the same time, and returns how many it removed.
func (s *Store) removeAll(ctx context.Context, e *erasure, periods map[int64]string) (removed int64, err error) {
	var (
		mu      sync.Mutex
		working sync.WaitGroup
		permits = make(chan struct{}, eraseTogether)
	)
	for id, board := range periods {
		select {
		case permits <- struct{}{}:
		case <-ctx.Done():
			working.Wait()
			return removed, ctx.Err()
		}
		working.Go(func() {
			defer func() { <-permits }()
			_, failed := s.Reopen(ctx, board, id, string(e.Member), e.Actor)
			gone := errors.Is(failed, leaderboard.ErrNotRanked) || errors.Is(failed, leaderboard.ErrPeriodNotFound) ||
				errors.Is(failed, leaderboard.ErrBoardNotFound) // another process was here, or the period went
			mu.Lock()
			defer mu.Unlock()
			switch {
			case failed == nil:
				removed++
			case !gone:
				err = failed
			}
		})
	}
	working.Wait()
	return removed, err
}

// sweepErasures goes on with what a request had no time for, or a killed process left. One that fails does not
// stop the others.
func (s *Store) sweepErasures(ctx context.Context, slice sweep.Slice) (more bool, failed error) {
	var members []string
	if err := s.db.SelectContext(ctx, &members, "SELECT member FROM erasures ORDER BY started_at LIMIT ?", erasuresAtOnce); err != nil {
		return false, err
	}
	sweep.Order(&s.sweeps.erasures, members, func(m string) string { return m })
	for _, m := range members {
		if slice.Over() {
			return true, failed
		}
		s.sweeps.erasures.Begin(m)
		e := &erasure{Member: []byte(m)}
		done, err := s.erase(ctx, e, slice)
		if done {
			s.db.Log.Info("a member is erased", "entries", e.Entries, "asked", e.Started)
		}
		if failed = errors.Join(failed, err); ctx.Err() != nil {
			return true, failed
		}
		more = more || !done
	}
	return more || len(members) == erasuresAtOnce, failed
}
