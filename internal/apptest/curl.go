package apptest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Curl runs a curl line of a document on this server; KEY in it is AdminKey. A GET is made as by Fresh.
func (s *Server) Curl(line string) []byte {
	s.T.Helper()
	var (
		address = regexp.MustCompile(`'http://127\.0\.0\.1:8080(/[^']*)'`)
		header  = regexp.MustCompile(`-H '([^':]+): ([^']+)'`)
		verb    = regexp.MustCompile(`-X ([A-Z]+) `)
		content = regexp.MustCompile(`-d '([^']*)'`)
	)
	path, method, body := address.FindStringSubmatch(line), http.MethodGet, ""
	if data := content.FindStringSubmatch(line); data != nil {
		method, body = http.MethodPost, data[1]
	}
	if given := verb.FindStringSubmatch(line); given != nil {
		method = given[1]
	}
	if path == nil {
		s.T.Fatalf("no address in %s", line)
	}
	req, err := http.NewRequestWithContext(s.T.Context(), method, s.URL+path[1], strings.NewReader(body))
	if err != nil {
		s.T.Fatal(err)
	}
	for _, h := range header.FindAllStringSubmatch(line, -1) {
		req.Header.Set(h[1], strings.Replace(h[2], "KEY", AdminKey, 1))
	}
	ask := s.do
	if method == http.MethodGet {
		ask = s.fresh
	}
	_, answer := ask(req)
	return answer
}

// dependsOnTheDay lists the fields that differ from one machine and day to the next.
func dependsOnTheDay() []string {
	return []string{"as_of", "created_time", "updated_time", "source", "next_cursor", "hidden_at", "request_id"}
}

// Comparable returns an answer without the fields that depend on the day, at any depth.
func Comparable(t *testing.T, answer []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatalf("%s: %s", answer, err)
	}
	blank(v)
	return v
}

func blank(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range dependsOnTheDay() {
			if _, ok := v[name]; ok {
				v[name] = "…"
			}
		}
		for _, inner := range v {
			blank(inner)
		}
	case []any:
		for _, inner := range v {
			blank(inner)
		}
	}
}
