package app

import (
	"testing"

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
		servers[i] = erasures{database.Erasures, newProfiles(database.Profiles)}
	}
	here, there := servers[0], servers[1]
	if _, _, err := here.profiles.PutProfile(ctx, leaderboard.Profile{Member: "a", DisplayName: "A"}); err != nil {
		t.Fatal(err)
	}
	if p, err := here.profiles.ProfilesOf(ctx, []string{"x", "a"}); err != nil || p[0] != nil || p[1] == nil || p[1].DisplayName != "A" {
		t.Errorf("profiles %v, %v", p, err)
	}
	if f, err := there.Forget(ctx, "a", "admin"); err != nil || !f.Done {
		t.Fatalf("%+v, %v", f, err)
	}
	if p, err := there.profiles.ProfilesOf(ctx, []string{"a"}); err != nil || p[0] != nil {
		t.Errorf("a forgotten one has a profile: %v, %v", p, err)
	}
}
