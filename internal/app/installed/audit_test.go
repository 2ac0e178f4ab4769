package installed_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/features/featuretest"
	"leaderboard/features/people"
	"leaderboard/internal/app/installed"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// auditor is the caller of the changes in these tests.
func auditor() leaderboard.Caller { return leaderboard.Caller{Key: "k7f3", RequestID: "request-1"} }

// audited is a change that is recorded.
type audited struct {
	action leaderboard.AuditAction
	// prepare makes what the change changes.
	prepare func(t *testing.T, s *whole)
	do      func(ctx context.Context, s *whole) error
	// done counts what the change leaves, 0 or 1.
	done          string
	board, member string
	before, after string
	again         bool // the same again is refused
	repeated      bool // the same again is another change
}

// auditedChanges are all changes that are recorded.
func auditedChanges() map[string]audited {
	all := auditedOfBoards()
	maps.Copy(all, auditedOfKeys())
	maps.Copy(all, auditedOfProfiles())
	return all
}

func auditedOfProfiles() map[string]audited {
	return map[string]audited{
		"make a profile": {
			action: leaderboard.AuditActionProfileCreate, do: named("Ada"), done: "profiles WHERE display_name = 'Ada'",
			member: "m", after: `{"display_name": "Ada"}`,
		},
		"change a profile": {
			action: leaderboard.AuditActionProfileUpdate, prepare: withProfile, do: named("Bob"), done: "profiles WHERE display_name = 'Bob'",
			member: "m", before: `{"display_name": "Ada"}`, after: `{"display_name": "Bob"}`,
		},
		"take a name away": {
			action: leaderboard.AuditActionProfileReset, prepare: withProfile, done: "profiles WHERE display_name = '' AND reset_names = 'Ada' AND attributes <> '{}'",
			do: func(ctx context.Context, s *whole) error {
				_, err := s.people().ResetName(ctx, people.NameReset{Member: "m", Reason: "a slur", Actor: "boss"})
				return err
			},
			member: "m", before: `{"display_name": "Ada"}`, after: `{"display_name": "", "reason": "a slur", "actor": "boss"}`,
		},
		"change a part of a profile": {
			action: leaderboard.AuditActionProfileUpdate, prepare: withProfile, done: `profiles WHERE attributes = '{"level":8}'`,
			do: func(ctx context.Context, s *whole) error {
				_, _, err := s.people().PatchProfile(ctx, "m", people.ProfilePatch{Attributes: []byte(`{"level":8}`)})
				return err
			},
			member: "m", before: `{"attributes": {"level": 7}}`, after: `{"attributes": {"level": 8}}`,
		},
	}
}

func auditedOfKeys() map[string]audited {
	return map[string]audited{
		"create a key": {
			action: leaderboard.AuditActionKeyCreate, do: createKey, done: "api_keys", again: true,
			after: `{"id": "k1", "name": "game", "scope": "write", "boards": ["game-*"]}`,
		},
		"change a key": {
			action: leaderboard.AuditActionKeyUpdate, prepare: withKey, done: "api_keys WHERE name = 'other'",
			do: func(ctx context.Context, s *whole) error {
				name := "other"
				_, err := s.keys().ChangeKey(ctx, "k1", leaderboard.KeyChange{Name: &name})
				return err
			},
			before: `{"id": "k1", "name": "game"}`, after: `{"id": "k1", "name": "other"}`,
		},
		"rotate a key": {
			action: leaderboard.AuditActionKeyRotate, prepare: withKey, done: "api_keys WHERE previous_hash IS NOT NULL", again: true,
			do: func(ctx context.Context, s *whole) error {
				_, err := s.keys().RotateKey(ctx, "k1", leaderboard.HashKey("another"), time.Hour)
				return err
			},
			before: `{"id": "k1"}`, after: `{"id": "k1"}`,
		},
		"revoke a key": {
			action: leaderboard.AuditActionKeyRevoke, prepare: withKey, done: "api_keys WHERE revoked_at IS NOT NULL",
			do:     func(ctx context.Context, s *whole) error { _, err := s.keys().RevokeKey(ctx, "k1"); return err },
			before: `{"id": "k1"}`, after: `{"id": "k1"}`,
		},
	}
}

