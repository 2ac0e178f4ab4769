package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// asker asks the API, in the name of whoever looks at the page.
type asker struct{ api http.Handler }

// get asks for path and reads the answer into out. The status is the answer's.
func (a asker) get(r *http.Request, path string, query url.Values, out any) (status int, err error) {
	inner, err := http.NewRequestWithContext(r.Context(), http.MethodGet, path, http.NoBody)
	if err != nil {
		return 0, fmt.Errorf("ask for %s: %w", path, err)
	}
	inner.URL.RawQuery = query.Encode()
	inner.RemoteAddr = r.RemoteAddr
	for _, name := range []string{"X-Forwarded-For", "X-Request-Id"} {
		if v, ok := r.Header[name]; ok {
			inner.Header[name] = v
		}
	}
	answer := answer{header: http.Header{}}
	a.api.ServeHTTP(&answer, inner)
	if answer.status == http.StatusOK {
		if err := json.Unmarshal(answer.body.Bytes(), out); err != nil {
			return 0, fmt.Errorf("read the answer to %s: %w", path, err)
		}
	}
	return answer.status, nil
}

// answer keeps an answer of the API.
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
