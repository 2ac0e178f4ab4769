package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// TestModeration: many members are hidden, shown again and removed with one request, each as by its own; the same again changes nothing.
func TestModeration(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 3}, leaderboard.Submission{Member: "b", Score: 2}, leaderboard.Submission{Member: "c", Score: 1})
	e.Put(apitest.AdminKey, "/v1/boards/sum", `{"derive":{"from":[{"board":"b"}]}}`).Want(201)
	moderate := func(path, body, want string) {
		t.Helper()
		if got := string(e.Post(apitest.AdminKey, path, body).Want(200).Body); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	total := func(want string) {
		t.Helper()
		if got := string(e.Get(apitest.AdminKey, "/v1/boards/b/top").Want(200).Body); !strings.Contains(got, `"total":`+want+`,`) {
			t.Errorf("%s, want %s entries", got, want)
		}
	}
	const on = "/v1/boards/b/moderation"
	moderate(on, `{"action":"hide","members":["a","b"],"reason":"bots"}`, `{"action":"hide","board":"b","members":2,"unchanged":[]}`)
	total("1")
	moderate(on, `{"action":"restore","members":["a","c"]}`, `{"action":"restore","board":"b","members":2,"unchanged":["c"]}`)
	total("2")
	moderate("/v1/moderation", `{"action":"hide","members":["a","c"],"reason":"bots","actor":"judge"}`, `{"action":"hide","members":2,"unchanged":[]}`)
	total("0")
	moderate("/v1/moderation", `{"action":"restore","members":["a","c"]}`, `{"action":"restore","members":2,"unchanged":[]}`)
	moderate(on, `{"action":"remove","members":["c","nobody"]}`, `{"action":"remove","board":"b","members":2,"unchanged":["nobody"]}`)
	total("1")
	many := make([]string, leaderboard.MaxModerated+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"m%d"`, i)
	}
	for _, bad := range []string{
		`{"action":"ban","members":["a"],"reason":"x"}`, `{"action":"hide","members":["a"]}`, `{"action":"hide","members":["a","a"],"reason":"x"}`, `{"action":"hide","members":[],"reason":"x"}`,
		`{"action":"hide","members":[""],"reason":"x"}`, `{"action":"remove","members":["a"],"reopen":true}`, `{"action":"restore","members":[` + strings.Join(many, ",") + `]}`,
	} {
		e.Post(apitest.AdminKey, on, bad).WantProblem(422, leaderboard.CodeInvalidHide)
	}
	e.Post(apitest.AdminKey, "/v1/moderation", `{"action":"remove","members":["a"]}`).WantProblem(422, leaderboard.CodeInvalidHide)
	e.Post(apitest.AdminKey, "/v1/boards/sum/moderation", `{"action":"remove","members":["a"]}`).WantProblem(422, leaderboard.CodeDerivedBoard)
	e.Post(apitest.AdminKey, "/v1/boards/none/moderation", `{"action":"restore","members":["a"]}`).WantProblem(404, "board-not-found")
	e.Post(apitest.WriteKey, on, `{"action":"restore","members":["a"]}`).WantProblem(403, "forbidden")
}
