package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// script answers requests one after the other, without a network, so that time can stand still.
type script struct {
	answers []func(*http.Request) (*http.Response, error)
	keys    []string // Idempotency-Key of each request
	bodies  []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	s.keys, s.bodies = append(s.keys, r.Header.Get("Idempotency-Key")), append(s.bodies, string(body))
	next := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return next(r)
}

// answer returns an answer of the server; Retry-After in seconds, 0 for none.
func answer(status int, body string, retryAfter int) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		if status >= 400 {
			h.Set("Content-Type", "application/problem+json")
		}
		if retryAfter > 0 {
			h.Set("Retry-After", strconv.Itoa(retryAfter))
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func lost(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset by peer") }

// silence answers when the request is given up.
func silence(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

const (
	overloaded = `{"type":"/problems/overloaded","title":"Too many requests","status":503,"detail":"Nothing was done."}`
	notRanked  = `{"type":"/problems/not-ranked","title":"Not ranked","status":404,"detail":"No entry."}`
	receipt    = `{"results":[{"member":"m","status":"applied","score":5,"previous_score":null,"created_time":"2026-11-20T14:50:15.332215Z"}],"seq":1}`
)

// scripted returns a client of a script; waited collects the pauses.
func scripted(t *testing.T, s *script, waited *[]time.Duration, options ...client.Option) *client.Client {
	t.Helper()
	options = append([]client.Option{
		client.WithHTTPClient(&http.Client{Transport: s}),
		client.WithOnRetry(func(r client.Retry) { *waited = append(*waited, r.Pause) }),
	}, options...)
	c, err := client.New("http://server", options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFailedRunIsNotRepeated: a run that was waited for and failed is there with the error, and is not begun again.
func TestFailedRunIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited []time.Duration
		const failed = `{"type":"/problems/run-failed","title":"The run failed","status":503,"detail":"No.","run":{"id":7,"state":"failed","error":"MySQL is away"}}`
		s := &script{answers: []func(*http.Request) (*http.Response, error){answer(503, failed, 5)}}
		run, finished, err := scripted(t, s, &waited, client.WithMaxWait(time.Minute)).Rebuild(t.Context(), "b", client.RebuildOptions{Wait: time.Second})
		if p, ok := errors.AsType[*client.Problem](err); !ok || p.Code() != "run-failed" || !finished || run.ID != 7 || run.Error != "MySQL is away" {
			t.Errorf("%+v, %t, %v", run, finished, err)
		}
		if len(waited) > 0 {
			t.Errorf("it was tried again after %v", waited)
		}
	})
}

var oneScore = []leaderboard.Submission{{Member: "m", Score: 5}}

// TestWritesAreRepeated: the client repeats a write under one key, after the pause that the server asks for, whatever error came
// before.
func TestWritesAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited []time.Duration
		s := &script{answers: []func(*http.Request) (*http.Response, error){answer(503, overloaded, 7), lost, silence, answer(200, receipt, 0)}}
		r, err := scripted(t, s, &waited, client.WithMaxWait(time.Minute)).Submit(t.Context(), "b", oneScore)
		if err != nil || r.Seq != 1 || *r.Results[0].Score != 5 {
			t.Fatalf("%+v, %v", r, err)
		}
		if len(waited) != 3 || waited[0] < 7*time.Second || waited[0] >= 8*time.Second {
			t.Errorf("pauses %v, want 7s to 8s first", waited)
		}
		for i, key := range s.keys {
			if key == "" || key != s.keys[0] || s.bodies[i] != s.bodies[0] || s.bodies[i] == "" {
				t.Errorf("attempt %d: key %q, body %q; the first had %q, %q", i+1, key, s.bodies[i], s.keys[0], s.bodies[0])
			}
		}
	})
}

