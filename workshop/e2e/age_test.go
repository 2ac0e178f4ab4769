package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/client"
	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// How old an answer may be unless it is marked stale: by default, and with the time that a poll takes.
const (
	maxAge     = 200 * time.Millisecond
	ageLimit   = maxAge + 50*time.Millisecond
	agePollers = 4
)

// ages is a server that commits and another that is polled: the score of a member is the number of its commit.
type ages struct {
	board string
	base  int64 // score of commit 0
	mu    sync.Mutex
	acked []time.Time // by commit
	polls []poll
	errs  []error
}

// poll is an answer.
type poll struct {
	sent  time.Time
	shown int // the newest commit in it
	stale bool

	source leaderboard.Source
	took   time.Duration
}

// TestAnswersAreAsOldAsTheySay: under each fault of Redis an answer has all commits that were acknowledged longer than max_age
// before the question, unless it is marked stale; and the seq that one server shows never goes back (promise B6).
func TestAnswersAreAsOldAsTheySay(t *testing.T) {
	server := testenv.PrivateRedis(t)
	w := worldOn(t, testenv.MySQL(t), server.URL)
	writing, reading := w.serve(t, "server a"), w.serve(t, "server b")
	writing.fill(t, "race", 2000, leaderboard.Rules{Policy: leaderboard.PolicyLatest, TopN: 1000})
	for i, fault := range ageFaults(t, w.redis, server) {
		t.Run(fault.name, func(t *testing.T) {
			a := &ages{board: "race", base: int64(i+1) * 1_000_000}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var all sync.WaitGroup
			all.Go(func() { a.commit(ctx, writing, 10*time.Millisecond) })
			fault.begin()
			for range agePollers {
				all.Go(func() { a.poll(ctx, reading, 5*time.Millisecond) })
			}
			eventually(t, "there are enough answers", func() error {
				fault.during()
				a.mu.Lock()
				defer a.mu.Unlock()
				if want := testenv.Size(800, 10_000); len(a.polls) < want && len(a.errs) == 0 {
					return fmt.Errorf("there are %d", len(a.polls))
				}
				return nil
			})
			cancel()
			all.Wait()
			fault.end()
			a.check(t)
		})
	}
}

// ageFault is a fault of Redis.
type ageFault struct {
	name               string
	begin, during, end func()
}

func ageFaults(t *testing.T, redis *redis.Client, server *devserver.Server) []ageFault {
	t.Helper()
	nothing := func() {}
	must := func(do func() error) func() {
		return func() {
			if err := do(); err != nil {
				t.Error(err)
			}
		}
	}
	replicas := func(n string) func() {
		return must(func() error { return redis.ConfigSet(context.Background(), "min-replicas-to-write", n).Err() })
	}
	flushed := time.Now()
	flush := func() {
		if time.Since(flushed) > 500*time.Millisecond {
			flushed = time.Now()
			must(func() error { return redis.FlushAll(context.Background()).Err() })()
		}
	}
	return []ageFault{
		{"healthy", nothing, nothing, nothing},
		{"flushed", nothing, flush, nothing},
		{"refusing writes", replicas("1"), nothing, replicas("0")},
		{"hung", must(server.Pause), nothing, must(server.Resume)},
		{"gone", must(server.Kill), nothing, must(func() error { return server.Restart(context.Background()) })},
	}
}

// commit changes the score of the best member again and again.
func (a *ages) commit(ctx context.Context, s *server, pace time.Duration) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		<-tick.C
		_, err := s.submit(context.WithoutCancel(ctx), a.board, "", scored("runner", a.base+int64(n)))
		now := time.Now()
		a.mu.Lock()
		if a.acked = append(a.acked, now); err != nil {
			a.errs = append(a.errs, err)
		}
		a.mu.Unlock()
	}
}

// poll reads the top, with several lengths in turn. No answer may be older than an earlier one.
func (a *ages) poll(ctx context.Context, s *server, pace time.Duration) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	last := -1
	for n := 0; ctx.Err() == nil; n++ {
		<-tick.C
		sent := time.Now()
		page, err := s.Top(context.WithoutCancel(ctx), a.board, client.TopQuery{Limit: 1 + n%7})
		p := poll{sent: sent, shown: -1, stale: page.Stale, source: page.Source, took: time.Since(sent)}
		if err == nil && len(page.Entries) > 0 && page.Entries[0].Member == "runner" {
			p.shown = max(-1, int(page.Entries[0].Score-a.base))
		}
		if err == nil && !p.stale && p.shown < last {
			err = fmt.Errorf("commit %d shows after %d", p.shown, last)
		}
		last = max(last, p.shown)
		a.mu.Lock()
		if a.polls = append(a.polls, p); err != nil {
			a.errs = append(a.errs, err)
		}
		a.mu.Unlock()
	}
}

// check computes how old each answer was at its question: the time since the acknowledgement of the first commit that it lacks.
func (a *ages) check(t *testing.T) {
	t.Helper()
	if err := errors.Join(a.errs[:min(3, len(a.errs))]...); err != nil {
		t.Error(err)
	}
	var found []time.Duration
	stale, late := 0, 0
	for _, p := range a.polls {
		if p.stale {
			stale++
			continue
		}
		age := time.Duration(0)
		if p.shown+1 < len(a.acked) {
			age = max(0, p.sent.Sub(a.acked[p.shown+1]))
		}
		if found = append(found, age); age > ageLimit {
			late++
		}
	}
	if len(found) == 0 {
		t.Fatalf("all of %d answers are stale", len(a.polls))
	}
	slices.Sort(found)
	t.Logf("%d answers beside %d commits, %d stale; age: median %s, longest %s", len(a.polls), len(a.acked), stale,
		found[len(found)/2].Round(time.Millisecond), found[len(found)-1].Round(time.Millisecond))
	if late > 0 {
		t.Errorf("%d answers are older than %s and do not say so", late, ageLimit)
	}
	// A machine that stops everything for longer than max_age makes answers stale, rightly.
	if stale > len(a.polls)/10 {
		t.Errorf("%d of %d answers are stale while MySQL is well", stale, len(a.polls))
	}
}
