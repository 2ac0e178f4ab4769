package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// TestCommitReplyLost: a client whose write ended in the dark is told so, and learns the one true result by repeating
// the request under its key, whatever became of the COMMIT.
func TestCommitReplyLost(t *testing.T) {
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
			w := newWorld(t)
			p, dsn := newProxy(t, w.dsn)
			through := &world{dsn: dsn} // no Redis: nothing but writes goes to MySQL
			s := through.serve(t, "server")
			s.putBoard(t, "sums", map[string]any{"policy": "sum"})
			s.mustSubmit(t, "sums", submission{"a", 100})

			p.add(t, c.toxic)
			a, err := s.submit(t.Context(), "sums", "key-1", submission{"a", 5})
			if err != nil {
				t.Fatal(err)
			}
			if a.status != http.StatusServiceUnavailable || a.problem() != "/problems/outcome-unknown" || a.header.Get("Retry-After") == "" {
				t.Errorf("answer %d %s, Retry-After %q; want 503 outcome-unknown with Retry-After", a.status, a.body, a.header.Get("Retry-After"))
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
				checkOnce(t, s, "sums", "key-1", submission{"a", 5}, 2, 100, 105)
			}
			if got := w.scores(t, "sums")["a"]; got != 105 {
				t.Errorf("the score in MySQL is %d, want 105", got)
			}
		})
	}
}

// TestKill9BetweenCommitAndAnswer kills the server when the write is durable and its client has not heard of it.
func TestKill9BetweenCommitAndAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, dsn := newProxy(t, w.dsn)
	s := (&world{dsn: dsn}).serve(t, "server")
	s.putBoard(t, "sums", map[string]any{"policy": "sum"})
	s.mustSubmit(t, "sums", submission{"a", 100})

	p.add(t, withheldReply)
	failed := make(chan error, 1)
	go func() {
		a, err := s.submit(t.Context(), "sums", "key-1", submission{"a", 5})
		if err == nil {
			err = fmt.Errorf("%w: %d %s", errAnswered, a.status, a.body)
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
	checkOnce(t, s, "sums", "key-1", submission{"a", 5}, 2, 100, 105)
	if got := w.scores(t, "sums")["a"]; got != 105 {
		t.Errorf("the score in MySQL is %d, want 105", got)
	}
}

var errAnswered = errors.New("there is an answer")

// checkOnce repeats a submission and compares its receipt with the one true result.
func checkOnce(t *testing.T, s *server, board, key string, sub submission, seq, before, after int64) {
	t.Helper()
	a, err := s.submit(t.Context(), board, key, sub)
	var r receipt
	if err == nil {
		err = a.decode(&r)
	}
	if err != nil {
		t.Fatalf("repeating the request: %s", err)
	}
	ok := r.Seq == seq && slices.EqualFunc(r.Results, []submission{sub}, func(r result, s submission) bool {
		return r.Member == s.Member && r.Status == "applied" && r.Score == after && r.Previous != nil && *r.Previous == before
	})
	if !ok {
		t.Errorf("repeating the request: %s, want seq %d, score %d after %d", a.body, seq, after, before)
	}
}
