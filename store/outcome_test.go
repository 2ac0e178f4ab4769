package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// writes are all ways to write, each with the words of its transaction, at which the test may stop it.
func writes(s *store.Store) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"submit": func(ctx context.Context) error {
			_, err := s.Writer.Submit(ctx, dbtest.One("b", "", "m", time.Now().Unix()))
			return err
		},
		"put board": func(ctx context.Context) error {
			_, _, err := s.Boards.PutBoard(ctx, "b", leaderboard.Rules{Title: "changed"})
			return err
		},
		"delete board": func(ctx context.Context) error { return s.Boards.DeleteBoard(ctx, "b") },
		"hide": func(ctx context.Context) error {
			_, err := s.Hidden.Hide(ctx, leaderboard.HideRequest{Board: "b", Member: "m", Reason: "test"})
			return err
		},
	}
}

// TestTimeIsUp: the error of a write whose time is up is exact: before COMMIT was sent, that nothing was done; afterwards,
// that the outcome is unknown.
func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	for name := range writes(nil) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := testenv.MySQL(t)
			p, through := dbtest.NewProxy(t, dsn)
			s := open(t, through, func(c *store.Config) { c.ReadTimeout = 7 * time.Second })
			dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); err != nil {
				t.Fatal(err)
			}
			before := state(t, dsn)
			ask := func() error {
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				began := time.Now()
				err := writes(s)[name](ctx)
				took := time.Since(began)
				t.Logf("the answer came after %s", took)
				if took > 2*time.Second { // 550 ms on an idle machine
					t.Errorf("the answer came after %s, its time was up after 0.5", took)
				}
				return err
			}
			p.On(" FOR UPDATE", dbtest.FaultSilence, 0)
			if err := ask(); !errors.Is(err, leaderboard.ErrUnavailable) && !errors.Is(err, leaderboard.ErrOverloaded) || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Errorf("before COMMIT: %v, want that nothing was done", err)
			}
			p.Heal()
			idle := func() bool { return s.Batches().Stats().InUse+s.Waiters().Stats().InUse+s.Others().Stats().InUse == 0 }
			dbtest.Eventually(t, "nothing is under way", idle)
			watch := dbtest.Connect(t, dsn)
			dbtest.Eventually(t, "the database has noticed", func() bool {
				_, err := watch.ExecContext(t.Context(), "SELECT id FROM boards WHERE name = 'b' FOR UPDATE NOWAIT")
				return err == nil
			})
			if state(t, dsn) != before {
				t.Error("something was done")
			}
			// Connections exist already: the statements that begin a connection have COMMIT in them.
			if _, err := s.Hidden.Hide(t.Context(), leaderboard.HideRequest{Board: "b", Member: "other", Reason: "test"}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "other", 1)); err != nil {
				t.Fatal(err)
			}
			p.On("COMMIT", dbtest.FaultSilence, 0)
			if err := ask(); !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Errorf("after COMMIT: %v, want that the outcome is unknown", err)
			}
			p.Heal()
			dbtest.Eventually(t, "no connection is in use", idle)
		})
	}
}

// state returns a checksum of the tables that writes changes.
func state(t *testing.T, dsn string) string {
	t.Helper()
	const sums = "SELECT CONCAT_WS(',', (SELECT COUNT(*) FROM changes), (SELECT GROUP_CONCAT(name, version, state) FROM boards)," +
		" (SELECT COUNT(*) FROM hidden_members))"
	var text string
	if err := dbtest.Connect(t, dsn).QueryRowContext(t.Context(), sums).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}
