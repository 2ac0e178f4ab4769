package people

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"leaderboard/internal/plantest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// alone asks without a bound.
func alone(ctx context.Context, ask func(context.Context) error) error { return ask(ctx) }

// of returns the feature's part of a store.
func of(s *store.Store) *Store { return NewStore(s.Database(), alone, &Settings{}) }

// TestTwoServers: a server shows its own change at once, and another server soon.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	dsn, ctx := testenv.MySQL(t), t.Context()
	wholes := [2]*store.Store{dbtest.Open(t, dsn, nil), dbtest.Open(t, dsn, nil)}
	here, there := of(wholes[0]), of(wholes[1])
	wholes[1].Erasures.Add("people", there.forget)
	if _, _, err := here.PutProfile(ctx, Profile{Member: "a", DisplayName: "A"}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{here, there} {
		if p, err := s.ProfilesOf(ctx, []string{"x", "a"}); err != nil || p[0] != nil || p[1] == nil || p[1].DisplayName != "A" {
			t.Errorf("profiles %v, %v", p, err)
		}
	}
	name := "B"
	if _, _, err := here.PatchProfile(ctx, "a", ProfilePatch{DisplayName: &name}); err != nil {
		t.Fatal(err)
	}
	if p, err := here.ProfilesOf(ctx, []string{"a"}); err != nil || p[0] == nil || p[0].DisplayName != "B" {
		t.Errorf("changed: %v, %v", p, err)
	}
	if _, err := here.ResetName(ctx, NameReset{Member: "a", Reason: "a slur"}); err != nil {
		t.Fatal(err)
	}
	if p, err := here.ProfilesOf(ctx, []string{"a"}); err != nil || p[0] == nil || p[0].DisplayName != "" {
		t.Errorf("taken away: %v, %v", p, err)
	}
	if f, err := wholes[1].Erasures.Forget(ctx, "a", "admin"); err != nil || !f.Done {
		t.Fatalf("%+v, %v", f, err)
	}
	if p, err := there.ProfilesOf(ctx, []string{"a"}); err != nil || p[0] != nil {
		t.Errorf("a forgotten one has a profile: %v, %v", p, err)
	}
}

// TestForget: an erasure deletes the profile of a member, and its states in the audit. Before it, data returns the profile
// in the form of the API.
func TestForget(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		whole, ctx := dbtest.Open(t, dsn, nil), t.Context()
		s := of(whole)
		whole.Erasures.Add("people", s.forget)
		for _, member := range []string{"gone", "stays"} {
			if _, _, err := s.PutProfile(ctx, Profile{Member: member, DisplayName: "Scarlett", Attributes: `{"level":7}`}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.ResetName(ctx, NameReset{Member: "gone", Reason: "a slur"}); err != nil {
			t.Fatal(err)
		}
		told := ""
		tell := func(record any) error {
			text, err := json.Marshal(record)
			told += string(text[:len(`{"member":"gone","display_name":"","avatar_url":"","attributes":{"level":7}`)])
			return err
		}
		err := errors.Join(s.data(ctx, "gone", tell), s.data(ctx, "nobody", tell))
		if want := `{"member":"gone","display_name":"","avatar_url":"","attributes":{"level":7}`; err != nil || told != want {
			t.Errorf("told %s, %v", told, err)
		}
		if f, err := whole.Erasures.Forget(ctx, "gone", "boss"); err != nil || !f.Done {
			t.Fatalf("%+v, %v", f, err)
		}
		db := dbtest.Connect(t, dsn)
		dbtest.CheckForgotten(t, db, "gone")
		if n := dbtest.Count(t, db, "profiles"); n != 1 {
			t.Errorf("%d profiles are left", n)
		}
	})
}

// TestFindMembersBounded: a search on a large board looks at a bounded number of matching names that are not on the board,
// reports that it stopped there, and finds a member by more letters.
func TestFindMembersBounded(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		whole, db := dbtest.Open(t, dsn, nil), dbtest.Connect(t, dsn)
		s := of(whole)
		ref := dbtest.MakeBoard(t, whole, "b", leaderboard.Rules{})
		if _, err := whole.Writer.Submit(t.Context(), dbtest.One("b", "", "last", 1)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.PutProfile(t.Context(), Profile{Member: "last", DisplayName: "ADA Z"}); err != nil {
			t.Fatal(err)
		}
		const digit = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"
		others := "INSERT INTO profiles (member, display_name, name_key, avatar_url, attributes, updated_at) SELECT CONCAT('m', n), 'ada', 'ADA', '', '{}', NOW(6) FROM" +
			" (SELECT a.d*1000 + b.d*100 + c.d*10 + d.d n FROM " + digit + " a," + digit + " b," + digit + " c," + digit + " d) numbers WHERE n < ?"
		if _, err := db.ExecContext(t.Context(), others, MaxShownSearched); err != nil {
			t.Fatal(err)
		}
		find := func(q ShownQuery, want int, partial bool) {
			t.Helper()
			q.Period, q.Limit = ref.ID, 10
			if found, err := s.FindMembers(t.Context(), q); err != nil || len(found.Members) != want || found.Partial != partial {
				t.Errorf("%+v: %+v, %v", q, found, err)
			}
		}
		find(ShownQuery{Prefix: "z"}, 1, false)
		dbtest.MustExec(t, db, "UPDATE periods SET entry_count = ?", MaxNamesRead+1)
		find(ShownQuery{Prefix: "ada"}, 0, true)
		find(ShownQuery{Prefix: "ada z"}, 1, false)
		find(ShownQuery{Prefix: "z"}, 0, false)
		find(ShownQuery{Prefix: "ADA z", Whole: true}, 1, false)
		find(ShownQuery{Prefix: "ad", Whole: true}, 0, false)
	})
}

