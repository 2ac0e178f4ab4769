package testenv

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// claimLife frees the claim of a process that died. It exceeds the longest
	// test run.
	claimLife = 30 * time.Minute
	// claimWait is how long a test waits while all databases are in use.
	claimWait = time.Minute
)

// releaseScript gives a claim back if it is still ours.
const releaseScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

// claimRedis finds an unused database on the Redis at address. Test processes
// agree through keys in database 0, which no test gets.
func claimRedis(t testing.TB, address string) string {
	t.Helper()
	opts, err := redis.ParseURL(address)
	if err != nil {
		t.Fatalf("address of the test's Redis: %s", err)
	}
	opts.DB = 0
	admin := redis.NewClient(opts)
	defer admin.Close()
	ctx, cancel := context.WithTimeout(t.Context(), claimWait)
	defer cancel()
	token := rand.Text()
	db, err := claim(ctx, admin, token)
	if err != nil {
		t.Fatalf("test database on the Redis at %s: %s", opts.Addr, err)
	}
	own := *opts
	own.DB = db
	// An earlier owner may have been killed and left keys.
	if err := flush(ctx, own); err != nil {
		t.Fatalf("test database %d on the Redis at %s: %s", db, opts.Addr, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit)
		defer cancel()
		admin := redis.NewClient(opts)
		defer admin.Close()
		err := flush(ctx, own)
		err = errors.Join(err, admin.Eval(ctx, releaseScript, []string{claimKey(db)}, token).Err())
		if err != nil {
			t.Logf("test database %d of Redis stays claimed: %s", db, err)
		}
	})
	return withDatabase(address, db)
}

func claimKey(db int) string { return "testenv:claim:" + strconv.Itoa(db) }

// claim takes a free database, waiting for one until ctx ends.
func claim(ctx context.Context, admin *redis.Client, token string) (int, error) {
	count, err := databaseCount(ctx, admin)
	if err != nil {
		return 0, err
	}
	if count < 2 {
		return 0, fmt.Errorf("it has %d databases, two are needed (--databases)", count)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, i := range mathrand.Perm(count - 1) {
			err := admin.SetArgs(ctx, claimKey(i+1), token, redis.SetArgs{Mode: "NX", TTL: claimLife}).Err()
			if err == nil {
				return i + 1, nil
			}
			if !errors.Is(err, redis.Nil) {
				return 0, err
			}
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("all %d databases are in use: %w", count-1, ctx.Err())
		case <-tick.C:
		}
	}
}

// databaseCount asks the server, because a given server may have any number.
func databaseCount(ctx context.Context, admin *redis.Client) (int, error) {
	got, err := admin.ConfigGet(ctx, "databases").Result()
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(got["databases"])
}

func flush(ctx context.Context, opts redis.Options) error {
	c := redis.NewClient(&opts)
	defer c.Close()
	return c.FlushDB(ctx).Err()
}

// withDatabase returns the address of another database of the same server.
func withDatabase(address string, db int) string {
	u, err := url.Parse(address)
	if err != nil { // it was parsed before
		return address
	}
	u.Path = "/" + strconv.Itoa(db)
	return u.String()
}
