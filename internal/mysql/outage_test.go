package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gomysql "github.com/go-sql-driver/mysql"
)

const probeWait = 300 * time.Millisecond

// answering is a server as an outage sees it: its answer, and its delay.
type answering struct {
	mu      sync.Mutex
	hangs   bool
	fails   error
	latency time.Duration
	probes  []time.Duration // when they were sent
	began   time.Time
}

func (a *answering) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *answering) query(ctx context.Context) error {
	for {
		a.mu.Lock()
		hangs, fails, latency := a.hangs, a.fails, a.latency
		a.mu.Unlock()
		switch {
		case !hangs && fails == nil:
			time.Sleep(latency)
			return nil
		case !hangs:
			return fails
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

func (a *answering) probe(ctx context.Context) error {
	a.set(func() { a.probes = append(a.probes, time.Since(a.began)) })
	return a.query(ctx)
}

// logged is the messages that an outage has logged.
type logged struct {
	mu    sync.Mutex
	lines strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.Write(b)
}

func (l *logged) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.lines.String(), text)
}

// outageTest is an outage in a bubble.
type outageTest struct {
	*testing.T
	*server
	peer   *answering
	logged *logged
}

func inOutage(t *testing.T, test func(t *outageTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &outageTest{T: t, peer: &answering{began: time.Now()}, logged: &logged{}}
		o.server = newServer(slog.New(slog.NewTextHandler(o.logged, nil)), o.peer.probe, probeWait)
		defer o.close()
		test(o)
	})
}

// statement is sent on a separate connection; its result comes on the channel.
func (o *outageTest) statement(committing bool, do func(context.Context) error) <-chan error {
	ctx, cancel := context.WithCancel(context.Background())
	c := &conn{server: o.server, stop: cancel}
	c.join()
	result := make(chan error, 1)
	if err := c.send(committing); err != nil {
		c.leave()
		result <- err
		return result
	}
	go func() {
		err := do(ctx)
		c.got(err)
		c.leave()
		result <- err
	}()
	return result
}

// goes asserts whether the server is away after a time.
func (o *outageTest) goes(after time.Duration, away bool) {
	o.Helper()
	time.Sleep(after)
	synctest.Wait()
	if o.isAway() != away {
		o.Errorf("after %s away is %t", time.Since(o.peer.began), !away)
	}
}

// TestHungServerIsAway: a server that answers nothing for a second, and no new connection in 300 ms, is away. Statements
// under way end then, except a COMMIT; nothing else is sent; the first answer ends it. Each change is logged in one line.
func TestHungServerIsAway(t *testing.T) {
	t.Parallel()
	inOutage(t, func(o *outageTest) {
		told := 0
		o.notifyAway(func(error) { told++ })
		o.peer.set(func() { o.peer.hangs = true })
		began := time.Now()
		read, committed := o.statement(false, o.peer.query), o.statement(true, o.peer.query)
		o.goes(silence+probeWait-time.Millisecond, false)
		o.goes(2*time.Millisecond, true)
		if err := <-read; !errors.Is(err, context.Canceled) || time.Since(began) > 2*time.Second {
			o.Errorf("a statement ended after %s: %v", time.Since(began), err)
		}
		if err := <-o.statement(false, o.peer.query); !errors.Is(err, driver.ErrBadConn) {
			o.Errorf("a statement while the server is away: %v", err)
		}
		o.goes(time.Minute, true)
		if n := len(o.peer.probes); n > 8 || told != 1 {
			o.Errorf("in a minute there were %d probes, and those who wait were told %d times", n, told)
		}
		select {
		case err := <-committed:
			o.Errorf("a COMMIT ended: %v", err)
		default:
		}
		o.peer.set(func() { o.peer.hangs = false })
		o.goes(10*time.Millisecond, false)
		if err := errors.Join(<-committed, <-o.statement(false, o.peer.query)); err != nil {
			o.Error(err)
		}
		if away, back := o.logged.count("does not answer"), o.logged.count("answers again"); away != 1 || back != 1 {
			o.Errorf("%d lines that it is away, %d that it is back", away, back)
		}
	})
}

// TestRefusingServerIsAway: an address without a listener counts as away, and each probe fails at once.
func TestRefusingServerIsAway(t *testing.T) {
	t.Parallel()
	inOutage(t, func(o *outageTest) {
		o.peer.set(func() { o.peer.fails = gomysql.ErrInvalidConn })
		t.Log(<-o.statement(false, o.peer.query))
		o.goes(silence-time.Millisecond, false)
		o.goes(2*time.Millisecond, true)
		o.goes(time.Second, true)
		if n := len(o.peer.probes); n != 5 {
			o.Errorf("%d probes in a second", n)
		}
		o.peer.set(func() { o.peer.fails = nil })
		o.goes(probeEvery, false)
	})
}

