package installed_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// TestMemberData: MemberData returns everything about a member: a record for each row in each table that has the id, including
// entries in closed periods and hidden entries, over more than a page; the scores are in the board's order.
func TestMemberData(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		s := open(t, dsn, dbtest.ClockBy(&offset))
		fillForErasure(t, s, &offset)
		db := dbtest.Connect(t, dsn)
		dbtest.MakeBoard(t, s.Store, "golf", leaderboard.Rules{Order: leaderboard.OrderAsc})
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("golf", "", forgotten, -7)); err != nil {
			t.Fatal(err)
		}
		told, golf := map[string]int{}, ""
		err := s.Members.MemberData(t.Context(), forgotten, func(r leaderboard.MemberRecord) error {
			e, is := r.Record.(leaderboard.MemberEntry)
			switch {
			case r.List == "hidden":
				told["hidden_members"]++
			case r.List == "bars":
				told["member_bars"]++
			case !is:
				told[r.List]++
			default:
				told[fmt.Sprint("entries, hidden ", e.Hidden)]++
				if e.Metadata == `{"by":"`+forgotten+`"}` {
					told["entry_metadata"]++
				}
				if e.Period.Board == "golf" {
					golf = fmt.Sprintf("%d %v %s %s", e.Score, e.Hidden, e.Period.Name, e.Member)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		of := " WHERE member = '" + forgotten + "'"
		want := map[string]int{
			"profile": dbtest.Count(t, db, "profiles"+of), "friends": dbtest.Count(t, db, "friends"+of), "friend_of": dbtest.Count(t, db, "friends WHERE friend = '"+forgotten+"'"),
			"hidden_members": dbtest.Count(t, db, "hidden_members"+of), "member_bars": dbtest.Count(t, db, "member_bars"+of), "plays": dbtest.Count(t, db, "plays"+of), "held": dbtest.Count(t, db, "held"+of), "submissions": dbtest.Count(t, db, "submissions"+of), "audit": dbtest.Count(t, db, "audit"+of),
			"entry_metadata": dbtest.Count(t, db, "entry_metadata"+of), "entries, hidden false": dbtest.Count(t, db, "entries"+of+" AND period_id > 0"), "entries, hidden true": dbtest.Count(t, db, "entries"+of+" AND period_id < 0"),
		}
		for kind, n := range want {
			if told[kind] != n || n == 0 {
				t.Errorf("%s: told %d of %d", kind, told[kind], n)
			}
		}
		if len(told) != len(want) || golf != "-7 false all_time gone-with-the-wind" {
			t.Errorf("told %v, on the board in ascending order %q", told, golf)
		}
		// A table that knows the member and is in none of the kinds was forgotten here.
		known := []string{"profiles.member", "changes.payload", "idempotency_keys.receipt", "friend_lists.member", "friends.friend", "hidden_members.reason", "audit.before_json", "audit.after_json", "metadata_bodies.member", "metadata_bodies.body", "held.submission"}
		for kind := range want {
			table, _, _ := strings.Cut(kind, ",")
			known = append(known, table+".member")
		}
		for _, place := range dbtest.PlacesOf(t, db, forgotten) {
			if !slices.Contains(known, place) {
				t.Errorf("%s has the member, and tell got nothing of it", place)
			}
		}
		stop := errors.New("stop")
		n := 0
		err = s.Members.MemberData(t.Context(), forgotten, func(leaderboard.MemberRecord) error { n++; return stop })
		if !errors.Is(err, stop) || n != 1 {
			t.Errorf("stopped at once: %v after %d", err, n)
		}
		err = s.Members.MemberData(t.Context(), "unknown", func(leaderboard.MemberRecord) error { n++; return nil })
		if err != nil || n != 1 {
			t.Errorf("of an unknown member: %v, %d records", err, n-1)
		}
	})
}
