package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/audit"
	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
	"leaderboard/store/internal/sweep"
)

// How a member is hidden.
//
// First the row of hidden_members is committed, then the entries are moved, by the writers of their boards. A batch that
// locks its board after the row was committed sees the row and applies submissions to the hidden entries. A batch that held
// the lock before may still commit a visible entry; but before entries are looked for, the lock of the board is taken once
// (for a hide on one board: with the row itself; for a global one: see drain), so the search finds every visible entry that
// there will be. The work can continue from each of these states, so Sweep finishes the work of a killed process: the state
// of the row is the remaining work, and a global hide records the last board that is done. Restoring is the same,
// backwards.

// hiddenRow is a row of hidden_members.
type hiddenRow struct {
	BoardID  int64     `db:"board_id"`
	Board    []byte    `db:"board"` // name, when it was joined
	Member   []byte    `db:"member"`
	State    string    `db:"state"`
	Version  int64     `db:"version"`
	Reopen   bool      `db:"reopen"`
	After    int64     `db:"after_board"` // of a global hide: boards up to this one are done for this version
	Reason   string    `db:"reason"`
	Actor    string    `db:"actor"`
	HiddenAt time.Time `db:"hidden_at"`

	fresh bool // entries must be moved again: the row gets a new version
}

const hiddenColumns = "h.board_id, h.member, h.state, h.version, h.reopen, h.after_board, h.reason, h.actor, h.hidden_at"

func (r *hiddenRow) hiddenMember() leaderboard.HiddenMember {
	return leaderboard.HiddenMember{
		BoardID: r.BoardID, Board: string(r.Board), Member: string(r.Member), Reason: r.Reason, Actor: r.Actor, HiddenAt: leaderboard.MicrosOf(r.HiddenAt),
	}
}

// HiddenMembers is the hidden members. All methods may be called concurrently.
type HiddenMembers struct {
	db     *mysql.DB
	writer *Writer
	boards *Boards
	turns  sweep.Turns[string] // by board and member, of the housekeeping under way
}

// Hide hides a member on a board, or everywhere, and returns when no answer shows the member's entries in an open period
// any longer; with Reopen, nor in a closed one. The members below move up, in one change per period. Submissions of the
// member are still taken and answered; they change the hidden entries. A repetition may change reason and actor.
// ErrOutcomeUnknown: it has not been done, or it has begun, and Sweep will finish it. Other errors, when nothing was done:
// a *leaderboard.RuleError, ErrBoardNotFound, ErrUnknownRule of any board with such an entry, ErrUnavailable.
func (s *HiddenMembers) Hide(ctx context.Context, r leaderboard.HideRequest) (leaderboard.HiddenMember, error) {
	if broken := r.Check(); broken != nil {
		return leaderboard.HiddenMember{}, mysql.Wrap("hide", broken)
	}
	row, err := s.changeHidden(ctx, r, commit.StateHiding, (*hiddenRow).hide)
	if err != nil {
		return leaderboard.HiddenMember{}, mysql.Translate(ctx, "hide", err)
	}
	h := row.hiddenMember()
	h.Board = r.Board
	return h, s.moveNow(ctx, "hide", row)
}

// Restore shows a hidden member again: the entries come back as submissions have changed them, with the times at which
// their scores were reached. Entries in periods that have closed meanwhile come back only with Reopen. A member hidden both
// on the board and everywhere stays hidden until both are restored. Errors: ErrNotHidden, otherwise the errors of Hide.
func (s *HiddenMembers) Restore(ctx context.Context, r leaderboard.HideRequest) error {
	if broken := r.CheckRestore(); broken != nil {
		return mysql.Wrap("restore", broken)
	}
	row, err := s.changeHidden(ctx, r, commit.StateRestoring, (*hiddenRow).restore)
	if err != nil {
		return mysql.Translate(ctx, "restore", err)
	}
	return s.moveNow(ctx, "restore", row)
}

// moveNow moves the entries after the row was committed.
func (s *HiddenMembers) moveNow(ctx context.Context, doing string, row *hiddenRow) error {
	if row.State == commit.StateHidden {
		return nil
	}
	if _, err := s.moveHidden(ctx, row, sweep.Slice{}); err != nil {
		return fmt.Errorf("store: %s: %w: Sweep will finish it: %w", doing, leaderboard.ErrOutcomeUnknown, err)
	}
	return nil
}

