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
)

// writeLoad are writers that each go on to the next member as soon as the last is acknowledged, until the server is
// gone.
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
		sub := submission{fmt.Sprintf("c%d-%d", client, i), int64(i)}
		var sent atomic.Int64
		trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent.Store(time.Now().UnixNano()) }}
		a, err := l.server.submit(httptrace.WithClientTrace(t.Context(), trace), "load", "", sub)
		l.mu.Lock()
		term := l.term.Load()
		switch {
		case err == nil && a.status == http.StatusOK:
			l.acked[sub.Member] = sub.Score
		case err == nil:
			l.wrong = append(l.wrong, fmt.Sprintf("%s: status %d: %s", sub.Member, a.status, a.body))
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

// TestGracefulShutdown ends a server with SIGTERM under writes. Requests that were under way are answered, what was
// acknowledged is in MySQL and in the copy, the load balancer is warned first, and the exit status is 0.
func TestGracefulShutdown(t *testing.T) {
	w := newWorld(t)
	s := w.serve(t, "server", "--drain-delay", "5s") // in which somebody has to see that it drains
	s.putBoard(t, "load", map[string]any{"top_n": 1000})
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
		a, err := s.call(t.Context(), http.MethodGet, "/readyz", nil)
		if err != nil {
			t.Fatalf("the server closed before /readyz said draining: %s", err)
		}
		if a.status != http.StatusServiceUnavailable {
			return fmt.Errorf("status %d: %s", a.status, a.body)
		}
		return nil
	})
	status := s.awaitExit(t)
	l.clients.Wait()
	if !status.Exited() || status.ExitStatus() != 0 {
		t.Errorf("exit status %d (signal %s), want 0", status.ExitStatus(), status.Signal())
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
	t.Logf("%d acknowledged, %d in MySQL, %d requests came too late", len(l.acked), len(got), l.gone)
	w.checkCopyIsCurrent(t, "load")
}

// TestShutdownAnswersWhatIsUnderWay ends a server while its writes wait for MySQL: one batch at work, the rest in the
// queue. The server stops listening, and answers all of them once MySQL goes on.
func TestShutdownAnswersWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve(t, "server", "--drain-delay", "2s") // in which everything that was sent arrives
	s.putBoard(t, "load", nil)
	release := w.lockPeriods(t)
	const requests = 40
	var sent, done sync.WaitGroup
	answers, errs := make([]answer, requests), make([]error, requests)
	sent.Add(requests)
	for i := range requests {
		done.Go(func() {
			trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { sent.Done() }}
			answers[i], errs[i] = s.submit(httptrace.WithClientTrace(t.Context(), trace), "load", "", submission{fmt.Sprint(i), 1})
		})
	}
	sent.Wait()
	s.signal(syscall.SIGTERM)
	eventually(t, "the server listens no more", func() error {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			return errors.Join(errors.New("it does"), conn.Close())
		}
		return nil
	})
	release()
	done.Wait()
	for i := range requests {
		if errs[i] != nil || answers[i].status != http.StatusOK {
			t.Errorf("request %d: %d %s, %v", i, answers[i].status, answers[i].body, errs[i])
		}
	}
	if status := s.awaitExit(t); status.ExitStatus() != 0 {
		t.Errorf("exit status %d, want 0", status.ExitStatus())
	}
	if got := w.scores(t, "load"); len(got) != requests {
		t.Errorf("%d members in MySQL, want %d", len(got), requests)
	}
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

// checkCopyIsCurrent: the copy is at the seq of MySQL, and right, with no server running.
func (w *world) checkCopyIsCurrent(t *testing.T, board string) {
	t.Helper()
	seq, err := w.copySeq(t.Context(), w.periodOf(t, board))
	var truth string
	w.queryRow(t, "SELECT last_seq FROM periods", &truth)
	if err != nil || seq != truth {
		t.Errorf("the copy is at seq %q (%v), MySQL at %s", seq, err, truth)
	}
	p := start(t, "verify", w.environment(), "verify", "--board", board)
	if status := p.awaitExit(t); status.ExitStatus() != 0 {
		t.Errorf("verify: status %d: %s", status.ExitStatus(), p.out.awaitEnd(t))
	}
}
