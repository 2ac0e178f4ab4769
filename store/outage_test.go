package store_test

import (
	"context"
	"errors"
	"testing"

	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// TestCommitToFrozenMySQL: a write whose COMMIT was on its way when MySQL froze has an unknown outcome, and writes that
// wait after it or come later fail, with an error that says that nothing was done. When MySQL continues the same key has
// the only true result.
func TestCommitToFrozenMySQL(t *testing.T) {
	t.Parallel()
	for name, private := range map[string]func(testing.TB) *devserver.Server{
		"mysql": testenv.PrivateMySQL, "mariadb": func(t testing.TB) *devserver.Server { return testenv.PrivateMariaDB(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := private(t)
			dsn, err := server.CreateDatabase(t.Context(), "lb")
			if err != nil {
				t.Fatal(err)
			}
			p, through := dbtest.NewProxy(t, dsn)
			s := open(t, through, nil)
			ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); err != nil {
				t.Fatal(err)
			}
			frozen := make(chan error, 1)
			p.FaultBy(func(statement string) dbtest.Fault {
				if statement == "COMMIT" && len(frozen) == 0 {
					frozen <- server.Pause() // before it gets there
				}
				return dbtest.FaultPass
			})
			submit := func(key string) <-chan error {
				errs := make(chan error, 1)
				go func() {
					_, err := s.Writer.Submit(context.Background(), dbtest.One("b", key, "m", 10))
					errs <- err
				}()
				return errs
			}
			sent := submit("sent")
			if err := dbtest.Await(t, "the freeze", frozen); err != nil {
				t.Fatal(err)
			}
			frozen <- nil
			behind := submit("behind")
			for what, errs := range map[string]<-chan error{"behind it": behind, "later": submit("later")} {
				if err := dbtest.Await(t, what, errs); !errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOutcomeUnknown) || errors.Is(err, leaderboard.ErrOverloaded) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if err := dbtest.Await(t, "the answer to COMMIT", sent); !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Errorf("what was sent: %v", err)
			}
			if err := server.Resume(); err != nil {
				t.Fatal(err)
			}
			dbtest.Eventually(t, "writes go on", func() bool {
				_, err := s.Writer.Submit(t.Context(), dbtest.One("b", "sent", "m", 10))
				return err == nil
			})
			if got := dbtest.ScoreOf(t, s, ref, "m"); got != 11 {
				t.Errorf("the score is %d, want 11", got)
			}
		})
	}
}
