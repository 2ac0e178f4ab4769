// Package apptest sends requests to a server of a test: the curl lines of the documents, and requests whose answer must have
// a certain status. It also has an endpoint for its events.
package apptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Keys that the servers of tests know.
const (
	AdminKey = "test-admin-key"
	WriteKey = "test-write-key"
)

// MaxWait is longer than any wait of a test on a busy machine.
const MaxWait = time.Minute

// Buffer is a log that is written and read at the same time.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends to the log.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns the log so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Brief returns the part of a log that helps to understand a failure: its warnings and errors, and its end.
func Brief(log string) string {
	const end = 20
	lines := strings.Split(strings.TrimSpace(log), "\n")
	var out []string
	left := 0
	for i, line := range lines {
		if i < len(lines)-end && (strings.Contains(line, "level=DEBUG") || strings.Contains(line, "level=INFO")) {
			left++
			continue
		}
		out = append(out, line)
	}
	return fmt.Sprintf("%d lines left out\n%s", left, strings.Join(out, "\n"))
}

// Server is a server under test.
type Server struct {
	T   *testing.T
	URL string // http://host:port

	states, stale atomic.Int64 // answers to Fresh with a state, and how many of them were stale at first
}

// Eventually polls until check returns "". When that takes too long, it fails the test with the last text.
func Eventually(t *testing.T, check func() string) {
	t.Helper()
	deadline := time.Now().Add(MaxWait)
	for {
		said := check()
		if said == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still: %s", said)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// Await polls a path until it has the status.
func (s *Server) Await(path string, status int) {
	s.T.Helper()
	Eventually(s.T, func() string {
		got, body := s.Get(path)
		if got == status {
			return ""
		}
		return path + " says " + string(body)
	})
}

// Get reads a path without a key; the status is 0 without an answer.
func (s *Server) Get(path string) (int, []byte) {
	resp, err := http.Get(s.URL + path)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return resp.StatusCode, body
}

// Fresh reads a path with AdminKey. On a busy machine any answer may be stale: then it asks again, for MaxWait at most.
func (s *Server) Fresh(path string) (status int, body []byte) {
	s.T.Helper()
	return s.fresh(s.request(http.MethodGet, path, ""))
}

// fresh sends a request without a body.
func (s *Server) fresh(req *http.Request) (status int, body []byte) {
	s.T.Helper()
	stale := func() bool { return bytes.Contains(body, []byte(`"stale":true`)) }
	if status, body = s.do(req); bytes.Contains(body, []byte(`"stale":`)) {
		s.states.Add(1)
	}
	if stale() {
		s.stale.Add(1)
	}
	for deadline := time.Now().Add(MaxWait); stale() && time.Now().Before(deadline); status, body = s.do(req) {
		<-time.After(20 * time.Millisecond)
	}
	return status, body
}

// MostlyFresh fails the test when more than a quarter of the answers to Fresh were stale at first.
func (s *Server) MostlyFresh() {
	s.T.Helper()
	if states, stale := s.states.Load(), s.stale.Load(); stale > states/4 {
		s.T.Errorf("%d of %d answers are stale", stale, states)
	}
}

// Object is a JSON object; numbers keep their text.
type Object map[string]any

// Text returns a member that is a string, a number or a boolean as text.
func (o Object) Text(name string) string {
	switch v := o[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return ""
}

// List returns the values of one field of the objects in a list, separated by spaces.
func (o Object) List(name, field string) string {
	var out []string
	items, _ := o[name].([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			out = append(out, Object(m).Text(field))
		}
	}
	return strings.Join(out, " ")
}

// Ask calls the API with the admin key and fails the test unless the status is the one wanted.
func (s *Server) Ask(status int, method, path, body string, header ...http.Header) Object {
	s.T.Helper()
	req := s.request(method, path, body)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		maps.Copy(req.Header, h)
	}
	got, answer := s.do(req)
	if got != status {
		s.T.Fatalf("%s %s: status %d, want %d: %s", method, path, got, status, answer)
	}
	out := Object{}
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil && len(answer) > 0 {
		s.T.Fatalf("%s %s: %s in %s", method, path, err, answer)
	}
	return out
}

// request makes a request with AdminKey.
func (s *Server) request(method, path, body string) *http.Request {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+AdminKey)
	return req
}

func (s *Server) do(req *http.Request) (status int, body []byte) {
	s.T.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.T.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		s.T.Fatal(err)
	}
	return resp.StatusCode, body
}

// FreeAddress returns an address at which nobody listens, so that it refuses connections and may be taken.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
