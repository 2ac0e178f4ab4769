package client_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/leaks"
)

// The tests and Examples of this package ask one real server: the program's own `dev`, with private MySQL and Redis.

// server starts the server when it is first asked for. Examples receive no testing.TB, so it has to be here.
var (
	started atomic.Bool
	server  = sync.OnceValues(func() (*apptest.Dev, error) {
		started.Store(true)
		return apptest.StartDev("..", "--members", "100")
	})
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	code := m.Run()
	if started.Load() {
		if d, err := server(); err == nil {
			if err := d.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, "client:", err)
				return 1
			}
		}
	}
	return leaks.Check(code, os.Stderr)
}

// admin returns a client of the server with its admin key, unless options give it another.
func admin(t testing.TB, options ...client.Option) *client.Client {
	t.Helper()
	d, err := server()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(d.URL, append([]client.Option{client.WithKey(d.Key), client.WithTimeout(time.Minute)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// exampleClient is admin for Examples, which have no way to fail but by their output.
func exampleClient(options ...client.Option) (context.Context, *client.Client) {
	d, err := server()
	if err != nil {
		panic(err)
	}
	c, err := client.New(d.URL, append([]client.Option{client.WithKey(d.Key), client.WithTimeout(time.Minute)}, options...)...)
	if err != nil {
		panic(err)
	}
	return context.Background(), c
}
