package plays

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/api"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// Store has the plays that members have begun. All methods may be called concurrently.
type Store struct{ db *mysql.DB }

// NewStore returns the plays of a database.
func NewStore(db *mysql.DB) *Store { return &Store{db} }

// BeginPlay begins a play of a member on a board, by the database clock. It ends the member's previous play there. Errors:
// a *leaderboard.RuleError, ErrUnavailable; a play whose answer was lost is ended by the next one.
func (s *Store) BeginPlay(ctx context.Context, board leaderboard.Board, member string) (leaderboard.Play, error) {
	if broken := leaderboard.CheckMember(member); broken != nil {
		return leaderboard.Play{}, mysql.Wrap("begin play", broken)
	}
	p := leaderboard.Play{ID: leaderboard.NewPlayID(), Board: board.Name, Member: member}
	err := s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO plays (board_id, member, id, started_at) VALUES (?, ?, ?, "+s.db.Sysdate()+")"+
			" ON DUPLICATE KEY UPDATE id = VALUES(id), started_at = VALUES(started_at), refusals = 0", board.ID, []byte(member), p.ID[:])
		if err != nil {
			return err
		}
		var started time.Time
		err = tx.QueryRowContext(ctx, "SELECT started_at FROM plays WHERE board_id = ? AND member = ?", board.ID, []byte(member)).Scan(&started)
		p.StartedTime = leaderboard.MicrosOf(started)
		return err
	})
	return p, mysql.Translate(ctx, "begin play", err)
}

const selectPlays = "SELECT b.name, p.started_at, p.refusals, p.board_id FROM plays p FORCE INDEX (plays_member) JOIN boards b ON b.id = p.board_id" +
	" WHERE p.member = ? AND p.board_id > ? AND b.state = 'open' ORDER BY p.board_id LIMIT ?"

// playRow is a row of plays with the name of its board.
type playRow struct {
	Board    []byte    `db:"name"`
	Started  time.Time `db:"started_at"`
	Refusals int       `db:"refusals"`
	BoardID  int64     `db:"board_id"`
}

// data lists the plays that a member has begun and not used.
func (s *Store) data(ctx context.Context, member string, tell func(any) error) error {
	begun := func(after int64) ([]playRow, error) {
		var rows []playRow
		err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(selectPlays), []byte(member), after, store.DataPage)
		return rows, mysql.Translate(ctx, "member data", err)
	}
	return store.InPages(begun, func(r *playRow) (int64, error) {
		p := leaderboard.Play{Board: string(r.Board), Member: member, StartedTime: leaderboard.MicrosOf(r.Started), Refusals: r.Refusals}
		return r.BoardID, tell(api.MemberDataPlay{Board: p.Board, StartedTime: p.StartedTime.Time(), Refusals: p.Refusals})
	})
}

// forget deletes the plays of a member who is erased.
func (s *Store) forget(ctx context.Context, member, _ []byte, steps store.Steps) error {
	return steps(ctx, "DELETE FROM plays WHERE member = ? ORDER BY board_id LIMIT ?", member)
}

// sweep returns the job that deletes plays that are too old to be submitted with, of whatever board.
func sweep(s store.Sweeper) store.Job {
	return store.Job{Name: "sweep plays", Run: func(ctx context.Context, slice store.Slice) (more bool, err error) {
		const remove = "DELETE FROM plays WHERE started_at >= ? AND started_at < ? ORDER BY started_at LIMIT ?"
		return s.Aged(ctx, slice, agedNext, remove, s.Before(leaderboard.MaxPlayTime+time.Hour))
	}}
}

const (
	agedNext = "SELECT started_at FROM plays WHERE started_at >= ? AND started_at < ? ORDER BY started_at LIMIT ?, 1"
	purge    = "DELETE FROM plays WHERE board_id = ? ORDER BY member LIMIT ?"
)
