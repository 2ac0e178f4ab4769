package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// frozenLimit is how soon every board takes writes again, and derived boards follow, after a server was frozen or cut off.
const frozenLimit = 15 * time.Second

// onBoth runs a test on MySQL and on MariaDB.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("mysql", func(t *testing.T) { t.Parallel(); test(t, worldOn(t, testenv.MySQL(t), "")) })
	t.Run("mariadb", func(t *testing.T) { t.Parallel(); test(t, worldOn(t, testenv.MariaDB(t), "")) })
}

// inTheMiddle stops a server while its transaction has a board locked: begin makes it write the entry of a member whose row
// another session has locked, and stop is called while it waits for that row. inTheMiddle returns when the row is free; the board
// is still locked.
func (w *world) inTheMiddle(t *testing.T, board, member string, begin, stop func()) {
	t.Helper()
	other, err := w.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Rollback()
	const row = "SELECT score FROM entries WHERE period_id = ? AND member = ? FOR UPDATE"
	var score int64
	period := w.periodOf(t, board)
	if err := other.QueryRowContext(t.Context(), row, period, []byte(member)).Scan(&score); err != nil {
		t.Fatal(err)
	}
	begin()
	eventually(t, "the server waits for the row", func() error {
		processes, err := testenv.Processes(t.Context(), w.db)
		for _, p := range processes {
			if strings.HasPrefix(p.Statement, "INSERT INTO entries") && strings.Contains(p.Statement, fmt.Sprintf("(%d,", period)) {
				return nil
			}
		}
		return fmt.Errorf("no statement of %d writes the row: %w", len(processes), err)
	})
	stop()
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if !w.locked(t, board) {
		t.Fatal("the server that was stopped holds no lock: this is not the fault to test")
	}
}

// locked reports whether some transaction has locked a board.
func (w *world) locked(t *testing.T, board string) bool {
	t.Helper()
	_, err := w.db.ExecContext(t.Context(), "SELECT id FROM boards WHERE name = ? FOR UPDATE NOWAIT", []byte(board))
	return err != nil
}

// bystander writes to a board until it is stopped, and returns the number of writes and the errors.
func bystander(t *testing.T, s *server, board string) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	var writing sync.WaitGroup
	t.Cleanup(writing.Wait)
	var longest time.Duration
	n := 0
	writing.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.Context().Done():
				return
			case <-tick.C:
			}
			began := time.Now()
			if _, err := s.submit(t.Context(), board, "", scored("m", int64(n))); err != nil && t.Context().Err() == nil {
				t.Errorf("%s, which is not locked: %s", board, err)
			}
			longest = max(longest, time.Since(began))
			n++
		}
	})
	return func() {
		close(done)
		writing.Wait()
		t.Logf("%s: %d writes, the longest took %s", board, n, longest)
		if n == 0 || longest > frozenLimit/3 {
			t.Errorf("%s: %d writes, the longest took %s", board, n, longest)
		}
	}
}

// TestFrozenServer: one of two servers is stopped in the middle of a write, or its connections go silent. The other writes
// to the board soon after, and to other boards all the time. When the first is back, its own write counts once.
func TestFrozenServer(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"stopped", "cut off"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, w *world) { frozenServer(t, w, fault == "stopped") })
		})
	}
}

func frozenServer(t *testing.T, w *world, stopped bool) {
	p, dsn := newProxy(t, w.dsn)
	other := w.serve(t, "other")
	frozen := (&world{dsn: dsn}).serve(t, "frozen")
	for _, board := range []string{"sums", "bystander"} {
		other.putBoard(t, board, leaderboard.Rules{Policy: leaderboard.PolicySum})
		other.mustSubmit(t, board, scored("m", 100))
	}
	stop := bystander(t, other, "bystander")
	answered := make(chan error, 1)
	w.inTheMiddle(t, "sums", "m", func() {
		go func() {
			_, err := frozen.submit(context.WithoutCancel(t.Context()), "sums", "key", scored("m", 5))
			answered <- err
		}()
	}, func() {
		if !stopped {
			for _, stream := range []string{"upstream", "downstream"} {
				p.add(t, fmt.Sprintf(`{"type": "timeout", "stream": %q, "attributes": {"timeout": 0}}`, stream))
			}
			return
		}
		frozen.signal(syscall.SIGSTOP)
		await(t, frozen.stopped, "the server has stopped")
	})

	began := time.Now()
	for {
		_, err := other.submit(t.Context(), "sums", "", scored("other", 1))
		if err == nil {
			break
		}
		if time.Since(began) > frozenLimit {
			t.Fatalf("after %s the board takes no write: %s", time.Since(began), err)
		}
	}
	took := time.Since(began)
	if t.Logf("the board took a write after %s", took); took > frozenLimit {
		t.Errorf("the board took a write after %s, want %s at most", took, frozenLimit)
	}
	stop()

	frozen.signal(syscall.SIGCONT)
	p.heal(t)
	// The answer may say that the outcome is unknown, or that nothing was done: a repetition with the same key settles it.
	t.Logf("the frozen server answered: %v", await(t, answered, "the frozen server answers"))
	eventually(t, "the write counts", func() error {
		_, err := frozen.submit(t.Context(), "sums", "key", scored("m", 5))
		return err
	})
	if scores := w.scores(t, "sums"); scores["m"] != 105 || scores["other"] != 1 {
		t.Errorf("the scores are %v", scores)
	}
}

// TestFrozenLeader: the server that follows the sources of a derived board is stopped in the middle of a step. Its sources
// take writes all the time, and the other server soon follows them.
func TestFrozenLeader(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		leader := w.serve(t, "leader")
		leader.putBoard(t, "source", leaderboard.Rules{Policy: leaderboard.PolicySum})
		leader.putBoard(t, "derived", leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "source"}}}})
		leader.mustSubmit(t, "source", scored("m", 100), scored("late", 1))
		follows := func(s *server, score int64) {
			t.Helper()
			eventually(t, fmt.Sprintf("the derived board has %d", score), func() error {
				m, err := s.Member(t.Context(), "derived", "late", client.ReadQuery{})
				if err == nil && m.Score != score {
					err = fmt.Errorf("it is at %d", m.Score)
				}
				return err
			})
		}
		follows(leader, 1)
		other := w.serve(t, "other")
		var stop func()
		w.inTheMiddle(t, "derived", "m", func() { stop = bystander(t, other, "source") }, func() {
			leader.signal(syscall.SIGSTOP)
			await(t, leader.stopped, "the leader has stopped")
		})
		began := time.Now()
		other.mustSubmit(t, "source", scored("late", 10))
		follows(other, 11)
		if took := time.Since(began); took > frozenLimit {
			t.Errorf("the derived board follows its source after %s, want %s at most", took, frozenLimit)
		} else {
			t.Logf("the derived board follows its source after %s", took)
		}
		stop()
		leader.signal(syscall.SIGCONT)
		other.mustSubmit(t, "source", scored("late", 100))
		follows(leader, 111)
	})
}
