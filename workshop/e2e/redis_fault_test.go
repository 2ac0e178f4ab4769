package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// hungRedisLimit is how long a request may wait for a Redis that does not answer.
const hungRedisLimit = 300 * time.Millisecond

// TestRedisDown kills Redis under readers and writers. Reads continue and are right, writes are not affected, and when
// Redis is back, empty, the copies come back.
func TestRedisDown(t *testing.T) {
	t.Parallel()
	redis := testenv.PrivateRedis(t)
	w := worldOn(t, testenv.MySQL(t), redis.URL)
	s := w.serve(t, "server")
	want := s.fill(t, "still", 3000, leaderboard.Rules{TopN: 1000})
	s.fill(t, "moving", 1000, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	s.mustRebuild(t, "still")
	s.mustRebuild(t, "moving")
	readers := read(t, 8, time.Millisecond, "still", want, s)
	readers.awaitMore(t, 200)

	if err := redis.Kill(); err != nil {
		t.Fatal(err)
	}
	writeAndReadAll(t, s, 30)
	readers.awaitMore(t, 1000)
	eventually(t, "/readyz tells that Redis is gone", func() error { // it repeats a finding of a moment ago
		ready, err := s.Do(t.Context(), client.Request{Method: http.MethodGet, Path: "/readyz"})
		if err == nil && (ready.Status != http.StatusOK || !jsonEqual(ready.Body, `{"status":"degraded","checks":{"mysql":"ok","redis":"unreachable"}}`)) {
			err = fmt.Errorf("%d %s", ready.Status, ready.Body)
		}
		return err
	})

	if err := redis.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	fresh := w.serve(t, "server that has nothing in memory", "--resident-memory=0") // it needs the copies, and has them built
	for _, board := range []string{"still", "moving"} {
		eventually(t, "the copy of "+board+" is back", func() error {
			_, err := fresh.top(t.Context(), board, int(time.Now().UnixNano()%500), 0)
			if err == nil {
				_, err = s.verify(t.Context(), board)
			}
			return err
		})
	}
	writeAndReadAll(t, s, 30)
	readers.awaitMore(t, 200)
	readers.check(t)
	if _, err := s.verify(t.Context(), "moving"); err != nil {
		t.Error(err)
	}
}

// writeAndReadAll writes and looks for every write at once.
func writeAndReadAll(t *testing.T, s *server, rounds int) {
	t.Helper()
	for i := range rounds {
		score := time.Now().UnixMicro()
		r := s.mustSubmit(t, "moving", scored("writer", score))
		if m, err := s.Member(t.Context(), "moving", "writer", client.ReadQuery{MinSeq: r.Seq}); err != nil || m.Score != score {
			t.Errorf("round %d: the member is %+v, %v, want score %d", i, m, err, score)
		}
	}
}

// TestRedisHung stops the Redis process: connections stay open, nothing answers. No request waits for it longer than
// hungRedisLimit. To that limit the test adds the longest time that a request takes at a second server without Redis, for MySQL
// and for a busy machine.
func TestRedisHung(t *testing.T) {
	redis := testenv.PrivateRedis(t)
	w := worldOn(t, testenv.MySQL(t), redis.URL)
	hung := w.serve(t, "server")
	plain := (&world{dsn: w.dsn}).serve(t, "server without Redis")
	hung.fill(t, "demo", 3000, leaderboard.Rules{TopN: 1000})
	hung.mustRebuild(t, "demo")
	warm(t, []*server{hung, plain}, 64)

	var late string
	for range 10 { // a machine that is busy with something else is not busy with it every time
		if err := redis.Pause(); err != nil {
			t.Fatal(err)
		}
		late = measureHung(t, hung, plain)
		if err := redis.Resume(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the copy is right again", func() error { _, err := hung.verify(t.Context(), "demo"); return err })
		if late == "" {
			return
		}
		t.Logf("%s; once more", late)
		awaitRedis(t, hung)
	}
	t.Error(late)
}

// awaitRedis waits until a server asks Redis again.
func awaitRedis(t *testing.T, s *server) {
	t.Helper()
	offset := 0
	eventually(t, "pages come from Redis again", func() error {
		offset++ // another page each time, that the process does not keep
		p, err := s.top(t.Context(), "demo", offset%900, 7)
		if err == nil && p.Source != "redis" {
			err = fmt.Errorf("this one comes from %s", p.Source)
		}
		return err
	})
}

// measureHung sends requests to both servers for a while, and reports the kinds that waited too long for a Redis that hangs.
func measureHung(t *testing.T, hung, plain *server) (late string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	var all sync.WaitGroup
	with, without := newTimings(), newTimings()
	for i := range 4 {
		all.Go(func() { mixed(ctx, hung, i, with) })
		all.Go(func() { mixed(ctx, plain, i, without) })
	}
	all.Wait()
	limit := hungRedisLimit
	for _, kind := range mixedKinds() {
		limit = max(limit, hungRedisLimit+without.longest(kind))
	}
	for _, kind := range mixedKinds() {
		took := with.longest(kind)
		t.Logf("%-9s longest of %4d: %6s; without a Redis: %6s", kind, with.count(kind), took.Round(time.Millisecond), without.longest(kind).Round(time.Millisecond))
		if took > limit {
			late = fmt.Sprintf("%s took %s while Redis hung, want at most %s", kind, took, limit)
		}
	}
	if err := errors.Join(with.errs...); err != nil {
		t.Errorf("while Redis hung: %s", err)
	}
	if err := errors.Join(without.errs...); err != nil {
		t.Errorf("without a Redis: %s", err)
	}
	return late
}

// mixedKinds returns the kinds of requests of mixed, as in its timings.
func mixedKinds() []string {
	return []string{"hot page", "cold page", "member", "around", "ranks", "score", "write", "read back", "rebuild", "readyz", "livez"}
}

// mixed sends requests of every kind until ctx ends.
func mixed(ctx context.Context, s *server, number int, to *timings) {
	const board = "/v1/boards/demo"
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		<-pace.C
		n := (number*1000 + i*7) % 2900
		member := fmt.Sprintf("m%05d", n)
		to.get(ctx, s, "hot page", board+"/top")
		to.get(ctx, s, "cold page", fmt.Sprintf("%s/top?offset=%d&limit=%d", board, n, 1+i%50))
		to.get(ctx, s, "member", board+"/members/"+member)
		to.get(ctx, s, "around", board+"/members/"+member+"/around?before=3")
		to.call(ctx, s, "ranks", http.MethodPost, board+"/ranks", map[string]any{"members": []string{member, "m02999"}})
		to.get(ctx, s, "score", fmt.Sprintf("%s/scores/%d/rank", board, n))
		writer := fmt.Sprintf("w%d", number)
		var r client.Receipt
		if a := to.call(ctx, s, "write", http.MethodPost, board+"/scores", map[string]any{"entries": []map[string]any{{"member": writer, "score": i}}}); a != nil && a.Decode(&r) == nil {
			to.get(ctx, s, "read back", fmt.Sprintf("%s/members/%s?min_seq=%d", board, writer, r.Seq))
		}
		if i%10 == 0 {
			to.call(ctx, s, "rebuild", http.MethodPost, board+"/rebuild", map[string]any{})
			to.get(ctx, s, "readyz", "/readyz")
			to.get(ctx, s, "livez", "/livez")
		}
	}
}

// timings are how long requests took, by kind.
type timings struct {
	mu   sync.Mutex
	took map[string][]time.Duration
	errs []error
}

func newTimings() *timings { return &timings{took: map[string][]time.Duration{}} }

func (m *timings) get(ctx context.Context, s *server, kind, path string) {
	m.call(ctx, s, kind, http.MethodGet, path, nil)
}

// call makes a request and returns its answer, nil when it failed.
func (m *timings) call(ctx context.Context, s *server, kind, method, path string, body any) *client.Answer {
	start := time.Now()
	a, err := s.Do(context.WithoutCancel(ctx), client.Request{Method: method, Path: path, Body: body})
	took := time.Since(start)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took[kind] = append(m.took[kind], took)
	if err != nil && len(m.errs) < 5 {
		m.errs = append(m.errs, fmt.Errorf("%s %s: %w", method, path, err))
	}
	return a
}

func (m *timings) longest(kind string) time.Duration { return slices.Max(m.took[kind]) }

func (m *timings) count(kind string) int { return len(m.took[kind]) }
