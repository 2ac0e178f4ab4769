package e2e

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// writeLoad are writers that continue with the next member as soon as the last is acknowledged, until the server is gone.
type writeLoad struct {
	server  *server
	term    atomic.Int64 // when SIGTERM was sent, in ns of the clock
	clients sync.WaitGroup

	mu    sync.Mutex
	acked map[string]int64
	wrong []string
	gone  int // requests sent too late
}

func (l *writeLoad) write(t *testing.T, client int) {
	for i := 0; ; i++ {
		sub := scored(fmt.Sprintf("c%d-%d", client, i), int64(i))
		var sent atomic.Int64
		trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent.Store(time.Now().UnixNano()) }}
		_, err := l.server.submit(httptrace.WithClientTrace(t.Context(), trace), "load", "", sub)
		l.mu.Lock()
		term := l.term.Load()
		switch {
		case err == nil:
			l.acked[sub.Member] = sub.Score
		case status(err) != 0:
			l.wrong = append(l.wrong, fmt.Sprintf("%s: %s", sub.Member, err))
		case term == 0 || (sent.Load() != 0 && sent.Load() < term):
			l.wrong = append(l.wrong, fmt.Sprintf("%s was sent before SIGTERM and has no answer: %s", sub.Member, err))
		default:
			l.gone++
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
	}
}

func (l *writeLoad) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

// TestGracefulShutdown ends a server with SIGTERM under writes. Requests under way are answered and no answer is cut off;
// exactly the acknowledged scores are in MySQL and in the copy; the load balancer is warned first, and the exit status is
// 0.
func TestGracefulShutdown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve(t, "server", "--drain-delay", "5s") // in which a load balancer has to see that it drains
	s.putBoard(t, "load", leaderboard.Rules{TopN: 1000})
	s.mustRebuild(t, "load")
	const clients = 32
	warm(t, []*server{s}, clients)
	l := &writeLoad{server: s, acked: map[string]int64{}}
	for i := range clients {
		l.clients.Go(func() { l.write(t, i) })
	}
	eventually(t, "the load is up", func() error {
		if n := l.count(); n < 1000 {
			return fmt.Errorf("%d writes", n)
		}
		return nil
	})
	l.term.Store(time.Now().UnixNano())
	s.signal(syscall.SIGTERM)
	eventually(t, "/readyz says draining", func() error {
		h, err := s.Ready(t.Context())
		switch status(err) {
		case 0:
			t.Fatalf("the server closed before /readyz said draining: %s", err)
		case http.StatusServiceUnavailable:
			return nil
		}
		return fmt.Errorf("it says %+v, %w", h, err)
	})
	exit := s.awaitExit(t)
	l.clients.Wait()
	if !exit.Exited() || exit.ExitStatus() != 0 {
		t.Errorf("exit status %d (signal %s), want 0", exit.ExitStatus(), exit.Signal())
	}
	for _, wrong := range l.wrong[:min(3, len(l.wrong))] {
		t.Error(wrong)
	}
	got := w.scores(t, "load")
	for member, score := range l.acked {
		if s, ok := got[member]; !ok || s != score {
			t.Errorf("%s was acknowledged with %d, MySQL has %d (%t)", member, score, s, ok)
		}
	}
	if len(got) != len(l.acked) { // requests that were accepted were answered
		t.Errorf("%d writes were acknowledged, MySQL has %d", len(l.acked), len(got))
	}
	if strings.Contains(s.err.text(), "cut off") {
		t.Error("requests were cut off though there was time")
	}
	t.Logf("%d acknowledged, %d in MySQL, %d requests came too late", len(l.acked), len(got), l.gone)
	w.checkCopyIsCurrent(t, "load")
}

