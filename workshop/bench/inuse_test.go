package main

import (
	"context"
	"database/sql"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/store"
)

// TestInUse imports into a small board, has its period turn and deletes it, with the program. The housekeeping, which a server does once a
// minute, is the test's.
func TestInUse(t *testing.T) {
	program := filepath.Join(t.TempDir(), "leaderboard")
	if said, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "leaderboard/cmd/leaderboard").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	mysql := testenv.PrivateMySQL(t)
	db, err := sql.Open("mysql", mysql.DSN+"?interpolateParams=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	u := newUnknown(&world{
		options: options{program: program, dir: t.TempDir(), members: 5000, pace: 0.05}, mysql: mysql, redis: testenv.PrivateRedis(t), db: db, log: io.Discard,
	})
	t.Cleanup(func() {
		if err := u.end(); err != nil {
			t.Error(err)
		}
	})
	if err := u.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Config{DSN: u.dsn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	var sweeping sync.WaitGroup
	sweeping.Go(func() {
		for wait(ctx, 100*time.Millisecond) == nil {
			_ = s.Housekeeping.Sweep(ctx) // failed work is done the next time
		}
	})
	var rep report
	err = u.measureInUse(t.Context(), &rep, time.Second)
	cancel()
	sweeping.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"through the server that is read", "through the server that imports", "random ranks, 100 requests a second", "the period of that board turns", "until the request is answered",
		"deletion of its rows", "another board that is neither",
	} {
		i := slices.IndexFunc(rep.rows, func(r row) bool { return strings.Contains(r.what, want) })
		if i < 0 || rep.rows[i].here == "" || rep.rows[i].yardstick == "" || rep.rows[i].goal == "" || rep.rows[i].met == "" {
			t.Errorf("no whole row about %q:\n%s", want, rep.table())
		}
	}
}
