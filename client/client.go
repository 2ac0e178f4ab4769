package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

const (
	// DefaultTimeout is how long one attempt may take.
	DefaultTimeout = 10 * time.Second
	// DefaultMaxWait is how long a request is repeated.
	DefaultMaxWait = 30 * time.Second

	leastPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
	// retrySpread is the most that is added to Retry-After, which is in whole seconds, before a request is sent again.
	retrySpread = time.Second
	// maxAnswer bounds an answer that is not streamed; the largest has 1,001 entries with profiles.
	maxAnswer = 16 << 20
)

// Client talks to one server, or to several behind one address.
type Client struct {
	base     string // http://host:port
	near     bool   // the server is on this machine
	key      string
	http     *http.Client
	timeout  time.Duration
	maxWait  time.Duration
	onRetry  func(Retry)
	onAnswer func(*Answer)
}

// Option configures a new Client.
type Option func(*Client)

// WithKey sends a bearer key with every request. Without one, only public boards can be read.
func WithKey(key string) Option { return func(c *Client) { c.key = key } }

// WithHTTPClient sends requests through h. Its own Timeout would cut streams off: leave it 0 and use WithTimeout.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithTimeout bounds one attempt, by default DefaultTimeout. For a stream it bounds the wait for each part.
func WithTimeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// WithMaxWait bounds how long a request is repeated, by default DefaultMaxWait; 0 sends every request once.
func WithMaxWait(d time.Duration) Option { return func(c *Client) { c.maxWait = d } }

// WithOnRetry calls f before each pause, on the calling goroutine.
func WithOnRetry(f func(Retry)) Option { return func(c *Client) { c.onRetry = f } }

// WithOnAnswer calls f with each whole answer, before a typed method decodes it, on the calling goroutine. The answer
// has what the typed methods do not show.
func WithOnAnswer(f func(*Answer)) Option { return func(c *Client) { c.onAnswer = f } }

// Retry is a failed attempt that will be repeated.
type Retry struct {
	Attempt int           // the failed one, from 1
	Err     error         // why it failed
	Pause   time.Duration // until the next one
}

// New returns a client of the server at an address such as http://127.0.0.1:8080, which may have a path in front of the
// API's own. Nothing is sent.
func New(server string, options ...Option) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the address of a server is like http://127.0.0.1:8080, not %q", server)
	}
	c := &Client{
		base: strings.TrimSuffix(server, "/"), near: leaderboard.IsThisMachine(u.Hostname()), http: &http.Client{}, timeout: DefaultTimeout, maxWait: DefaultMaxWait,
		onRetry: func(Retry) {}, onAnswer: func(*Answer) {},
	}
	for _, o := range options {
		o(c)
	}
	return c, nil
}

// Request is one call of the API.
type Request struct {
	Method string
	Path   string // below the server's address, escaped
	Query  url.Values
	Header http.Header
	Body   any // encoded as JSON, nil for none

	// Timeout is added to the client's own for this request, for slow routes.
	Timeout time.Duration
	// Once: the request is never repeated, because a second one would have another effect.
	Once bool

	maybeDone bool // an attempt of this call may have been carried out
}

// Answer is the whole of a 2xx answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	own bool // an attempt before this one may have been carried out: a replay may be the call's own work
}

// Decode reads the body into a value.
func (a *Answer) Decode(into any) error {
	if err := json.Unmarshal(a.Body, into); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return nil
}

// Do sends a request, repeats it while that may help, and returns the 2xx answer. Any other answer is a *Problem. The typed
// methods use it; call it for parts of an answer that they do not return.
func (c *Client) Do(ctx context.Context, r Request) (*Answer, error) {
	var out *Answer
	err := c.repeat(ctx, &r, func(ctx context.Context, r *Request) error {
		ctx, cancel := context.WithTimeoutCause(ctx, c.timeout+r.Timeout, &timedOut{c.base})
		defer cancel()
		resp, err := c.send(ctx, r)
		if err != nil {
			return because(ctx, err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
		if err != nil {
			return because(ctx, fmt.Errorf("read the answer: %w", err))
		}
		if len(body) > maxAnswer {
			return fmt.Errorf("read the answer: it has more than %d bytes", maxAnswer)
		}
		out = &Answer{resp.StatusCode, resp.Header, body, r.maybeDone}
		c.onAnswer(out)
		return nil
	})
	return out, err
}

// ErrTimeout is in the error of an attempt, or of a stream, that took longer than the client allows.
var ErrTimeout = errors.New("no answer in time")

// timedOut is the cause that attempts are canceled with.
type timedOut struct{ base string }

func (e *timedOut) Error() string        { return "no answer from " + e.base + " in time" }
func (e *timedOut) Is(target error) bool { return target == ErrTimeout }

// because replaces the error of a canceled context by the cause of the cancellation.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
		return cause
	}
	return err
}

