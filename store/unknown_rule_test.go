package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestUnknownRule: a board to which a newer version gave a rule, or a word in a rule, that this version does not know is
// read, and this version writes nothing to it: no entry, no period, no rule (but if only the time zone is unknown, entries
// may be removed). Boards in the same batch take their submissions, a refusal is not stored under its Idempotency-Key, and
// once the rule is gone everything works again.
func TestUnknownRule(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		for i, change := range []string{
			"JSON_SET(rules, '$.attachments', JSON_OBJECT('max_bytes', 100))", "JSON_SET(rules, '$.limits.per_fortnight', 3)",
			"JSON_SET(rules, '$.policy', 'elo')", "JSON_SET(rules, '$.windows', JSON_ARRAY('all_time', 'fortnight'))",
			"JSON_SET(rules, '$.time_zone', 'Custom/New')",
		} {
			name := fmt.Sprint("newer", i)
			t.Run(change, func(t *testing.T) { testUnknownRule(t, s, name, change) })
		}
	})
}

func testUnknownRule(t *testing.T, s *store.Store, name, change string) {
	ctx := t.Context()
	ref, other := dbtest.MakeBoard(t, s, name, leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}}), name+"-other"
	dbtest.MakeBoard(t, s, other, leaderboard.Rules{})
	if _, err := s.Writer.Submit(ctx, dbtest.One(name, "", "ada", 1)); err != nil {
		t.Fatal(err)
	}
	var rules string
	if err := s.DB().QueryRowContext(ctx, "SELECT rules FROM boards WHERE id = ?", ref.BoardID).Scan(&rules); err != nil {
		t.Fatal(err)
	}
	give := func(what string, args ...any) {
		t.Helper()
		query := "UPDATE boards SET rules = " + what + ", version = version + 1, updated_at = NOW(6) WHERE id = ?"
		if _, err := s.DB().ExecContext(ctx, query, append(args, ref.BoardID)...); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (periods int) {
		t.Helper()
		if err := s.DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM periods WHERE board_id = ?", ref.BoardID).Scan(&periods); err != nil {
			t.Fatal(err)
		}
		return periods
	}
	give(change)
	if _, err := s.DB().ExecContext(ctx, "DELETE FROM periods WHERE board_id = ? AND window_name = 'day'", ref.BoardID); err != nil {
		t.Fatal(err) // a period must begin
	}
	for what, write := range map[string]func() error{
		"submit":        func() error { _, err := s.Writer.Submit(ctx, dbtest.One(name, "", "ada", 2)); return err },
		"submit, keyed": func() error { _, err := s.Writer.Submit(ctx, dbtest.One(name, "key", "ada", 3)); return err },
		"several boards, atomic": func() error {
			r := multiBoard("both-"+name, "ada", 4, other, name)
			r.Atomic = true
			_, err := s.Writer.SubmitMultiBoard(ctx, r)
			return err
		},
		"remove": func() error {
			_, err := s.Writer.Remove(ctx, leaderboard.RemoveRequest{Board: name, Member: "ada"})
			return err
		},
		"hide": func() error {
			_, err := s.Hidden.Hide(ctx, leaderboard.HideRequest{Board: name, Member: "ada", Reason: "aimbot"})
			return err
		},
		"change": func() error { _, _, err := s.Boards.PutBoard(ctx, name, leaderboard.Rules{TopN: 7}); return err },
	} {
		if movable := change == "JSON_SET(rules, '$.time_zone', 'Custom/New')"; movable && (what == "remove" || what == "hide") {
			continue // see TestUnknownRuleOfAMember
		}
		if err := write(); !errors.Is(err, leaderboard.ErrUnknownRule) {
			t.Errorf("%s: %v", what, err)
		}
	}
	r, err := s.Writer.SubmitMultiBoard(ctx, multiBoard("", "ada", 4, other, name))
	if err != nil || r.Boards[other].Seq != 1 || r.Results[0].Status != leaderboard.StatusApplied || r.Results[1].Status != leaderboard.StatusRejected ||
		r.Results[1].Rule == nil || r.Results[1].Rule.Code != leaderboard.ErrUnknownRule.Code {
		t.Errorf("beside another board: %+v, %v", r, err)
	}
	if got := dbtest.ScoreOf(t, s, ref, "ada"); got != 1 {
		t.Errorf("the score is %d", got)
	}
	l, err := s.Boards.Current(ctx, name)
	if err != nil || l.Board.Unknown == "" || count() != 1 {
		t.Errorf("current periods: %+v, %v; %d periods", l, err, count())
	}
	if all, err := s.Boards.Boards(ctx, "", 100); err != nil || len(all) == 0 {
		t.Errorf("%d boards, %v", len(all), err)
	}
	give("?", rules)
	for key, want := range map[string]int64{"key": 3, "both": 4} {
		var err error
		if key == "key" {
			_, err = s.Writer.Submit(ctx, dbtest.One(name, key, "ada", want))
		} else {
			r := multiBoard("both-"+name, "ada", want, other, name)
			r.Atomic = true
			_, err = s.Writer.SubmitMultiBoard(ctx, r)
		}
		if err != nil {
			t.Errorf("%s, once the rule is gone: %v", key, err)
		}
	}
	if got := dbtest.ScoreOf(t, s, ref, "ada"); got != 4 || count() != 2 {
		t.Errorf("once the rule is gone the score is %d, there are %d periods", got, count())
	}
}

