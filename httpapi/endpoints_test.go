package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// TestEndpoints: an endpoint is made, shown without its secret, changed, rotated and deleted.
func TestEndpoints(t *testing.T) {
	e := newEnv(t)
	const path, body = "/v1/endpoints/game", `{"url":"https://game.example/hooks","kinds":["period.closed"],"boards":["game1-*"]}`
	made := e.put(adminKey, path, body).want(201)
	var shown struct{ Secret, State string }
	if made.decode(&shown); !strings.HasPrefix(shown.Secret, "whsec_") || shown.State != "on" || made.header.Get("Cache-Control") != "no-store" || made.header.Get("Location") != path {
		t.Errorf("made %s, %v", made.body, made.header)
	}
	for _, r := range []reply{e.get(adminKey, path), e.get(adminKey, "/v1/endpoints"), e.put(adminKey, path, body)} {
		if r.want(200); strings.Contains(string(r.body), "whsec_") || !strings.Contains(string(r.body), `"boards":["game1-*"]`) {
			t.Errorf("shown: %s", r.body)
		}
	}
	if r := e.put(adminKey, path, `{"url":"https://game.example/other","enabled":false}`).want(200); !strings.Contains(string(r.body), `"state":"off"`) || !strings.Contains(string(r.body), `"kinds":null`) {
		t.Errorf("changed: %s", r.body)
	}
	rotated := e.post(adminKey, path+"/rotate", `{"overlap":"24h"}`).want(200)
	if text := string(rotated.body); !strings.Contains(text, `"secret":"whsec_`) || strings.Contains(text, `"previous_secret_until":null`) || strings.Contains(text, shown.Secret) {
		t.Errorf("rotated: %s", text)
	}
	e.post(adminKey, path+"/rotate", `{"overlap":"721h"}`).wantProblem(400, wire.CodeMalformed)
	e.fake.endpoints.attempt = leaderboard.Attempt{Status: 500, Error: "the answer was 500"}
	if r := e.post(adminKey, path+"/test", "").want(200); string(r.body) != `{"delivered":false,"status":500,"error":"the answer was 500","took":"12ms"}` {
		t.Errorf("tested: %s", r.body)
	}
	e.delete(adminKey, path).want(204)
	e.get(adminKey, path).wantProblem(404, "endpoint-not-found")
	e.delete(adminKey, path).wantProblem(404, "endpoint-not-found")
	e.get(adminKey, "/v1/endpoints/NAME").wantProblem(404, "endpoint-not-found")
}

// TestBadEndpoints: what is not right is told by place, and nothing is made.
func TestBadEndpoints(t *testing.T) {
	e := newEnv(t)
	for body, places := range map[string]string{
		`{}`: "400 /url",
		`{"url":"https://g.example/","kinds":[]}`:                                "400 /kinds",
		`{"url":"https://g.example/","boards":[]}`:                               "400 /boards",
		`{"url":"http://g.example/"}`:                                            "422 /url",
		`{"url":"ftp://g.example/","allow_private":true}`:                        "422 /url",
		`{"url":"https://u:p@g.example/"}`:                                       "422 /url",
		`{"url":"https:///x"}`:                                                   "422 /url",
		`{"url":"https://g.example/` + strings.Repeat("x", 1000) + `"}`:          "422 /url",
		`{"url":"https://g.example/","kinds":["period.closed","period.closed"]}`: "422 /kinds/1",
		`{"url":"https://g.example/","kinds":["endpoint.test"],"boards":["A"]}`:  "422 /kinds/0 /boards/0",
	} {
		r := e.do(ask{method: "PUT", path: "/v1/endpoints/x", key: adminKey, body: body, off: true})
		got := fmt.Sprint(r.status)
		for _, f := range r.problem().Errors {
			got += " " + f.Pointer
		}
		if got != places {
			t.Errorf("%s: %s, want %s", body, got, places)
		}
	}
	e.do(ask{method: "PUT", path: "/v1/endpoints/NAME", key: adminKey, body: `{"url":"https://g.example/"}`, off: true}).wantProblem(422, "invalid-endpoint")
	if len(e.fake.endpoints.rows) > 0 {
		t.Errorf("made: %v", e.fake.endpoints.rows)
	}
}

