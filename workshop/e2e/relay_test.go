package e2e

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// relay stands between a client and the running server. It can hold back a submit of the client, or its answer.
type relay struct {
	url      string
	server   atomic.Pointer[url.URL]
	requests atomic.Int64 // submits that came
	answers  atomic.Int64 // and were answered by a server

	// The submit with this number is held back: before the server gets it, or its answer. held gets a value then. The
	// connection breaks when the client goes away, or when lose receives.
	holdRequest, holdAnswer atomic.Int64
	held, lose              chan struct{}
}

func newRelay(t *testing.T, s *server) *relay {
	t.Helper()
	r := &relay{held: make(chan struct{}), lose: make(chan struct{})}
	r.to(t, s)
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { p.SetURL(r.server.Load()) },
		ModifyResponse: r.answered,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // as if there were no relay
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	relayed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost && r.requests.Add(1) == r.holdRequest.Load() {
			r.hold(req)
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(relayed.Close)
	r.url = relayed.URL
	return r
}

// to switches the relay to another server.
func (r *relay) to(t *testing.T, s *server) {
	t.Helper()
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	r.server.Store(target)
}

func (r *relay) answered(resp *http.Response) error {
	if resp.Request.Method == http.MethodPost && r.answers.Add(1) == r.holdAnswer.Load() {
		r.hold(resp.Request)
		return errors.New("the answer is lost")
	}
	return nil
}

// hold waits until the connection must break.
func (r *relay) hold(req *http.Request) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body) // a client that goes away is noticed after the body
	}
	r.held <- struct{}{}
	select {
	case <-req.Context().Done():
	case <-r.lose:
	}
}
