package store

import (
	"context"

	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Audit is the records of who changed what. All methods may be called concurrently.
type Audit struct{ db *mysql.DB }

// Audit returns the records of changes that the query selects, newest first. For a query with several filters it looks at a
// bounded number of records: rest is where it stopped, if there may be more.
func (s *Audit) Audit(ctx context.Context, q leaderboard.AuditQuery) (found []leaderboard.AuditEntry, rest leaderboard.AuditPlace, err error) {
	found, rest, err = audit.Find(ctx, s.db, q)
	return found, rest, mysql.Translate(ctx, "audit", err)
}