func auditedOfBoards() map[string]audited {
	put := func(title string) func(ctx context.Context, s *whole) error {
		return func(ctx context.Context, s *whole) error {
			_, _, err := s.Boards.PutBoard(ctx, "b", leaderboard.Rules{Title: title})
			return err
		}
	}
	board := func(t *testing.T, s *whole) {
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
			do:    func(ctx context.Context, s *whole) error { return s.Boards.DeleteBoard(ctx, "b") },
			board: "b", before: `{"title": "old"}`, again: true,
		},
		"erase a member": {
			action: leaderboard.AuditActionMemberErase, done: "audit WHERE member LIKE 'erased-%'", repeated: true,
			do: func(ctx context.Context, s *whole) error {
				_, err := s.Erasures.Forget(ctx, "m", "boss")
				return err
			},
		},
		"rebuild a board": {
			action: leaderboard.AuditActionBoardRebuild, done: "runs", board: "b", after: `{"kind": "full", "reason": "admin"}`, repeated: true,
			do: func(ctx context.Context, s *whole) error {
				_, err := s.Runs.StartRun(ctx, leaderboard.Run{
					BoardID: 1, Board: "b", PeriodID: 1, Kind: leaderboard.RunKindFull, Reason: leaderboard.RunReasonAdmin, Actor: "k7f3", State: leaderboard.RunStateRunning,
				})
				return err
			},
		},
		"hide a member": {
			action: leaderboard.AuditActionMemberHide, prepare: played, do: hide("cheat"), done: "hidden_members WHERE reason = 'cheat'",
			board: "b", member: "m", after: `{"hidden": true, "reason": "cheat", "actor": "boss"}`,
		},
		"hide a member again": {
			action: leaderboard.AuditActionMemberHide, prepare: hidden, do: hide("cheat"), done: "hidden_members WHERE reason = 'cheat'",
			board: "b", member: "m", before: `{"hidden": true, "reason": "bot"}`, after: `{"hidden": true, "reason": "cheat"}`,
		},
		"restore a member": {
			action: leaderboard.AuditActionMemberRestore, prepare: hidden, again: true,
			do: func(ctx context.Context, s *whole) error {
				return s.Hidden.Restore(ctx, leaderboard.HideRequest{Board: "b", Member: "m", Reason: "sorry", Actor: "court"})
			},
			done:  "(SELECT 1) one WHERE NOT EXISTS (SELECT 1 FROM hidden_members WHERE state = 'hidden')",
			board: "b", member: "m", before: `{"hidden": true, "reason": "bot", "actor": "boss"}`, after: `{"hidden": false, "reason": "sorry", "actor": "court"}`,
		},
		"hide a member everywhere": {
			action: leaderboard.AuditActionMemberHide, prepare: played, done: "hidden_members WHERE board_id = 0",
			do: func(ctx context.Context, s *whole) error {
				_, err := s.Hidden.Hide(ctx, leaderboard.HideRequest{Member: "m", Reason: "bot", Actor: "boss"})
				return err
			},
			member: "m", after: `{"hidden": true}`,
		},
		"remove an entry": {
			action: leaderboard.AuditActionEntryRemove, prepare: played, again: true,
			do: func(ctx context.Context, s *whole) error {
				_, err := s.Writer.Remove(ctx, leaderboard.RemoveRequest{Board: "b", Member: "m"})
				return err
			},
			done:   "(SELECT 1) one WHERE NOT EXISTS (SELECT 1 FROM entries WHERE member = 'm')",
			board:  "b",
			member: "m", before: `{"entries": [{"window": "all_time", "period": "all_time", "score": 5, "tiebreak": 7}]}`,
		},
		"correct a closed period": {
			action: leaderboard.AuditActionEntryRemove, prepare: playedBefore, again: true,
			do: func(ctx context.Context, s *whole) error {
				var id int64
				if err := s.DB().QueryRowContext(ctx, "SELECT id FROM periods WHERE state = 'closed'").Scan(&id); err != nil {
					return err
				}
				_, err := s.Writer.Remove(ctx, leaderboard.RemoveRequest{Board: "b", PeriodID: id, Member: "m", Reopen: true, Actor: "k7f3"})
				return err
			},
			done:  "runs WHERE kind = 'reopen'",
			board: "b", member: "m", before: `{"entries": [{"window": "day", "period": "2026-01-02", "score": 5, "closed": true}]}`,
		},
	}
}