// TestShutdownAnswersWhatIsUnderWay ends a server while its writes wait for MySQL: one batch at work, the rest in the
// queue. The server stops listening, and answers all of them when MySQL continues.
func TestShutdownAnswersWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve(t, "server", "--drain-delay", "2s") // in which everything that was sent arrives
	s.putBoard(t, "load", leaderboard.Rules{})
	release := w.lockPeriods(t)
	const requests = 40
	answers := s.send(t, requests, "load")
	s.signal(syscall.SIGTERM)
	eventually(t, "the server listens no more", func() error {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			return errors.Join(errors.New("it does"), conn.Close())
		}
		return nil
	})
	release()
	for i, err := range answers() {
		if err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
	if status := s.awaitExit(t); status.ExitStatus() != 0 {
		t.Errorf("exit status %d, want 0", status.ExitStatus())
	}
	if got := w.scores(t, "load"); len(got) != requests {
		t.Errorf("%d members in MySQL, want %d", len(got), requests)
	}
}

// TestStopWithHungMySQL ends a server whose MySQL hangs in the middle of many writes. The server ends in bounded time, each request
// has an answer by then, and writes that were answered as not done are not done.
func TestStopWithHungMySQL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, dsn := newProxy(t, w.dsn)
	const timeout, requests = time.Second, 40
	s := (&world{dsn: dsn, redisURL: w.redisURL}).serve(t, "server", "--shutdown-timeout", timeout.String())
	boards := make([]string, 10)
	for b := range boards {
		boards[b] = fmt.Sprint("b", b)
		s.putBoard(t, boards[b], leaderboard.Rules{})
		s.mustSubmit(t, boards[b], scored("first", 1))
	}
	for _, stream := range []string{"upstream", "downstream"} {
		p.add(t, fmt.Sprintf(`{"type": "timeout", "stream": %q, "attributes": {"timeout": 0}}`, stream))
	}
	answers := s.send(t, requests, boards...)
	s.signal(syscall.SIGTERM)
	began := time.Now()
	exit := s.awaitExit(t)
	took := time.Since(began)
	// 25 s with the shutdown-timeout of 12 s that is the default.
	if t.Logf("the server ended %s after SIGTERM, exit status %d", took, exit.ExitStatus()); took > 25*time.Second-12*time.Second+timeout {
		t.Errorf("that is too long")
	}
	errs := answers()
	p.heal(t)
	for i, err := range errs {
		if err == nil {
			t.Errorf("request %d was acknowledged", i)
		}
	}
	for _, board := range boards {
		if got := w.scores(t, board); len(got) != 1 {
			t.Errorf("board %s has %v", board, got)
		}
	}
}

// send sends a number of requests of one entry at once, to the boards in turn, and returns when all of them are sent.
// answers waits for them and returns the outcomes.
func (s *server) send(t *testing.T, requests int, boards ...string) (answers func() []error) {
	t.Helper()
	var sent, done sync.WaitGroup
	errs := make([]error, requests)
	sent.Add(requests)
	for i := range requests {
		done.Go(func() {
			trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent.Done() }}
			_, errs[i] = s.submit(httptrace.WithClientTrace(t.Context(), trace), boards[i%len(boards)], "", scored(fmt.Sprint(i), 1))
		})
	}
	sent.Wait()
	return func() []error { done.Wait(); return errs }
}

// lockPeriods makes all writes wait in MySQL until release is called.
func (w *world) lockPeriods(t *testing.T) (release func()) {
	t.Helper()
	tx, err := w.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "SELECT id FROM periods FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// checkCopyIsCurrent checks that the copy is right and at the seq of MySQL, with no server running.
func (w *world) checkCopyIsCurrent(t *testing.T, board string) {
	t.Helper()
	seq, err := w.copySeq(t.Context(), w.periodOf(t, board))
	var want string
	w.queryRow(t, "SELECT last_seq FROM periods", &want)
	if err != nil || seq != want {
		t.Errorf("the copy is at seq %q (%v), MySQL at %s", seq, err, want)
	}
	p := start(t, "verify", w.environment(), "verify", board)
	if status := p.awaitExit(t); status.ExitStatus() != 0 {
		t.Errorf("verify: status %d: %s", status.ExitStatus(), p.out.awaitEnd(t))
	}
}
