package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// TestMySQLDown kills MySQL. Pages of the top that are cached anywhere are answered, marked stale; writes are refused with
// Retry-After and leave no trace; /readyz says that MySQL is away. When MySQL is back, all is as before.
func TestMySQLDown(t *testing.T) {
	t.Parallel()
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

// checkDegraded waits until /readyz of a server is 200 and degraded.
func checkDegraded(t *testing.T, s *server) {
	t.Helper()
	eventually(t, "/readyz says degraded", func() error {
		h, err := s.Ready(t.Context())
		if err == nil && (h.Status != "degraded" || h.Checks["mysql"] != "unreachable") {
			err = fmt.Errorf("it is %+v", h)
		}
		return err
	})
}

// balancer sends requests to the servers that are ready, as load balancers do: it looks once a second.
type balancer struct {
	servers []*server
	ready   map[*server]bool
	looked  time.Time
}

func (b *balancer) next(t *testing.T, i int) *server {
	t.Helper()
	if time.Since(b.looked) > time.Second {
		b.looked, b.ready = time.Now(), map[*server]bool{}
		for _, s := range b.servers {
			_, err := s.Ready(t.Context())
			b.ready[s] = err == nil
		}
	}
	for k := range b.servers {
		if s := b.servers[(i+k)%len(b.servers)]; b.ready[s] {
			return s
		}
	}
	return nil
}

// TestBothStoresGone kills MySQL and Redis under two servers behind a balancer that asks /readyz. The last good pages come
// from both, marked stale, until they are too old. No server ends, and all is as before when MySQL and Redis are back.
func TestBothStoresGone(t *testing.T) {
	t.Parallel()
	mysql, redis := testenv.PrivateMySQL(t), testenv.PrivateRedis(t)
	w := worldOn(t, databaseOn(t, mysql), redis.URL)
	const limit = 8 * time.Second
	b := &balancer{}
	for _, name := range []string{"first", "second"} {
		b.servers = append(b.servers, w.serve(t, name, "--stale-limit", limit.String()))
	}
	want := b.servers[0].fill(t, "demo", 500, leaderboard.Rules{})
	for _, s := range b.servers {
		if _, err := readTop(t.Context(), s.api, "demo", want, 0, 10); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(mysql.Kill(), redis.Kill()); err != nil {
		t.Fatal(err)
	}
	gone := time.Now()
	from := map[*server]int{}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for i := 0; time.Since(gone) < limit/2; i++ {
		s := b.next(t, i)
		if s == nil {
			t.Fatal("the balancer has taken all servers out, though they have pages")
		}
		asked := time.Since(gone)
		p, err := readTop(t.Context(), s.api, "demo", want, 0, 10)
		if err != nil || !p.Stale && asked > time.Second {
			t.Errorf("%s, asked %s after the stores were gone: stale %t, %v", s.name, asked, p.Stale, err)
		}
		from[s]++
		<-tick.C
	}
	for _, s := range b.servers {
		checkDegraded(t, s)
		if from[s] == 0 {
			t.Errorf("no page came from %s", s.name)
		}
	}
	for _, s := range b.servers {
		eventually(t, "/readyz says that there is nothing left to serve", func() error {
			h, err := s.Ready(t.Context())
			if status(err) != http.StatusServiceUnavailable || h.Checks["mysql"] != "unreachable" || h.Checks["redis"] != "unreachable" {
				return fmt.Errorf("it is %+v, %w", h, err)
			}
			return nil
		})
		if h, err := s.Live(t.Context()); err != nil {
			t.Errorf("/livez is %+v, %v, want 200", h, err)
		}
	}
	if err := errors.Join(mysql.Restart(t.Context()), redis.Restart(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, s := range b.servers {
		s.awaitReady(t)
		eventually(t, "the page is not stale any more", func() error {
			p, err := readTop(t.Context(), s.api, "demo", want, 0, 10)
			if err == nil && p.Stale {
				err = errors.New("it is")
			}
			return err
		})
	}
}

// TestSlowMySQL makes every statement about entries hang in MySQL while clients wait for half a second each and try again.
// Abandoned statements do not accumulate: MySQL never has more statements of the server than allowed connections, and none
// older than its limit (promise D4).
func TestSlowMySQL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const conns = 16
	s := (&world{dsn: w.dsn}).serve(t, "server", "--mysql-max-conns", fmt.Sprint(conns), "--resident-memory", "0")
	s.fill(t, "demo", 3000, leaderboard.Rules{})
	other, err := w.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(t.Context(), "LOCK TABLES entries WRITE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	var clients sync.WaitGroup
	for n := range 32 {
		clients.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				impatient, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
				_, _ = s.ScoreRank(impatient, "demo", client.ScoreQuery{Score: int64(n*10_000 + i)})
				_, _ = s.submit(impatient, "demo", "", scored(fmt.Sprintf("m%05d", n), int64(i)))
				cancel()
			}
		})
	}
	most, oldest := 0, time.Duration(0)
	for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; <-tick.C {
		processes, err := testenv.Processes(t.Context(), w.db)
		if err != nil {
			t.Fatal(err)
		}
		running := 0
		for _, p := range processes {
			if p.Statement != "" {
				running++
				oldest = max(oldest, p.For)
			}
		}
		most = max(most, running)
	}
	clients.Wait()
	t.Logf("at most %d statements at once, the oldest of %s", most, oldest)
	const limit = 5 * time.Second // of a statement
	if most == 0 || most > conns || oldest > limit+time.Second {
		t.Errorf("at most %d statements at once, the oldest of %s: want %d and %s", most, oldest, conns, limit+time.Second)
	}
	if _, err := other.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	_ = other.Close()
	eventually(t, "all is well again", func() error {
		_, err := s.submit(t.Context(), "demo", "", scored("after", 1))
		return err
	})
	eventually(t, "connections that were given up are gone", func() error {
		open, err := testenv.Processes(t.Context(), w.db)
		if err != nil || len(open) > conns+1 { // one may be the test's
			return fmt.Errorf("there are %d: %w", len(open), err)
		}
		return nil
	})
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
	checkDegraded(t, s)
	if h, err := s.Live(t.Context()); err != nil {
		t.Errorf("/livez is %+v, %v, want 200", h, err)
	}
}
