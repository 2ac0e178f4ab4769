package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// How a member is hidden.
//
// First the row of hidden_members is committed, then the entries are moved, by the writers of their boards (see
// batch_hidden.go). A batch that locks its board after the row was committed knows of it and applies submissions to the
// shadow. One that held the lock before may still commit a visible entry; but before entries are looked for, the lock
// of the board was held once (of one board: with the row itself; everywhere: see barrier), so what is looked for is
// all that there will be. Each of these states is a right one to start from, so Sweep goes on where a killed process
// stopped: the row says in its state what is still to be done, and of one everywhere which boards are done. To restore is
// the same, backwards.

// States of a row of hidden_members.
const (
	stateHiding    = "hiding"    // hidden; entries are still to be moved to the shadow
	stateHidden    = "hidden"    // hidden, and everything is moved
	stateRestoring = "restoring" // not hidden; entries are still to be moved back, then the row goes
)

// hiddenRow is a row of hidden_members.
type hiddenRow struct {
	BoardID  int64     `db:"board_id"`
	Board    []byte    `db:"board"` // name, when it was joined
	Member   []byte    `db:"member"`
	State    string    `db:"state"`
	Version  int64     `db:"version"`
	Reopen   bool      `db:"reopen"`
	After    int64     `db:"after_board"` // of one everywhere: boards up to this one are done for this version
	Reason   string    `db:"reason"`
	Actor    string    `db:"actor"`
	HiddenAt time.Time `db:"hidden_at"`

	fresh bool // entries are to be moved anew: it gets another version
}

const hiddenColumns = "h.board_id, h.member, h.state, h.version, h.reopen, h.after_board, h.reason, h.actor, h.hidden_at"

func (r *hiddenRow) hiding() leaderboard.HiddenMember {
	return leaderboard.HiddenMember{
		BoardID: r.BoardID, Board: string(r.Board), Member: string(r.Member), Reason: r.Reason, Actor: r.Actor, HiddenAt: leaderboard.MicrosOf(r.HiddenAt),
	}
}

// Hide hides a member on a board, or everywhere, and returns when no answer shows one of the member's entries in an open
// period any more; with Reopen in a closed one neither. Everybody below moves up, in one change per period. Submissions
// of the member go on being taken and answered, to the entries that are kept. The same again may change reason and
// actor. ErrOutcomeUnknown: it has not been done, or it has begun, and Sweep will finish it; other errors: a
// *leaderboard.RuleError, ErrBoardNotFound, ErrUnavailable.
func (s *Store) Hide(ctx context.Context, r leaderboard.HideRequest) (leaderboard.HiddenMember, error) {
	if broken := r.Check(); broken != nil {
		return leaderboard.HiddenMember{}, db.Wrap("hide", broken)
	}
	row, err := s.mark(ctx, r, (*hiddenRow).hide)
	if err != nil {
		return leaderboard.HiddenMember{}, db.Translate(ctx, "hide", err)
	}
	h := row.hiding()
	h.Board = r.Board
	return h, s.follow(ctx, "hide", row)
}

// Restore shows a hidden member again: the entries come back as they have become, with the times at which their scores
// were reached. Those in periods that have closed meanwhile come back only with Reopen; without, a closed period stays
// as it was, without the member. A member who is hidden both on the board and everywhere stays hidden by the other.
// Errors: ErrNotHidden, otherwise those of Hide.
func (s *Store) Restore(ctx context.Context, r leaderboard.HideRequest) error {
	if broken := r.CheckRestore(); broken != nil {
		return db.Wrap("restore", broken)
	}
	row, err := s.mark(ctx, r, (*hiddenRow).restore)
	if err != nil {
		return db.Translate(ctx, "restore", err)
	}
	return s.follow(ctx, "restore", row)
}

// follow moves the entries after the row was committed.
func (s *Store) follow(ctx context.Context, doing string, row *hiddenRow) error {
	if row.State == stateHidden {
		return nil
	}
	if err := s.moveHidden(ctx, row); err != nil {
		return fmt.Errorf("store: %s: %w: Sweep will finish it: %w", doing, leaderboard.ErrOutcomeUnknown, err)
	}
	return nil
}

// hide is what a request makes of the row, whose Version is 0 when there is none yet; false when it stays as it is.
func (r *hiddenRow) hide(req *leaderboard.HideRequest, now time.Time) (changed bool, err error) {
	fresh := r.Version == 0 || r.State == stateRestoring
	if !fresh && r.Reason == req.Reason && r.Actor == req.Actor && !req.Reopen {
		return false, nil
	}
	if fresh {
		r.HiddenAt, r.Reopen = now, false
	}
	if fresh || req.Reopen {
		r.State, r.fresh = stateHiding, true
	}
	r.Reason, r.Actor, r.Reopen = req.Reason, req.Actor, r.Reopen || req.Reopen
	return true, nil
}

