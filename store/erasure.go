package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/audit"
	"leaderboard/internal/boards"
	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/sweep"
)

// How a member is erased.
//
// First a row of erasures is committed, so that Sweep can finish an erasure that stops. Then everything about the member
// except the entries is deleted, then the entries, period by period in the order of their ids, each through the writer of
// its board: the ranks below close up, and the copies, the rank indexes and the derived boards follow as after any other
// change. The rows of hidden_members go last: a hidden entry of a member that is not hidden would be shown. Records about
// the member, in audit and submissions, stay under a random name, which is in the row of erasures and is forgotten with it.
// Every step may be repeated, and run by several processes at once.

const (
	// erasePeriods is how many periods are looked through at once for entries of a member.
	erasePeriods = 1000
	// eraseTogether is the number of entries removed at the same time: entries of the same board go in one batch.
	eraseTogether = 16
	// erasuresAtOnce is how many erasures are looked at together.
	erasuresAtOnce = 1000
)

// Erasures removes members everywhere. All methods may be called concurrently once every Forget is added.
type Erasures struct {
	db      *mysql.DB
	writer  *Writer
	sweeper *sweep.Sweeper
	kept    entries.Kept        // nil: nothing is kept with entries
	first   []forgetting        // before the entries
	last    []forgetting        // after them
	turns   sweep.Turns[string] // by member, of the housekeeping under way
}

// erasure is a row of erasures.
type erasure struct {
	Member  []byte    `db:"member"`
	Alias   []byte    `db:"alias"`
	After   int64     `db:"after_period"`
	Entries int64     `db:"removed_count"`
	Actor   string    `db:"actor"`
	Started time.Time `db:"started_at"`
}

func (e *erasure) state(done bool) leaderboard.Erasure {
	return leaderboard.Erasure{Member: string(e.Member), Done: done, Entries: e.Entries, StartedAt: leaderboard.MicrosOf(e.Started)}
}

// Forget removes a member everywhere: the entries in all periods of all boards, closed ones and hidden entries too, the
// profile, the lists of friends in both directions, and the rows of hidden_members. In the audit and among the recorded
// submissions a random name replaces the member, the same in all of them, and the reasons in their texts are removed.
// Corrections of closed periods are recorded as runs of kind RunKindReopen, with the actor. It works until it is done or
// ctx ends; then Sweep finishes it, and repeating the call continues and returns the progress. Submissions about the member
// meanwhile may stay, like the record of a hide or a correction, as if they came later: stop those first. A member without
// any row is erased at once. Once the erasure has begun, a board that cannot be written to now, because it is locked for
// long or has a rule that this server does not know, is no error: the erasure is under way, and the Sweep of a server that
// can write to the board finishes it. Errors, when nothing was done: a *leaderboard.RuleError, ErrUnavailable.
func (s *Erasures) Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error) {
	if broken := leaderboard.CheckMember(member); broken != nil {
		return leaderboard.Erasure{}, mysql.Wrap("forget", broken)
	}
	if err := s.beginErasure(ctx, member, actor); err != nil {
		return leaderboard.Erasure{}, mysql.Translate(ctx, "forget", err)
	}
	e := &erasure{Member: []byte(member)}
	done, err := s.erase(ctx, e, sweep.Slice{})
	err = mysql.Translate(ctx, "forget", err)
	if _, passes := errors.AsType[*leaderboard.Error](err); passes || ctx.Err() != nil {
		s.db.Log.WarnContext(ctx, "an erasure is not finished yet", "error", err)
		err = nil // it has begun, and the progress is the answer
	}
	return e.state(done), err
}

// aliasBytes is how many random bytes are in the name that takes the place of a member.
const aliasBytes = 12

// beginErasure commits the row of an erasure, unless it exists, and its record in the audit, which has the new name.
func (s *Erasures) beginErasure(ctx context.Context, member, actor string) error {
	var random [aliasBytes]byte
	_, _ = rand.Read(random[:]) // it never fails
	alias := "erased-" + hex.EncodeToString(random[:])
	begin := "INSERT INTO erasures (member, alias, actor, started_at) VALUES (?, ?, ?, " + s.db.Sysdate() + ") ON DUPLICATE KEY UPDATE member = VALUES(member)"
	return s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		result, err := tx.ExecContext(ctx, begin, []byte(member), []byte(alias), mysql.CutText(actor, mysql.MaxActor))
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err // it is under way
		}
		_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionMemberErase, Member: alias})
		return err
	})
}

