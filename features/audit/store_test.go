package audit

import (
	"slices"
	"testing"

	"leaderboard/features/featuretest"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// TestAuditLooksAtSoMany: a page of several filters looks at a bounded number of records, and the pages together have all
// records that the filters leave.
func TestAuditLooksAtSoMany(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		opened, _ := featuretest.Store(t, dsn, nil, nil)
		s, db := &Store{opened.Database()}, dbtest.Connect(t, dsn)
		dbtest.MustExec(t, db, "INSERT INTO audit (logged_at, actor, action, board, member, request_id) VALUES (NOW(6), 'k1', 'board.update', 'b', '', '')")
		for range 15 {
			dbtest.MustExec(t, db, "INSERT INTO audit (logged_at, actor, action, board, member, request_id) SELECT logged_at, actor, action, board, member, request_id FROM audit")
		}
		dbtest.MustExec(t, db, "UPDATE audit SET action = 'board.create' WHERE id IN (SELECT id FROM (SELECT MIN(id) id FROM audit UNION SELECT MAX(id) FROM audit) rare)")
		q := leaderboard.AuditQuery{Board: "b", Actor: "k1", Action: leaderboard.AuditActionBoardCreate, Limit: 10}
		var pages []int
		for {
			found, rest, err := s.Audit(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if pages = append(pages, len(found)); rest == (leaderboard.AuditPlace{}) {
				break
			}
			q.BeforeTime, q.BeforeID = rest.Time, rest.ID
		}
		if !slices.Equal(pages, []int{1, 1}) {
			t.Errorf("pages of %v records, want one of the newest and one of the oldest", pages)
		}
		q = leaderboard.AuditQuery{Board: "b", Actor: "k1", Limit: 10}
		if found, rest, err := s.Audit(t.Context(), q); err != nil || len(found) != 10 || rest != (leaderboard.AuditPlace{}) {
			t.Errorf("a page that is full: %d records, rest %v, %v", len(found), rest, err)
		}
	})
}
