package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/trace"
)

// spans is a Tracer that writes its ended spans down.
type spans struct{ ended []string }

// Request begins a span.
func (s *spans) Request(name string, _ http.Header) trace.Recorder { return &span{all: s, name: name} }

// span is one of them.
type span struct {
	all    *spans
	name   string
	failed bool
	status any
}

func (s *span) Begin(string, trace.Kind) trace.Recorder { return s }
func (s *span) Set(attrs ...slog.Attr) {
	for _, a := range attrs {
		if a.Key == "http.response.status_code" {
			s.status = a.Value.Any()
		}
	}
}
func (s *span) Link(trace.Recorder) {}
func (s *span) Fail(error)          { s.failed = true }
func (s *span) End() {
	s.all.ended = append(s.all.ended, fmt.Sprint(s.name, " ", s.status, " failed: ", s.failed))
}
func (s *span) Sampled() bool         { return true }
func (s *span) IDs() (string, string) { return "t", "s" }

// TestPanicsAreCounted: a panic is counted as 500 and ends the span of its request, also when part of an answer is out.
func TestPanicsAreCounted(t *testing.T) {
	all, status := &spans{}, 0
	part := false
	e := newEnv(t, func(c *Config) {
		c.Tracer = all
		c.Routes = []Route{On("exportEntries", func(c *Call) error {
			if part {
				c.SendNothing(http.StatusOK)
			}
			panic("secret of the inside")
		})}
		c.Observer = observed{request: func(a RequestInfo) { status = a.Status }}
	})
	for _, part = range []bool{false, true} {
		all.ended, status = nil, 0
		func() {
			defer func() {
				if p, ok := recover().(error); ok && !errors.Is(p, http.ErrAbortHandler) {
					t.Errorf("recovered %v", p)
				}
			}()
			e.api.ServeHTTP(httptest.NewRecorder(), apitest.Ask{Method: "GET", Path: "/v1/boards/demo/export", Key: apitest.AdminKey}.Request())
		}()
		if want := "GET /v1/boards/{board}/export 500 failed: true"; status != 500 || len(all.ended) != 1 || all.ended[0] != want {
			t.Errorf("part is out: %t: counted as %d, and these spans have ended: %q, want %q", part, status, all.ended, want)
		}
	}
}
