package friends

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/plantest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

func TestLists(t *testing.T) {
	t.Parallel()
	t.Run("fake", func(t *testing.T) { testLists(t, apitest.NewFake()) })
	dbtest.Dialects(t, func(t *testing.T, dsn string) { testLists(t, NewStore(dbtest.Open(t, dsn, nil).Database())) })
}

// testLists compares lists with the documentation of Lists.
func testLists(t *testing.T, s Lists) {
	ctx := t.Context()
	const me = "me"
	check := func(want ...string) {
		t.Helper()
		got, err := s.Friends(ctx, me, "", 1000)
		all, err2 := s.FriendsOf(ctx, []string{me, "stranger"})
		if err != nil || err2 != nil || !slices.Equal(got, want) || len(all) != 2 || !slices.Equal(all[0], want) || len(all[1]) != 0 {
			t.Fatalf("friends %q, %v, %v; want %q", got, all, errors.Join(err, err2), want)
		}
	}
	total := func(want int) func(int, error) {
		return func(got int, err error) {
			t.Helper()
			if err != nil || got != want {
				t.Fatalf("%d friends, %v; want %d", got, err, want)
			}
		}
	}
	check()
	total(3)(s.PutFriends(ctx, me, []string{"c", "a", "b "}))
	check("a", "b ", "c")
	total(3)(s.PutFriends(ctx, me, []string{"b ", "a", "c"}))
	total(5)(s.AddFriends(ctx, me, []string{"a", "A", "é"}))
	check("A", "a", "b ", "c", "é")
	for _, f := range []string{"a", "a", "nobody"} {
		if err := s.RemoveFriend(ctx, me, f); err != nil {
			t.Fatal(err)
		}
	}
	check("A", "b ", "c", "é")
	if got, err := s.Friends(ctx, me, "b ", 1); err != nil || !slices.Equal(got, []string{"c"}) {
		t.Errorf("behind b: %q, %v", got, err)
	}
	for _, bad := range [][]string{{me}, {"x", "x"}, {""}, {strings.Repeat("x", 65)}} {
		_, err1 := s.PutFriends(ctx, me, bad)
		_, err2 := s.AddFriends(ctx, me, bad)
		for _, err := range []error{err1, err2} {
			if rule := new(leaderboard.RuleError); !errors.As(err, &rule) || rule.Code != leaderboard.CodeInvalidFriends {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
	check("A", "b ", "c", "é")
	testMostFriends(t, s, me)
	total(0)(s.PutFriends(ctx, me, nil))
	check()
}

// testMostFriends fills a list and finds that another friend is refused, with everything in the same request.
func testMostFriends(t *testing.T, s Lists, me string) {
	t.Helper()
	var many []string
	for i := range leaderboard.MaxFriends {
		many = append(many, fmt.Sprintf("f%04d", i))
	}
	if n, err := s.PutFriends(t.Context(), me, many); err != nil || n != leaderboard.MaxFriends {
		t.Fatalf("%d friends, %v", n, err)
	}
	_, err1 := s.AddFriends(t.Context(), me, []string{"f0000", "one more"})
	_, err2 := s.PutFriends(t.Context(), me, append(many, "one more"))
	for _, err := range []error{err1, err2} {
		if rule := new(leaderboard.RuleError); !errors.As(err, &rule) || rule.Code != leaderboard.CodeTooManyFriends {
			t.Errorf("one more: %v", err)
		}
	}
	if n, err := s.AddFriends(t.Context(), me, many[10:20]); err != nil || n != leaderboard.MaxFriends {
		t.Errorf("those that are there: %d, %v", n, err)
	}
	if all, err := s.FriendsOf(t.Context(), []string{me}); err != nil || !slices.Equal(all[0], many) {
		t.Errorf("%d friends, %v", len(all[0]), err)
	}
}

// TestVersions: the version of a list shows whether a copy of it still holds. It comes from the clock of the database.
func TestVersions(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var now atomic.Int64
		s := NewStore(dbtest.Open(t, dsn, func(c *store.Config) {
			c.Clock = dbtest.ClockAt(func() leaderboard.Micros { return leaderboard.Micros(now.Load()) })
		}).Database())
		ctx := t.Context()
		for i, change := range []func() error{
			func() error { _, err := s.PutFriends(ctx, "me", []string{"c", "a"}); return err },
			func() error { _, err := s.AddFriends(ctx, "me", []string{"b"}); return err },
			func() error { return s.RemoveFriend(ctx, "me", "a") },
			func() error { _, err := s.unfriend(ctx, []byte("c")); return err },
		} {
			at := 2_000_000_000_000_000 + int64(i)
			now.Store(at)
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if got, err := s.versions(ctx, []string{"me", "stranger"}); err != nil || len(got) != 1 || got["me"] != leaderboard.Micros(at) {
				t.Errorf("versions after change %d: %v, %v", i, got, err)
			}
		}
	})
}

// TestForget: an erased member leaves nothing, in lists of very many others too, and a list that had the member does not
// count as unchanged. All of it is in the member's data before.
func TestForget(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		whole := dbtest.Open(t, dsn, nil)
		s, ctx := NewStore(whole.Database()), t.Context()
		whole.Erasures.Add("friends", s.forget)
		db := dbtest.Connect(t, dsn)
		if _, err := s.PutFriends(ctx, "gone", []string{"a", "stays"}); err != nil {
			t.Fatal(err)
		}
		const fans = store.SweepRows + 100 // more than one statement takes
		for i := range fans {
			if _, err := s.PutFriends(ctx, fmt.Sprint("fan", i), []string{"gone", "worse"}); err != nil {
				t.Fatal(err)
			}
		}
		told := map[string]int{}
		tell := func(list string) func(any) error { return func(any) error { told[list]++; return nil } }
		if err := errors.Join(s.data(ctx, "gone", tell("friends")), s.fanData(ctx, "gone", tell("fans"))); err != nil || told["friends"] != 2 || told["fans"] != fans {
			t.Errorf("told %v, %v", told, err)
		}
		before, err := s.versions(ctx, []string{"fan7"})
		if err != nil {
			t.Fatal(err)
		}
		if f, err := whole.Erasures.Forget(ctx, "gone", "boss"); err != nil || !f.Done {
			t.Fatalf("%+v, %v", f, err)
		}
		after, err := s.versions(ctx, []string{"gone", "fan7"})
		if err != nil || after["fan7"] == before["fan7"] || len(after) != 1 {
			t.Errorf("versions %v after %v, %v", after, before, err)
		}
		dbtest.CheckForgotten(t, db, "gone")
		if n := dbtest.Count(t, db, "friends WHERE friend = 'worse'"); n != fans {
			t.Errorf("%d of %d friends of others are left", n, fans)
		}
	})
}

