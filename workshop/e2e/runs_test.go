package e2e

import (
	"fmt"
	"syscall"
	"testing"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// awaitFailed waits until the last run of a board has failed because its server ended, and returns it.
func awaitFailed(t *testing.T, s *server, board string) (last client.Run) {
	t.Helper()
	eventually(t, "the run of "+board+" has an end", func() error {
		runs, err := s.runs(t.Context(), board)
		if err != nil || len(runs) == 0 {
			return fmt.Errorf("%d runs, %w", len(runs), err)
		}
		if last = runs[0]; last.State != "failed" || last.Error != "its server ended" {
			return fmt.Errorf("it is %+v", last)
		}
		return nil
	})
	return last
}

// awaitRunning waits until the last run of a board is under way.
func awaitRunning(t *testing.T, s *server, board string) {
	t.Helper()
	eventually(t, "a run of "+board+" is under way", func() error {
		runs, err := s.runs(t.Context(), board)
		if err != nil || len(runs) == 0 || runs[0].State != "running" {
			return fmt.Errorf("%+v, %w", runs, err)
		}
		return nil
	})
}

// TestRunOfAKilledServer: a server is killed in the middle of a rebuild. Another one ends the run as failed and rebuilds the board.
func TestRunOfAKilledServer(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldOn(t, dsn(t), testenv.Redis(t))
			killed, other := w.serve(t, "killed", "--fault", "stop:snapshot"), w.serve(t, "other")
			other.fill(t, "board", 2500, leaderboard.Rules{TopN: 2000})
			go func() {
				_, _, _ = killed.Rebuild(t.Context(), "board", client.RebuildOptions{Kind: leaderboard.RunKindFull}) // it may stop before it answers
			}()
			await(t, killed.stopped, "the server has stopped")
			awaitRunning(t, other, "board")
			killed.kill9(t)
			awaitFailed(t, other, "board")
			other.mustRebuild(t, "board")
		})
	}
}

// TestRunOfAKilledServerWithoutRedis: the same for a recomputation of a derived board, without Redis.
func TestRunOfAKilledServerWithoutRedis(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, w *world) {
		killed, other := w.serve(t, "killed"), w.serve(t, "other")
		other.putBoard(t, "source", leaderboard.Rules{})
		other.putBoard(t, "derived", leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "source"}}}})
		lock, err := w.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Rollback()
		if _, err := lock.ExecContext(t.Context(), "SELECT id FROM boards WHERE name = 'derived' FOR UPDATE"); err != nil {
			t.Fatal(err)
		}
		run, finished, err := killed.Rebuild(t.Context(), "derived", client.RebuildOptions{Kind: leaderboard.RunKindRecompute})
		if err != nil || finished || run.State != "running" {
			t.Fatalf("%+v, %t, %v", run, finished, err)
		}
		killed.kill9(t)
		if last := awaitFailed(t, other, "derived"); last.ID != run.ID {
			t.Errorf("%+v has failed, not %+v", last, run)
		}
	})
}

// TestRunOfAFrozenServer: a server is frozen in the middle of a build until another server has ended its run as failed.
// When it continues, it reports the run as failed too.
func TestRunOfAFrozenServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve(t, "server")
	p := w.pauseBuilder(t, s, "board", "before-publish")
	awaitFailed(t, s, "board")
	p.builder.signal(syscall.SIGCONT)
	if r := p.builder.outcome(t); r.State != "failed" || r.Error != "its server ended" {
		t.Errorf("it came back and says %+v", r)
	}
	awaitFailed(t, s, "board")
}
