package topn

import (
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/cachetest"
	"leaderboard/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// newClient makes a client of an empty Redis database of the test's own.
func newClient(t testing.TB) redis.UniversalClient {
	t.Helper()
	return openClient(t, cachetest.Unhurried(testenv.Redis(t)))
}

func openClient(t testing.TB, address string) redis.UniversalClient {
	t.Helper()
	client, err := Open(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = Close(client) })
	return client.(redis.UniversalClient)
}
