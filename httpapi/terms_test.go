package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// soldRules are of a board whose members may pay.
func soldRules() leaderboard.Rules {
	return leaderboard.Rules{Policy: leaderboard.PolicySum, Record: leaderboard.RecordAll, Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{
		{Name: "paid", Bits: 1}, {Name: "wins", Bits: 8},
	}}}
}

// TestConditionalSubmit: the terms of an entry reach the writer, and their results reach the client.
func TestConditionalSubmit(t *testing.T) {
	e := newEnv(t)
	e.Board("b", soldRules())
	post := func(key, body string) string {
		t.Helper()
		return string(e.Post(key, "/v1/boards/b/scores", body).Want(http.StatusOK).Body)
	}
	want := func(got string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s\nlacks %s", got, part)
			}
		}
	}
	want(post(apitest.WriteKey, `{"entries":[{"member":"m","score":5,"fields":{"paid":0,"wins":0},"if":{"absent":true}}]}`), `"status":"applied","score":5,"previous_score":null`, `"tiebreak":0,"fields":{"paid":0,"wins":0}`)
	sell := `{"entries":[{"member":"m","if":{"fields":{"paid":0},"score":5,"absent":false},"set":{"paid":1},"add":{"wins":2}}]}`
	want(post(apitest.WriteKey, sell), `"status":"applied","score":5,"previous_score":5`, `"fields":{"paid":1,"wins":2}}`)
	want(post(apitest.WriteKey, sell), `"status":"unmet","score":5,"previous_score":5`, `"fields":{"paid":1,"wins":2},"error":{"type":"/problems/condition-unmet"`, `"status":412,"detail":"paid is 1, not 0"}`)
	want(post(apitest.WriteKey, `{"atomic":true,"entries":[{"member":"n","score":1,"fields":{"paid":0,"wins":0}},{"member":"m","score":1,"if":{"score":4}}]}`),
		`{"member":"n","status":"aborted","score":null,"previous_score":null,"created_time":null,"error":{"type":"/problems/aborted"`,
		`"status":409,"detail":"nothing of the request was applied, because entry 1 of it is unmet"`, `"status":"unmet"`)
	several := e.Post(apitest.WriteKey, "/v1/scores", `{"atomic":true,"entries":[{"board":"b","member":"n","score":1,"fields":{"paid":0,"wins":0}},{"board":"none","member":"m","score":1}]}`)
	want(string(several.Want(http.StatusOK).Body), `"status":"aborted"`, `"status":"rejected"`)
	for key, status := range map[string]string{apitest.WriteKey: "rejected", apitest.AdminKey: "rejected"} {
		want(post(key, `{"entries":[{"member":"m","op":"latest","score":1,"fields":{"paid":0,"wins":0}}]}`), `"status":"`+status+`"`, "/problems/override-not-allowed", `"status":403`)
	}
	e.Do(apitest.Ask{Method: http.MethodPatch, Path: "/v1/boards/b", Key: apitest.AdminKey, Body: `{"overrides":{"ops":["latest"],"keep_time":true}}`}).Want(http.StatusOK)
	want(post(apitest.WriteKey, `{"entries":[{"member":"m","op":"latest","score":1,"set":{"paid":0}}]}`), `"status":"rejected"`, "neither of scope admin")
	want(post(apitest.AdminKey, `{"entries":[{"member":"m","op":"latest","score":1,"set":{"paid":0}}]}`), `"status":"applied","score":1,"previous_score":5`)
	want(post(apitest.AdminKey, `{"entries":[{"member":"m","keep_time":true,"set":{"paid":1}}]}`), `"status":"applied","score":1,"previous_score":1`)
	want(post(apitest.WriteKey, `{"entries":[{"member":"m","score":1}]}`), `"status":"applied","score":2,"previous_score":1,"created_time"`)
	if plain := post(apitest.WriteKey, `{"entries":[{"member":"m","score":1}]}`); strings.Contains(plain, "tiebreak") {
		t.Errorf("a plain result has a tiebreak: %s", plain)
	}
}

// TestTermsOfNoSense: a body with contradicting terms is refused as a whole, with the place of the contradiction.
func TestTermsOfNoSense(t *testing.T) {
	e := newEnv(t)
	e.Board("b", soldRules())
	for body, pointer := range map[string]string{
		`{"member":"m"}`:                                                                         "/entries/0/score",
		`{"member":"m","fields":{"paid":1}}`:                                                     "/entries/0/score",
		`{"member":"m","if":{"score":1}}`:                                                        "/entries/0/score",
		`{"member":"m","keep_time":true}`:                                                        "/entries/0/score",
		`{"member":"m","score":1,"if":{}}`:                                                       "/entries/0/if",
		`{"member":"m","score":1,"set":{}}`:                                                      "/entries/0/set",
		`{"member":"m","set":{"paid":null}}`:                                                     "/entries/0/set/paid",
		`{"member":"m","add":{"paid":[]}}`:                                                       "/entries/0/add/paid",
		`{"member":"m","score":1,"op":"elo"}`:                                                    "/entries/0/op",
		`{"member":"m","score":1,"op":""}`:                                                       "/entries/0/op",
		`{"member":"m","set":{"paid":1},"op":"sum"}`:                                             "/entries/0/op",
		`{"member":"m","set":{"paid":1},"add":{"paid":1}}`:                                       "/entries/0/add/paid",
		`{"member":"m","score":1,"fields":{"paid":1,"wins":0},"set":{"paid":1}}`:                 "/entries/0/set",
		`{"member":"m","score":1,"if":{"absent":true,"score":1}}`:                                "/entries/0/if/absent",
		`{"member":"m","set":{"paid":1},"if":{"absent":true}}`:                                   "/entries/0/if/absent",
		`{"member":"m","score":1,"if":{"fields":{"paid":null}}}`:                                 "/entries/0/if/fields/paid",
		`{"member":"m","score":1,"if":{"level":1}}`:                                              "/entries/0/if/level",
		`{"member":"m","score":1,"created_time":"2020-01-01T00:00:00.000000Z","keep_time":true}`: "/entries/0/keep_time",
	} {
		reply := e.Do(apitest.Ask{Method: http.MethodPost, Path: "/v1/boards/b/scores", Key: apitest.AdminKey, Body: `{"entries":[` + body + `]}`, Undocumented: true})
		if got := string(reply.Want(http.StatusBadRequest).Body); !strings.Contains(got, `"pointer":"`+pointer+`"`) {
			t.Errorf("%s: %s\nwant %s", body, got, pointer)
		}
	}
}
