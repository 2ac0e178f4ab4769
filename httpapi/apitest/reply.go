package apitest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Ask is one request of a test.
type Ask struct {
	Method, Path, Key, Body string
	Header                  http.Header
	Off                     bool // the request is well-formed for the server, but the document does not allow it
	Undocumented            bool // the document does not promise the answer, such as 500
}

// Reply is the answer to a request.
type Reply struct {
	T      testing.TB
	Status int
	Header http.Header
	Body   []byte
	Zipped []byte // the compressed body, if it was sent compressed
}

// Request returns the request as net/http has it.
func (a Ask) Request() *http.Request {
	r := httptest.NewRequest(a.Method, a.Path, strings.NewReader(a.Body))
	if a.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.Key != "" {
		r.Header.Set("Authorization", "Bearer "+a.Key)
	}
	for name, values := range a.Header {
		r.Header[name] = values
	}
	return r
}

// Unzip returns the text that another implementation of gzip reads.
func Unzip(t testing.TB, b []byte) []byte {
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

// Want checks the status and gives the reply back.
func (r Reply) Want(status int) Reply {
	r.T.Helper()
	if r.Status != status {
		r.T.Fatalf("answers %d, want %d\n%s", r.Status, status, wire.Clip(string(r.Body)))
	}
	return r
}

// WantProblem checks the status and the last part of the type.
func (r Reply) WantProblem(status int, code string) api.Problem {
	r.T.Helper()
	r.Want(status)
	p := r.Problem()
	if p.Type != "/problems/"+code {
		r.T.Fatalf("type is %s, want %s\n%s", p.Type, code, wire.Clip(string(r.Body)))
	}
	return p
}

// Problem reads the body of an error, which must be a complete problem.
func (r Reply) Problem() api.Problem {
	r.T.Helper()
	var p api.Problem
	if ct := r.Header.Get("Content-Type"); ct != "application/problem+json" {
		r.T.Fatalf("an answer %d has the type %q\n%s", r.Status, ct, wire.Clip(string(r.Body)))
	}
	if len(r.Body) == 0 { // HEAD
		return p
	}
	dec := json.NewDecoder(bytes.NewReader(r.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		r.T.Fatalf("not a problem: %s\n%s", err, wire.Clip(string(r.Body)))
	}
	if p.Status != r.Status || p.Title == "" || p.Detail == "" {
		r.T.Fatalf("the problem is incomplete or has another status than %d\n%s", r.Status, wire.Clip(string(r.Body)))
	}
	if id := r.Header.Get(wire.HeaderRequestID); id == "" || p.RequestID != id {
		r.T.Fatalf("the problem has the request id %q, its header %q\n%s", p.RequestID, id, wire.Clip(string(r.Body)))
	}
	if r.Status == http.StatusServiceUnavailable && r.Header.Get("Retry-After") == "" {
		r.T.Fatalf("503 without Retry-After\n%s", wire.Clip(string(r.Body)))
	}
	if bytes.Contains(r.Body, []byte("secret")) {
		r.T.Fatalf("the problem tells secrets\n%s", wire.Clip(string(r.Body)))
	}
	return p
}

// Decode reads the body into v, exactly.
func (r Reply) Decode(v any) {
	r.T.Helper()
	dec := json.NewDecoder(bytes.NewReader(r.Body))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		r.T.Fatalf("decode: %s\n%s", err, wire.Clip(string(r.Body)))
	}
}

// Rows are the members of a reading answer that most tests look at.
type Rows struct {
	Board, Window, Period, Mode, Source string
	Total, Seq                          int64
	AsOf                                leaderboard.Micros `json:"as_of"`
	Stale                               bool
	Entries                             []Row
	NotRanked                           []string `json:"not_ranked"`
	Next                                string   `json:"next_cursor"`
}

type Row struct {
	Rank, Position  int64
	Member          string
	Score, Tiebreak int64
	CreatedTime     leaderboard.Micros `json:"created_time"`
}

func (r Reply) Rows() Rows {
	r.T.Helper()
	var out Rows
	r.Want(http.StatusOK).Decode(&out)
	return out
}
