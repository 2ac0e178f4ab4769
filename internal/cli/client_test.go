package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/apptest"
)

// answering starts a server that gives its answers one after another, the last one again and again.
func answering(t *testing.T, answers ...http.HandlerFunc) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1))
		answers[min(n, len(answers))-1](w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func problemAnswer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json; charset=utf-8")
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestSubmitRepeatsUnderOneKey(t *testing.T) {
	var keys []string
	note := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
			next(w, r)
		}
	}
	done := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"results":[{"member":"a","status":"applied","score":1,"previous_score":null}],"seq":7}`))
	}
	unknown := problemAnswer(503, `{"type":"/problems/outcome-unknown","title":"The outcome is unknown"}`)
	url, asked := answering(t, note(unknown), note(unknown), note(done))
	status, out, errOut := runWith(t, nil, "submit", "--url", url, "b", "a=1")
	if status != exitOK || !strings.Contains(out, "seq 7") {
		t.Fatalf("status %d, %q, %q", status, out, errOut)
	}
	if asked.Load() != 3 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] {
		t.Errorf("asked %d times under the keys %q", asked.Load(), keys)
	}
	if _, _, _ = runWith(t, nil, "submit", "--url", url, "b", "a=1"); keys[3] == keys[0] {
		t.Error("two submits have the same key")
	}
}

func TestSubmitGivesUp(t *testing.T) {
	url, asked := answering(t, problemAnswer(503, `{"title":"The server is busy"}`))
	start := time.Now()
	status, _, errOut := runWith(t, nil, "submit", "--url", url, "--timeout", "2s", "b", "a=1")
	if status != exitFailed || !strings.Contains(errOut, "503: The server is busy") {
		t.Errorf("status %d, %q", status, errOut)
	}
	if asked.Load() < 2 || time.Since(start) > apptest.MaxWait {
		t.Errorf("asked %d times in %s", asked.Load(), time.Since(start))
	}
	// Every other status than 503 is final.
	url, asked = answering(t, problemAnswer(422, `{"title":"No","errors":[{"pointer":"/entries/0/score","detail":"too great"}]}`))
	status, _, errOut = runWith(t, nil, "submit", "--url", url, "b", "a=1")
	if status != exitFailed || asked.Load() != 1 || !strings.Contains(errOut, "/entries/0/score: too great") {
		t.Errorf("status %d, asked %d times, %q", status, asked.Load(), errOut)
	}
}

func TestOtherServers(t *testing.T) {
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		timeout string
		want    string
	}{
		"not ours":       {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) }, "1m", "no answer of a leaderboard server"},
		"not JSON":       {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "1m", "read the answer"},
		"broken problem": {problemAnswer(500, `{`), "1m", "no answer of a leaderboard server"},
		"too slow": {func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, "300ms", "in time; --timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := answering(t, c.answer)
			status, out, errOut := runWith(t, nil, "top", "--url", url, "--timeout", c.timeout, "b")
			if status != exitFailed || out != "" || !strings.Contains(errOut, c.want) {
				t.Errorf("status %d, %q, %q; want %q", status, out, errOut, c.want)
			}
		})
	}
}

func TestRequestsCarryWhatWasSaid(t *testing.T) {
	var got *http.Request
	var body map[string]any
	url, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(context.WithoutCancel(r.Context()))
		body = nil
		_ = json.NewDecoder(r.Body).Decode(&body)
		_, _ = w.Write([]byte(`{"entries":[{"rank":1,"member":"x"}]}`)) // one is ranked
	})
	ask := func(args ...string) {
		t.Helper()
		if status, _, errOut := runWith(t, map[string]string{"LEADERBOARD_KEY": "k", "LEADERBOARD_URL": url + "/"}, args...); status != exitOK {
			t.Fatalf("%v: status %d, %s", args, status, errOut)
		}
	}
	ask("rank", "b", "a/b%2F ö", "--mode", "dense", "--min-seq", "5")
	if got.URL.EscapedPath() != "/v1/boards/b/members/a%2Fb%252F%20%C3%B6" || got.URL.RawQuery != "min_seq=5&mode=dense" {
		t.Errorf("asked for %s?%s", got.URL.EscapedPath(), got.URL.RawQuery)
	}
	if got.Header.Get("Authorization") != "Bearer k" {
		t.Errorf("authorization %q", got.Header.Get("Authorization"))
	}
	ask("rank", "b", "x", "y")
	if got.Method != http.MethodPost || got.URL.Path != "/v1/boards/b/ranks" || len(body["members"].([]any)) != 2 {
		t.Errorf("%s %s %v", got.Method, got.URL, body)
	}
	ask("board", "put", "b", "--mode", "tied", "--top-n", "5")
	if got.Method != http.MethodPatch || body["mode"] != "tied" || body["top_n"] != 5.0 || len(body) != 2 {
		t.Errorf("%s %s %v", got.Method, got.URL, body)
	}
	ask("submit", "b", "a=b=-9223372036854775808", "--tiebreak", "7", "--idempotency-key", "once")
	entry, _ := body["entries"].([]any)[0].(map[string]any)
	if entry["member"] != "a=b" || entry["tiebreak"] != 7.0 || got.Header.Get("Idempotency-Key") != "once" {
		t.Errorf("%v under %q", entry, got.Header.Get("Idempotency-Key"))
	}
}

func TestBoardListWalksAllPages(t *testing.T) {
	url, asked := answering(t,
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/status" {
				t.Errorf("asked for %s", r.URL)
			}
			_, _ = w.Write([]byte(`{"server":{},"boards":[{"board":"b","entries":1234}]}`))
		},
		func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"boards":[{"name":"a"}],"next_cursor":"x y"}`))
		},
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("cursor") != "x y" {
				t.Errorf("cursor %q", r.URL.Query().Get("cursor"))
			}
			_, _ = w.Write([]byte(`{"boards":[{"name":"b","title":"tab\there"}]}`))
		})
	_, out, errOut := runWith(t, nil, "board", "list", "--url", url)
	if asked.Load() != 3 || !strings.Contains(out, "\na ") || !strings.Contains(out, `"tab\there"`) || !strings.Contains(out, "1234") {
		t.Errorf("asked %d times: %q %q", asked.Load(), out, errOut)
	}
}