// erase continues an erasure until its time slice is over, and reports whether it is done.
func (s *Erasures) erase(ctx context.Context, e *erasure, slice sweep.Slice) (done bool, err error) {
	err = s.db.Pool.GetContext(ctx, e, "SELECT member, alias, after_period, removed_count, actor, started_at FROM erasures WHERE member = ?", e.Member)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil // another process has finished it
	}
	if err == nil {
		err = s.forget(ctx, e, s.first)
	}
	if err == nil {
		var finished bool
		if finished, err = s.eraseEverywhere(ctx, e, slice); err == nil && !finished {
			return false, nil
		}
	}
	if err == nil {
		err = s.forget(ctx, e, s.last)
	}
	if err == nil {
		err = s.endErasure(ctx, e)
	}
	return err == nil, err
}

// endErasure deletes the row of an erasure, and enters its event; of several processes only the deleting one does.
func (s *Erasures) endErasure(ctx context.Context, e *erasure) error {
	return s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM erasures WHERE member = ?", e.Member)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err
		}
		return outbox.Enter(ctx, tx, s.db.Sysdate(), outbox.Event{
			Kind: leaderboard.EventKindMemberErased, Data: outbox.Of(struct{}{}, leaderboard.EventMember{Member: string(e.Member)}),
		})
	})
}

// forgetting is a Forget with its subject.
type forgetting struct {
	name   string
	forget Forget
}

// Add has each erasure forget something more before it removes the entries of the member. It is called before the first erasure.
func (s *Erasures) Add(name string, forget Forget) {
	s.first = append(s.first, forgetting{name, forget})
}

// AddAfter is Add for data that belong to entries, or that the removal of entries still writes: they are forgotten once the
// entries are gone.
func (s *Erasures) AddAfter(name string, forget Forget) {
	s.last = append(s.last, forgetting{name, forget})
}

func (s *Erasures) forget(ctx context.Context, e *erasure, list []forgetting) error {
	for _, f := range list {
		if err := f.forget(ctx, e.Member, e.Alias, s.inSteps); err != nil {
			return fmt.Errorf("erase %s: %w", f.name, err)
		}
	}
	return nil
}

// inSteps repeats a statement, whose last argument is the number of rows that it changes, until no rows are left:
// sweep.Rows rows at a time.
func (s *Erasures) inSteps(ctx context.Context, query string, args ...any) error {
	args = append(args[:len(args):len(args)], sweep.Rows)
	for {
		var n int64
		err := mysql.Retry(mysql.Retryable, func() (err error) { // another session may be changing one of the rows
			n, err = s.sweeper.Delete(ctx, query, args...)
			return err
		})
		if err != nil || n < sweep.Rows {
			return err
		}
	}
}

// erasePeriod is a period of a board.
type erasePeriod struct {
	ID    int64  `db:"id"`
	Board []byte `db:"name"`
}

// eraseEverywhere removes the entries in all periods that are not done yet, until its time slice is over. A board that
// fails, because its lock is held for long or it has a rule that this server does not know, does not stop the boards after
// it. But then only the periods before it are recorded as done, and the next attempt begins with it.
func (s *Erasures) eraseEverywhere(ctx context.Context, e *erasure, slice sweep.Slice) (finished bool, failed error) {
	for at := e.After; !slice.Over(); {
		places, err := placesAfter(ctx, s.db, at)
		if err != nil || len(places) == 0 {
			return err == nil && failed == nil, errors.Join(failed, err)
		}
		at = places[len(places)-1].ID
		removed, err := s.eraseEntries(ctx, e, places)
		if failed = cmp.Or(failed, err); failed == nil {
			e.After = at
		}
		if ctx.Err() != nil {
			return false, failed
		}
		e.Entries += removed
		const note = "UPDATE erasures SET after_period = GREATEST(after_period, ?), removed_count = removed_count + ? WHERE member = ?"
		if _, err := s.db.Pool.ExecContext(ctx, note, e.After, removed, e.Member); err != nil {
			return false, errors.Join(failed, err)
		}
	}
	return false, failed
}

// eraseEntries removes the entries in periods, and returns how many they were.
func (s *Erasures) eraseEntries(ctx context.Context, e *erasure, places []erasePeriod) (removed int64, err error) {
	names, ids := make(map[int64]string, len(places)), make([]int64, len(places))
	for i, p := range places {
		names[p.ID], ids[i] = string(p.Board), p.ID
	}
	var found []int64
	if err := s.db.Pool.SelectContext(ctx, &found, s.db.Limited(entriesIn(places, string(e.Member)))); err != nil {
		return 0, err
	}
	holding := map[int64]string{}
	for _, stored := range found {
		id, _ := entries.PeriodOf(stored)
		holding[id] = names[id]
	}
	removed, err = s.removeAll(ctx, e, holding)
	if err == nil && s.kept != nil {
		_, err = s.sweeper.Delete(ctx, s.kept.ForgetKept(ids, string(e.Member)))
	}
	return removed, err
}

