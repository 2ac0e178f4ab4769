package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// TestErrorsToStatuses: each error has its status, bare and wrapped, and its text stays inside.
func TestErrorsToStatuses(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{leaderboard.ErrBoardNotFound, 404, "board-not-found"},
		{leaderboard.ErrPeriodNotFound, 404, "period-not-found"},
		{leaderboard.ErrNotRanked, 404, "not-ranked"},
		{leaderboard.ErrRunNotFound, 404, "run-not-found"},
		{leaderboard.ErrBoardConflict, 409, "board-conflict"},
		{leaderboard.ErrSeqAhead, 409, "seq-ahead"},
		{leaderboard.ErrKeyReused, 422, "idempotency-key-reused"},
		{leaderboard.ErrOverloaded, 503, "overloaded"},
		{leaderboard.ErrUnavailable, 503, "unavailable"},
		{leaderboard.ErrOutcomeUnknown, 503, "outcome-unknown"},
		{context.DeadlineExceeded, 503, "timeout"},
		{errors.New("secret"), 500, "internal"},
		{leaderboard.ErrLogPruned, 500, "internal"},
		{fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, leaderboard.ErrOutcomeUnknown), 503, "outcome-unknown"},
		{&leaderboard.RuleError{Code: leaderboard.CodeBoardEnded, Detail: "the board ended"}, 422, "board-ended"},
		{&leaderboard.RuleError{Code: "rule-of-tomorrow"}, 500, "internal"},
	} {
		for _, err := range []error{c.err, fmt.Errorf("secret: %w", c.err)} {
			e.fake.Fails["Page"] = err
			e.Board("b", leaderboard.Rules{})
			r := e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/b/top", Undocumented: true})
			r.WantProblem(c.status, c.code)
			if retry, err := strconv.Atoi(r.Header.Get("Retry-After")); (err == nil && retry > 0) != (c.status == 503) {
				t.Errorf("%s: Retry-After is %q", c.code, r.Header.Get("Retry-After"))
			}
			if r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s can be kept", c.code)
			}
		}
	}
}