// restore is the same for a restoration. One that is under way already is joined.
func (r *hiddenRow) restore(req *leaderboard.HideRequest, _ time.Time) (changed bool, err error) {
	switch {
	case r.Version == 0:
		return false, leaderboard.ErrNotHidden
	case r.State == stateRestoring && (r.Reopen || !req.Reopen):
		return false, nil
	}
	r.State, r.fresh, r.Reopen, r.Actor = stateRestoring, true, req.Reopen, req.Actor
	return true, nil
}

// marking is what a request makes of a row: hide or restore.
type marking func(row *hiddenRow, req *leaderboard.HideRequest, now time.Time) (changed bool, err error)

// mark changes the row of a member as decide says, and records that; both are committed when it returns. The row comes
// back as it is now.
func (s *Store) mark(ctx context.Context, req leaderboard.HideRequest, decide marking) (*hiddenRow, error) {
	var row *hiddenRow
	err := db.Retry(db.RetryableOrDuplicate, func() (err error) {
		row, err = s.markOnce(ctx, &req, decide)
		return err
	})
	return row, err
}

func (s *Store) markOnce(ctx context.Context, req *leaderboard.HideRequest, decide marking) (*hiddenRow, error) {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	row := &hiddenRow{Member: []byte(req.Member)}
	if req.Board != "" {
		if row.BoardID, err = shadowBoard(ctx, tx, req.Board); err != nil {
			return nil, err
		}
	}
	const find = "SELECT " + hiddenColumns + " FROM hidden_members h WHERE h.board_id = ? AND h.member = ? FOR UPDATE"
	err = tx.GetContext(ctx, row, find, row.BoardID, row.Member)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	var now time.Time
	if err := tx.GetContext(ctx, &now, "SELECT "+s.db.Sysdate()); err != nil {
		return nil, err
	}
	first := row.Version == 0
	changed, err := decide(row, req, now)
	if err != nil {
		return nil, err
	}
	if changed {
		id, err := row.record(ctx, tx, req, now)
		if err != nil {
			return nil, err
		}
		if row.fresh {
			row.Version, row.After = id, 0
		}
		if err := row.save(ctx, tx, first); err != nil {
			return nil, err
		}
	}
	return row, db.Commit(tx)
}

// record adds to the log what was done. Its id is the version of the row if there is to be a new one: no two have the
// same, also when the row was gone in between, and so nobody who is late takes a later hiding for the own one.
func (r *hiddenRow) record(ctx context.Context, tx *sqlx.Tx, req *leaderboard.HideRequest, now time.Time) (id int64, err error) {
	action := leaderboard.HideActionHide
	if r.State == stateRestoring {
		action = leaderboard.HideActionRestore
	}
	const insert = "INSERT INTO hidden_log (board_id, member, action, reason, actor, logged_at) VALUES (?, ?, ?, ?, ?, ?)"
	result, err := tx.ExecContext(ctx, insert, r.BoardID, r.Member, string(action), req.Reason, req.Actor, now)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// shadowBoard locks a board, so that the row of the hiding and what batches know of it change as one, and tells its
// writers from now on to ask who is hidden.
func shadowBoard(ctx context.Context, tx *sqlx.Tx, name string) (id int64, err error) {
	err = tx.GetContext(ctx, &id, "SELECT id FROM boards WHERE name = ? AND state = 'open' FOR UPDATE", []byte(name))
	if errors.Is(err, sql.ErrNoRows) {
		return 0, leaderboard.ErrBoardNotFound
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE boards SET has_hidden = 1 WHERE id = ?", id)
	}
	return id, err
}

func (r *hiddenRow) save(ctx context.Context, tx *sqlx.Tx, first bool) error {
	if first {
		const insert = "INSERT INTO hidden_members (board_id, member, state, version, reopen, after_board, reason, actor, hidden_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
		_, err := tx.ExecContext(ctx, insert, r.BoardID, r.Member, r.State, r.Version, r.Reopen, r.After, r.Reason, r.Actor, r.HiddenAt)
		return err
	}
	const update = "UPDATE hidden_members SET state = ?, version = ?, reopen = ?, after_board = ?, reason = ?, actor = ?, hidden_at = ?" +
		" WHERE board_id = ? AND member = ?"
	_, err := tx.ExecContext(ctx, update, r.State, r.Version, r.Reopen, r.After, r.Reason, r.Actor, r.HiddenAt, r.BoardID, r.Member)
	return err
}
