package events

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// newEnv returns an API with the routes of endpoints, and its surroundings.
func newEnv(t testing.TB) (*apitest.Env, *fake) {
	f := &fake{Table: apitest.NewTable[Endpoint](leaderboard.ErrEndpointNotFound)}
	return featuretest.New(t, func(*apitest.Fake) []httpapi.Route { return Routes(f, f, true) }), f
}

// TestEndpoints: an endpoint is made, shown without its secret, changed, rotated and deleted.
func TestEndpoints(t *testing.T) {
	e, f := newEnv(t)
	const path, body = "/v1/endpoints/game", `{"url":"https://game.example/hooks","kinds":["period.closed"],"boards":["game1-*"]}`
	made := e.Put(apitest.AdminKey, path, body).Want(201)
	var shown struct{ Secret, State string }
	if made.Decode(&shown); !strings.HasPrefix(shown.Secret, "whsec_") || shown.State != "on" || made.Header.Get("Cache-Control") != "no-store" || made.Header.Get("Location") != path {
		t.Errorf("made %s, %v", made.Body, made.Header)
	}
	for _, r := range []apitest.Reply{e.Get(apitest.AdminKey, path), e.Get(apitest.AdminKey, "/v1/endpoints"), e.Put(apitest.AdminKey, path, body)} {
		if r.Want(200); strings.Contains(string(r.Body), "whsec_") || !strings.Contains(string(r.Body), `"boards":["game1-*"]`) {
			t.Errorf("shown: %s", r.Body)
		}
	}
	if r := e.Put(apitest.AdminKey, path, `{"url":"https://game.example/other","enabled":false}`).Want(200); !strings.Contains(string(r.Body), `"state":"off"`) || !strings.Contains(string(r.Body), `"kinds":null`) {
		t.Errorf("changed: %s", r.Body)
	}
	rotated := e.Post(apitest.AdminKey, path+"/rotate", `{"overlap":"24h"}`).Want(200)
	if text := string(rotated.Body); !strings.Contains(text, `"secret":"whsec_`) || strings.Contains(text, `"previous_secret_until":null`) || strings.Contains(text, shown.Secret) {
		t.Errorf("rotated: %s", text)
	}
	e.Post(apitest.AdminKey, path+"/rotate", `{"overlap":"721h"}`).WantProblem(400, wire.CodeMalformed)
	f.attempt = Attempt{Status: 500, Error: "the answer was 500"}
	if r := e.Post(apitest.AdminKey, path+"/test", "").Want(200); string(r.Body) != `{"delivered":false,"status":500,"error":"the answer was 500","took":"12ms"}` {
		t.Errorf("tested: %s", r.Body)
	}
	e.Delete(apitest.AdminKey, path).Want(204)
	e.Get(apitest.AdminKey, path).WantProblem(404, "endpoint-not-found")
	e.Delete(apitest.AdminKey, path).WantProblem(404, "endpoint-not-found")
	e.Get(apitest.AdminKey, "/v1/endpoints/NAME").WantProblem(404, "endpoint-not-found")
}

// TestBadEndpoints: faults are reported by place, and nothing is made.
func TestBadEndpoints(t *testing.T) {
	e, f := newEnv(t)
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
		r := e.Do(apitest.Ask{Method: "PUT", Path: "/v1/endpoints/x", Key: apitest.AdminKey, Body: body, Off: true})
		got := fmt.Sprint(r.Status)
		for _, f := range r.Problem().Errors {
			got += " " + f.Pointer
		}
		if got != places {
			t.Errorf("%s: %s, want %s", body, got, places)
		}
	}
	bad := e.Do(apitest.Ask{Method: "PUT", Path: "/v1/endpoints/NAME", Key: apitest.AdminKey, Body: `{"url":"https://g.example/"}`, Off: true}).WantProblem(422, "invalid-endpoint")
	if len(bad.Errors) != 1 || bad.Errors[0].Parameter != "name" {
		t.Errorf("a name that no endpoint has: %+v", bad)
	}
	if len(f.Rows) > 0 {
		t.Errorf("made: %v", f.Rows)
	}
}