// TestEndpointsOfSomeBoards: a key for some boards makes, sees and changes only endpoints whose boards it covers (promise G1).
func TestEndpointsOfSomeBoards(t *testing.T) {
	e := newEnv(t)
	key := e.key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game1-*", "lobby"} })
	with := func(boards string) string { return `{"url":"https://g.example/","boards":` + boards + `}` }
	e.put(adminKey, "/v1/endpoints/all", with("null")).want(201)
	e.put(adminKey, "/v1/endpoints/theirs", with(`["game2-*"]`)).want(201)
	e.put(adminKey, "/v1/endpoints/wider", with(`["game*"]`)).want(201)
	for _, boards := range []string{"null", `["game2-a"]`, `["game*"]`, `["lobby","game2-*"]`, `["lobby*"]`} {
		e.put(key, "/v1/endpoints/own", with(boards)).wantProblem(403, wire.CodeForbidden)
	}
	e.put(key, "/v1/endpoints/own", with(`["game1-*","game1-a","game1-b*","lobby"]`)).want(201)
	var list struct{ Endpoints []struct{ Name string } }
	if e.get(key, "/v1/endpoints").want(200).decode(&list); len(list.Endpoints) != 1 || list.Endpoints[0].Name != "own" {
		t.Errorf("sees %v", list.Endpoints)
	}
	e.get(key, "/v1/endpoints/own/deliveries").want(200)
	for _, name := range []string{"all", "theirs", "wider", "none"} {
		path := "/v1/endpoints/" + name
		for _, r := range []reply{
			e.get(key, path), e.delete(key, path), e.post(key, path+"/rotate", ""), e.post(key, path+"/test", ""), e.get(key, path+"/deliveries"),
			e.post(key, path+"/replay", `{"since":"2026-01-01T00:00:00Z"}`),
		} {
			r.wantProblem(404, "endpoint-not-found")
		}
		if name != "none" {
			e.put(key, path, with(`["lobby"]`)).wantProblem(403, wire.CodeForbidden)
		}
	}
}

// TestDeliveries: deliveries are listed page by page with what is sent, and events are delivered once more.
func TestDeliveries(t *testing.T) {
	e := newEnv(t)
	const path = "/v1/endpoints/game"
	e.put(adminKey, path, `{"url":"https://game.example/hooks"}`).want(201)
	for i := range 5 {
		d := leaderboard.Delivery{State: leaderboard.DeliveryStateWaiting, Attempts: 2, Tried: 1_700_000_000_000_000, Next: 1_700_000_100_000_000, Status: 503, Error: "the answer was 503"}
		d.Event = leaderboard.Event{
			Seq: int64(5 - i), ID: leaderboard.EventIDOf(fmt.Sprint(i)), Kind: leaderboard.EventKindMemberHidden, Time: 1_700_000_000_000_000, Data: `{"board":"b"}`,
			Members: []leaderboard.EventMember{{Member: "<a>"}},
		}
		e.fake.endpoints.deliveries = append(e.fake.endpoints.deliveries, d)
	}
	var got []string
	for cursor := ""; ; {
		var page struct {
			Deliveries []struct {
				ID      string
				Payload struct {
					Data struct{ Member, Board string }
				}
			}
			Next string `json:"next_cursor"`
		}
		e.get(adminKey, path+"/deliveries?limit=2&state=waiting"+cursor).want(200).decode(&page)
		for _, d := range page.Deliveries {
			if got = append(got, d.ID); d.Payload.Data.Member != "<a>" || d.Payload.Data.Board != "b" {
				t.Errorf("payload %+v", d.Payload)
			}
		}
		if page.Next == "" {
			break
		}
		cursor = "&cursor=" + page.Next
	}
	if len(got) != 5 || got[0] != leaderboard.EventIDOf("0") {
		t.Errorf("listed %v", got)
	}
	e.get(adminKey, path+"/deliveries?state=lost").wantProblem(400, wire.CodeMalformed)
	if r := e.post(adminKey, path+"/replay", `{"event":"`+got[1]+`"}`).want(202); string(r.body) != `{"events":1}` {
		t.Errorf("replayed %s", r.body)
	}
	e.post(adminKey, path+"/replay", `{"since":"2020-01-01T00:00:00Z"}`).want(202)
	e.post(adminKey, path+"/replay", `{"event":"`+leaderboard.NewEventID()+`"}`).wantProblem(404, "event-not-found")
	for _, body := range []string{`{}`, `{"since":"2020-01-01T00:00:00Z","event":"` + got[0] + `"}`, `{"event":"5"}`} {
		e.do(ask{method: "POST", path: path + "/replay", key: adminKey, body: body, off: true}).wantProblem(400, wire.CodeMalformed)
	}
}
