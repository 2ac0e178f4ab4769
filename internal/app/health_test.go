package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/httpapi"
	"leaderboard/internal/apptest"
)

// awaitHealth waits until /readyz has a status and some words.
func (a *testApp) awaitHealth(status int, words ...string) {
	a.T.Helper()
	apptest.Eventually(a.T, func() string {
		got, body := a.Get("/readyz")
		for _, w := range words {
			if got != status || !strings.Contains(string(body), w) {
				return fmt.Sprintf("/readyz is %d %s", got, body)
			}
		}
		return ""
	})
}

// dependency is a MySQL or a Redis whose answer a test sets, and which counts the questions.
type dependency struct {
	asked, under atomic.Int64
	hangs        atomic.Bool
	fails        atomic.Bool
}

func (d *dependency) check(ctx context.Context) error {
	d.asked.Add(1)
	if d.under.Add(1) > 1 {
		return errors.New("asked twice at once")
	}
	defer d.under.Add(-1)
	if d.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(time.Millisecond)
	if d.fails.Load() {
		return errors.New("away")
	}
	return nil
}

// checked is a readiness on two dependencies in a bubble.
type checked struct {
	*readiness
	mysql, redis dependency
	watch        atomic.Int64 // how long ago it was answered, ns
}

func inHealth(t *testing.T, test func(t *testing.T, c *checked)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var work sync.WaitGroup
		defer work.Wait()
		c := &checked{}
		c.readiness = &readiness{
			mysql: c.mysql.check, redis: c.redis.check, watched: func() time.Duration { return time.Duration(c.watch.Load()) },
			staleLimit: 10 * time.Minute, work: &work,
		}
		test(t, c)
	})
}

// expect asks once.
func (c *checked) expect(t *testing.T, ready, mysql, redis bool, within time.Duration) {
	t.Helper()
	began := time.Now()
	h := c.now(t.Context())
	if h.Ready != ready || (h.Checks["mysql"] == nil) != mysql || (h.Checks["redis"] == nil) != redis {
		t.Errorf("%+v, want ready %t, mysql %t, redis %t", h, ready, mysql, redis)
	}
	if took := time.Since(began); took > within {
		t.Errorf("it took %s, want %s at most", took, within)
	}
}

// TestHealthIsAskedOnce: MySQL and Redis are asked once a second, however many probes there are.
func TestHealthIsAskedOnce(t *testing.T) {
	t.Parallel()
	inHealth(t, func(t *testing.T, c *checked) {
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				for range 100 {
					c.expect(t, true, true, true, 10*time.Millisecond)
					time.Sleep(31 * time.Millisecond)
				}
			})
		}
		all.Wait()
		if n := c.mysql.asked.Load(); n > 4 {
			t.Errorf("in 3.1 seconds MySQL was asked %d times", n)
		}
	})
}

// TestLastingFaultsAreNotAskedFor: a fault that lasts until an operator removes it, such as a read-only MySQL or wrong settings of
// Redis, costs no more questions than a healthy server. A server that is away is asked again soon.
func TestLastingFaultsAreNotAskedFor(t *testing.T) {
	t.Parallel()
	wrong := func() error { return httpapi.Reason("wrong") }
	for what, c := range map[string]struct {
		disturb func(c *checked)
		asked   int64 // in 10 s, at most
	}{
		"no keys":     {func(c *checked) { c.hints = map[string]func() error{"keys": wrong, "writes": wrong} }, 11},
		"wrong Redis": {func(c *checked) { c.readiness.redis = func(context.Context) error { return wrong() } }, 11},
		"no Redis":    {func(c *checked) { c.redis.fails.Store(true) }, 101},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			inHealth(t, func(t *testing.T, checked *checked) {
				c.disturb(checked)
				for range 1000 {
					if h := checked.now(t.Context()); !h.Ready || h.Good() {
						t.Fatalf("%+v, want ready and not good", h)
					}
					time.Sleep(10 * time.Millisecond)
				}
				if n := checked.mysql.asked.Load(); n < c.asked*8/10 || n > c.asked {
					t.Errorf("in 10 seconds MySQL was asked %d times, want %d at most", n, c.asked)
				}
			})
		})
	}
}

// TestHungMySQLIsNotRedis: MySQL hangs and Redis works. Probes first get the last answer, soon, and then an answer that MySQL is
// unreachable and Redis works.
func TestHungMySQLIsNotRedis(t *testing.T) {
	t.Parallel()
	inHealth(t, func(t *testing.T, c *checked) {
		c.expect(t, true, true, true, 10*time.Millisecond)
		c.mysql.hangs.Store(true)
		time.Sleep(2 * time.Second)
		c.expect(t, true, true, true, healthWait)
		time.Sleep(mysqlHealthLimit)
		c.expect(t, true, false, true, healthWait) // there are the copies in Redis
		c.mysql.hangs.Store(false)
		time.Sleep(time.Minute)
		c.expect(t, true, true, true, healthWait)
	})
}

// TestReadyWhileThereIsSomething: a server without MySQL is ready as long as it has something to serve, and not before it
// has seen MySQL work.
func TestReadyWhileThereIsSomething(t *testing.T) {
	t.Parallel()
	inHealth(t, func(t *testing.T, c *checked) {
		c.mysql.fails.Store(true)
		c.expect(t, false, false, true, 10*time.Millisecond)
		c.mysql.fails.Store(false)
		time.Sleep(time.Second)
		c.expect(t, true, true, true, 10*time.Millisecond)
		c.mysql.fails.Store(true)
		time.Sleep(time.Minute)
		c.expect(t, true, false, true, 10*time.Millisecond) // from Redis
		c.redis.fails.Store(true)
		time.Sleep(time.Minute)
		c.expect(t, false, false, false, 10*time.Millisecond) // nothing has been read here
		c.watch.Store(int64(2 * time.Minute))
		time.Sleep(time.Second)
		c.expect(t, true, false, false, 10*time.Millisecond) // an answer that was read then is kept
		time.Sleep(9 * time.Minute)
		c.watch.Store(int64(11 * time.Minute))
		c.redis.fails.Store(false)
		c.expect(t, false, false, true, 10*time.Millisecond) // all of it is too old
	})
}
