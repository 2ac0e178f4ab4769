package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

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
			want := s.fill(t, "demo", 500, nil)
			if withRedis {
				s.mustRebuild(t, "demo")
			}
			if _, err := readTop(t.Context(), s.client, "demo", want, 0, 10); err != nil {
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
				a, err := s.submit(t.Context(), "demo", "after", submission{"m00000", 1_000_000})
				if err == nil && a.status != http.StatusOK {
					err = fmt.Errorf("status %d: %s", a.status, a.body)
				}
				return err
			})
			eventually(t, "the page is new and no longer stale", func() error {
				var p page
				err := s.get(t.Context(), "/v1/boards/demo/top", &p)
				if err == nil && (p.Stale || len(p.Entries) != 10 || p.Entries[0] != entry{1, "m00000", 1_000_000}) {
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
		p, err := readTop(t.Context(), s.client, "demo", want, 0, 10)
		if err != nil {
			t.Errorf("the cached page: %s", err)
		}
		if !p.Stale {
			return errors.New("it is not, from " + p.Source)
		}
		return nil
	})
	for i := range 20 {
		p, err := readTop(t.Context(), s.client, "demo", want, 0, 10)
		if err != nil || !p.Stale {
			t.Errorf("the cached page: stale %t, %v", p.Stale, err)
		}
		a, err := s.submit(t.Context(), "demo", fmt.Sprintf("lost-%d", i), submission{fmt.Sprintf("lost-%d", i), 5})
		switch {
		case err != nil:
			t.Errorf("write: %s", err)
		case a.status != http.StatusServiceUnavailable, a.header.Get("Retry-After") == "":
			t.Errorf("write: status %d, Retry-After %q: %s", a.status, a.header.Get("Retry-After"), a.body)
		case a.problem() != "/problems/unavailable":
			t.Errorf("write: %s, though nothing can have been sent", a.body)
		}
	}
	a, err := s.call(t.Context(), http.MethodGet, "/readyz", nil)
	if err != nil || a.status != http.StatusServiceUnavailable {
		t.Errorf("/readyz is %d %s, %v, want 503", a.status, a.body, err)
	}
	if a, err := s.call(t.Context(), http.MethodGet, "/livez", nil); err != nil || a.status != http.StatusOK {
		t.Errorf("/livez is %d %s, %v, want 200", a.status, a.body, err)
	}
}
