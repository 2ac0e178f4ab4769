package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

const (
	rolloutServers = 3
	rolloutClients = 64
	rolloutStreams = 12
	// stopLimit is how long a server may take to end after SIGTERM.
	stopLimit = 25 * time.Second
	// drainDelay is how long /readyz of a server says that it drains before the listener closes: many checks of a balancer,
	// which take seconds each on a busy machine.
	drainDelay = 8 * time.Second
)

// rollout replaces servers one after another under load.
type rollout struct {
	*world
	servers [rolloutServers]atomic.Pointer[server]
	// ask sends the request of that number, and returns how it ended for the client.
	ask       func(n int, request func(*api) error) error
	elsewhere atomic.Int64 // requests that another server than the first had to answer

	answered, added, streamed atomic.Int64 // requests, additions that were acknowledged, pages that came by streams

	mu    sync.Mutex
	asked map[string][]time.Duration // how long requests took, by kind
	errs  []error
}

// TestRollingRestart replaces three servers one by one, with SIGTERM, under 2,000 requests a second: reads, additions with
// idempotency keys, batches, forced rebuilds and streams. They come through a balancer that follows /readyz and repeats
// nothing, or from clients that use the next server when a connection is refused or lost. No request fails, no stream ends
// for good or goes back, each server ends in time with status 0, and no lease stays (promise F1).
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	atOnce := func(t *testing.T) {
		if testenv.Size(true, false) { // the full load is for an idle machine
			t.Parallel()
		}
	}
	t.Run("balancer", func(t *testing.T) {
		atOnce(t)
		r := startRollout(t, "--drain-delay", drainDelay.String())
		front := newLoadBalancer(t, r.servers[0].Load(), r.servers[1].Load(), r.servers[2].Load())
		r.ask = func(_ int, request func(*api) error) error { return request(front.api) }
		r.run(t, front, "--drain-delay", drainDelay.String())
	})
	t.Run("clients", func(t *testing.T) {
		atOnce(t)
		r := startRollout(t)
		r.ask = r.try
		r.run(t, nil)
		if r.elsewhere.Load() == 0 {
			t.Error("no request was disturbed: nothing was replaced under load")
		}
	})
}

func startRollout(t *testing.T, args ...string) *rollout {
	t.Helper()
	r := &rollout{world: newWorld(t), asked: map[string][]time.Duration{}}
	for i := range r.servers {
		r.servers[i].Store(r.serve(t, fmt.Sprintf("server %d.0", i), args...))
	}
	first := r.servers[0].Load()
	first.fill(t, "race", 1000, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	first.putBoard(t, "sums", leaderboard.Rules{Policy: leaderboard.PolicySum})
	return r
}

// run replaces all servers, round after round. front is the balancer, or nil; its clients hold streams.
func (r *rollout) run(t *testing.T, front *loadBalancer, args ...string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	due := make(chan int, rolloutClients)
	all.Go(func() { pace(ctx, testenv.Size(500, 2000), due) })
	for range rolloutClients {
		all.Go(func() { r.client(ctx, due) })
	}
	if front != nil {
		for range rolloutStreams {
			all.Go(func() { r.stream(ctx, front.api) })
		}
	}
	began := time.Now()
	slowest := time.Duration(0)
	for round := range testenv.Size(1, 10) {
		for i := range r.servers {
			slowest = max(slowest, r.end(t, r.servers[i].Load()))
			r.servers[i].Store(r.serve(t, fmt.Sprintf("server %d.%d", i, round+1), args...))
			if front != nil {
				front.put(t, i, r.servers[i].Load())
			}
			r.awaitRequests(t, testenv.Size[int64](300, 2000))
		}
	}
	took := time.Since(began)
	cancel()
	all.Wait()
	if err := errors.Join(r.errs...); err != nil {
		t.Error(err)
	}
	if got := r.scores(t, "sums")["m"]; got != r.added.Load() {
		t.Errorf("the sum is %d, %d additions were acknowledged", got, r.added.Load())
	}
	if front != nil && r.streamed.Load() < 2*rolloutStreams {
		t.Errorf("%d streams have brought %d pages", rolloutStreams, r.streamed.Load())
	}
	for _, board := range []string{"race", "sums"} { // so that there are builds under way when all of them end
		if _, _, err := r.servers[0].Load().Rebuild(t.Context(), board, client.RebuildOptions{}); err != nil {
			t.Error(err)
		}
	}
	for i := range r.servers {
		slowest = max(slowest, r.end(t, r.servers[i].Load()))
	}
	if keys, err := r.redis.Keys(t.Context(), "*:lease").Result(); err != nil || len(keys) > 0 {
		t.Errorf("leases that are left: %v, %v", keys, err)
	}
	r.report(t, took, slowest)
}

// awaitRequests waits until a number of further requests were answered.
func (r *rollout) awaitRequests(t *testing.T, n int64) {
	t.Helper()
	from := r.answered.Load()
	eventually(t, "requests go on", func() error {
		if came := r.answered.Load() - from; came < n {
			return fmt.Errorf("%d were answered", came)
		}
		return nil
	})
}

// end ends a server with SIGTERM and returns how long that took.
func (r *rollout) end(t *testing.T, s *server) time.Duration {
	t.Helper()
	began := time.Now()
	s.signal(syscall.SIGTERM)
	if status := s.awaitExit(t); status.ExitStatus() != 0 {
		t.Errorf("%s: status %d", s.name, status.ExitStatus())
	}
	took := time.Since(began)
	if took > stopLimit {
		t.Errorf("%s took %s to stop", s.name, took)
	}
	return took
}

// report logs the numbers of requests, for docs/promises.md.
func (r *rollout) report(t *testing.T, took, slowest time.Duration) {
	t.Helper()
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(r.asked)) {
		times := r.asked[kind]
		slices.Sort(times)
		total += len(times)
		t.Logf("%-8s %7d requests, half within %s, 99 %% within %s, all within %s", kind, len(times),
			times[len(times)/2].Round(time.Microsecond), times[len(times)*99/100].Round(time.Millisecond), times[len(times)-1].Round(time.Millisecond))
	}
	t.Logf("%d requests in %s, %.0f a second, %d of them by another server than the first asked; %d pages by streams; the slowest end of a server %s",
		total, took.Round(time.Second), float64(total)/took.Seconds(), r.elsewhere.Load(), r.streamed.Load(), slowest.Round(time.Millisecond))
}

