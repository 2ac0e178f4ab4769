package review

import (
	"context"
	"database/sql"
	"errors"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// Store has the submissions that wait for a decision of an admin, or had one. All methods may be called concurrently.
type Store struct {
	db     *mysql.DB
	writer *store.Writer
}

// NewStore returns the held submissions of a database, which a writer enters when they are approved.
func NewStore(db *mysql.DB, w *store.Writer) *Store { return &Store{db, w} }

// Held returns held submissions with the names of their boards, newest first. Errors: ErrUnavailable.
func (s *Store) Held(ctx context.Context, q leaderboard.HeldQuery) ([]leaderboard.Held, error) {
	out, err := s.heldRows(ctx, s.db.Limited(listText(q)))
	return out, mysql.Translate(ctx, "held", err)
}

// HeldOne returns a held submission. Errors: ErrHeldNotFound, ErrUnavailable.
func (s *Store) HeldOne(ctx context.Context, id int64) (leaderboard.Held, error) {
	out, err := s.heldRows(ctx, s.db.Limited(oneText(id)))
	if err == nil && len(out) == 0 {
		err = leaderboard.ErrHeldNotFound
	}
	if err != nil {
		return leaderboard.Held{}, mysql.Translate(ctx, "held", err)
	}
	return out[0], nil
}

func (s *Store) heldRows(ctx context.Context, query string) (out []leaderboard.Held, err error) {
	rows, err := s.db.Pool.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name sql.NullString
		h, err := readHeld(func(dest ...any) error { return rows.Scan(append(dest, &name)...) })
		if err != nil {
			return nil, err
		}
		h.Board = name.String
		out = append(out, *h)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

func selectHeld() *mysql.Text {
	return (&mysql.Text{}).Str("SELECT " + heldColumns("h.") + ", b.name FROM held h")
}

const heldBoards = " STRAIGHT_JOIN boards b ON b.id = h.board_id WHERE b.state = 'open' AND "

func oneText(id int64) string {
	return selectHeld().Str(heldBoards).Str("h.id = ").Int(id).String()
}

func listText(q leaderboard.HeldQuery) string {
	t := selectHeld()
	switch {
	case q.Member != "" && q.BoardID != 0:
		t.Str(" FORCE INDEX (held_waiting)")
	case q.Member != "":
		t.Str(" FORCE INDEX (held_member)")
	case q.BoardID != 0:
		t.Str(" FORCE INDEX (held_board)")
	default:
		t.Str(" FORCE INDEX (held_state)")
	}
	t.Str(heldBoards).Str("h.state = ").Hex(string(q.State))
	if q.Member != "" {
		t.Str(" AND h.member = ").Hex(q.Member)
	}
	if q.BoardID != 0 {
		t.Str(" AND h.board_id = ").Int(q.BoardID)
	}
	if q.Before > 0 {
		t.Str(" AND h.id < ").Int(q.Before)
	}
	return t.Str(" ORDER BY h.id DESC LIMIT ").Int(int64(max(0, q.Limit))).String()
}

// data lists the held submissions of a member.
func (s *Store) data(ctx context.Context, member string, tell func(any) error) error {
	for _, state := range leaderboard.HeldStates() {
		held := func(before int64) ([]leaderboard.Held, error) {
			return s.Held(ctx, leaderboard.HeldQuery{Member: member, State: state, Before: before, Limit: store.DataPage})
		}
		err := store.InPages(held, func(h *leaderboard.Held) (int64, error) {
			return h.ID, tell(showHeld(h))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// forget deletes the held submissions of a member who is erased: before the entries, since an approval would make another one.
func (s *Store) forget(ctx context.Context, member, _ []byte, steps store.Steps) error {
	return steps(ctx, "DELETE FROM held WHERE member = ? ORDER BY state, id LIMIT ?", member)
}

// sweep returns the job that deletes held submissions whose time is over, decided or not.
func sweep(s store.Sweeper) store.Job {
	return store.Job{Name: "sweep held", Run: func(ctx context.Context, slice store.Slice) (more bool, err error) {
		const remove = "DELETE FROM held WHERE expires_at >= ? AND expires_at < ? ORDER BY expires_at LIMIT ?"
		return s.Aged(ctx, slice, agedNext, remove, s.Before(0))
	}}
}

const (
	agedNext = "SELECT expires_at FROM held WHERE expires_at >= ? AND expires_at < ? ORDER BY expires_at LIMIT ?, 1"
	purge    = "DELETE FROM held WHERE board_id = ? ORDER BY member, state, id LIMIT ?"
)
