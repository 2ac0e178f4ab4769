package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/testenv"
)

// TestMySQLDown kills MySQL. Pages of the top that are cached anywhere go on, marked stale; writes are refused with
// Retry-After and nothing of them is left; the server says that it is not ready. When MySQL is back all is well.
func TestMySQLDown(t *testing.T) {
	for name, withRedis := range map[string]bool{"with Redis": true, "without Redis": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mysql, redisURL := testenv.PrivateMySQL(t), ""
			if withRedis {
				redisURL = testenv.Redis(t)
			}
			w := worldOn(t, databaseOn(t, mysql), redisURL)
			s := w.serve(t, "server")
			want := s.fill(t, "demo", 500, leaderboard.Rules{})
			if withRedis {
				s.mustRebuild(t, "demo")
			}
			if _, err := readTop(t.Context(), s.api, "demo", want, 0, 10); err != nil {
				t.Fatal(err)
			}

			if err := mysql.Kill(); err != nil {
				t.Fatal(err)
			}
			checkWithoutMySQL(t, s, want)

			if err := mysql.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.awaitReady(t)
			eventually(t, "a write works", func() error {
				_, err := s.submit(t.Context(), "demo", "after", scored("m00000", 1_000_000))
				return err
			})
			eventually(t, "the page is new and no longer stale", func() error {
				p, err := s.top(t.Context(), "demo", 0, 0)
				if err == nil && (p.Stale || len(p.Entries) != 10 || entriesOf(p.Entries)[0] != entry{1, "m00000", 1_000_000}) {
					err = fmt.Errorf("it is %+v", p)
				}
				return err
			})
			if scores := w.scores(t, "demo"); len(scores) != len(want) {
				t.Errorf("%d members in MySQL, want %d: a refused write was carried out", len(scores), len(want))
			}
		})
	}
}

// checkWithoutMySQL looks at everything while MySQL is away.
func checkWithoutMySQL(t *testing.T, s *server, want ranking) {
	t.Helper()
	eventually(t, "the page is marked stale", func() error {
		p, err := readTop(t.Context(), s.api, "demo", want, 0, 10)
		if err != nil {
			t.Errorf("the cached page: %s", err)
		}
		if !p.Stale {
			return fmt.Errorf("it is not, from %s", p.Source)
		}
		return nil
	})
	for i := range 20 {
		p, err := readTop(t.Context(), s.api, "demo", want, 0, 10)
		if err != nil || !p.Stale {
			t.Errorf("the cached page: stale %t, %v", p.Stale, err)
		}
		r, err := s.submit(t.Context(), "demo", fmt.Sprintf("lost-%d", i), scored(fmt.Sprintf("lost-%d", i), 5))
		problem, ok := errors.AsType[*client.Problem](err)
		switch {
		case !ok:
			t.Errorf("write: %+v, %v", r, err)
		case problem.Status != http.StatusServiceUnavailable, problem.RetryAfter == 0:
			t.Errorf("write: %+v, want 503 with Retry-After", problem)
		case problem.Type != "/problems/unavailable":
			t.Errorf("write: %+v, though nothing can have been sent", problem)
		}
	}
	if h, err := s.Ready(t.Context()); status(err) != http.StatusServiceUnavailable {
		t.Errorf("/readyz is %+v, %v, want 503", h, err)
	}
	if h, err := s.Live(t.Context()); err != nil {
		t.Errorf("/livez is %+v, %v, want 200", h, err)
	}
}
