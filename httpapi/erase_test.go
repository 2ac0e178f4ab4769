package httpapi

import (
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func TestForgetMember(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{Mode: leaderboard.ModeTied}, apitest.Classic()...)
	const path = "/v1/members/4"
	e.Delete(apitest.WriteKey, path).WantProblem(403, wire.CodeForbidden)
	e.Delete(apitest.AdminKey, "/v1/members/"+strings.Repeat("x", 65)).WantProblem(400, wire.CodeMalformed)

	e.fake.slow = true
	if got := string(e.Delete(apitest.AdminKey, path).Want(202).Body); got != `{"member":"4","state":"running","entries":1}` {
		t.Errorf("got %s", got)
	}
	e.fake.slow = false
	if r := e.Delete(apitest.AdminKey, path).Want(204); len(r.Body) > 0 {
		t.Errorf("204 has the body %s", r.Body)
	}
	if got := ranksOf(e.Get(apitest.NoKey, "/v1/boards/classic/top").Rows()); got != "5=1 1=2 3=3 8=4 2=4 7=6 6=7" {
		t.Errorf("the ranks are %s", got)
	}
	e.Get(apitest.NoKey, "/v1/boards/classic/members/4").WantProblem(404, "not-ranked")
	e.Delete(apitest.AdminKey, path).Want(204)
	e.fake.Fails["Forget"] = leaderboard.ErrUnavailable
	e.Delete(apitest.AdminKey, path).WantProblem(503, "unavailable")
}
