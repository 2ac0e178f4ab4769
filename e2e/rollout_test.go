package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/testenv"
)

const (
	rolloutServers = 3
	rolloutClients = 24
	// stopLimit is how long a server may take to end after SIGTERM.
	stopLimit = 25 * time.Second
)

// rollout is servers that are replaced one after the other under clients that try the next one when nobody answers.
type rollout struct {
	*world
	servers   [rolloutServers]atomic.Pointer[server]
	asked     atomic.Int64
	added     atomic.Int64
	elsewhere atomic.Int64 // requests that another server had to answer
	mu        sync.Mutex
	errs      []error
}

// TestRollingRestart replaces three servers one by one, with SIGTERM, under reads and writes. No request fails for a
// client that goes on to the next server when a connection is refused or lost, each server ends in time with status 0,
// and no lease stays (promise F1).
func TestRollingRestart(t *testing.T) {
	r := &rollout{world: newWorld(t)}
	for i := range r.servers {
		r.servers[i].Store(r.serve(t, fmt.Sprintf("server %d.0", i)))
	}
	first := r.servers[0].Load()
	first.fill(t, "race", 1000, leaderboard.Rules{})
	first.putBoard(t, "sums", leaderboard.Rules{Policy: leaderboard.PolicySum})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for id := range rolloutClients {
		all.Go(func() { r.client(ctx, id) })
	}
	for round := range testenv.Size(1, 10) {
		for i := range r.servers {
			last := r.servers[i].Load()
			began := time.Now()
			last.signal(syscall.SIGTERM)
			if status := last.awaitExit(t); status.ExitStatus() != 0 {
				t.Errorf("%s: status %d", last.name, status.ExitStatus())
			}
			if took := time.Since(began); took > stopLimit {
				t.Errorf("%s took %s to stop", last.name, took)
			}
			r.servers[i].Store(r.serve(t, fmt.Sprintf("server %d.%d", i, round+1)))
		}
	}
	cancel()
	all.Wait()
	if err := errors.Join(r.errs...); err != nil {
		t.Error(err)
	}
	if got := r.scores(t, "sums")["m"]; got != r.added.Load() {
		t.Errorf("the sum is %d, %d additions were acknowledged", got, r.added.Load())
	}
	keys, err := r.redis.Keys(t.Context(), "*:lease").Result()
	if err != nil || len(keys) > 0 {
		t.Errorf("leases that are left: %v, %v", keys, err)
	}
	if r.elsewhere.Load() == 0 {
		t.Error("nobody has noticed anything: nothing was replaced under load")
	}
	t.Logf("%d requests, %d of them answered by another server than the first asked", r.asked.Load(), r.elsewhere.Load())
}

// client adds to a sum and reads a page in turn.
func (r *rollout) client(ctx context.Context, id int) {
	pace := time.NewTicker(12 * time.Millisecond) // 2,000 requests a second of all clients
	defer pace.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		<-pace.C
		key := fmt.Sprintf("key-%d-%d", id, i)
		var err error
		if i%2 == 0 {
			err = r.try(id+i, func(s *server) error {
				_, err := s.submit(context.WithoutCancel(ctx), "sums", key, scored("m", 1))
				return err
			})
			if err == nil {
				r.added.Add(1)
			}
		} else {
			err = r.try(id+i, func(s *server) error {
				_, err := s.Top(context.WithoutCancel(ctx), "race", client.TopQuery{Limit: 1 + i%20})
				return err
			})
		}
		if r.asked.Add(1); err != nil {
			r.mu.Lock()
			if len(r.errs) < 5 {
				r.errs = append(r.errs, err)
			}
			r.mu.Unlock()
		}
	}
}

// try asks one server after the other until there is an answer.
func (r *rollout) try(from int, ask func(*server) error) (err error) {
	for i := range 2 * rolloutServers {
		if err = ask(r.servers[(from+i)%rolloutServers].Load()); status(err) != 0 {
			return err
		}
		r.elsewhere.Add(1)
	}
	return err
}

// TestColdStart empties Redis and asks three servers that have never read a board for its pages, all at once. One build
// is made, and every answer is right, or 503 with Retry-After (promise C2).
func TestColdStart(t *testing.T) {
	w := worldOn(t, testenv.MySQL(t), testenv.PrivateRedis(t).URL)
	filling := w.serve(t, "server that fills")
	want := filling.fill(t, "cold", 3000, leaderboard.Rules{TopN: 1000})
	filling.signal(syscall.SIGTERM)
	filling.awaitExit(t)
	var servers []*server
	for i := range 3 {
		servers = append(servers, w.serve(t, fmt.Sprint("server ", i)))
	}
	readers := testenv.Size(150, 1500)
	warm(t, servers, readers)
	if err := w.redis.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	s := &stampede{world: w, servers: servers}
	before := s.builds(t, "cold")
	var refused atomic.Int64
	errs := make([]error, readers)
	var all sync.WaitGroup
	for i := range readers {
		all.Go(func() {
			_, err := readTop(t.Context(), servers[i%3].api, "cold", want, i%500, 1+i%20)
			if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusServiceUnavailable && p.RetryAfter > 0 {
				refused.Add(1)
				err = nil
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	eventually(t, "there is a copy", func() error { _, err := servers[0].verify(t.Context(), "cold"); return err })
	if n := s.builds(t, "cold") - before; n != 1 {
		t.Errorf("%d builds, want 1", n)
	}
	t.Logf("%d readers at once, %d refused", readers, refused.Load())
}
