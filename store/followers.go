package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard"
	"leaderboard/store/internal/audit"
	"leaderboard/store/internal/db"
)

// followerRow is a row of followers.
type followerRow struct {
	Name     []byte    `db:"name"`
	Window   []byte    `db:"window_name"`
	StartsAt time.Time `db:"starts_at"`
	Seq      int64     `db:"seq"`
	Cursor   []byte    `db:"next_cursor"`
	Created  time.Time `db:"created_at"`
	Seen     time.Time `db:"seen_at"`
}

func (r *followerRow) follower() leaderboard.Follower {
	return leaderboard.Follower{
		Name: string(r.Name), Window: leaderboard.Window(r.Window), StartsAt: leaderboard.MicrosOf(r.StartsAt), Seq: r.Seq, Cursor: string(r.Cursor),
		CreatedTime: leaderboard.MicrosOf(r.Created), Seen: leaderboard.MicrosOf(r.Seen),
	}
}

const selectFollowers = "SELECT name, window_name, starts_at, seq, next_cursor, created_at, seen_at FROM followers WHERE board_id = ? ORDER BY name LIMIT ?"

// PutFollower makes a follower of a board, or notes where it is now: f says its name, place and cursor. Only a new one is
// in the audit. Errors: ErrBoardNotFound, a *leaderboard.RuleError, ErrUnavailable.
func (s *Store) PutFollower(ctx context.Context, b leaderboard.Board, f leaderboard.Follower) (out leaderboard.Follower, created bool, err error) {
	moved, err := s.moveFollower(ctx, b.ID, &f)
	if err == nil && !moved {
		created, err = s.createFollower(ctx, b, &f)
	}
	if err == nil {
		out, err = s.Follower(ctx, b.ID, f.Name)
	}
	return out, created, db.Translate(ctx, "put follower", err)
}

// moveFollower reports whether the follower was there.
func (s *Store) moveFollower(ctx context.Context, board int64, f *leaderboard.Follower) (bool, error) {
	result, err := s.db.ExecContext(ctx, "UPDATE followers SET window_name = ?, starts_at = ?, seq = ?, next_cursor = ?, seen_at = "+s.db.Sysdate()+
		" WHERE board_id = ? AND name = ?", []byte(f.Window), f.StartsAt.Time(), f.Seq, []byte(f.Cursor), board, []byte(f.Name))
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// createFollower makes a follower unless it is there. The board is locked, so it is not deleted meanwhile.
func (s *Store) createFollower(ctx context.Context, b leaderboard.Board, f *leaderboard.Follower) (created bool, err error) {
	err = s.writer.Alone(ctx, b.Name, func(tx *sqlx.Tx) error {
		var id int64
		err := tx.QueryRowContext(ctx, "SELECT id FROM boards WHERE name = ? AND state = 'open' FOR UPDATE", []byte(b.Name)).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) || err == nil && id != b.ID {
			return leaderboard.ErrBoardNotFound
		}
		if err != nil {
			return err
		}
		rows, err := followersIn(ctx, tx, selectFollowers, id, leaderboard.MaxFollowers+1)
		if err != nil {
			return err
		}
		if _, there := named(rows, f.Name); there { // by another request, a moment ago
			created = false
			return nil
		}
		if len(rows) >= leaderboard.MaxFollowers {
			return &leaderboard.RuleError{Code: leaderboard.CodeTooManyFollowers, Detail: fmt.Sprintf("the board has %d followers already", len(rows))}
		}
		created = true
		_, err = tx.ExecContext(ctx, "INSERT INTO followers (board_id, name, window_name, starts_at, seq, next_cursor, created_at, seen_at) VALUES (?, ?, ?, ?, ?, ?, "+
			s.db.Sysdate()+", "+s.db.Sysdate()+")", id, []byte(f.Name), []byte(f.Window), f.StartsAt.Time(), f.Seq, []byte(f.Cursor))
		if err == nil {
			_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionFollowerCreate, Board: b.Name, After: followerState{f.Name, f.Window}})
		}
		return err
	})
	return created, err
}

// followerState is what the audit says of a follower.
type followerState struct {
	Name   string             `json:"name"`
	Window leaderboard.Window `json:"window"`
}