// placesAfter returns the next periods of all boards after an id, erasePeriods at most.
func placesAfter(ctx context.Context, db *mysql.DB, id int64) (places []erasePeriod, err error) {
	const next = "SELECT p.id, b.name FROM periods p FORCE INDEX (PRIMARY) JOIN boards b ON b.id = p.board_id" +
		" WHERE p.id > ? AND p.state <> 'deleting' AND b.state = 'open' ORDER BY p.id LIMIT ?"
	return places, db.Pool.SelectContext(ctx, &places, db.Limited(next), id, erasePeriods)
}

// memberEntries reads the entries of a member in periods, hidden ones too, with their periods and boards, and with
// their metadata: a second statement could find the metadata of another entry, which came meanwhile.
func memberEntries(places []erasePeriod, member string) string {
	return "SELECT e.period_id, e.score, e.tiebreak, e.created_time, COALESCE(d.body, ''), " + boards.JoinedPeriodColumns + ", " + boards.JoinedColumns + " FROM (" + entriesIn(places, member) +
		") found JOIN entries e FORCE INDEX (PRIMARY) ON e.period_id = found.period_id AND e.member = " + (&mysql.Text{}).Hex(member).String() +
		" JOIN periods p ON p.id = ABS(e.period_id) JOIN boards b ON b.id = p.board_id" +
		" LEFT JOIN entry_metadata m FORCE INDEX (PRIMARY) ON m.period_id = p.id AND m.member = e.member AND m.score = e.score AND m.tiebreak = e.tiebreak" +
		" AND m.created_time = e.created_time LEFT JOIN metadata_bodies d FORCE INDEX (PRIMARY) ON d.member = m.member AND d.id = m.body_id ORDER BY p.id"
}

// entriesIn finds in which of the periods a member has an entry, or a hidden one.
func entriesIn(places []erasePeriod, member string) string {
	ids := make([]int64, 0, 2*len(places))
	for _, p := range places {
		ids = append(ids, p.ID, entries.AsideIn(p.ID))
	}
	t := entries.AmongPeriods((&mysql.Text{}).Str("SELECT period_id FROM entries FORCE INDEX (PRIMARY) WHERE "), ids)
	return t.Str(" AND member = ").Hex(member).Str(" LIMIT ").Int(int64(len(ids))).String()
}

// removeAll removes the entries in these periods, several at the same time, and returns how many it removed.
func (s *Erasures) removeAll(ctx context.Context, e *erasure, periods map[int64]string) (removed int64, err error) {
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
			_, failed := s.writer.Erase(ctx, leaderboard.RemoveRequest{Board: board, PeriodID: id, Member: string(e.Member), Reopen: true, Actor: e.Actor})
			gone := errors.Is(failed, leaderboard.ErrNotRanked) || errors.Is(failed, leaderboard.ErrPeriodNotFound) ||
				errors.Is(failed, leaderboard.ErrBoardNotFound) // another process removed it, or the period was deleted
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

// sweep continues erasures that a request had no time to finish, or that a killed process left. A failing erasure does not
// stop the others.
func (s *Erasures) sweep(ctx context.Context, slice sweep.Slice) (more bool, failed error) {
	var members []string
	if err := s.db.Pool.SelectContext(ctx, &members, "SELECT member FROM erasures ORDER BY started_at LIMIT ?", erasuresAtOnce); err != nil {
		return false, err
	}
	sweep.Order(&s.turns, members, func(m string) string { return m })
	for _, m := range members {
		if slice.Over() {
			return true, failed
		}
		s.turns.Begin(m)
		e := &erasure{Member: []byte(m)}
		done, err := s.erase(ctx, e, slice)
		if errors.Is(err, leaderboard.ErrUnknownRule) {
			continue // a server that knows the rule finishes it
		}
		if done {
			s.db.Log.InfoContext(ctx, "a member is erased", "entries", e.Entries, "asked", e.Started)
		}
		if failed = errors.Join(failed, err); ctx.Err() != nil {
			return true, failed
		}
		more = more || !done
	}
	return more || len(members) == erasuresAtOnce, failed
}

// forgetAudit gives a member who is erased another name in the audit. Texts that people have written about the member are
// removed, and its old profiles.
func forgetAudit(ctx context.Context, member, alias []byte, steps Steps) error {
	const personal = "'$.reason', '$.display_name', '$.avatar_url', '$.attributes')"
	return steps(ctx, "UPDATE audit FORCE INDEX (audit_member) SET member = ?, before_json = JSON_REMOVE(before_json, "+personal+", after_json = JSON_REMOVE(after_json, "+personal+
		", request_id = '' WHERE member = ? LIMIT ?", alias, member)
}
