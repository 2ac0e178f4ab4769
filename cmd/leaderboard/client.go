package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxAnswer bounds what is read of an answer; the greatest one has 1,001 entries.
const maxAnswer = 16 << 20

// client asks a server over HTTP.
type client struct {
	base string // http://host:port
	key  string // bearer key, "" for none
	http *http.Client
}

func newClient(cfg *config) *client {
	return &client{base: cfg.url, key: cfg.key, http: &http.Client{Timeout: cfg.timeout}}
}

// ask makes one request. With --json the answer is printed as it came and done is true, otherwise it is in into.
func (p *program) ask(ctx context.Context, cfg *config, r request, into any) (done bool, err error) {
	body, _, err := newClient(cfg).do(ctx, r)
	if err != nil {
		return false, err
	}
	if cfg.json {
		return true, passJSON(p.out, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	return false, nil
}

// askAndShow makes one request and shows the answer: as it came with --json, by show otherwise. It is in into either way.
func (p *program) askAndShow(ctx context.Context, cfg *config, r request, into any, show func() error) error {
	body, _, err := newClient(cfg).do(ctx, r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if cfg.json {
		return passJSON(p.out, body)
	}
	return show()
}

// request is one call. Body is encoded as JSON, nil for none.
type request struct {
	method string
	path   string // escaped
	query  url.Values
	body   any
	header http.Header
}

// problem is an answer that is an error, RFC 9457.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Errors []struct {
		Pointer   string `json:"pointer"`
		Parameter string `json:"parameter"`
		Detail    string `json:"detail"`
	} `json:"errors"`
	retryAfter time.Duration
}

// Error is the problem in words, with what to do about it where that is known.
func (p *problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the server answered %d", p.Status)
	if p.Title != "" {
		fmt.Fprintf(&b, ": %s", p.Title)
	}
	if p.Detail != "" {
		fmt.Fprintf(&b, ": %s", p.Detail)
	}
	for _, e := range p.Errors {
		fmt.Fprintf(&b, "\n  %s: %s", cmp.Or(e.Pointer, e.Parameter), e.Detail)
	}
	switch p.Status {
	case http.StatusUnauthorized:
		b.WriteString("\n  give a key with --key or LEADERBOARD_KEY")
	case http.StatusForbidden:
		b.WriteString("\n  this key's scope is not enough; give another one with --key or LEADERBOARD_KEY")
	}
	return b.String()
}

// do calls the server and returns the body of a 2xx answer and its status. Any other answer is a *problem.
func (c *client) do(ctx context.Context, r request) ([]byte, int, error) {
	resp, err := c.send(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, 0, c.explain(err)
	}
	return answer, resp.StatusCode, nil
}

// send calls the server and returns a 2xx answer, whose body the caller closes. Any other answer is a *problem.
func (c *client) send(ctx context.Context, r request) (*http.Response, error) {
	req, err := c.newRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.explain(err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, c.explain(err)
	}
	return nil, readProblem(resp, answer)
}

func (c *client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	target := c.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	return req, nil
}

// explain says what to do when the server could not be asked.
func (c *client) explain(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) && failed.Timeout() {
		return fmt.Errorf("no answer from %s in time; --timeout says how long to wait: %w", c.base, failed.Err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("no server at %s: start one with `leaderboard dev` or `leaderboard serve`, or say where it is with --url: %w", c.base, err)
	}
	return fmt.Errorf("ask %s: %w", c.base, err)
}

func readProblem(resp *http.Response, body []byte) error {
	p := &problem{}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if kind != "application/problem+json" || json.Unmarshal(body, p) != nil {
		*p = problem{Detail: "this is no answer of a leaderboard server; is --url right?"}
	}
	p.Status = resp.StatusCode
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		p.retryAfter = time.Duration(seconds) * time.Second
	}
	return p
}

// boardPath is the path of a board, of a resource below it when parts are given.
func boardPath(board string, parts ...string) string {
	path := "/v1/boards/" + url.PathEscape(board)
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}
