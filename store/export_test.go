package store

import (
	"context"
	"database/sql"

	"leaderboard/store/internal/db"
)

// Waiting is how many requests and entries wait for a board's writer.
func (s *Store) Waiting(board string) (requests, entries int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.queues[board]; q != nil {
		return len(q.waiting), q.rows
	}
	return 0, 0
}

// Writing says whether a board's writer has taken all that waited for it.
func (s *Store) Writing(board string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[board]
	return q != nil && len(q.waiting) == 0
}

// Batches is the pool of the writers.
func (s *Store) Batches() *sql.DB { return s.db.Batches }

// ReadLimited runs a reading statement that has one column as the store runs its own.
func (s *Store) ReadLimited(ctx context.Context, query string) error {
	var n int64
	return db.Translate(ctx, "read", s.db.QueryRowContext(ctx, s.db.Limited(query)).Scan(&n))
}

// AtGate is how many writers are at a board, or wait for it.
func (s *Store) AtGate(board string) int {
	s.gates.mu.Lock()
	defer s.gates.mu.Unlock()
	if g := s.gates.gates[board]; g != nil {
		return g.users
	}
	return 0
}

// Verifying makes it as if a derived board were being compared with its sources, or no longer.
func (s *Store) Verifying(under bool) { s.verifying.Store(under) }
