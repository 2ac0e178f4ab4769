package store_test

import (
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// TestFindMembersBounded: a search on a board looks at so many names that begin so and are not on it, says that it has ended there, and
// finds whom more letters tell apart.
func TestFindMembersBounded(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "last", 1)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Profiles.PutProfile(t.Context(), leaderboard.Profile{Member: "last", DisplayName: "ADA Z"}); err != nil {
			t.Fatal(err)
		}
		const digit = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"
		others := "INSERT INTO profiles (member, display_name, name_key, avatar_url, attributes, updated_at) SELECT CONCAT('m', n), 'ada', 'ADA', '', '{}', NOW(6) FROM" +
			" (SELECT a.d*1000 + b.d*100 + c.d*10 + d.d n FROM " + digit + " a," + digit + " b," + digit + " c," + digit + " d) numbers WHERE n < ?"
		if _, err := db.ExecContext(t.Context(), others, leaderboard.MaxShownSearched); err != nil {
			t.Fatal(err)
		}
		for prefix, want := range map[string]int{"ada": 0, "ada z": 1} {
			found, err := s.Members.FindMembers(t.Context(), leaderboard.ShownQuery{Period: ref.ID, Prefix: prefix, Limit: 10})
			if err != nil || len(found.Members) != want || found.Partial != (want == 0) {
				t.Errorf("%q: %+v, %v", prefix, found, err)
			}
		}
	})
}