// TestOwnRetryIsNoReplay: after an attempt that the server may have carried out, an answer marked as replayed is the call's own.
// An answer to the first attempt, or after attempts that did nothing, is a replay of an earlier request.
func TestOwnRetryIsNoReplay(t *testing.T) {
	type attempts = []func(*http.Request) (*http.Response, error)
	refused := func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
	}
	replay := answer(200, strings.TrimSuffix(receipt, "}")+`,"replayed":true}`, 0)
	unknown := answer(503, strings.ReplaceAll(overloaded, "overloaded", "outcome-unknown"), 0)
	proxy := answer(502, "bad gateway", 0)
	for name, c := range map[string]struct {
		before   attempts
		replayed bool
	}{
		"first": {nil, true}, "after overloaded": {attempts{answer(503, overloaded, 1)}, true}, "after no connection": {attempts{refused}, true},
		"after a lost answer": {attempts{lost}, false}, "after silence": {attempts{silence}, false}, "after outcome-unknown": {attempts{unknown}, false},
		"after a proxy's 502": {attempts{proxy}, false}, "after a lost answer and overloaded": {attempts{lost, answer(503, overloaded, 1)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var waited []time.Duration
				one := scripted(t, &script{answers: append(slices.Clip(c.before), replay)}, &waited)
				if r, err := one.Submit(t.Context(), "b", oneScore); err != nil || r.Replayed != c.replayed || r.Seq != 1 {
					t.Errorf("%+v, %v", r, err)
				}
				several := scripted(t, &script{answers: append(slices.Clip(c.before), replay)}, &waited)
				if r, err := several.SubmitMultiBoard(t.Context(), []leaderboard.BoardSubmission{{Board: "b", Submission: oneScore[0]}}); err != nil || r.Replayed != c.replayed {
					t.Errorf("several boards: %+v, %v", r, err)
				}
			})
		})
	}
}

// TestRepeatingEnds: after MaxWait with the last error, at once when it would not help, and with the context.
func TestRepeatingEnds(t *testing.T) {
	for name, c := range map[string]struct {
		answer   func(*http.Request) (*http.Response, error)
		maxWait  time.Duration
		cancel   time.Duration // after which the caller goes away
		attempts int           // at most
		within   time.Duration
		want     error
	}{
		"overloaded for long": {answer(503, overloaded, 0), 20 * time.Second, time.Hour, 30, 20 * time.Second, leaderboard.ErrOverloaded},
		"asked to come later": {answer(503, overloaded, 60), 20 * time.Second, time.Hour, 1, 0, leaderboard.ErrOverloaded},
		"not ranked":          {answer(404, notRanked, 0), 20 * time.Second, time.Hour, 1, 0, leaderboard.ErrNotRanked},
		"once":                {answer(503, overloaded, 0), 0, time.Hour, 1, 0, leaderboard.ErrOverloaded},
		"silence":             {silence, 25 * time.Second, time.Hour, 3, 40 * time.Second, client.ErrTimeout},
		"the caller leaves":   {answer(503, overloaded, 0), time.Hour, 3 * time.Second, 30, 3 * time.Second, leaderboard.ErrOverloaded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var waited []time.Duration
				s, start := &script{answers: []func(*http.Request) (*http.Response, error){c.answer}}, time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), c.cancel)
				defer cancel()
				_, err := scripted(t, s, &waited, client.WithMaxWait(c.maxWait)).Member(ctx, "b", "m", client.ReadQuery{})
				if !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
				if len(s.keys) > c.attempts || time.Since(start) > c.within {
					t.Errorf("%d attempts in %s, want at most %d in %s", len(s.keys), time.Since(start), c.attempts, c.within)
				}
			})
		})
	}
}

// TestPausesGrow: without Retry-After they double up to 5 s, each at least half of that and never the same for all.
func TestPausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited []time.Duration
		s := &script{answers: []func(*http.Request) (*http.Response, error){lost}}
		_, err := scripted(t, s, &waited, client.WithMaxWait(time.Minute)).Board(t.Context(), "b")
		if err == nil || len(waited) < 12 {
			t.Fatalf("%d pauses, %v", len(waited), err)
		}
		for i, d := range waited {
			most := min(100*time.Millisecond<<i, 5*time.Second)
			if d < most/2 || d >= most {
				t.Errorf("pause %d is %s, want %s to %s", i+1, d, most/2, most)
			}
		}
	})
}