// call sends a request and reads the answer into a value of type T.
func call[T any](ctx context.Context, c *Client, r Request) (T, error) {
	var out T
	answer, err := c.Do(ctx, r)
	if err == nil {
		err = answer.Decode(&out)
	}
	return out, err
}

// get asks for a path with the parameters of a query of package api, nil for none, and decodes the answer.
func get[T any](ctx context.Context, c *Client, path string, query any) (T, error) {
	return call[T](ctx, c, Request{Method: http.MethodGet, Path: path, Query: api.Values(query)})
}

// drop sends a request and ignores the content of the answer.
func (c *Client) drop(ctx context.Context, r Request) error {
	_, err := c.Do(ctx, r)
	return err
}

// send makes one attempt and returns a 2xx answer, whose body the caller closes. Any other answer is a *Problem.
func (c *Client) send(ctx context.Context, r *Request) (*http.Response, error) {
	req, err := c.newRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, &connectionError{fmt.Errorf("ask %s: %w", c.base, err)}
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, readProblem(resp)
}

// connectionError means that no answer arrived, or not all of it.
type connectionError struct{ error }

func (e *connectionError) Unwrap() error { return e.error }

func (c *Client) newRequest(ctx context.Context, r *Request) (*http.Request, error) {
	var body io.Reader
	if r.Body != nil {
		encoded, err := json.Marshal(r.Body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	target := c.base + r.Path
	if len(r.Query) > 0 {
		target += "?" + r.Query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, target, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if c.near { // package http would ask for gzip, which on one machine takes longer than sending the bytes
		req.Header.Set("Accept-Encoding", "identity")
	}
	for name, values := range r.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	return req, nil
}

// repeat makes attempts until one succeeds, fails for good, or the time is over. If the server asks for a pause, repeat adds up
// to a second. Otherwise the pause doubles from leastPause to mostPause, each between half of it and the whole, so that clients
// that failed together do not return together.
func (c *Client) repeat(ctx context.Context, r *Request, attempt func(context.Context, *Request) error) error {
	deadline := time.Now().Add(c.maxWait)
	for n, pause := 1, leastPause; ; n, pause = n+1, min(2*pause, mostPause) {
		err := attempt(ctx, r)
		if err == nil || r.Once || ctx.Err() != nil || !mayPass(err) {
			return err
		}
		r.maybeDone = r.maybeDone || mayBeDone(err)
		wait := pause/2 + rand.N(pause/2)
		if p, ok := errors.AsType[*Problem](err); ok && p.RetryAfter > 0 {
			wait = p.RetryAfter + rand.N(retrySpread)
		}
		if time.Until(deadline) < wait {
			return err
		}
		c.onRetry(Retry{n, err, wait})
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// mayPass reports whether the next attempt may succeed after an error.
func mayPass(err error) bool {
	if p, ok := errors.AsType[*Problem](err); ok {
		if p.Run != nil {
			return false // the next one would repeat the same long work
		}
		switch p.Status {
		case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return false
	}
	_, lost := errors.AsType[*connectionError](err)
	return lost || errors.Is(err, ErrTimeout) || errors.Is(err, io.ErrUnexpectedEOF)
}

// mayBeDone reports whether the server may have carried out the attempt that ended with an error.
func mayBeDone(err error) bool {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.Status != http.StatusTooManyRequests && p.Code() != "overloaded"
	}
	dial, ok := errors.AsType[*net.OpError](err)
	return !ok || dial.Op != "dial"
}

// Path joins the parts of a path below /v1, each escaped, for a Request.
func Path(parts ...string) string {
	var b strings.Builder
	b.WriteString("/v1")
	for _, part := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(part))
	}
	return b.String()
}