// TestEndpointsOfSomeBoards: a key for some boards makes, sees and changes only endpoints whose boards it covers (promise G1).
func TestEndpointsOfSomeBoards(t *testing.T) {
	e, _ := newEnv(t)
	key := e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game1-*", "lobby"} })
	with := func(boards string) string { return `{"url":"https://g.example/","boards":` + boards + `}` }
	e.Put(apitest.AdminKey, "/v1/endpoints/all", with("null")).Want(201)
	e.Put(apitest.AdminKey, "/v1/endpoints/theirs", with(`["game2-*"]`)).Want(201)
	e.Put(apitest.AdminKey, "/v1/endpoints/wider", with(`["game*"]`)).Want(201)
	for _, boards := range []string{"null", `["game2-a"]`, `["game*"]`, `["lobby","game2-*"]`, `["lobby*"]`} {
		e.Put(key, "/v1/endpoints/own", with(boards)).WantProblem(403, wire.CodeForbidden)
	}
	e.Put(key, "/v1/endpoints/own", with(`["game1-*","game1-a","game1-b*","lobby"]`)).Want(201)
	var list struct{ Endpoints []struct{ Name string } }
	if e.Get(key, "/v1/endpoints").Want(200).Decode(&list); len(list.Endpoints) != 1 || list.Endpoints[0].Name != "own" {
		t.Errorf("sees %v", list.Endpoints)
	}
	e.Get(key, "/v1/endpoints/own/deliveries").Want(200)
	for _, name := range []string{"all", "theirs", "wider", "none"} {
		path := "/v1/endpoints/" + name
		for _, r := range []apitest.Reply{
			e.Get(key, path), e.Delete(key, path), e.Post(key, path+"/rotate", ""), e.Post(key, path+"/test", ""), e.Get(key, path+"/deliveries"),
			e.Post(key, path+"/replay", `{"since":"2026-01-01T00:00:00Z"}`),
		} {
			r.WantProblem(404, "endpoint-not-found")
		}
		if name != "none" {
			e.Put(key, path, with(`["lobby"]`)).WantProblem(403, wire.CodeForbidden)
		}
	}
}

// TestDeliveries: deliveries are listed page by page with their content, and events are delivered again.
func TestDeliveries(t *testing.T) {
	e, f := newEnv(t)
	const path = "/v1/endpoints/game"
	e.Put(apitest.AdminKey, path, `{"url":"https://game.example/hooks"}`).Want(201)
	for i := range 5 {
		d := Delivery{State: api.DeliveryStateWaiting, Attempts: 2, Tried: 1_700_000_000_000_000, Next: 1_700_000_100_000_000, Status: 503, Error: "the answer was 503"}
		d.Event = leaderboard.Event{
			Seq: int64(5 - i), ID: leaderboard.EventIDOf(fmt.Sprint(i)), Kind: leaderboard.EventKindMemberHidden, Time: 1_700_000_000_000_000, Data: `{"board":"b"}`,
			Members: []leaderboard.EventMember{{Member: "<a>"}},
		}
		f.deliveries = append(f.deliveries, d)
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
		e.Get(apitest.AdminKey, path+"/deliveries?limit=2&state=waiting"+cursor).Want(200).Decode(&page)
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
	e.Get(apitest.AdminKey, path+"/deliveries?state=lost").WantProblem(400, wire.CodeMalformed)
	if r := e.Post(apitest.AdminKey, path+"/replay", `{"event":"`+got[1]+`"}`).Want(202); string(r.Body) != `{"events":1}` {
		t.Errorf("replayed %s", r.Body)
	}
	e.Post(apitest.AdminKey, path+"/replay", `{"since":"2020-01-01T00:00:00Z"}`).Want(202)
	e.Post(apitest.AdminKey, path+"/replay", `{"event":"`+leaderboard.NewEventID()+`"}`).WantProblem(404, "event-not-found")
	for _, body := range []string{`{}`, `{"since":"2020-01-01T00:00:00Z","event":"` + got[0] + `"}`, `{"event":"5"}`} {
		e.Do(apitest.Ask{Method: "POST", Path: path + "/replay", Key: apitest.AdminKey, Body: body, Off: true}).WantProblem(400, wire.CodeMalformed)
	}
}

// TestExamples runs each line for a shell of /docs about endpoints.
func TestExamples(t *testing.T) {
	server := func(t testing.TB) *apitest.Env {
		e, _ := newEnv(t)
		e.Put(apitest.AdminKey, "/v1/endpoints/game", `{"url":"https://game.example/hooks"}`).Want(201)
		return e
	}
	featuretest.Examples(t, Routes(nil, nil, true), server, nil)
}

// TestNullAndEmpty: a null in a request counts as absent, where the document allows it.
func TestNullAndEmpty(t *testing.T) {
	e, _ := newEnv(t)
	apitest.NullAndEmpty(t, e, apitest.Ask{
		Method: "PUT", Path: "/v1/endpoints/e", Key: apitest.AdminKey,
		Body: `{"url":"https://events.example/","kinds":["board.changed"],"boards":["b"],"enabled":true,"allow_private":false}`,
	}, true)
}