func TestReachable(t *testing.T) {
	for in, want := range map[string]string{
		":8080": "127.0.0.1:8080", "0.0.0.0:8080": "127.0.0.1:8080", "[::]:1": "127.0.0.1:1", "10.0.0.1:2": "10.0.0.1:2", "example:3": "example:3",
	} {
		if got := reachable(in); got != want {
			t.Errorf("%s is asked at %s, want %s", in, got, want)
		}
	}
}

func TestHealth(t *testing.T) {
	for name, c := range map[string]struct {
		path   string
		status int
		body   string
		exit   int
		want   string
	}{
		"works":     {"/livez", 200, `{"status":"ok"}`, exitOK, "ok"},
		"not ours":  {"/livez", 200, `<html>`, exitFailed, "no leaderboard server"},
		"ready":     {"/readyz", 200, `{"status":"ok","checks":{"redis":"ok","mysql":"ok"}}`, exitOK, "ok, mysql: ok, redis: ok"},
		"draining":  {"/readyz", 503, `{"status":"draining"}`, exitFailed, "draining"},
		"not ready": {"/readyz", 503, `{"status":"unavailable","checks":{"mysql":"unreachable"}}`, exitFailed, "mysql: unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			url, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != c.path {
					t.Errorf("asked for %s", r.URL)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			})
			args := []string{"health", "--listen", strings.TrimPrefix(url, "http://")}
			if c.path == "/readyz" {
				args = append(args, "--ready")
			}
			status, out, errOut := runWith(t, nil, args...)
			if status != c.exit || !strings.Contains(out+errOut, c.want) {
				t.Errorf("status %d, %q, %q", status, out, errOut)
			}
		})
	}
}

func TestIssuerShowsPassedOver(t *testing.T) {
	url, _ := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"name":"i","passed_over":[{"kid":"o\u001b","reason":"is secret"},{"kid":"","reason":"has 1024 bits"}]}`))
	})
	status, out, _ := runWith(t, nil, "issuer", "show", "--url", url, "i")
	if want := "not used: the key \"o\\x1b\" is secret\nnot used: the key \"\" has 1024 bits\n"; status != exitOK || !strings.HasSuffix(out, want) {
		t.Errorf("status %d, %q", status, out)
	}
}