func named(list []leaderboard.Follower, name string) (leaderboard.Follower, bool) {
	for _, f := range list {
		if f.Name == name {
			return f, true
		}
	}
	return leaderboard.Follower{}, false
}

func followersIn(ctx context.Context, q sqlx.QueryerContext, query string, board int64, limit int) ([]leaderboard.Follower, error) {
	var rows []followerRow
	if err := sqlx.SelectContext(ctx, q, &rows, query, board, limit); err != nil {
		return nil, err
	}
	list := make([]leaderboard.Follower, len(rows))
	for i := range rows {
		list[i] = rows[i].follower()
	}
	return list, nil
}

// Follower returns a follower of a board with what waits for it, or ErrFollowerNotFound.
func (s *Store) Follower(ctx context.Context, board int64, name string) (f leaderboard.Follower, err error) {
	list, err := followersIn(ctx, s.db, s.db.Limited(selectFollowers), board, leaderboard.MaxFollowers)
	if err == nil {
		var there bool
		if f, there = named(list, name); !there {
			return f, leaderboard.ErrFollowerNotFound
		}
		err = s.measure(ctx, board, &f)
	}
	return f, db.Translate(ctx, "follower", err)
}

// Followers lists the followers of a board, in the order of their names, with what waits for each.
func (s *Store) Followers(ctx context.Context, board int64) ([]leaderboard.Follower, error) {
	list, err := followersIn(ctx, s.db, s.db.Limited(selectFollowers), board, leaderboard.MaxFollowers)
	for i := range list {
		if err == nil {
			err = s.measure(ctx, board, &list[i])
		}
	}
	return list, db.Translate(ctx, "followers", err)
}

const (
	// followedPeriods are the periods of which a follower does not have everything, the oldest first.
	followedPeriods = "SELECT id, last_seq, starts_at FROM periods FORCE INDEX (periods_start) WHERE board_id = ? AND window_name = ? AND starts_at >= ? AND state <> 'deleting' ORDER BY starts_at LIMIT 500"
	oldestWaiting   = "SELECT committed_at FROM changes WHERE period_id = ? AND last_seq > ? ORDER BY last_seq LIMIT 1"
)

// measure finds what waits for a follower.
func (s *Store) measure(ctx context.Context, board int64, f *leaderboard.Follower) error {
	var rows []struct {
		ID       int64     `db:"id"`
		LastSeq  int64     `db:"last_seq"`
		StartsAt time.Time `db:"starts_at"`
	}
	if err := s.db.SelectContext(ctx, &rows, s.db.Limited(followedPeriods), board, []byte(f.Window), f.StartsAt.Time()); err != nil {
		return err
	}
	for _, r := range rows {
		has := int64(0)
		if leaderboard.MicrosOf(r.StartsAt) == f.StartsAt {
			has = f.Seq
		}
		if r.LastSeq <= has {
			continue
		}
		f.Waiting += r.LastSeq - has
		if f.OldestWaiting > 0 {
			continue
		}
		var at time.Time
		err := s.db.GetContext(ctx, &at, s.db.Limited(oldestWaiting), r.ID, has)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err == nil {
			f.OldestWaiting = leaderboard.MicrosOf(at)
		}
	}
	return nil
}

// DeleteFollower ends a follower of a board: nothing is kept for it any more. ErrFollowerNotFound.
func (s *Store) DeleteFollower(ctx context.Context, b leaderboard.Board, name string) error {
	err := s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		var window []byte
		err := tx.QueryRowContext(ctx, "SELECT window_name FROM followers WHERE board_id = ? AND name = ? FOR UPDATE", b.ID, []byte(name)).Scan(&window)
		if errors.Is(err, sql.ErrNoRows) {
			return leaderboard.ErrFollowerNotFound
		}
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM followers WHERE board_id = ? AND name = ?", b.ID, []byte(name)); err != nil {
			return err
		}
		_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionFollowerDelete, Board: b.Name, Before: followerState{name, leaderboard.Window(window)}})
		return err
	})
	return db.Translate(ctx, "delete follower", err)
}
