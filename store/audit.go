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

// data tells the audit of a member.
func (s *Audit) data(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	records := func(after leaderboard.AuditQuery) ([]leaderboard.AuditEntry, error) {
		after.Member, after.Limit = member, DataPage
		found, _, err := s.Audit(ctx, after)
		return found, err
	}
	return InPages(records, func(e *leaderboard.AuditEntry) (leaderboard.AuditQuery, error) {
		return leaderboard.AuditQuery{BeforeTime: e.Time, BeforeID: e.ID}, tell(leaderboard.MemberRecord{Audit: e})
	})
}

// forget gives a member who is erased another name in the audit. Texts that people have written about the member are removed, and
// what its profile was.
func (s *Audit) forget(ctx context.Context, member, alias []byte, steps Steps) error {
	const personal = "'$.reason', '$.display_name', '$.avatar_url', '$.attributes')"
	return steps(ctx, "UPDATE audit FORCE INDEX (audit_member) SET member = ?, before_json = JSON_REMOVE(before_json, "+personal+", after_json = JSON_REMOVE(after_json, "+personal+
		", request_id = '' WHERE member = ? LIMIT ?", alias, member)
}
