package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"testing"
	"time"
)

const adminKey = "e2e-admin-key"

// answer is what a request led to.
type answer struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
}

// decode reads the body of a 200.
func (a answer) decode(into any) error {
	if a.status != http.StatusOK {
		return fmt.Errorf("status %d: %s", a.status, a.body)
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		return fmt.Errorf("%w in %s", err, a.body)
	}
	return nil
}

// problem is the type of an answer that is an error.
func (a answer) problem() string {
	var p struct{ Type string }
	if json.Unmarshal(a.body, &p) != nil {
		return ""
	}
	return p.Type
}

// entry is an entry of a page.
type entry struct {
	Rank   int64  `json:"rank"`
	Member string `json:"member"`
	Score  int64  `json:"score"`
}

// page answers top and around; a single member's answer fits too.
type page struct {
	Total   int64   `json:"total"`
	Seq     int64   `json:"seq"`
	Source  string  `json:"source"`
	Stale   bool    `json:"stale"`
	Entries []entry `json:"entries"`
	entry
}

type result struct {
	Member   string `json:"member"`
	Status   string `json:"status"`
	Score    int64  `json:"score"`
	Previous *int64 `json:"previous_score"`
}

type receipt struct {
	Seq     int64    `json:"seq"`
	Results []result `json:"results"`
}

type run struct {
	ID      int64  `json:"id"`
	Kind    string `json:"kind"`
	Reason  string `json:"reason"`
	State   string `json:"state"`
	FromSeq int64  `json:"from_seq"`
	ToSeq   int64  `json:"to_seq"`
	Rows    int64  `json:"rows"`
	Error   string `json:"error"`
}

type verification struct {
	Equal      bool   `json:"equal"`
	Seq        int64  `json:"seq"`
	Checked    int64  `json:"checked"`
	Difference any    `json:"difference"`
	Detail     string `json:"detail"`
}

// submission is one entry of POST …/scores.
type submission struct {
	Member string `json:"member"`
	Score  int64  `json:"score"`
}

// client asks one server.
type client struct {
	url  string
	http *http.Client
}

func newClient(t *testing.T, url string) *client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 1024}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{url: url, http: &http.Client{Transport: transport, Timeout: maxWait}}
}

// call sends one request. body is encoded as JSON, nil for none; header are names and values. The error is that no
// answer came.
func (c *client) call(ctx context.Context, method, path string, body any, header ...string) (answer, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		content = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+adminKey)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	start := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	content2, err := io.ReadAll(resp.Body)
	took := time.Since(start)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return answer{}, err
	}
	return answer{resp.StatusCode, resp.Header, content2, took}, nil
}

// get reads into a value; anything but a 200 is an error.
func (c *client) get(ctx context.Context, path string, into any) error {
	a, err := c.call(ctx, http.MethodGet, path, nil)
	if err == nil {
		err = a.decode(into)
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}

// submit sends entries under an idempotency key, "" for none.
func (c *client) submit(ctx context.Context, board, key string, entries ...submission) (answer, error) {
	var header []string
	if key != "" {
		header = []string{"Idempotency-Key", key}
	}
	return c.call(ctx, http.MethodPost, "/v1/boards/"+board+"/scores", map[string]any{"entries": entries}, header...)
}

// mustSubmit submits and returns the receipt.
func (c *client) mustSubmit(t *testing.T, board string, entries ...submission) receipt {
	t.Helper()
	a, err := c.submit(t.Context(), board, "", entries...)
	var r receipt
	if err == nil {
		err = a.decode(&r)
	}
	if err != nil {
		t.Fatalf("submit to %s: %s", board, err)
	}
	return r
}

// rebuild forces a full build and waits for its end.
func (c *client) rebuild(ctx context.Context, board string) (run, error) {
	a, err := c.call(ctx, http.MethodPost, "/v1/boards/"+board+"/rebuild?wait=30s", map[string]string{"kind": "full"})
	var r run
	if err == nil {
		err = a.decode(&r)
	}
	return r, err
}

func (c *client) mustRebuild(t *testing.T, board string) run {
	t.Helper()
	r, err := c.rebuild(t.Context(), board)
	if err == nil && r.State != "done" && r.State != "shared" {
		err = fmt.Errorf("its run is %+v", r)
	}
	if err != nil {
		t.Fatalf("rebuild %s: %s", board, err)
	}
	return r
}

// runs are the runs of a board, newest first, at most 1,000.
func (c *client) runs(ctx context.Context, board string) ([]run, error) {
	var list struct{ Runs []run }
	err := c.get(ctx, "/v1/runs?limit=1000&board="+board, &list)
	return list.Runs, err
}

// verify compares a board's copy with MySQL. No copy is an error, and so is a difference.
func (c *client) verify(ctx context.Context, board string) (verification, error) {
	var v verification
	err := c.get(ctx, "/v1/boards/"+board+"/verify", &v)
	switch {
	case err != nil:
	case !v.Equal:
		err = fmt.Errorf("the copy differs: %+v", v)
	case v.Checked == 0:
		err = errNoCopy
	}
	return v, err
}

var errNoCopy = errors.New("there is no copy")

// jsonEqual compares two documents apart from their spelling.
func jsonEqual(got []byte, want string) bool {
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && reflect.DeepEqual(a, b)
}
