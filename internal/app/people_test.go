package app

import (
	"context"
	"slices"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
)

// TestPeopleOnTwoServers: two servers: what one changes it shows at once, and the other soon.
func TestPeopleOnTwoServers(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	ctx := t.Context()
	var servers [2]erasures
	for i := range servers {
		database, err := store.Open(ctx, store.Config{DSN: dsn})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = database.Close() })
		if i == 0 {
			if _, err := migrations.Up(ctx, database.DB()); err != nil {
				t.Fatal(err)
			}
		}
		servers[i] = erasures{database.Erasures, newProfiles(database.Profiles), newFriends(database.Friends)}
	}
	here, there := servers[0], servers[1]
	friends := func(s erasures, want ...string) bool {
		t.Helper()
		lists, err := s.friends.FriendsOf(ctx, []string{"me", "nobody"})
		if err != nil || len(lists) != 2 || len(lists[1]) != 0 {
			t.Fatal(lists, err)
		}
		return slices.Equal(lists[0], want)
	}
	eventually := func(what string, cond func() bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(ctx, apptest.MaxWait)
		defer cancel()
		for !cond() {
			if ctx.Err() != nil {
				t.Fatal(what)
			}
			pause(ctx, 10*time.Millisecond)
		}
	}
	if !friends(here) || !friends(there) {
		t.Fatal("there are friends before anybody said so")
	}
	for _, want := range [][]string{{"a", "b"}, {"a"}, {"a", "c"}} {
		if _, err := here.friends.PutFriends(ctx, "me", want); err != nil {
			t.Fatal(err)
		}
		if !friends(here, want...) {
			t.Errorf("%q is not shown where it was put", want)
		}
		eventually("another server keeps the old list", func() bool { return friends(there, want...) })
	}
	if err := here.friends.RemoveFriend(ctx, "me", "c"); err != nil || !friends(here, "a") {
		t.Errorf("removed: %v", err)
	}
	if _, err := here.friends.AddFriends(ctx, "me", []string{"d"}); err != nil || !friends(here, "a", "d") {
		t.Errorf("added: %v", err)
	}
	if _, _, err := here.profiles.PutProfile(ctx, leaderboard.Profile{Member: "a", DisplayName: "A"}); err != nil {
		t.Fatal(err)
	}
	if p, err := here.profiles.ProfilesOf(ctx, []string{"x", "a"}); err != nil || p[0] != nil || p[1] == nil || p[1].DisplayName != "A" {
		t.Errorf("profiles %v, %v", p, err)
	}
	if f, err := there.Forget(ctx, "a", "admin"); err != nil || !f.Done {
		t.Fatalf("%+v, %v", f, err)
	}
	eventually("a member that was forgotten through another server is a friend", func() bool { return friends(here, "d") })
	if p, err := there.profiles.ProfilesOf(ctx, []string{"a"}); err != nil || p[0] != nil {
		t.Errorf("a forgotten one has a profile: %v, %v", p, err)
	}
}