// TestForeignAnswers: the client recognizes an answer of another server, and reads no answer without a bound.
func TestForeignAnswers(t *testing.T) {
	var waited []time.Duration
	page := &script{answers: []func(*http.Request) (*http.Response, error){
		func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 404, Header: http.Header{"Content-Type": {"text/html"}}, Body: io.NopCloser(strings.NewReader("<h1>nginx</h1>"))}, nil
		},
	}}
	_, err := scripted(t, page, &waited).Board(t.Context(), "b")
	var p *client.Problem
	if !errors.As(err, &p) || p.Code() != "" || string(p.Answer) != "<h1>nginx</h1>" || errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("%+v", err)
	}
	endless := &script{answers: []func(*http.Request) (*http.Response, error){
		func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(zeros{})}, nil
		},
	}}
	if _, err := scripted(t, endless, &waited, client.WithMaxWait(0)).Board(t.Context(), "b"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("an endless answer: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"http://127.0.0.1:8080": true, "https://lb.example.org/": true, "http://host/prefix": true,
		"": false, "127.0.0.1:8080": false, "ftp://host": false, "http://": false, "http://host?x=1": false, "http://host#x": false,
	} {
		if _, err := client.New(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// stalled is a body that stops after its beginning, until the request is given up.
type stalled struct {
	ctx  context.Context
	left string
}

func (s *stalled) Read(p []byte) (int, error) {
	if s.left == "" {
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// TestBrokenExports: an export that stalls or is cut off ends with an error, never like a complete export.
func TestBrokenExports(t *testing.T) {
	const line = `{"strict_rank":1,"tied_rank":1,"member":"m","score":5,"tiebreak":0,"created_time":"2026-11-20T14:50:15Z"}` + "\n"
	for name, c := range map[string]struct {
		body func(context.Context) io.Reader
		want error
	}{
		"nothing more comes": {func(ctx context.Context) io.Reader { return &stalled{ctx, line} }, client.ErrTimeout},
		"it is cut off":      {func(context.Context) io.Reader { return strings.NewReader(line) }, io.EOF},
		"in a line":          {func(context.Context) io.Reader { return strings.NewReader(line + line[:20]) }, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var waited []time.Duration
				s := &script{answers: []func(*http.Request) (*http.Response, error){func(r *http.Request) (*http.Response, error) {
					h := http.Header{"Leaderboard-Seq": {"7"}, "Leaderboard-Total": {"2"}, "Leaderboard-As-Of": {"2026-11-20T14:50:15.332215Z"}}
					return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(c.body(r.Context()))}, nil
				}}}
				var got []string
				var last error
				for e, err := range scripted(t, s, &waited).ExportEntries(t.Context(), "b", client.ExportQuery{}) {
					if last = err; err == nil {
						got = append(got, e.Member)
					}
				}
				if len(got) != 1 || got[0] != "m" || !errors.Is(last, c.want) {
					t.Errorf("%v, then %v, want m and %v", got, last, c.want)
				}
			})
		})
	}
}

// TestAsksForCompression: of a server elsewhere, as package http does; not of one on this machine.
func TestAsksForCompression(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:8080": "identity", "http://[::1]:8080": "identity", "http://localhost:8080": "identity",
		"http://10.0.0.1:8080": "", "https://boards.example": "",
	} {
		var asked string
		answer := func(r *http.Request) (*http.Response, error) {
			asked = r.Header.Get("Accept-Encoding")
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
		}
		s := &script{answers: []func(*http.Request) (*http.Response, error){answer}}
		c, err := client.New(address, client.WithHTTPClient(&http.Client{Transport: s}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Top(t.Context(), "demo", client.TopQuery{}); err != nil || asked != want {
			t.Errorf("%s is asked with Accept-Encoding %q, want %q: %v", address, asked, want, err)
		}
	}
}

// TestOnAnswer: the function of WithOnAnswer gets each answer that is read as a whole, as it came, and no other.
func TestOnAnswer(t *testing.T) {
	t.Parallel()
	const body = `{"id":7,"state":"done","new":"member"}`
	var told []string
	c, err := client.New("http://127.0.0.1:1", client.WithHTTPClient(&http.Client{Transport: &script{answers: []func(*http.Request) (*http.Response, error){
		answer(200, body, 0), answer(404, `{"title":"None"}`, 0),
	}}}), client.WithMaxWait(0), client.WithOnAnswer(func(a *client.Answer) { told = append(told, string(a.Body)) }))
	must(t, err)
	run, err := c.Run(t.Context(), 7)
	if _, failed := c.Run(t.Context(), 8); err != nil || run.ID != 7 || failed == nil || len(told) != 1 || told[0] != body {
		t.Errorf("run %+v, %v, %v; told %q", run, err, failed, told)
	}
}