// TestReadsDoNothing: that nothing was done is said of writes only.
func TestReadsDoNothing(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	for _, err := range []error{leaderboard.ErrOverloaded, leaderboard.ErrUnavailable} {
		e.fake.Fails["Page"], e.fake.Fails["Submit"] = err, err
		read := e.Get(apitest.NoKey, "/v1/boards/b/top").Want(503)
		write := e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1}]}`).Want(503)
		if bytes.Contains(read.Body, []byte("Nothing was done")) || !bytes.Contains(write.Body, []byte("Nothing was done.")) {
			t.Errorf("%v: a read is told %s, a write %s", err, read.Body, write.Body)
		}
	}
}

// TestTableIsComplete: every rule that an input can break has its row, and every row is complete.
func TestTableIsComplete(t *testing.T) {
	codes := ruleCodes(t)
	if len(codes) < 8 {
		t.Fatalf("found only the codes %v", codes)
	}
	others := map[string]int{"condition-unmet": 412, "aborted": 409, "override-not-allowed": 403}
	for _, code := range codes {
		want := 422
		if status, ok := others[code]; ok {
			want = status
		}
		if k := wire.KindOf(code); k.Code != code || k.Status != want {
			t.Errorf("%s is answered with %d %s", code, k.Status, k.Code)
		}
	}
	seen := map[string]bool{}
	for _, k := range wire.Kinds {
		if seen[k.Code] || k.Title == "" || k.Detail == "" || k.Help == "" || k.Status < 400 {
			t.Errorf("the row of %s is incomplete or there twice", k.Code)
		}
		seen[k.Code] = true
		if (k.Status == 503 || k.Status == 429) != (k.Wait > 0) {
			t.Errorf("%s: 503 and 429 and nothing else has Retry-After", k.Code)
		}
	}
}

// ruleCodes returns the values of the constants of package leaderboard that name a rule.
func ruleCodes(t *testing.T) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "../leaderboard/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Code") {
			code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, code)
		}
		return true
	})
	return codes
}

// TestPanic: a panic is a 500 without text, and logged with all of it but for the key of the request.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	var status int
	e := newEnv(t, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.Observer = observed{request: func(a RequestInfo) { status = a.Status }}
	})
	e.Board("b", leaderboard.Rules{})
	key := e.Key(leaderboard.ScopeRead, nil)
	e.fake.Panics = true
	e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/b/top", Key: key, Undocumented: true}).WantProblem(500, wire.CodeInternal)
	if secret := key[strings.LastIndex(key, "_")+1:]; strings.Contains(log.String(), secret[:12]) {
		t.Errorf("the key is in the log: %s", log.String())
	}
	if status != 500 || !strings.Contains(log.String(), "secret of the inside") || !strings.Contains(log.String(), "apitest/fake.go") {
		t.Errorf("counted as %d, logged: %s", status, log.String())
	}
	e.fake.Panics = false
	e.Get(apitest.NoKey, "/v1/boards/b/top").Want(200)
}

// TestPanicOfPage: a page that panics before it has begun its answer is a 500, not the end of the connection.
func TestPanicOfPage(t *testing.T) {
	var status int
	e := newEnv(t, func(c *Config) {
		c.Observer = observed{request: func(a RequestInfo) { status = a.Status }}
		c.Pages = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a fault of a template") })
		}
	})
	e.Do(apitest.Ask{Method: http.MethodGet, Path: "/boards/b", Undocumented: true}).WantProblem(500, wire.CodeInternal)
	if status != 500 {
		t.Errorf("counted as %d", status)
	}
}

func TestInternalErrorIsLogged(t *testing.T) {
	var log bytes.Buffer
	e := newEnv(t, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	e.Board("b", leaderboard.Rules{})
	e.fake.Fails["Page"] = errors.New("secret of the inside")
	e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/b/top", Key: apitest.ReadKey, Undocumented: true}).WantProblem(500, wire.CodeInternal)
	if !strings.Contains(log.String(), "secret of the inside") || strings.Contains(log.String(), apitest.ReadKey) {
		t.Errorf("logged: %s", log.String())
	}
}

// TestMaxConcurrent: a request beyond MaxConcurrent is refused at once; health is still answered.
func TestMaxConcurrent(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Limits.MaxConcurrent = 1 })
	e.Board("b", leaderboard.Rules{})
	w := gateWriter{entered: make(chan struct{}), gate: make(chan struct{})}
	e.api.handlers.scores.writer = w
	done := make(chan apitest.Reply, 1)
	go func() {
		defer close(done) // also when the answer is not as documented, which ends this goroutine
		done <- e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":5}]}`)
	}()
	<-w.entered
	e.Get(apitest.NoKey, "/v1/boards").WantProblem(503, wire.CodeOverloaded)
	e.Get(apitest.NoKey, "/livez").Want(200)
	close(w.gate)
	(<-done).Want(200)
	e.Get(apitest.NoKey, "/v1/boards").Want(200)
}

// gateWriter says when a submit has arrived and lets it go when the gate is closed.
type gateWriter struct {
	fixedWriter
	entered, gate chan struct{}
}

func (w gateWriter) Submit(context.Context, leaderboard.SubmitRequest) (leaderboard.Receipt, error) {
	close(w.entered)
	<-w.gate
	return leaderboard.Receipt{Results: []leaderboard.Result{{Member: "m", Status: leaderboard.StatusApplied}}, Seq: 1}, nil
}

func TestRequestAnswered(t *testing.T) {
	var got []string
	e := newEnv(t, func(c *Config) {
		c.Observer = observed{request: func(a RequestInfo) {
			got = append(got, fmt.Sprintf("%s %s %d", a.Method, a.Route, a.Status))
			if a.Took <= 0 || a.RequestID == "" {
				t.Errorf("%s took %s, its id is %q", a.Route, a.Took, a.RequestID)
			}
		}}
	})
	e.Board("b", leaderboard.Rules{}, apitest.Classic()...)
	etag := e.Get(apitest.NoKey, "/v1/boards/b/top").Header.Get("Etag")
	e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/b/top", Header: http.Header{"If-None-Match": {etag}}})
	e.Do(apitest.Ask{Method: "HEAD", Path: "/v1/boards/b/members/5"})
	e.Do(apitest.Ask{Method: "BREW", Path: "/v1/boards/b/members/5"})
	e.Get(apitest.NoKey, "/wp-admin")
	e.Get(apitest.NoKey, "/metrics")
	want := []string{
		"GET /v1/boards/{board}/top 200", "GET /v1/boards/{board}/top 304", "HEAD /v1/boards/{board}/members/{member} 200",
		"OTHER  405", "GET  404", "GET /metrics 200",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