// createKey makes a key.
func createKey(ctx context.Context, s *whole) error {
	_, err := s.keys().CreateKey(ctx, leaderboard.Key{ID: "k1", Name: "game", Scope: leaderboard.ScopeWrite, Boards: []string{"game-*"}}, leaderboard.HashKey("secret"))
	return err
}

// withKey lets there be that key.
func withKey(t *testing.T, s *whole) {
	t.Helper()
	if err := createKey(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// played lets a member have an entry.
func played(t *testing.T, s *whole) {
	t.Helper()
	if _, _, err := s.Boards.PutBoard(t.Context(), "b", leaderboard.Rules{}); err != nil {
		t.Fatal(err)
	}
	tiebreak := int64(7)
	if _, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{{Member: "m", Score: 5, Tiebreak: &tiebreak}}}); err != nil {
		t.Fatal(err)
	}
}

// named gives that member a name.
func named(name string) func(ctx context.Context, s *whole) error {
	return func(ctx context.Context, s *whole) error {
		_, _, err := s.people().PutProfile(ctx, people.Profile{Member: "m", DisplayName: name, Attributes: `{"level":7}`})
		return err
	}
}

// withProfile gives the member a profile.
func withProfile(t *testing.T, s *whole) {
	t.Helper()
	if err := named("Ada")(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// hide hides that member for a reason.
func hide(reason string) func(ctx context.Context, s *whole) error {
	return func(ctx context.Context, s *whole) error {
		_, err := s.Hidden.Hide(ctx, leaderboard.HideRequest{Board: "b", Member: "m", Reason: reason, Actor: "boss"})
		return err
	}
}

// hidden lets a member be hidden.
func hidden(t *testing.T, s *whole) {
	t.Helper()
	played(t, s)
	if err := hide("bot")(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// playedBefore lets a member have an entry in a period that is over.
func playedBefore(t *testing.T, s *whole) {
	t.Helper()
	if _, _, err := s.Boards.PutBoard(t.Context(), "b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 5)); err != nil {
		t.Fatal(err)
	}
	dbtest.MustExec(t, s.DB(), "UPDATE periods SET state = 'closed', name = '2026-01-02', starts_at = '2026-01-02', ends_at = '2026-01-03'")
}

// TestAudit: each change is one record with the caller, the action, and the state before and after it. The same again
// changes nothing, and is not recorded.
func TestAudit(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		ctx := leaderboard.WithCaller(t.Context(), auditor())
		for name, c := range auditedChanges() {
			startAgain(t, db)
			if c.prepare != nil {
				c.prepare(t, s)
			}
			dbtest.MustExec(t, db, "DELETE FROM audit")
			if err := c.do(ctx, s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkAudited(t, s, db, name, &c)
			if err := c.do(ctx, s); err != nil != c.again {
				t.Errorf("%s, once more: %v", name, err)
			}
			if n := dbtest.Count(t, db, "audit"); n != 1 && !c.repeated {
				t.Errorf("%s, once more: %d records", name, n)
			}
		}
	})
}

// startAgain takes away what an earlier change has left.
func startAgain(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, table := range []string{"entries", "changes", "periods", "hidden_members", "boards", "erasures", "runs", "api_keys", "profiles"} {
		dbtest.MustExec(t, db, "DELETE FROM "+table)
	}
}

// checkAudited checks the one record that there is.
func checkAudited(t *testing.T, s *whole, db *sql.DB, name string, c *audited) {
	t.Helper()
	found := dbtest.Audited(t, db)
	if len(found) != 1 {
		t.Fatalf("%s: %+v", name, found)
	}
	e := found[0]
	if now, err := s.Now(t.Context()); err != nil || e.Time > now || now-e.Time > leaderboard.Micros(time.Minute/time.Microsecond) {
		t.Errorf("%s: at %s, it is %s, %v", name, e.Time, now, err)
	}
	if c.action == leaderboard.AuditActionMemberErase {
		c.member = e.Member // a random name
	}
	want := dbtest.AuditEntry{ID: e.ID, Time: e.Time, Actor: "k7f3", Action: c.action, Board: c.board, Member: c.member, Before: e.Before, After: e.After, RequestID: "request-1"}
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
	if n := dbtest.Count(t, db, c.done); n != 1 {
		t.Errorf("%s: %d of %s", name, n, c.done)
	}
}

// TestAuditOfProfiles: a record has the changed values, of the attributes too, and nothing else. Records of changes by keys of
// scope write may be left out.
func TestAuditOfProfiles(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		list := installed.Features()
		featuretest.SettingsOf[people.Settings](list).AuditProfiles = "people"
		quiet := openWith(t, dsn, list, nil)
		machine := leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "kgame"})
		put := func(s *whole, ctx context.Context, name string, attributes people.Attributes) {
			t.Helper()
			if _, _, err := s.people().PutProfile(ctx, people.Profile{Member: "m", DisplayName: name, Attributes: attributes}); err != nil {
				t.Fatal(err)
			}
		}
		put(s, machine, "Ada", `{"clan":"red","level":7}`)
		put(s, machine, "Ada", `{"clan":"red","level":7}`) // nothing
		put(s, machine, "Ada", `{"clan":"red","level":8}`)
		put(s, machine, "", `{}`)
		put(quiet, machine, "Machine", `{}`)
		put(quiet, leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "person:ada", Session: "k1"}), "Person", `{}`)
		put(quiet, leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "env:admin", Admin: true}), "Admin", `{}`)
		var told []string
		for _, e := range dbtest.Audited(t, dbtest.Connect(t, dsn)) {
			told = append(told, fmt.Sprintf("%s %s %s -> %s", e.Actor, e.Action, e.Before, e.After))
		}
		want := []string{
			`env:admin profile.update {"display_name":"Person"} -> {"display_name":"Admin"}`,
			`person:ada profile.update {"display_name":"Machine"} -> {"display_name":"Person"}`,
			`kgame profile.update {"display_name":"Ada","attributes":{"clan":"red","level":8}} -> {"display_name":"","attributes":{}}`,
			`kgame profile.update {"attributes":{"level":7}} -> {"attributes":{"level":8}}`,
			`kgame profile.create  -> {"display_name":"Ada","attributes":{"clan":"red","level":7}}`,
		}
		if !slices.Equal(told, want) {
			t.Errorf("the audit has\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestAuditIsCommittedWithTheChange: wherever the connection is lost, a committed change has its record, and a change that was not
// committed has no record.
func TestAuditIsCommittedWithTheChange(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		p, through := dbtest.NewProxy(t, dsn)
		s, direct, db := open(t, through, nil), open(t, dsn, nil), dbtest.Connect(t, dsn)
		ctx := leaderboard.WithCaller(t.Context(), auditor())
		for name, c := range auditedChanges() {
			for _, f := range []struct {
				at    string
				fault dbtest.Fault
				done  int
			}{
				{"COMMIT", dbtest.FaultCutBefore, 0}, {"COMMIT", dbtest.FaultCutAfter, 1}, {"INSERT INTO audit", dbtest.FaultCutBefore, 0}, {"INSERT INTO audit", dbtest.FaultCutAfter, 0},
			} {
				startAgain(t, db)
				if c.prepare != nil {
					c.prepare(t, direct)
				}
				dbtest.MustExec(t, db, "DELETE FROM audit")
				if p.On(f.at, f.fault, 0); f.at == "COMMIT" {
					p.OnBeginning(f.at, f.fault)
				}
				err := c.do(ctx, s)
				p.Heal()
				if err == nil {
					t.Errorf("%s, %s, fault %d: no error", name, f.at, f.fault)
				}
				what := fmt.Sprintf("%s, %s, fault %d (%v)", name, f.at, f.fault, err)
				dbtest.Eventually(t, what+": it is decided", func() bool { return dbtest.Count(t, db, c.done) == f.done })
				if n := dbtest.Count(t, db, "audit"); n != f.done {
					t.Errorf("%s: %d records, want %d", what, n, f.done)
				}
				if errors.Is(err, leaderboard.ErrOutcomeUnknown) && f.at != "COMMIT" {
					t.Errorf("%s: nothing was done", what)
				}
			}
		}
	})
}
