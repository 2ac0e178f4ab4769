package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"leaderboard/client"
)

// tracing is a transport that sends the trace of a context on, as OpenTelemetry's does.
type tracing struct{ http.RoundTripper }

// traceKey is the key of a traceparent in a context.
type traceKey struct{}

// RoundTrip sends a request with its trace.
func (t tracing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if parent, ok := r.Context().Value(traceKey{}).(string); ok {
		r.Header.Set("traceparent", parent)
	}
	return t.RoundTripper.RoundTrip(r)
}

// TestTraceIsSentOn: every attempt has the context of the call, so a transport can send its trace on; a Request may have it in
// its header.
func TestTraceIsSentOn(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got = append(got, r.Header.Get("traceparent")); len(got) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.WithHTTPClient(&http.Client{Transport: tracing{http.DefaultTransport}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Board(context.WithValue(t.Context(), traceKey{}, parent), "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), client.Request{Method: http.MethodGet, Path: client.Path("boards", "b"), Header: http.Header{"traceparent": {parent}}}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0] != parent || got[1] != parent || got[2] != parent {
		t.Errorf("the server got the traces %q", got)
	}
}