// TestUnknownRuleOfAMember: a member has entries on a board with a rule that this server does not know, and on others. A
// request for all of them does not claim that nothing was done after it did something. A time zone that is not known here
// keeps nobody from being hidden or erased. With any other rule a hide is refused as a whole, and an erasure continues at a
// server that knows the rule.
func TestUnknownRuleOfAMember(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		for name, change := range map[string]string{
			"zone": "JSON_SET(rules, '$.time_zone', 'Custom/New')", "rule": "JSON_SET(rules, '$.attachments', JSON_OBJECT('max_bytes', 100))",
		} {
			t.Run(name, func(t *testing.T) { testUnknownRuleOfAMember(t, s, name, change) })
		}
	})
}

func testUnknownRuleOfAMember(t *testing.T, s *store.Store, name, change string) {
	ctx, movable := t.Context(), name == "zone"
	boards := []string{name + "1", name, name + "2"}
	var refs []leaderboard.PeriodRef
	for _, b := range boards {
		refs = append(refs, dbtest.MakeBoard(t, s, b, leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}}))
	}
	if _, err := s.Writer.SubmitMultiBoard(ctx, multiBoard("", "ada", 7, boards...)); err != nil {
		t.Fatal(err)
	}
	scores := func() (all [3]int64) {
		for i, ref := range refs {
			all[i] = dbtest.ScoreOf(t, s, ref, "ada")
		}
		return all
	}
	want := func(what string, want [3]int64) {
		t.Helper()
		if got := scores(); got != want {
			t.Errorf("%s: the scores are %d, want %d", what, got, want)
		}
	}
	var rules string
	if err := s.DB().QueryRowContext(ctx, "SELECT rules FROM boards WHERE id = ?", refs[1].BoardID).Scan(&rules); err != nil {
		t.Fatal(err)
	}
	const give = "UPDATE boards SET version = version + 1, updated_at = NOW(6), rules = "
	dbtest.MustExec(t, s.DB(), give+change+" WHERE id = ?", refs[1].BoardID)
	if _, err := s.Writer.Submit(ctx, dbtest.One(name, "", "ada", 8)); !errors.Is(err, leaderboard.ErrUnknownRule) {
		t.Errorf("submit: %v", err)
	}

	hide := leaderboard.HideRequest{Member: "ada", Reason: "aimbot"}
	_, err := s.Hidden.Hide(ctx, hide)
	restored := s.Hidden.Restore(ctx, hide)
	if movable {
		if err != nil || restored != nil {
			t.Errorf("hide: %v; restore: %v", err, restored)
		}
	} else if !errors.Is(err, leaderboard.ErrUnknownRule) || errors.Is(err, leaderboard.ErrOutcomeUnknown) || !errors.Is(restored, leaderboard.ErrNotHidden) {
		t.Errorf("hide: %v; restore: %v", err, restored)
	}
	want("hidden and restored", [3]int64{7, 7, 7})
	hide.Board = name
	if _, err := s.Hidden.Hide(ctx, hide); errors.Is(err, leaderboard.ErrUnknownRule) == movable {
		t.Errorf("hide on the board: %v", err)
	}
	if movable {
		want("hidden on the board", [3]int64{7, -1, 7})
	}

	f, err := s.Erasures.Forget(ctx, "ada", "boss")
	if err != nil || f.Done != movable {
		t.Errorf("forget: %+v, %v", f, err)
	}
	if err := s.Housekeeping.Sweep(ctx); err != nil {
		t.Errorf("sweep: %v", err)
	}
	if movable {
		want("erased", [3]int64{-1, -1, -1})
	} else {
		want("erased as far as this server may", [3]int64{-1, 7, -1})
	}
	dbtest.MustExec(t, s.DB(), give+"? WHERE id = ?", rules, refs[1].BoardID)
	if err := s.Housekeeping.Sweep(ctx); err != nil {
		t.Errorf("sweep, once the rule is gone: %v", err)
	}
	want("erased, once the rule is gone", [3]int64{-1, -1, -1})
}

