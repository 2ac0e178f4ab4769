package store

import (
	"context"

	"leaderboard"
	"leaderboard/store/internal/audit"
	"leaderboard/store/internal/db"
)

// Audit returns the records of what was changed, newest first, as the query selects them.
func (s *Store) Audit(ctx context.Context, q leaderboard.AuditQuery) ([]leaderboard.AuditEntry, error) {
	found, err := audit.Find(ctx, s.db, q)
	return found, db.Translate(ctx, "audit", err)
}
