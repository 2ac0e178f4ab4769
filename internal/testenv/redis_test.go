package testenv

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/devserver"
)

func client(t *testing.T, address string) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(opts)
	t.Cleanup(func() { c.Close() })
	return c
}

// TestRedisDatabasesAreApart: each call gives an empty database that no other test has; it is emptied and free again
// when its test has ended.
func TestRedisDatabasesAreApart(t *testing.T) {
	ctx := context.Background()
	seen := map[string]*redis.Client{}
	t.Run("inner", func(t *testing.T) {
		for range 3 {
			url := Redis(t)
			if seen[url] != nil {
				t.Fatalf("%s was given twice", url)
			}
			seen[url] = client(t, url)
			if n, err := seen[url].DBSize(ctx).Result(); err != nil || n != 0 {
				t.Fatalf("size of %s: %d, %v; want empty", url, n, err)
			}
			if err := seen[url].Set(ctx, "k", url, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		for url, c := range seen {
			if got, err := c.Get(ctx, "k").Result(); err != nil || got != url {
				t.Errorf("%s holds %q, %v", url, got, err)
			}
		}
	})
	for url := range seen {
		if n, err := client(t, url).DBSize(ctx).Result(); err != nil || n != 0 {
			t.Errorf("size of %s after its test: %d, %v; want empty", url, n, err)
		}
	}
}

// privateRedis returns a Redis with few databases.
func privateRedis(t *testing.T, databases int) *devserver.Server {
	t.Helper()
	s, err := devserver.StartRedis(t.Context(), devserver.Config{Dir: t.TempDir(), Ephemeral: true, Databases: databases})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	return s
}

// TestClaimWaitsForAFreeDatabase: when all databases are taken, the next test waits until one is given back; it then
// finds it empty.
func TestClaimWaitsForAFreeDatabase(t *testing.T) {
	url := privateRedis(t, 3).URL
	admin := client(t, url)
	taken := map[int]string{}
	for _, token := range []string{"a", "b"} {
		db, err := claim(t.Context(), admin, token)
		if err != nil {
			t.Fatal(err)
		}
		if db < 1 || db > 2 || taken[db] != "" {
			t.Fatalf("claimed database %d, taken are %v", db, taken)
		}
		taken[db] = token
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if db, err := claim(short, admin, "c"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("third claim of two: %d, %v", db, err)
	}
	// Only the owner can give a database back.
	for token, want := range map[string]int64{"c": 0, taken[1]: 1} {
		n, err := admin.Eval(t.Context(), releaseScript, []string{claimKey(1)}, token).Int64()
		if err != nil || n != want {
			t.Errorf("release by %s: %d, %v; want %d", token, n, err, want)
		}
	}
	if err := client(t, withDatabase(url, 1)).Set(t.Context(), "left", "over", 0).Err(); err != nil {
		t.Fatal(err)
	}
	got := claimRedis(t, url)
	if want := withDatabase(url, 1); got != want {
		t.Fatalf("claimed %s, want %s", got, want)
	}
	if n, err := client(t, got).DBSize(t.Context()).Result(); err != nil || n != 0 {
		t.Errorf("size %d, %v; want empty", n, err)
	}
}

// TestClaimsExpire: the claim of a process that died does not last for ever.
func TestClaimsExpire(t *testing.T) {
	admin := client(t, privateRedis(t, 0).URL)
	db, err := claim(t.Context(), admin, "a")
	if err != nil {
		t.Fatal(err)
	}
	if ttl, err := admin.TTL(t.Context(), claimKey(db)).Result(); err != nil || ttl <= 0 || ttl > claimLife {
		t.Errorf("claim lives for %s, %v", ttl, err)
	}
}

// TestClaimNeedsTwoDatabases: database 0 keeps the claims, so one database is not enough.
func TestClaimNeedsTwoDatabases(t *testing.T) {
	admin := client(t, privateRedis(t, 1).URL)
	if db, err := claim(t.Context(), admin, "a"); err == nil {
		t.Errorf("claimed database %d of one", db)
	}
}