// TestUnknownRuleKeeps: the housekeeping leaves the periods that such a board does not keep to a server that knows the rule, which is
// no failure.
func TestUnknownRuleKeeps(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		day := leaderboard.WindowDay
		ref := dbtest.MakeBoard(t, s, "newer", leaderboard.Rules{
			Windows: []leaderboard.Window{leaderboard.WindowAllTime, day}, Keep: map[leaderboard.Window]int{day: 1},
		})
		for _, date := range []string{"2026-01-01", "2026-01-02"} {
			dbtest.MustExec(t, s.DB(), "INSERT INTO periods (incarnation, board_id, window_name, name, starts_at, ends_at, state, last_created_time, committed_at)"+
				" VALUES (7, ?, 'day', ?, ?, TIMESTAMPADD(DAY, 1, ?), 'closed', ?, ?)", ref.BoardID, date, date, date, date, date)
		}
		dbtest.MustExec(t, s.DB(), "UPDATE boards SET rules = JSON_SET(rules, '$.attachments', 7), version = version + 1 WHERE id = ?", ref.BoardID)
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		closed := func() int {
			return dbtest.Count(t, s.DB(), "periods WHERE board_id = ? AND state = 'closed'", ref.BoardID)
		}
		if n := closed(); n != 2 {
			t.Errorf("%d closed periods are left", n)
		}
		dbtest.MustExec(t, s.DB(), "UPDATE boards SET rules = JSON_REMOVE(rules, '$.attachments'), version = version + 1 WHERE id = ?", ref.BoardID)
		if err := s.Housekeeping.Sweep(t.Context()); err != nil || closed() != 1 {
			t.Errorf("%v, %d closed periods once the rule is gone", err, closed())
		}
	})
}

// TestRuleNeedsItsPart: a program without the part that carries out a rule gives no board the rule, and writes to no board that has it.
func TestRuleNeedsItsPart(t *testing.T) {
	t.Parallel()
	s := open(t, testenv.MySQL(t), func(c *store.Config) { c.Parts = nil })
	for name, rules := range map[string]leaderboard.Rules{
		"record": {Record: leaderboard.RecordAll}, "metadata": {Metadata: &leaderboard.Metadata{MaxBytes: 100}}, "review": {Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{RankWithin: 10}}}},
		"plays": {Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}},
	} {
		if _, _, err := s.Boards.PutBoard(t.Context(), name, rules); !errors.Is(err, leaderboard.ErrUnknownRule) {
			t.Errorf("a board is given the rule %s: %v", name, err)
		}
		ref := dbtest.MakeBoard(t, s, name, leaderboard.Rules{})
		text, err := json.Marshal(rules.WithDefaults())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.DB().ExecContext(t.Context(), "UPDATE boards SET rules = ?, version = version + 1 WHERE id = ?", string(text), ref.BoardID); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Writer.Submit(t.Context(), dbtest.One(name, "", "ada", 1)); !errors.Is(err, leaderboard.ErrUnknownRule) {
			t.Errorf("a board with the rule %s is written to: %v", name, err)
		}
	}
}
