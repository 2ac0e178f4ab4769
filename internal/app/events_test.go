package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// receiver is an endpoint of a test. It checks the signature of everything that it gets.
type receiver struct {
	*httptest.Server
	t      *testing.T
	mu     sync.Mutex
	secret string
	got    map[string][]string // bodies by webhook-id, in the order in which they came
	taken  map[string]bool     // ids that were answered with 2xx
	order  []string            // ids in the order in which they were taken

	// answer decides what an event is answered with; nil: 204.
	answer func(w http.ResponseWriter, r *http.Request, id string, attempt int) int
}

func newReceiver(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, id string, attempt int) int) *receiver {
	t.Helper()
	r := &receiver{t: t, got: map[string][]string{}, taken: map[string]bool{}, answer: answer}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP takes an event.
func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender was killed
	}
	id := r.Header.Get("webhook-id")
	rc.mu.Lock()
	if !signedBy(rc.secret, id, r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"), body) {
		rc.t.Errorf("event %s is not signed by the secret: %q", id, r.Header.Get("webhook-signature"))
	}
	if before := rc.got[id]; len(before) > 0 && before[0] != string(body) {
		rc.t.Errorf("event %s came with another body: %s, then %s", id, before[0], body)
	}
	rc.got[id] = append(rc.got[id], string(body))
	attempt := len(rc.got[id])
	rc.mu.Unlock()
	status := http.StatusNoContent
	if rc.answer != nil {
		status = rc.answer(w, r, id, attempt)
	}
	if status/100 == 2 {
		rc.mu.Lock()
		if !rc.taken[id] {
			rc.order = append(rc.order, string(body))
		}
		rc.taken[id] = true
		rc.mu.Unlock()
	}
	if status > 0 {
		w.WriteHeader(status)
	}
}

// signedBy reports whether one of the signatures is by a secret. The specification was read for this, not the sender.
func signedBy(secret, id, timestamp, signatures string, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	for s := range strings.FieldsSeq(signatures) {
		version, text, _ := strings.Cut(s, ",")
		sum, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && hmac.Equal(sum, mac.Sum(nil)) {
			return true
		}
	}
	return false
}

// has returns the events of a kind that were taken, each once.
func (rc *receiver) has(kind string) (bodies []map[string]any) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	for _, text := range rc.order {
		var body map[string]any
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			rc.t.Errorf("%s: %v", text, err)
		}
		if body["type"] == kind {
			bodies = append(bodies, body)
		}
	}
	return bodies
}

// subscribe makes an endpoint of a server that is this receiver.
func (rc *receiver) subscribe(a *testApp, name, more string) {
	rc.t.Helper()
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.secret = a.Ask(201, "PUT", "/v1/endpoints/"+name, `{"url":"`+rc.URL+`/hook","allow_private":true`+more+`}`).Text("secret")
}

// await waits until as many events of a kind were taken.
func (rc *receiver) await(kind string, n int) []map[string]any {
	rc.t.Helper()
	apptest.Eventually(rc.t, func() string {
		if have := len(rc.has(kind)); have < n {
			return fmt.Sprintf("%d of %d events of kind %s have come", have, n, kind)
		}
		return ""
	})
	return rc.has(kind)
}

func withEndpoints(c *Config) { c.PrivateEndpoints = true }

// TestEventsArrive: what happens to boards and members arrives, signed, and is listed as delivered.
func TestEventsArrive(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startReady(t, dsn(t), "", withEndpoints)
			rc := newReceiver(t, nil)
			rc.subscribe(a, "game", "")
			a.Ask(201, "PUT", "/v1/boards/b", `{}`)
			a.Ask(200, "PUT", "/v1/boards/b", `{"title":"B"}`)
			a.Ask(200, "PUT", "/v1/boards/b", `{"title":"B"}`) // which changes nothing
			a.Ask(200, "POST", "/v1/boards/b/scores", `{"entries":[{"member":"ada","score":10}]}`)
			a.Ask(200, "PUT", "/v1/boards/b/members/ada/hidden", `{"reason":"a bot"}`)
			a.Ask(200, "PUT", "/v1/boards/b/members/ada/hidden", `{"reason":"still a bot"}`)
			a.Ask(204, "DELETE", "/v1/boards/b/members/ada/hidden", "")
			a.Ask(204, "DELETE", "/v1/boards/b", "")
			a.Ask(204, "DELETE", "/v1/members/ada", "")
			rc.await("member.erased", 1)
			changes := []string{}
			for _, e := range rc.await("board.changed", 3) {
				changes = append(changes, fmt.Sprint(e["data"].(map[string]any)["change"]))
			}
			if len(changes) != 3 || !strings.Contains(strings.Join(changes, " "), "deleted") {
				t.Errorf("changes %v", changes)
			}
			if got := rc.has("member.erased")[0]["data"]; fmt.Sprint(got) != "map[member:ada]" {
				t.Errorf("erased: %v", got)
			}
			hidden := rc.has("member.hidden")
			if len(hidden) > 1 { // none when it was erased before it was delivered
				t.Errorf("hidden: %v", hidden)
			}
			apptest.Eventually(t, func() string {
				if e := a.Ask(200, "GET", "/v1/endpoints/game", ""); fmt.Sprint(e["waiting"]) != "0" || e["state"] != "on" {
					return fmt.Sprint("the endpoint: ", e)
				}
				return ""
			})
			for _, d := range a.Ask(200, "GET", "/v1/endpoints/game/deliveries?limit=100", "")["deliveries"].([]any) {
				if one := d.(map[string]any); one["state"] != "delivered" || fmt.Sprint(one["status"]) != "204" || fmt.Sprint(one["attempts"]) != "1" {
					t.Errorf("a delivery: %v", one)
				}
			}
		})
	}
}
