package store

import (
	"context"
	"database/sql"
	"errors"

	"leaderboard/internal/mysql"
	"leaderboard/internal/stored"
	"leaderboard/leaderboard"
)

// HeldSubmissions is the submissions that wait for a decision of an admin, or had one. All methods may be called concurrently.
type HeldSubmissions struct{ db *mysql.DB }

// Held returns held submissions with the names of their boards, newest first. Errors: ErrUnavailable.
func (s *HeldSubmissions) Held(ctx context.Context, q leaderboard.HeldQuery) ([]leaderboard.Held, error) {
	out, err := s.heldRows(ctx, s.db.Limited(heldText(q)))
	return out, mysql.Translate(ctx, "held", err)
}

// HeldOne returns one held submission. Errors: ErrHeldNotFound, ErrUnavailable.
func (s *HeldSubmissions) HeldOne(ctx context.Context, id int64) (leaderboard.Held, error) {
	out, err := s.heldRows(ctx, s.db.Limited(heldOneText(id)))
	if err == nil && len(out) == 0 {
		err = leaderboard.ErrHeldNotFound
	}
	if err != nil {
		return leaderboard.Held{}, mysql.Translate(ctx, "held", err)
	}
	return out[0], nil
}

func (s *HeldSubmissions) heldRows(ctx context.Context, query string) (out []leaderboard.Held, err error) {
	rows, err := s.db.Pool.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name sql.NullString
		h, err := stored.ReadHeld(func(dest ...any) error { return rows.Scan(append(dest, &name)...) })
		if err != nil {
			return nil, err
		}
		h.Board = name.String
		out = append(out, *h)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

func selectHeld() *mysql.Text {
	return (&mysql.Text{}).Str("SELECT " + stored.HeldColumns("h.") + ", b.name FROM held h")
}

const heldBoards = " STRAIGHT_JOIN boards b ON b.id = h.board_id WHERE b.state = 'open' AND "

func heldOneText(id int64) string {
	return selectHeld().Str(heldBoards).Str("h.id = ").Int(id).String()
}

func heldText(q leaderboard.HeldQuery) string {
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

// data tells the held submissions of a member.
func (s *HeldSubmissions) data(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	for _, state := range leaderboard.HeldStates() {
		held := func(before int64) ([]leaderboard.Held, error) {
			return s.Held(ctx, leaderboard.HeldQuery{Member: member, State: state, Before: before, Limit: DataPage})
		}
		err := InPages(held, func(h *leaderboard.Held) (int64, error) { return h.ID, tell(leaderboard.MemberRecord{Held: h}) })
		if err != nil {
			return err
		}
	}
	return nil
}

// forget deletes the held submissions of a member who is erased: before the entries, since an approval would make another one.
func (s *HeldSubmissions) forget(ctx context.Context, member, _ []byte, steps Steps) error {
	return steps(ctx, "DELETE FROM held WHERE member = ? ORDER BY state, id LIMIT ?", member)
}
