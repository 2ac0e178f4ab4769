package store

import (
	"context"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// Hidden lists who is hidden, in the order of HiddenQuery. ErrBoardNotFound when there is no such board.
func (s *Store) Hidden(ctx context.Context, q leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error) {
	var boardID int64
	if q.Board != "" {
		b, err := s.Board(ctx, q.Board)
		if err != nil {
			return nil, err
		}
		boardID = b.ID
	}
	var rows []hiddenRow
	query, args := hiddenQuery(q, boardID)
	if err := s.db.SelectContext(ctx, &rows, s.db.Limited(query), args...); err != nil {
		return nil, db.Translate(ctx, "hidden", err)
	}
	hidings := make([]leaderboard.HiddenMember, len(rows))
	for i := range rows {
		hidings[i] = rows[i].hiding()
	}
	return hidings, nil
}

func hiddenQuery(q leaderboard.HiddenQuery, boardID int64) (query string, args []any) {
	index, order, after := "PRIMARY", "h.board_id, h.member", "(h.board_id > ? OR h.board_id = ? AND h.member > ?)"
	args = []any{q.AfterBoard, q.AfterBoard, []byte(q.AfterMember)}
	if q.Member != "" {
		index, order, after = "hidden_members_member", "h.member, h.board_id", "h.member = ? AND h.board_id > ?"
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

// HiddenLog lists what was done to hide and to restore members, newest first: records with an id below before (0: from
// the newest on), about one member ("": all), at most limit. Those of deleted boards are gone.
func (s *Store) HiddenLog(ctx context.Context, member string, before int64, limit int) ([]leaderboard.HideRecord, error) {
	query := "SELECT l.id, COALESCE(b.name, '') AS board, l.member, l.action, l.reason, l.actor, l.logged_at FROM hidden_log l" +
		" LEFT JOIN boards b ON b.id = l.board_id WHERE (l.board_id = 0 OR b.state = 'open')"
	var args []any
	if member != "" {
		query, args = query+" AND l.member = ?", append(args, []byte(member))
	}
	if before > 0 {
		query, args = query+" AND l.id < ?", append(args, before)
	}
	var rows []struct {
		ID     int64     `db:"id"`
		Board  []byte    `db:"board"`
		Member []byte    `db:"member"`
		Action string    `db:"action"`
		Reason string    `db:"reason"`
		Actor  string    `db:"actor"`
		At     time.Time `db:"logged_at"`
	}
	if err := s.db.SelectContext(ctx, &rows, s.db.Limited(query+" ORDER BY l.id DESC LIMIT ?"), append(args, max(0, limit))...); err != nil {
		return nil, db.Translate(ctx, "hidden log", err)
	}
	records := make([]leaderboard.HideRecord, len(rows))
	for i, r := range rows {
		records[i] = leaderboard.HideRecord{
			ID: r.ID, Board: string(r.Board), Member: string(r.Member), Action: leaderboard.HideAction(r.Action),
			Reason: r.Reason, Actor: r.Actor, At: leaderboard.MicrosOf(r.At),
		}
	}
	return records, nil
}
