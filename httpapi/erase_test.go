package httpapi

import (
	"strings"
	"testing"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func TestForgetMember(t *testing.T) {
	e := newEnv(t)
	e.board("classic", leaderboard.Rules{Mode: leaderboard.ModeTied}, classic()...)
	e.put(writeKey, "/v1/members/4", `{"display_name":"Four"}`).want(201)
	e.put(writeKey, "/v1/members/5/friends", `{"members":["4","1"]}`).want(200)
	const path = "/v1/members/4"
	e.delete(writeKey, path).wantProblem(403, wire.CodeForbidden)
	e.delete(adminKey, "/v1/members/"+strings.Repeat("x", 65)).wantProblem(400, wire.CodeMalformed)

	e.fake.slow = true
	if got := string(e.delete(adminKey, path).want(202).body); got != `{"member":"4","state":"running","entries":1}` {
		t.Errorf("got %s", got)
	}
	e.fake.slow = false
	if r := e.delete(adminKey, path).want(204); len(r.body) > 0 {
		t.Errorf("204 has the body %s", r.body)
	}
	if got := ranksOf(e.get(noKey, "/v1/boards/classic/top").rows()); got != "5=1 1=2 3=3 8=4 2=4 7=6 6=7" {
		t.Errorf("the ranks are %s", got)
	}
	e.get(readKey, path).wantProblem(404, "profile-not-found")
	e.get(noKey, "/v1/boards/classic/members/4").wantProblem(404, "not-ranked")
	if got := string(e.get(readKey, "/v1/members/5/friends").want(200).body); got != `{"member":"5","members":["1"]}` {
		t.Errorf("friends are %s", got)
	}
	e.delete(adminKey, path).want(204)
	e.fake.fail["Forget"] = leaderboard.ErrUnavailable
	e.delete(adminKey, path).wantProblem(503, "unavailable")
}
