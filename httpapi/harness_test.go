package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"leaderboard/api"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// The keys of the tests.
const (
	noKey    = ""
	readKey  = "read-secret"
	writeKey = "write-secret"
	adminKey = "admin-secret"
)

// env is an API over a fake. Every request and response that goes through it is held against openapi.yaml.
type env struct {
	t    testing.TB
	api  *API
	fake *fake
}

func newEnv(t testing.TB, change ...func(*Config)) *env {
	f := newFake()
	cfg := Config{
		Pages:   fakePages,
		Catalog: f, Rankings: f, Feed: f, Writer: f, Boards: f, Periods: f, Refresher: f, Runs: f, Derived: f, Exports: f, Changes: f, Records: f, Activity: f,
		Hidden: f, Held: f, Review: f, Profiles: f, Members: f, MemberFinder: f, MemberData: f, Erasures: f, Friends: f, Issuers: f.issuers, Signing: f.issuers, Bars: f.issuers, Plays: f, Keys: f.keys,
		Audit: f.audit, Status: f, Endpoints: f.endpoints, Keyring: f.keys, Players: f.players, SignIn: fakePeople{}, Site: "http://localhost", Build: Build{"v1", "abc"},
		Health:       func(context.Context) Health { return f.health },
		Metrics:      http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") }),
		SettingsKeys: []SettingsKey{{Scope: leaderboard.ScopeRead, Secret: readKey}, {Scope: leaderboard.ScopeWrite, Secret: writeKey}, {Scope: leaderboard.ScopeAdmin, Secret: adminKey}},
	}
	cfg.Limits.StandingWait = time.Minute // few tests are about a late one
	for _, c := range change {
		c(&cfg)
	}
	return &env{t: t, api: New(cfg), fake: f}
}

// document is openapi.yaml as kin-openapi reads it, with its router.
var document = sync.OnceValues(func() (*openapi3.T, routers.Router) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		panic(err)
	}
	for _, plain := range []string{"text/html", "text/csv", "application/jsonl", "application/x-ndjson", "text/event-stream", "image/png"} {
		openapi3filter.RegisterBodyDecoder(plain, openapi3filter.PlainBodyDecoder)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		panic(err)
	}
	return doc, router
})

// ask is one request of a test.
type ask struct {
	method, path, key, body string
	header                  http.Header
	off                     bool // the request is well-formed for the server, yet not as documented
	undocumented            bool // the answer is one that the document does not promise: 500
}

// reply is what came back.
type reply struct {
	t      testing.TB
	status int
	header http.Header
	body   []byte
	zipped []byte // what was sent, when it was sent compressed
}

// unzip is what another implementation of gzip reads.
func unzip(t testing.TB, b []byte) []byte {
	t.Helper()
	in, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (e *env) get(key, path string) reply {
	return e.do(ask{method: http.MethodGet, path: path, key: key})
}

func (e *env) post(key, path, body string) reply {
	return e.do(ask{method: http.MethodPost, path: path, key: key, body: body})
}

func (e *env) put(key, path, body string) reply {
	return e.do(ask{method: http.MethodPut, path: path, key: key, body: body})
}

func (e *env) delete(key, path string) reply {
	return e.do(ask{method: http.MethodDelete, path: path, key: key})
}

func (a ask) request() *http.Request {
	r := httptest.NewRequest(a.method, a.path, strings.NewReader(a.body))
	if a.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.key != "" {
		r.Header.Set("Authorization", "Bearer "+a.key)
	}
	for name, values := range a.header {
		r.Header[name] = values
	}
	return r
}

// do serves the request in this goroutine and checks both sides of it.
func (e *env) do(a ask) reply {
	e.t.Helper()
	w := httptest.NewRecorder()
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	e.api.ServeHTTP(leaver{w, leave}, a.request().WithContext(ctx))
	out := reply{t: e.t, status: w.Code, header: w.Result().Header, body: w.Body.Bytes()}
	if out.header.Get("Content-Encoding") == "gzip" && a.method != http.MethodHead {
		out.zipped, out.body = out.body, unzip(e.t, out.body)
	}
	if id := out.header[wire.HeaderRequestID]; len(id) != 1 || !wire.ValidRequestID(id[0]) {
		e.t.Fatalf("%s %s: the answer %d has the request id %q", a.method, a.path, out.status, id)
	}
	if !a.undocumented {
		checkAgainstDocument(e.t, a, out)
	}
	return out
}

// leaver is a client that leaves a stream when it has been sent something.
type leaver struct {
	*httptest.ResponseRecorder
	leave func()
}

// Flush implements http.Flusher.
func (l leaver) Flush() {
	l.ResponseRecorder.Flush()
	if l.Header().Get("Content-Type") == "text/event-stream" {
		l.leave()
	}
}

// checkAgainstDocument fails the test when an answer is not as openapi.yaml says, or when the server accepted what
// openapi.yaml does not allow.
func checkAgainstDocument(t testing.TB, a ask, got reply) {
	t.Helper()
	if got.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Fatalf("%s %s: browsers may guess what the answer is", a.method, a.path)
	}
	_, router := document()
	r := a.request()
	if strings.Contains(a.path, "numbers=string") && got.header.Get("Content-Type") == wire.TypeJSON { // the document has them as numbers
		got.body = wire.AppendNumbers(nil, got.body, false)
	}
	if r.Method == http.MethodHead {
		r.Method = http.MethodGet
	}
	route, params, err := router.FindRoute(r)
	if err != nil {
		got.problem() // what is not in the document is a problem
		if got.status != http.StatusNotFound && got.status != http.StatusMethodNotAllowed {
			t.Fatalf("%s %s is not in the document and answers %d", a.method, a.path, got.status)
		}
		return
	}
	request, response := "", responseSchema(route, got.status, got.header.Get("Content-Type"))
	if a.body != "" {
		request = requestSchema(route, r.Header.Get("Content-Type"))
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, SkipSettingDefaults: true,
			ExcludeResponseBody:     a.method == http.MethodHead || got.status == http.StatusNotModified || got.status == http.StatusFound,
			ExcludeRequestBody:      request != "",
			SchemaValidationOptions: []openapi3.SchemaValidationOption{openapi3.EnableFormatValidation()},
		},
	}
	if got.status < 400 && !a.off {
		err := openapi3filter.ValidateRequest(t.Context(), in)
		if err == nil && request != "" {
			err = bodySchemas().check(request, []byte(a.body))
		}
		if err != nil {
			t.Fatalf("%s %s answers %d to what the document does not allow: %s", a.method, a.path, got.status, err)
		}
	}
	if response != "" && !in.Options.ExcludeResponseBody {
		in.Options.ExcludeResponseBody = true
		err = bodySchemas().check(response, got.body)
	}
	err = errors.Join(err, openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: got.status, Header: got.header,
		Body: io.NopCloser(bytes.NewReader(got.body)), Options: in.Options,
	}))
	if err != nil {
		t.Fatalf("%s %s: the answer %d is not as documented: %s\n%s", a.method, a.path, got.status, err, wire.Clip(string(got.body)))
	}
	isPage := got.header.Get("Content-Type") == "text/html" // and the document has it
	if got.status >= 400 && route.Path != "/readyz" && !isPage {
		got.problem()
	}
}

