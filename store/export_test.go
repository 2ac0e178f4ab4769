package store

import (
	"context"
	"database/sql"

	"leaderboard/internal/mysql"
)

// Waiting returns how many requests and entries wait for a board's writer.
func (s *Store) Waiting(board string) (requests, entries int) {
	requests, entries, _ = s.Writer.Waiting(board, false)
	return requests, entries
}

// Writing reports whether a board's writer has taken all waiting requests.
func (s *Store) Writing(board string) bool {
	_, _, writing := s.Writer.Waiting(board, false)
	return writing
}

// WaitingForSeveral is Waiting and Writing for submissions to several boards.
func (s *Store) WaitingForSeveral() (requests int, writing bool) {
	requests, _, writing = s.Writer.Waiting("", true)
	return requests, writing
}

// Batches returns the pool of the writers.
func (s *Store) Batches() *sql.DB { return s.db.Writers.DB }

// Others returns the pool of the writers that lock no board.
func (s *Store) Others() *sql.DB { return s.db.Others.DB }

// Waiters returns the pool of the writers that wait long for a lock.
func (s *Store) Waiters() *sql.DB { return s.db.Waiters.DB }

// Looks returns the pool of the transactions that answers are read in.
func (s *Store) Looks() *sql.DB { return s.db.Looks }

// Long returns the pool for work that takes minutes.
func (s *Store) Long() *sql.DB { return s.db.Long }

// Singles returns the pools of one connection each.
func (s *Store) Singles() []*sql.DB { return []*sql.DB{s.db.Watch, s.db.Health, s.db.Locks.Pool()} }

// ReadLimited runs a reading statement that has one column in the way of the store.
func (s *Store) ReadLimited(ctx context.Context, query string) error {
	var n int64
	return mysql.Translate(ctx, "read", s.db.Pool.QueryRowContext(ctx, s.db.Limited(query)).Scan(&n))
}

// AtMutex returns how many writers are at a board, or wait for it.
func (s *Store) AtMutex(board string) int { return s.Writer.AtMutex(board) }

// Blocked reports whether another session did not give up the lock of a board.
func (s *Store) Blocked(board string) bool { return s.Writer.Blocked(board) }