// hide changes the row, whose Version is 0 when it does not exist yet, as a request demands; it returns false if nothing
// changes.
func (r *hiddenRow) hide(req *leaderboard.HideRequest, now time.Time) (changed bool, err error) {
	fresh := r.Version == 0 || r.State == commit.StateRestoring
	if !fresh && r.Reason == req.Reason && r.Actor == req.Actor && !req.Reopen {
		return false, nil
	}
	if fresh {
		r.HiddenAt, r.Reopen = now, false
	}
	if fresh || req.Reopen {
		r.State, r.fresh = commit.StateHiding, true
	}
	r.Reason, r.Actor, r.Reopen = req.Reason, req.Actor, r.Reopen || req.Reopen
	return true, nil
}

// restore does the same for a request to restore. It joins a restoration that is under way.
func (r *hiddenRow) restore(req *leaderboard.HideRequest, _ time.Time) (changed bool, err error) {
	switch {
	case r.Version == 0:
		return false, leaderboard.ErrNotHidden
	case r.State == commit.StateRestoring && (r.Reopen || !req.Reopen):
		return false, nil
	}
	r.State, r.fresh, r.Reopen, r.Actor = commit.StateRestoring, true, req.Reopen, req.Actor
	return true, nil
}

// hiddenChange is hide or restore.
type hiddenChange func(row *hiddenRow, req *leaderboard.HideRequest, now time.Time) (changed bool, err error)

// changeHidden changes the row of a member, sets its state, and records the change; both are committed when it returns. It
// returns the new row.
func (s *HiddenMembers) changeHidden(ctx context.Context, req leaderboard.HideRequest, state string, change hiddenChange) (row *hiddenRow, err error) {
	once := func(tx *sqlx.Tx) (err error) {
		row, err = s.changeHiddenIn(ctx, tx, &req, change)
		return err
	}
	if req.Board == "" {
		if err = s.checkMovable(ctx, &hiddenRow{Member: []byte(req.Member), State: state, Reopen: req.Reopen}); err == nil {
			err = s.db.InTx(ctx, once)
		}
	} else {
		err = s.writer.Alone(ctx, req.Board, once)
	}
	return row, err
}

