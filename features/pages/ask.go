package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// asker asks the API as the reader of the page, and keeps the answers.
type asker struct {
	api     http.Handler
	reader  *http.Request
	answers map[string]string // answers by address, which the page's script then need not ask for again
	worst   *rejection        // the first failure
	wait    time.Duration     // for the next answer
}

const (
	// maxWait is how long a page waits for an answer: a reader should not wait for long while a database hangs.
	maxWait = 2 * time.Second
	// shortWait applies after a question had no answer in time.
	shortWait = 300 * time.Millisecond
)

// newAsker makes an asker for one request.
func newAsker(api http.Handler, r *http.Request) *asker {
	return &asker{api: api, reader: r, answers: map[string]string{}, wait: maxWait}
}

// get asks for path and decodes the answer into out. It returns nil, or a rejection.
func (a *asker) get(path string, query url.Values, out any) (*rejection, error) {
	r := a.reader
	ctx, cancel := context.WithTimeout(r.Context(), a.wait)
	defer cancel()
	inner, err := http.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	inner.URL.RawQuery = query.Encode()
	if told, ok := a.answers[inner.URL.RequestURI()]; ok { // it was asked for already
		return nil, json.Unmarshal([]byte(told), out)
	}
	inner.RemoteAddr = r.RemoteAddr
	for _, name := range []string{"X-Forwarded-For", "X-Request-Id"} {
		if v, ok := r.Header[name]; ok {
			inner.Header[name] = v
		}
	}
	answer := answer{header: http.Header{}}
	a.api.ServeHTTP(&answer, inner)
	if answer.status == http.StatusServiceUnavailable {
		a.wait = shortWait
	}
	if answer.status != http.StatusOK {
		return answer.rejection(), nil
	}
	if err := json.Unmarshal(answer.body.Bytes(), out); err != nil {
		return nil, fmt.Errorf("read the answer to %s: %w", path, err)
	}
	a.answers[inner.URL.RequestURI()] = answer.body.String()
	return nil, nil
}

// need is get for the subject of the page: the page shows its first failure.
func (a *asker) need(path string, query url.Values, out any) bool {
	problem, err := a.get(path, query, out)
	if err != nil {
		panic(err) // the server answers 500 and logs it
	}
	if problem != nil && a.worst == nil {
		a.worst = problem
	}
	return problem == nil
}

// aside is get for additions to the page that its script does not need. It reports whether there is an answer.
func (a *asker) aside(path string, query url.Values, out any) bool {
	problem, err := a.get(path, query, out)
	delete(a.answers, path+"?"+query.Encode())
	return err == nil && problem == nil
}

// answer records an answer of the API.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// rejection decodes a problem. A board that needs a key looks as if it did not exist.
func (a *answer) rejection() *rejection {
	out := &rejection{Status: a.status, RetryAfter: a.header.Get("Retry-After")}
	_ = json.Unmarshal(a.body.Bytes(), out) // an answer that is no problem adds nothing
	if out.Status = a.status; out.Status == http.StatusUnauthorized || out.Status == http.StatusForbidden {
		*out = rejection{Status: http.StatusNotFound}
	}
	return out
}
