package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"leaderboard/internal/testenv"
)

var (
	curlURL    = regexp.MustCompile(`'http://127\.0\.0\.1:8080(/[^']*)'`)
	curlHeader = regexp.MustCompile(`-H '([^:']+): ([^']+)'`)
	curlMethod = regexp.MustCompile(`-X ([A-Z]+) `)
	curlData   = regexp.MustCompile(`-d '([^']*)'`)
)

// dependsOnTheDay are the fields that differ from one machine and day to the next.
var dependsOnTheDay = []string{"as_of", "created_time", "updated_time", "source", "next_cursor", "hidden_at"}

// TestReadme runs every curl line of the README against the demo board and compares the answers.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	a := startReady(t, map[string]string{"MYSQL_DSN": testenv.MySQL(t), "REDIS_URL": testenv.Redis(t)})
	if err := (&program{stdio: stdio{err: io.Discard}}).loadDemo(t.Context(), a.store, 5000); err != nil {
		t.Fatal(err)
	}
	lines, ran := strings.Split(string(readme), "\n"), 0
	for i, line := range lines {
		if !strings.HasPrefix(line, "$ curl ") {
			continue
		}
		ran++
		got, want := comparable(t, a.curl(line)), comparable(t, []byte(lines[i+1]))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n gives %v\n  want %v", line, got, want)
		}
	}
	if ran < 4 {
		t.Errorf("the README has %d curl lines with answers, want at least 4", ran)
	}
}

// curl does what a line of the README says, on the app.
func (a *testApp) curl(line string) []byte {
	a.t.Helper()
	path, method, body := curlURL.FindStringSubmatch(line), http.MethodGet, ""
	if data := curlData.FindStringSubmatch(line); data != nil {
		method, body = http.MethodPost, data[1]
	}
	if given := curlMethod.FindStringSubmatch(line); given != nil {
		method = given[1]
	}
	if path == nil {
		a.t.Fatalf("no address in %s", line)
	}
	req, err := http.NewRequestWithContext(a.t.Context(), method, "http://"+a.Addr()+path[1], strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	for _, h := range curlHeader.FindAllStringSubmatch(line, -1) {
		req.Header.Set(h[1], strings.Replace(h[2], "KEY", adminTestKey, 1))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return answer
}

// comparable is an answer without what depends on the day, wherever it stands.
func comparable(t *testing.T, answer []byte) any {
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
		for _, name := range dependsOnTheDay {
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