// TestSearchIsBounded: a search on a board is asked of MySQL when the slots for such questions let it.
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	shut := errors.New("shut")
	s := NewStore(nil, func(context.Context, func(context.Context) error) error { return shut }, &Settings{}) // without a database: a question that goes past it panics
	if _, err := s.FindMembers(t.Context(), ShownQuery{Period: 1, Prefix: "ada", Limit: 1}); !errors.Is(err, shut) {
		t.Error(err)
	}
}

// TestTimeIsUp: the error of a change whose time is up has the right class: before COMMIT was sent, nothing was done; afterwards,
// the outcome is unknown.
func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	p, through := dbtest.NewProxy(t, dsn)
	s := of(dbtest.Open(t, through, func(c *store.Config) { c.ReadTimeout = 7 * time.Second }))
	put := func(member string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, _, err := s.PutProfile(ctx, Profile{Member: member, DisplayName: "M"})
		return err
	}
	for _, words := range []string{"INSERT INTO profiles", " FOR UPDATE"} {
		p.On(words, dbtest.FaultSilence, 0)
		if err := put("m"); !errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
			t.Errorf("at %s: %v, want that nothing was done", words, err)
		}
		p.Heal()
	}
	if n := dbtest.Count(t, dbtest.Connect(t, dsn), "profiles"); n != 0 {
		t.Error("something was done")
	}
	// Connections are there: the words with which one begins have COMMIT in them.
	if _, _, err := s.PutProfile(t.Context(), Profile{Member: "other"}); err != nil {
		t.Fatal(err)
	}
	p.On("COMMIT", dbtest.FaultSilence, 0)
	if err := put("m"); !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
		t.Errorf("after COMMIT: %v, want that the outcome is unknown", err)
	}
	p.Heal()
}

// TestPlans: every statement that is sent often reads through the index meant for it and sorts nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	var many []string
	for n := range 1200 { // more than MariaDB takes in one list without making a table of it
		many = append(many, fmt.Sprint("m", n))
	}
	found := map[string]string{"profiles": "profiles_name"}
	out := map[string]plantest.Planned{
		"profiles":          {Query: profilesOf(many), Keys: map[string]string{"profiles": "PRIMARY"}},
		"names":             {Query: namesText(profileColumns, MemberQuery{ByName: true, Prefix: "a", Limit: 10}), Keys: found},
		"names after":       {Query: namesText(profileColumns, MemberQuery{ByName: true, Prefix: "a", AfterName: "AB", AfterMember: "m5", Limit: 10}), Keys: found},
		"names to find":     {Query: namesText("name_key, member", MemberQuery{ByName: true, Prefix: "ada", Limit: shownTogether}), Keys: found},
		"names of a period": {Query: shownNames(1, "m5"), Keys: map[string]string{"e": "PRIMARY", "p": "PRIMARY"}},
		"found in a period": {Query: presentText(1, many[:shownTogether]), Keys: map[string]string{"entries": "PRIMARY"}},
		"found with a name": {Query: namedText(many[:shownTogether]), Keys: map[string]string{"profiles": "PRIMARY"}},
		"ids to find":       {Query: idsText("entries", []int64{1}, MemberQuery{Prefix: "m", Limit: shownTogether}), Keys: map[string]string{"entries": "PRIMARY"}},
		"open periods":      {Query: plantest.Literal(openPeriods, 501), Keys: map[string]string{"periods": "periods_end"}},
	}
	for table, index := range map[string]string{"profiles": "PRIMARY", "hidden_members": "hidden_members_member", "entries": "PRIMARY"} {
		out["ids of "+table] = plantest.Planned{Query: idsText(table, []int64{1, 2, 7}, MemberQuery{Prefix: "m", Limit: 10}), Keys: map[string]string{table: index}}
	}
	plantest.Run(t, out)
}
