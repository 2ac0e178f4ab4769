package httpapi

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// TestRequestID: an id that is fit for it is taken, any other is replaced, and two requests never get the same one.
// env.do holds every answer of the tests to having one, and every problem to having the same.
func TestRequestID(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{}, apitest.Classic()...)
	made := map[string]bool{}
	for _, c := range []struct {
		given []string
		taken bool
	}{
		{[]string{"0af7651916cd43dd8448eb211c80319c"}, true},
		{[]string{"!~" + strings.Repeat("x", wire.MaxRequestID-2)}, true},
		{nil, false},
		{[]string{""}, false},
		{[]string{strings.Repeat("x", wire.MaxRequestID+1)}, false},
		{[]string{"a b"}, false},
		{[]string{"a\tb"}, false},
		{[]string{"a\x7f"}, false},
		{[]string{"ä"}, false},
		{[]string{"one", "two"}, false},
	} {
		for path, status := range map[string]int{"/v1/boards/b/top": 200, "/v1/boards/none/top": 404, "/nowhere": 404, "/livez": 200, "/v1/runs": 401} {
			a := apitest.Ask{Method: http.MethodGet, Path: path, Header: http.Header{}}
			if c.given != nil {
				a.Header[wire.HeaderRequestID] = c.given
			}
			id := e.Do(a).Want(status).Header.Get(wire.HeaderRequestID)
			switch {
			case c.taken && id != c.given[0]:
				t.Errorf("%s: %q becomes %q", path, c.given, id)
			case !c.taken && (len(id) != 24 || made[id]):
				t.Errorf("%s: for %q the id %q is made, the second time: %t", path, c.given, id, made[id])
			}
			made[id] = true
		}
	}
	etag := e.Get(apitest.NoKey, "/v1/boards/b/top").Header.Get("Etag")
	e.Do(apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/b/top", Header: http.Header{"If-None-Match": {etag}}}).Want(http.StatusNotModified)
}

// TestRequestIDIsPassedOn: the id is in the log, in the events for observers, and in the caller of a change.
func TestRequestIDIsPassedOn(t *testing.T) {
	const id = "id-of-the-client"
	var log bytes.Buffer
	var heard []string
	e := newEnv(t, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.Observer = observed{request: func(a RequestInfo) { heard = append(heard, a.RequestID) }}
	})
	e.Board("b", leaderboard.Rules{})
	w := &callerWriter{}
	e.api.handlers.scores.writer = w
	header := http.Header{wire.HeaderRequestID: {id}}
	e.Do(apitest.Ask{Method: http.MethodPost, Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: `{"entries":[{"member":"m","score":5}]}`, Header: header}).Want(http.StatusOK)
	if want := (leaderboard.Caller{Key: "env:write", RequestID: id}); w.caller != want {
		t.Errorf("the writer is called by %+v, want %+v", w.caller, want)
	}
	e.fake.Fails["Page"] = errors.New("something inside")
	e.Do(apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/b/top", Header: header, Undocumented: true}).WantProblem(http.StatusInternalServerError, wire.CodeInternal)
	if !strings.Contains(log.String(), "request_id="+id) || strings.Join(heard, " ") != id+" "+id {
		t.Errorf("heard of %q, logged: %s", heard, log.String())
	}
}

// callerWriter remembers who called it.
type callerWriter struct {
	fixedWriter
	caller leaderboard.Caller
}

func (w *callerWriter) Submit(ctx context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error) {
	w.caller = leaderboard.CallerOf(ctx)
	return leaderboard.Receipt{Results: []leaderboard.Result{{Member: r.Entries[0].Member, Status: leaderboard.StatusApplied}}, Seq: 1}, nil
}

// BenchmarkRequestID measures the cost of an id for each request.
func BenchmarkRequestID(b *testing.B) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	h := http.Header{}
	b.ReportAllocs()
	for b.Loop() {
		c := Call{response: response{R: r, W: discard{h}}}
		c.identify()
	}
}
