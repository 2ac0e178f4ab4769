package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/features/events"
	"leaderboard/features/featuretest"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// receiver is an endpoint of a test.
type receiver struct {
	*apptest.Receiver
	t *testing.T
}

func newReceiver(t *testing.T, answer func(r *http.Request, attempt int) int) *receiver {
	t.Helper()
	return &receiver{apptest.NewReceiver(t, answer), t}
}

// has returns the events of a kind that were taken, each once.
func (rc *receiver) has(kind string) (bodies []map[string]any) {
	for _, e := range rc.Events() {
		if !e.Taken {
			continue
		}
		var body map[string]any
		if err := json.Unmarshal([]byte(e.Body), &body); err != nil {
			rc.t.Errorf("%s: %v", e.Body, err)
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
	rc.Subscribe(func(url string) string {
		return a.Ask(201, "PUT", "/v1/endpoints/"+name, `{"url":"`+url+`/hook","allow_private":true`+more+`}`).Text("secret")
	})
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

func withEndpoints(c *Config) { c.AllowPrivate = true }

// TestEventsArrive: events of boards and members arrive, signed, and are listed as delivered.
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

// TestNoEventIsLost: receivers fail half of the time or at each first attempt, answer late, or accept nothing at all. Each event
// arrives at every receiver that accepts events, under one id and with the same bytes; the dead receiver holds up no other; two
// servers share the sending, and the sending server is stopped in the middle (promise B9).
func TestNoEventIsLost(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	soon := func(c *Config) { featuretest.SettingsOf[events.Settings](c.Features).Retry = 50 * time.Millisecond } // so that an event that fails again and again comes soon enough for a test
	first, second := startReady(t, dsn, "", withEndpoints, soon), startReady(t, dsn, "", withEndpoints, soon)
	stop := make(chan struct{})
	var requests atomic.Int64
	half := newReceiver(t, func(_ *http.Request, attempt int) int {
		if attempt <= 4 && requests.Add(1)%2 == 0 { // a fifth failure in a row, and the wait after it, could take longer than the test
			return 503
		}
		return 204
	})
	later := newReceiver(t, func(_ *http.Request, attempt int) int {
		if attempt == 1 {
			return 503
		}
		return 204
	})
	late := newReceiver(t, func(r *http.Request, _ int) int {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-r.Context().Done():
		}
		return 204
	})
	hangs := newReceiver(t, func(r *http.Request, _ int) int {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
		return 0
	})
	t.Cleanup(func() { close(stop) }) // before the receivers are closed
	half.subscribe(first, "half", `,"kinds":["board.changed"]`)
	later.subscribe(first, "later", `,"kinds":["board.changed"]`)
	late.subscribe(first, "late", `,"kinds":["board.changed"]`)
	hangs.subscribe(first, "hangs", `,"kinds":["board.changed"]`)
	const boards = 60
	for i := range boards {
		s := []*testApp{first, second}[i%2]
		if i > boards/2 {
			s = second
		}
		s.Ask(201, "PUT", fmt.Sprint("/v1/boards/b", i), `{}`)
		if i == boards/2 {
			first.stop()
		}
	}
	late.await("board.changed", boards)
	half.await("board.changed", boards)
	later.await("board.changed", boards)
	for _, rc := range []*receiver{half, late, later} {
		seen := map[any]bool{}
		for _, e := range rc.has("board.changed") {
			seen[e["data"].(map[string]any)["board"]] = true
		}
		if len(seen) != boards {
			t.Errorf("events of %d boards, want %d", len(seen), boards)
		}
	}
	if e := second.Ask(200, "GET", "/v1/endpoints/hangs", ""); fmt.Sprint(e["waiting"]) != fmt.Sprint(boards) {
		t.Errorf("%v events wait for the one that takes none", e["waiting"])
	}
}

// TestGoneEndpoint: 410 turns an endpoint off. Put again, it gets the events that it missed. Deleted while an event is sent to it,
// it leaves no rows.
func TestGoneEndpoint(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), "", withEndpoints)
	var gone atomic.Bool
	gone.Store(true)
	arrived, release := make(chan struct{}, 10), make(chan struct{})
	rc := newReceiver(t, func(*http.Request, int) int {
		if gone.Load() {
			return http.StatusGone
		}
		arrived <- struct{}{}
		<-release
		return 204
	})
	rc.subscribe(a, "game", "")
	a.Ask(201, "PUT", "/v1/boards/b", `{}`)
	apptest.Eventually(t, func() string {
		if e := a.Ask(200, "GET", "/v1/endpoints/game", ""); e["state"] != "gone" || e["enabled"] != false {
			return fmt.Sprint(e)
		}
		return ""
	})
	gone.Store(false)
	a.Ask(200, "PUT", "/v1/endpoints/game", `{"url":"`+rc.URL+`/hook","allow_private":true}`)
	apptest.Eventually(t, func() string {
		select {
		case <-arrived:
			return ""
		default:
			return "what it missed has not come"
		}
	})
	a.Ask(204, "DELETE", "/v1/endpoints/game", "")
	close(release)
	rc.await("board.changed", 1)
	a.Ask(404, "GET", "/v1/endpoints/game", "")
}
