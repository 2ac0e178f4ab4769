package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"leaderboard"
	"leaderboard/store"
)

// auditor is who changes something in these tests.
func auditor() leaderboard.Caller { return leaderboard.Caller{Key: "k7f3", RequestID: "request-1"} }

// audited is a change that is recorded.
type audited struct {
	action leaderboard.AuditAction
	// prepare makes what the change changes.
	prepare func(t *testing.T, s *store.Store)
	do      func(ctx context.Context, s *store.Store) error
	// done counts what the change leaves, 0 or 1.
	done          string
	board, member string
	before, after string
	again         bool // the same again is a change again, or refused
}

// auditedChanges are all changes of boards and members that are recorded.
func auditedChanges() map[string]audited {
	put := func(title string) func(ctx context.Context, s *store.Store) error {
		return func(ctx context.Context, s *store.Store) error {
			_, _, err := s.PutBoard(ctx, "b", leaderboard.Rules{Title: title})
			return err
		}
	}
	board := func(t *testing.T, s *store.Store) {
		t.Helper()
		if err := put("old")(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]audited{
		"create a board": {
			action: leaderboard.AuditActionBoardCreate, do: put("old"), done: "boards WHERE name = 'b'",
			board: "b", after: `{"title": "old"}`,
		},
		"change a board": {
			action: leaderboard.AuditActionBoardUpdate, prepare: board, do: put("new"), done: "boards WHERE name = 'b' AND version = 2",
			board: "b", before: `{"title": "old"}`, after: `{"title": "new"}`,
		},
		"delete a board": {
			action: leaderboard.AuditActionBoardDelete, prepare: board, done: "(SELECT 1) one WHERE NOT EXISTS (SELECT 1 FROM boards WHERE name = 'b')",
			do:    func(ctx context.Context, s *store.Store) error { return s.DeleteBoard(ctx, "b") },
			board: "b", before: `{"title": "old"}`, again: true,
		},
	}
}

// TestAudit: each change is one record that says who, what, and what there was before and is after it. The same again
// changes nothing, and is none.
func TestAudit(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), connect(t, dsn)
		ctx := leaderboard.WithCaller(t.Context(), auditor())
		for name, c := range auditedChanges() {
			startAgain(t, db)
			if c.prepare != nil {
				c.prepare(t, s)
			}
			mustExec(t, db, "DELETE FROM audit")
			if err := c.do(ctx, s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkAudited(t, s, db, name, &c)
			if err := c.do(ctx, s); err != nil != c.again {
				t.Errorf("%s, once more: %v", name, err)
			}
			if n := count(t, db, "audit"); n != 1 {
				t.Errorf("%s, once more: %d records", name, n)
			}
		}
	})
}

// startAgain takes away what an earlier change has left.
func startAgain(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, table := range []string{"entries", "changes", "periods", "hidden_members", "boards", "erasures", "runs"} {
		mustExec(t, db, "DELETE FROM "+table)
	}
}

// checkAudited checks the one record that there is.
func checkAudited(t *testing.T, s *store.Store, db *sql.DB, name string, c *audited) {
	t.Helper()
	found, err := s.Audit(t.Context(), leaderboard.AuditQuery{Limit: 10})
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %+v, %v", name, found, err)
	}
	e := found[0]
	if now, err := s.Now(t.Context()); err != nil || e.Time > now || now-e.Time > leaderboard.Micros(time.Minute/time.Microsecond) {
		t.Errorf("%s: at %s, it is %s, %v", name, e.Time, now, err)
	}
	want := leaderboard.AuditEntry{ID: e.ID, Time: e.Time, Actor: "k7f3", Action: c.action, Board: c.board, Member: c.member, Before: e.Before, After: e.After, RequestID: "request-1"}
	if e != want {
		t.Errorf("%s:\n%+v, want\n%+v", name, e, want)
	}
	for what, texts := range map[string][2]string{"before": {e.Before, c.before}, "after": {e.After, c.after}} {
		contains := texts[0] == texts[1]
		if texts[0] != "" && texts[1] != "" {
			if err := db.QueryRowContext(t.Context(), "SELECT JSON_CONTAINS(?, ?)", texts[0], texts[1]).Scan(&contains); err != nil {
				t.Fatal(err)
			}
		}
		if !contains {
			t.Errorf("%s: %s is %q, want %q in it", name, what, texts[0], texts[1])
		}
	}
	if n := count(t, db, c.done); n != 1 {
		t.Errorf("%s: %d of %s", name, n, c.done)
	}
}

// TestAuditIsCommittedWithTheChange: whatever becomes of the connection, a change that is there has its record, and one
// that is not there has none.
func TestAuditIsCommittedWithTheChange(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		p, through := newProxy(t, dsn)
		s, direct, db := open(t, through, nil), open(t, dsn, nil), connect(t, dsn)
		ctx := leaderboard.WithCaller(t.Context(), auditor())
		for name, c := range auditedChanges() {
			for _, f := range []struct {
				at    string
				fault fault
				done  int
			}{
				{"COMMIT", faultCutBefore, 0}, {"COMMIT", faultCutAfter, 1}, {"INSERT INTO audit", faultCutBefore, 0}, {"INSERT INTO audit", faultCutAfter, 0},
			} {
				startAgain(t, db)
				if c.prepare != nil {
					c.prepare(t, direct)
				}
				mustExec(t, db, "DELETE FROM audit")
				p.onBeginning(f.at, f.fault)
				err := c.do(ctx, s)
				p.heal()
				if err == nil {
					t.Errorf("%s, %s, fault %d: no error", name, f.at, f.fault)
				}
				what := fmt.Sprintf("%s, %s, fault %d (%v)", name, f.at, f.fault, err)
				eventually(t, what+": it is decided", func() bool { return count(t, db, c.done) == f.done })
				if n := count(t, db, "audit"); n != f.done {
					t.Errorf("%s: %d records, want %d", what, n, f.done)
				}
				if errors.Is(err, leaderboard.ErrOutcomeUnknown) && f.at != "COMMIT" {
					t.Errorf("%s: nothing was done", what)
				}
			}
		}
	})
}