// want checks the status and gives the reply back.
func (r reply) want(status int) reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("answers %d, want %d\n%s", r.status, status, wire.Clip(string(r.body)))
	}
	return r
}

// wantProblem checks the status and the last part of the type.
func (r reply) wantProblem(status int, code string) wire.Problem {
	r.t.Helper()
	r.want(status)
	p := r.problem()
	if p.Type != "/problems/"+code {
		r.t.Fatalf("type is %s, want %s\n%s", p.Type, code, wire.Clip(string(r.body)))
	}
	return p
}

// problem reads the body as what every error is.
func (r reply) problem() wire.Problem {
	r.t.Helper()
	var p wire.Problem
	if ct := r.header.Get("Content-Type"); ct != "application/problem+json" {
		r.t.Fatalf("an answer %d has the type %q\n%s", r.status, ct, wire.Clip(string(r.body)))
	}
	if len(r.body) == 0 { // HEAD
		return p
	}
	dec := json.NewDecoder(bytes.NewReader(r.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		r.t.Fatalf("not a problem: %s\n%s", err, wire.Clip(string(r.body)))
	}
	if p.Status != r.status || p.Title == "" || p.Detail == "" {
		r.t.Fatalf("the problem is incomplete or has another status than %d\n%s", r.status, wire.Clip(string(r.body)))
	}
	if id := r.header.Get(wire.HeaderRequestID); id == "" || p.RequestID != id {
		r.t.Fatalf("the problem has the request id %q, its header %q\n%s", p.RequestID, id, wire.Clip(string(r.body)))
	}
	if r.status == http.StatusServiceUnavailable && r.header.Get("Retry-After") == "" {
		r.t.Fatalf("503 without Retry-After\n%s", wire.Clip(string(r.body)))
	}
	if bytes.Contains(r.body, []byte("secret")) {
		r.t.Fatalf("the problem tells secrets\n%s", wire.Clip(string(r.body)))
	}
	return p
}

// decode reads the body into v, exactly.
func (r reply) decode(v any) {
	r.t.Helper()
	dec := json.NewDecoder(bytes.NewReader(r.body))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		r.t.Fatalf("decode: %s\n%s", err, wire.Clip(string(r.body)))
	}
}

// rows is what most tests look at in a reading answer.
type rows struct {
	Board, Window, Period, Mode, Source string
	Total, Seq                          int64
	AsOf                                leaderboard.Micros `json:"as_of"`
	Stale                               bool
	Entries                             []row
	NotRanked                           []string `json:"not_ranked"`
	Next                                string   `json:"next_cursor"`
}

type row struct {
	Rank, Position  int64
	Member          string
	Score, Tiebreak int64
	CreatedTime     leaderboard.Micros `json:"created_time"`
}

func (r reply) rows() rows {
	r.t.Helper()
	var out rows
	r.want(http.StatusOK).decode(&out)
	return out
}

// board makes a board with the given rules and entries, past the API.
func (e *env) board(name string, rules leaderboard.Rules, entries ...leaderboard.Submission) {
	e.t.Helper()
	ctx := context.Background()
	if _, _, err := e.fake.PutBoard(ctx, name, rules.WithDefaults()); err != nil {
		e.t.Fatal(err)
	}
	if len(entries) > 0 {
		if _, err := e.fake.Submit(ctx, leaderboard.SubmitRequest{Board: name, Entries: entries}); err != nil {
			e.t.Fatal(err)
		}
	}
}

// classic returns the table of the classic exercise: scores with their times in seconds.
func classic() []leaderboard.Submission {
	var out []leaderboard.Submission
	for _, e := range []struct {
		id         string
		score, sec int64
	}{
		{"1", 90, 1534429870},
		{"2", 80, 1534429871},
		{"3", 82, 1534412273},
		{"4", 96, 1534429243},
		{"5", 100, 1534429133},
		{"6", 5, 1534429273},
		{"7", 8, 1534429823},
		{"8", 80, 1534429801},
	} {
		created := leaderboard.Micros(e.sec * 1_000_000)
		out = append(out, leaderboard.Submission{Member: e.id, Score: e.score, CreatedTime: &created})
	}
	return out
}