func (s *HiddenMembers) changeHiddenIn(ctx context.Context, tx *sqlx.Tx, req *leaderboard.HideRequest, change hiddenChange) (*hiddenRow, error) {
	var err error
	row := &hiddenRow{Member: []byte(req.Member)}
	if req.Board != "" {
		if row.BoardID, err = lockHasHidden(ctx, tx, req.Board); err != nil {
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
	before := *row
	changed, err := change(row, req, now)
	if err != nil {
		return nil, err
	}
	if changed {
		id, err := s.auditHidden(ctx, tx, req, &before, row)
		if err != nil {
			return nil, err
		}
		if row.fresh {
			row.Version, row.After = id, 0
		}
		if err := row.save(ctx, tx, before.Version == 0); err != nil {
			return nil, err
		}
		if err := s.enterHidden(ctx, tx, req, &before, row); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// enterHidden enters the event that a member is hidden who was not, or the reverse.
func (s *HiddenMembers) enterHidden(ctx context.Context, tx *sqlx.Tx, req *leaderboard.HideRequest, before, after *hiddenRow) error {
	hidden := func(r *hiddenRow) bool { return r.Version > 0 && r.State != commit.StateRestoring }
	if hidden(before) == hidden(after) {
		return nil
	}
	kind := leaderboard.EventKindMemberHidden
	if !hidden(after) {
		kind = leaderboard.EventKindMemberRestored
	}
	return outbox.Enter(ctx, tx, s.db.Sysdate(), outbox.Event{Kind: kind, Board: req.Board, Data: outbox.Of(struct {
		Board  string `json:"board,omitempty"`
		Reason string `json:"reason,omitempty"`
		Actor  string `json:"actor,omitempty"`
	}{req.Board, req.Reason, req.Actor}, leaderboard.EventMember{Member: req.Member})})
}

// hiddenState is the audit's record of a hidden member, or of a member that is shown again.
type hiddenState struct {
	Hidden bool   `json:"hidden"`
	Reason string `json:"reason"` // of a restoration, its own; gone when the member is erased
	Actor  string `json:"actor"`
	Reopen bool   `json:"reopen,omitempty"`
}

// auditHidden records the hide or the restoration. The id becomes the version of the row if it gets a new one. No two
// versions are the same, even if the row was gone in between, so a late request does not mistake a later hide for its own.
func (s *HiddenMembers) auditHidden(ctx context.Context, tx *sqlx.Tx, req *leaderboard.HideRequest, before, after *hiddenRow) (id int64, err error) {
	hidden := after.State != commit.StateRestoring
	c := audit.Change{
		Action: leaderboard.AuditActionMemberHide, Board: req.Board, Member: req.Member, After: hiddenState{hidden, req.Reason, req.Actor, req.Reopen},
	}
	if !hidden {
		c.Action = leaderboard.AuditActionMemberRestore
	}
	if before.Version > 0 {
		c.Before = hiddenState{before.State != commit.StateRestoring, before.Reason, before.Actor, before.Reopen}
	}
	return audit.Write(ctx, s.db, tx, c)
}

// lockHasHidden locks a board, so that the row of hidden_members and the memory of batches change together, and makes its
// writers ask from now on which members are hidden.
func lockHasHidden(ctx context.Context, tx *sqlx.Tx, name string) (id int64, err error) {
	b, err := boards.Get(ctx, tx, "SELECT "+boards.Columns+" FROM boards WHERE name = ? AND state = 'open' FOR UPDATE", []byte(name))
	if err == nil {
		err = b.CheckMovable()
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE boards SET has_hidden = 1 WHERE id = ?", b.ID)
	}
	return b.ID, err
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

// Hidden lists the hidden members, in the order of HiddenQuery. ErrBoardNotFound when there is no such board.
func (s *HiddenMembers) Hidden(ctx context.Context, q leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error) {
	var boardID int64
	if q.Board != "" {
		b, err := s.boards.Board(ctx, q.Board)
		if err != nil {
			return nil, err
		}
		boardID = b.ID
	}
	var rows []hiddenRow
	query, args := hiddenQuery(q, boardID)
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(query), args...); err != nil {
		return nil, mysql.Translate(ctx, "hidden", err)
	}
	members := make([]leaderboard.HiddenMember, len(rows))
	for i := range rows {
		members[i] = rows[i].hiddenMember()
	}
	return members, nil
}

func hiddenQuery(q leaderboard.HiddenQuery, boardID int64) (query string, args []any) {
	index, order, after := "PRIMARY", "h.board_id, h.member", "(h.board_id > ? OR h.board_id = ? AND h.member > ?)"
	args = []any{q.AfterBoard, q.AfterBoard, []byte(q.AfterMember)}
	if q.Member != "" {
		// Not by h.member too, which is constant: MariaDB before 11 would sort.
		index, order, after = "hidden_members_member", "h.board_id", "h.member = ? AND h.board_id > ?"
		from := q.AfterBoard
		if q.AfterMember < q.Member {
			from-- // the member's own there is still to come
		}
		args = []any{[]byte(q.Member), from}
	}
	query = "SELECT " + hiddenColumns + ", COALESCE(b.name, '') AS board FROM hidden_members h FORCE INDEX (" + index + ") LEFT JOIN boards b ON b.id = h.board_id" +
		" WHERE h.state <> 'restoring' AND (h.board_id = 0 OR b.state = 'open') AND " + after
	if q.Board != "" {
		query, args = query+" AND h.board_id IN (0, ?)", append(args, boardID)
	}
	return query + " ORDER BY " + order + " LIMIT ?", append(args, max(0, q.Limit))
}

// data lists where a member is hidden.
func (s *HiddenMembers) data(ctx context.Context, member string, tell func(any) error) error {
	hides := func(after leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error) {
		after.Member, after.Limit = member, DataPage
		return s.Hidden(ctx, after)
	}
	return InPages(hides, func(h *leaderboard.HiddenMember) (leaderboard.HiddenQuery, error) {
		return leaderboard.HiddenQuery{AfterBoard: h.BoardID, AfterMember: h.Member}, tell(*h)
	})
}

// forget deletes the hides of a member who is erased: after the entries, since a hidden one would be shown.
func (s *HiddenMembers) forget(ctx context.Context, member, _ []byte, steps Steps) error {
	return steps(ctx, "DELETE FROM hidden_members WHERE member = ? LIMIT ?", member)
}
