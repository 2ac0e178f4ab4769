package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// newSums starts a server with a board of sums that reaches MySQL through a proxy. It has no Redis, so that only writes go to
// MySQL.
func newSums(t *testing.T) (w *world, p *proxy, s *server) {
	t.Helper()
	w = newWorld(t)
	p, dsn := newProxy(t, w.dsn)
	s = (&world{dsn: dsn}).serve(t, "server")
	s.putBoard(t, "sums", leaderboard.Rules{Policy: leaderboard.PolicySum})
	return w, p, s
}

// TestCommitReplyLost: the reply to a COMMIT is lost. The client gets outcome-unknown, and the one true result when it repeats
// the request with its idempotency key, whether the COMMIT was carried out or not (promise A2).
func TestCommitReplyLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		toxic     string
		committed bool
	}{
		"reply lost":     {lostReply, true},
		"reply withheld": {withheldReply, true},
		"request lost":   {lostRequest, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p, s := newSums(t)
			s.mustSubmit(t, "sums", scored("a", 100))

			p.add(t, c.toxic)
			_, err := s.submit(t.Context(), "sums", "key-1", scored("a", 5))
			problem, ok := errors.AsType[*client.Problem](err)
			if !ok {
				t.Fatal(err)
			}
			if problem.Status != http.StatusServiceUnavailable || problem.Type != "/problems/outcome-unknown" || problem.RetryAfter == 0 {
				t.Errorf("answer %+v; want 503 outcome-unknown with Retry-After", problem)
			}
			want := int64(100)
			if c.committed {
				want = 105
			}
			if got := w.scores(t, "sums")["a"]; got != want {
				t.Fatalf("the score in MySQL is %d, want %d: the fault is not the one to test", got, want)
			}
			p.heal(t)

			for range 3 {
				checkOnce(t, s, "sums", "key-1", scored("a", 5), 2, 100, 105)
			}
			if got := w.scores(t, "sums")["a"]; got != 105 {
				t.Errorf("the score in MySQL is %d, want 105", got)
			}
		})
	}
}

// TestKill9BetweenCommitAndAnswer kills the server when a write is durable and its client has no answer yet.
func TestKill9BetweenCommitAndAnswer(t *testing.T) {
	t.Parallel()
	w, p, s := newSums(t)
	s.mustSubmit(t, "sums", scored("a", 100))

	p.add(t, withheldReply)
	failed := make(chan error, 1)
	go func() {
		r, err := s.submit(t.Context(), "sums", "key-1", scored("a", 5))
		if status(err) != 0 {
			err = fmt.Errorf("%w: %+v, %w", errAnswered, r, err)
		}
		failed <- err
	}()
	eventually(t, "the write is in MySQL", func() error {
		if got := w.scores(t, "sums")["a"]; got != 105 {
			return fmt.Errorf("the score is %d", got)
		}
		return nil
	})
	s.kill9(t)
	if err := await(t, failed, "the request fails"); errors.Is(err, errAnswered) {
		t.Fatalf("a killed server has answered: %s", err)
	}

	s = w.serve(t, "next server")
	checkOnce(t, s, "sums", "key-1", scored("a", 5), 2, 100, 105)
	if got := w.scores(t, "sums")["a"]; got != 105 {
		t.Errorf("the score in MySQL is %d, want 105", got)
	}
}

var errAnswered = errors.New("there is an answer")

// checkOnce repeats a submission and compares its receipt with the one true result.
func checkOnce(t *testing.T, s *server, board, key string, sub leaderboard.Submission, seq, before, after int64) {
	t.Helper()
	r, err := s.submit(t.Context(), board, key, sub)
	if err != nil {
		t.Fatalf("repeating the request: %s", err)
	}
	ok := r.Seq == seq && slices.EqualFunc(r.Results, []leaderboard.Submission{sub}, func(r client.Result, s leaderboard.Submission) bool {
		return r.Member == s.Member && r.Status == "applied" && r.Score != nil && *r.Score == after && r.PreviousScore != nil && *r.PreviousScore == before
	})
	if !ok {
		t.Errorf("repeating the request: %+v, want seq %d, score %d after %d", r, seq, after, before)
	}
}

// TestCommitRepliesLostAgainAndAgain: replies to COMMIT get lost for a moment, again and again, under 16 clients that add
// to sums. A client whose reply was lost gets 503 with Retry-After, and the one true result by repeating the request (promise
// A2).
func TestCommitRepliesLostAgainAndAgain(t *testing.T) {
	t.Parallel()
	w, p, s := newSums(t)
	const clients = 16
	each := testenv.Size(20, 63) // 320 writes, 1,008 at full size; more when no reply was lost by then, as on a busy machine
	l := &lost{server: s}
	var all sync.WaitGroup
	var added atomic.Int64
	for id := range clients {
		all.Go(func() {
			for i := 0; i < each || i < 50*each && l.unknowns() == 0; i++ {
				l.add(t.Context(), fmt.Sprintf("key-%d-%d", id, i))
				added.Add(1)
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for faults := 0; ; faults++ {
		p.add(t, []string{lostReply, withheldReply, lostRequest}[faults%3])
		<-time.After(20 * time.Millisecond)
		p.heal(t)
		select {
		case <-done:
		case <-time.After(80 * time.Millisecond):
			continue
		}
		break
	}
	if err := errors.Join(l.errs...); err != nil {
		t.Error(err)
	}
	if got, want := w.scores(t, "sums")["m"], added.Load(); got != want {
		t.Errorf("the sum is %d after %d additions", got, want)
	}
	t.Logf("%d additions, %d times the outcome was unknown, %d times nothing was done", added.Load(), l.unknown, l.refused)
	if l.unknown == 0 {
		t.Error("no outcome was unknown")
	}
}

// lost makes additions of 1 whose answers may be lost.
type lost struct {
	server           *server
	mu               sync.Mutex
	unknown, refused int
	errs             []error
}

// unknowns returns how many outcomes were unknown so far.
func (l *lost) unknowns() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unknown
}

// add repeats an addition until it is acknowledged.
func (l *lost) add(ctx context.Context, key string) {
	for ctx.Err() == nil {
		_, err := l.server.submit(ctx, "sums", key, scored("m", 1))
		if err == nil {
			return
		}
		problem, ok := errors.AsType[*client.Problem](err)
		l.mu.Lock()
		switch {
		case !ok || problem.Status != http.StatusServiceUnavailable || problem.RetryAfter == 0:
			l.errs = append(l.errs, err)
		case problem.Type == "/problems/outcome-unknown":
			l.unknown++
		default:
			l.refused++
		}
		failed := len(l.errs) > 0
		l.mu.Unlock()
		if failed {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
}