// pace sends a number of numbers a second until ctx ends. Numbers that find no room are left out.
func pace(ctx context.Context, rate int, due chan<- int) {
	defer close(due)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	began, n := time.Now(), 0
	for ctx.Err() == nil {
		for now := int(time.Since(began).Seconds() * float64(rate)); n < now; n++ {
			select {
			case due <- n:
			default:
			}
		}
		<-tick.C
	}
}

// client sends the requests of the numbers.
func (r *rollout) client(ctx context.Context, due <-chan int) {
	for n := range due {
		kind, request := r.request(n)
		began := time.Now()
		err := r.ask(n, func(a *api) error { return request(context.WithoutCancel(ctx), a) })
		took := time.Since(began)
		r.mu.Lock()
		r.asked[kind] = append(r.asked[kind], took)
		if err != nil && len(r.errs) < 5 {
			r.errs = append(r.errs, fmt.Errorf("%s after %s: %w", kind, took, err))
		}
		r.mu.Unlock()
		r.answered.Add(1)
		if err == nil && kind == "add" {
			r.added.Add(1)
		}
	}
}

// request returns request n. Writes may be repeated: under a key, or because they set a score.
func (r *rollout) request(n int) (kind string, send func(context.Context, *api) error) {
	member := fmt.Sprintf("m%05d", n*131%1000)
	switch {
	case n%1000 == 0:
		return "rebuild", func(ctx context.Context, a *api) error { _, err := a.rebuild(ctx, "race"); return err }
	case n%4 == 0:
		return "add", func(ctx context.Context, a *api) error {
			_, err := a.submit(ctx, "sums", fmt.Sprintf("key-%d", n), scored("m", 1))
			return err
		}
	case n%4 == 1:
		return "top", func(ctx context.Context, a *api) error { _, err := a.top(ctx, "race", n%50, 1+n%20); return err }
	case n%8 == 2:
		return "batch", func(ctx context.Context, a *api) error {
			_, err := a.submit(ctx, "race", fmt.Sprintf("batch-%d", n), scored(member, int64(n)), scored("last", int64(n)))
			return err
		}
	case n%8 == 6:
		return "around", func(ctx context.Context, a *api) error {
			_, err := a.Around(ctx, "race", member, 3, 3, client.ReadQuery{})
			return err
		}
	}
	return "member", func(ctx context.Context, a *api) error {
		_, err := a.Member(ctx, "race", member, client.ReadQuery{})
		return err
	}
}

// stream follows the top until ctx ends. Its seq must not go back.
func (r *rollout) stream(ctx context.Context, a *api) {
	last := int64(0)
	for p, err := range a.Watch(ctx, "race", client.WatchQuery{}) {
		if ctx.Err() != nil {
			return
		}
		if err == nil && p.Seq < last {
			err = fmt.Errorf("seq %d after %d", p.Seq, last)
		}
		if err != nil {
			r.mu.Lock()
			r.errs = append(r.errs, fmt.Errorf("stream: %w", err))
			r.mu.Unlock()
			return
		}
		last = p.Seq
		r.streamed.Add(1)
	}
}

// try asks one server after the other until there is an answer.
func (r *rollout) try(from int, ask func(*api) error) (err error) {
	for i := range 2 * rolloutServers {
		if err = ask(r.servers[(from+i)%rolloutServers].Load().api); status(err) != 0 {
			return err
		}
		r.elsewhere.Add(1)
	}
	return err
}

// TestColdStart empties Redis and asks three servers that have never read a board for its pages, all at once. One build
// is made, and every answer is right, or 503 with Retry-After (promise C2).
func TestColdStart(t *testing.T) {
	t.Parallel()
	w := worldOn(t, testenv.MySQL(t), testenv.PrivateRedis(t).URL)
	filling := w.serve(t, "server that fills", "--resident-memory=0") // so that it leaves no list of hot periods
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