// TestTwoServers: two servers: a server shows its own change at once, and the other soon.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	dsn, ctx := testenv.MySQL(t), t.Context()
	wholes := [2]*store.Store{dbtest.Open(t, dsn, nil), dbtest.Open(t, dsn, nil)}
	here, there := NewStore(wholes[0].Database()), NewStore(wholes[1].Database())
	wholes[1].Erasures.Add("friends", there.forget)
	friends := func(s *Store, want ...string) bool {
		t.Helper()
		lists, err := s.FriendsOf(ctx, []string{"me", "nobody"})
		if err != nil || len(lists) != 2 || len(lists[1]) != 0 {
			t.Fatal(lists, err)
		}
		return slices.Equal(lists[0], want)
	}
	if !friends(here) || !friends(there) {
		t.Fatal("there are friends before anybody said so")
	}
	for _, want := range [][]string{{"a", "b"}, {"a"}, {"a", "c"}} {
		if _, err := here.PutFriends(ctx, "me", want); err != nil {
			t.Fatal(err)
		}
		if !friends(here, want...) {
			t.Errorf("%q is not shown where it was put", want)
		}
		dbtest.Eventually(t, "another server keeps the old list", func() bool { return friends(there, want...) })
	}
	if err := here.RemoveFriend(ctx, "me", "c"); err != nil || !friends(here, "a") {
		t.Errorf("removed: %v", err)
	}
	if _, err := here.AddFriends(ctx, "me", []string{"d"}); err != nil || !friends(here, "a", "d") {
		t.Errorf("added: %v", err)
	}
	if f, err := wholes[1].Erasures.Forget(ctx, "a", "admin"); err != nil || !f.Done {
		t.Fatalf("%+v, %v", f, err)
	}
	dbtest.Eventually(t, "a member that was forgotten through another server is a friend", func() bool { return friends(here, "d") })
}

// TestPlans: every statement that is sent often reads through the index meant for it and sorts nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	var many []string
	for n := range 1200 { // more than MariaDB takes in one list without making a table of it
		many = append(many, fmt.Sprint("m", n))
	}
	plantest.Run(t, map[string]plantest.Planned{
		"friends of many":     {Query: friendsOf(many[:16]), Keys: map[string]string{"friends": "PRIMARY"}},
		"lists with a friend": {Query: plantest.Literal(selectFans, []byte("m1"), "'a'", 10), Keys: map[string]string{"friends": "friends_of"}},
		"versions of lists":   {Query: friendVersions(many), Keys: map[string]string{"friend_lists": "PRIMARY"}},
		"friends":             {Query: plantest.Literal(selectFriends, []byte("m1"), "'a'", 10), Keys: map[string]string{"friends": "PRIMARY"}},
	})
}

// TestFriendsAtOnce: with many changes of a list at the same time it never grows too long, and every answer was true when
// it was given.
func TestFriendsAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := NewStore(dbtest.Open(t, dsn, nil).Database())
		var refused atomic.Int64
		var writers sync.WaitGroup
		for w := range 8 {
			writers.Go(func() {
				for part := range 4 {
					var list []string
					for i := range 200 {
						list = append(list, fmt.Sprintf("w%d-%d-%d", w, part, i))
					}
					n, err := s.AddFriends(t.Context(), "me", list)
					if rule := new(leaderboard.RuleError); errors.As(err, &rule) && rule.Code == leaderboard.CodeTooManyFriends {
						refused.Add(1)
					} else if err != nil || n > leaderboard.MaxFriends {
						t.Errorf("%d friends, %v", n, err)
					}
				}
			})
		}
		writers.Wait()
		all, err := s.Friends(t.Context(), "me", "", 10_000)
		if want := leaderboard.MaxFriends; err != nil || len(all) != want || refused.Load() != 8*4-int64(want)/200 {
			t.Errorf("%d friends, %d refused, %v", len(all), refused.Load(), err)
		}
	})
}