// TestWaitIsNoOutage: statements that wait for a lock, a change of a table or a flush, while new connections are served,
// are no outage, however long, like statements that their callers cancel, a server that refuses connections with a reason,
// and a single lost connection.
func TestWaitIsNoOutage(t *testing.T) {
	t.Parallel()
	inOutage(t, func(o *outageTest) {
		for range 3 {
			o.statement(false, func(context.Context) error { time.Sleep(time.Minute); return nil })
		}
		for range 100 {
			t.Log(<-o.statement(false, func(context.Context) error { time.Sleep(100 * time.Millisecond); return context.Canceled }))
		}
		o.goes(time.Minute, false)
		t.Log(<-o.statement(false, func(context.Context) error { return io.ErrUnexpectedEOF }))
		o.goes(time.Minute, false)
		o.peer.set(func() { o.peer.fails = &gomysql.MySQLError{Number: errTooManyConns} })
		t.Log(<-o.statement(false, func(context.Context) error { return io.ErrUnexpectedEOF }))
		o.goes(time.Minute, false)
		o.peer.set(func() { o.peer.fails = nil })
		if n := o.logged.count("\n"); n != 0 {
			o.Errorf("%d lines in the log", n)
		}
	})
}

// TestSlowNetworkIsNoOutage: when the way to the server becomes slow it may be taken for away, but not for longer than until
// something is answered, and not again. When it is quick again an outage is known as soon as before.
func TestSlowNetworkIsNoOutage(t *testing.T) {
	t.Parallel()
	inOutage(t, func(o *outageTest) {
		o.peer.set(func() { o.peer.latency = 2 * time.Second })
		for i := range 60 {
			t.Log(<-o.statement(true, o.peer.query))
			if i > 5 && o.isAway() {
				o.Fatalf("taken for away at statement %d", i)
			}
			time.Sleep(time.Duration(i%4) * time.Second)
		}
		if n := o.logged.count("does not answer"); n > 1 {
			o.Errorf("it was taken for away %d times", n)
		}
		o.peer.set(func() { o.peer.latency = 0 })
		for range 100 {
			t.Log(<-o.statement(false, func(context.Context) error { time.Sleep(100 * time.Millisecond); return nil }))
		}
		o.peer.set(func() { o.peer.hangs = true })
		o.statement(false, o.peer.query)
		o.goes(silence+probeWait+time.Millisecond, true)
	})
}

// TestBlocked: writes count as blocked from the first that could not be committed until a write is committed; not while
// others are committed, and not for long without attempts.
func TestBlocked(t *testing.T) {
	t.Parallel()
	inOutage(t, func(o *outageTest) {
		d := &DB{server: o.server}
		began := time.Now()
		expect := func(want bool) {
			o.Helper()
			if since, ok := d.BlockedSince(); ok != want || ok && since.Sub(began).Abs() > time.Millisecond {
				o.Errorf("blocked %t since %s, want %t since %s", ok, since, want, began)
			}
		}
		expect(false)
		time.Sleep(time.Second)
		d.Blocked(began)
		d.Blocked(began.Add(time.Second))
		expect(true)
		d.Committed()
		expect(false)
		d.Blocked(began) // another board is committed to
		expect(false)
		began = time.Now()
		time.Sleep(time.Second)
		d.Blocked(began)
		expect(true)
		time.Sleep(blockedFor)
		expect(false)
		if lines := fmt.Sprint(o.logged.count("no write can be committed"), o.logged.count("are committed again")); lines != "2 1" {
			o.Errorf("lines: %s", lines)
		}
	})
}

// TestAnswerAsItIsGone: an answer that is taken down in the moment in which the server is taken for away ends that, or there would
// be nothing to end it.
func TestAnswerAsItIsGone(t *testing.T) {
	for range 100_000 {
		o := newServer(slog.New(slog.DiscardHandler), nil, 0)
		o.looking.Store(true)
		since := o.now()
		o.answered.Store(since)
		var both sync.WaitGroup
		begin := make(chan struct{})
		both.Go(func() { <-begin; o.gone(since) })
		both.Go(func() { <-begin; o.heard(since, nil) })
		close(begin)
		both.Wait()
		if o.isAway() {
			t.Fatal("the server has answered, and is away")
		}
	}
}
