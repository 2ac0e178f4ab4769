package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func TestBoardLifecycle(t *testing.T) {
	e := newEnv(t)
	r := e.Put(apitest.AdminKey, "/v1/boards/run", `{}`).Want(201)
	if r.Header.Get("Location") != "/v1/boards/run" {
		t.Errorf("Location is %q", r.Header.Get("Location"))
	}
	const rules = `"title":"","order":"desc","policy":"best","mode":"strict","windows":["all_time"],"time_zone":"UTC","visibility":"public","top_n":1000,` +
		`"refresh":{"full":"","incremental":"10s","dynamic":""},"cache_ttl":"24h","limits":{},"tiebreak":{"order":"desc"},`
	if text := string(r.Body); !strings.HasPrefix(text, `{"name":"run",`+rules+`"created_time":"`) {
		t.Errorf("a board without wishes is %s", text)
	}
	full := `{"title":"Autumn","order":"asc","policy":"latest","mode":"tied","windows":["all_time"],"time_zone":"Europe/Berlin","visibility":"private",` +
		`"top_n":5,"refresh":{"full":"0 4 * * *","incremental":"off","dynamic":"900/1 300/10"},"cache_ttl":"1h",` +
		`"limits":{"min_score":-9223372036854775808,"max_score":9223372036854775807,"max_delta":0},"tiebreak":{"order":"asc"},` +
		`"starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-02-01T00:00:00.000001Z"}`
	e.Put(apitest.AdminKey, "/v1/boards/run", full).Want(200)
	got := string(e.Get(apitest.ReadKey, "/v1/boards/run").Want(200).Body)
	for _, part := range []string{`"order":"asc"`, `"min_score":-9223372036854775808,"max_score":9223372036854775807,"max_delta":0`, `"ends_at":"2026-02-01T00:00:00.000001Z"`, `"title":"Autumn"`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is missing in %s", part, got)
		}
	}
	again := e.Put(apitest.AdminKey, "/v1/boards/run", full).Want(200)
	var a, b struct{ Title, Order string }
	again.Decode(&a)
	if e.Get(apitest.ReadKey, "/v1/boards/run").Decode(&b); a != b {
		t.Errorf("got %+v and %+v", a, b)
	}
	e.Delete(apitest.AdminKey, "/v1/boards/run").Want(204)
	e.Get(apitest.ReadKey, "/v1/boards/run").WantProblem(404, "board-not-found")
	e.Delete(apitest.AdminKey, "/v1/boards/run").WantProblem(404, "board-not-found")
}

func TestCheckRulesIsAsked(t *testing.T) {
	e := newEnv(t, func(c *Config) {
		c.CheckRules = func(r leaderboard.Rules) []leaderboard.FieldError {
			if r.Refresh.Full == "" {
				return nil
			}
			return []leaderboard.FieldError{{Pointer: "/refresh/full", Detail: "want a cron expression"}}
		}
	})
	e.Put(apitest.AdminKey, "/v1/boards/b", `{}`).Want(201)
	p := e.Put(apitest.AdminKey, "/v1/boards/b", `{"refresh":{"full":"never"},"top_n":-1}`).WantProblem(422, leaderboard.CodeInvalidBoard)
	if len(p.Errors) != 2 {
		t.Errorf("got %+v", p.Errors)
	}
}

func TestBoardList(t *testing.T) {
	e := newEnv(t)
	for i := range 25 {
		rules := leaderboard.Rules{}
		if i%3 == 0 {
			rules.Visibility = leaderboard.VisibilityPrivate
		}
		e.Board(fmt.Sprintf("b%02d", i), rules)
	}
	for key, want := range map[string]int{apitest.NoKey: 16, apitest.ReadKey: 25} {
		for _, limit := range []int{1, 2, 7, 16, 1000} {
			if got := e.walkBoards(key, limit); len(got) != want {
				t.Errorf("key %q, limit %d: %d boards, want %d: %v", key, limit, len(got), want, got)
			}
		}
	}
}

func TestBoardListByLabels(t *testing.T) {
	e := newEnv(t)
	e.Put(apitest.AdminKey, "/v1/boards/a", `{"labels":{"type":"moba","aspect":"sound"}}`).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/b", `{"labels":{"type":"card","aspect":"sound"}}`).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/c", `{}`).Want(201)
	for query, want := range map[string]string{
		"type:moba": "a", "aspect:sound": "a b", "aspect:sound,type:card": "b", "type:chess": "",
	} {
		var out struct{ Boards []struct{ Name string } }
		e.Get(apitest.NoKey, "/v1/boards?labels="+query).Want(200).Decode(&out)
		var got []string
		for _, b := range out.Boards {
			got = append(got, b.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s lists %v, want %s", query, got, want)
		}
	}
	for _, query := range []string{"", "type", "Type:moba", "type:moba,type:card", "type:moba,"} {
		if p := e.Get(apitest.NoKey, "/v1/boards?labels="+query).WantProblem(400, wire.CodeMalformed); p.Errors[0].Parameter != "labels" {
			t.Errorf("%q: %+v", query, p.Errors)
		}
	}
	p := e.Put(apitest.AdminKey, "/v1/boards/c", `{"labels":{"type":"Moba"}}`).WantProblem(422, leaderboard.CodeInvalidBoard)
	if p.Errors[0].Pointer != "/labels/type" {
		t.Errorf("%+v", p.Errors)
	}
}

// walkBoards follows the cursors and checks that no board comes twice.
func (e *env) walkBoards(key string, limit int) map[string]bool {
	e.T.Helper()
	seen := map[string]bool{}
	cursor := ""
	for {
		path := fmt.Sprintf("/v1/boards?limit=%d", limit)
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		var out struct {
			Boards []struct{ Name string }
			Next   string `json:"next_cursor"`
		}
		e.Get(key, path).Want(200).Decode(&out)
		if len(out.Boards) > limit {
			e.T.Errorf("%d boards with limit %d", len(out.Boards), limit)
		}
		for _, b := range out.Boards {
			if seen[b.Name] {
				e.T.Errorf("%s is listed twice", b.Name)
			}
			seen[b.Name] = true
		}
		if cursor = out.Next; cursor == "" {
			return seen
		}
		if after, ok := (wire.List{Name: "boards"}).After(cursor); !ok || !seen[after] {
			e.T.Errorf("a cursor names %q, a board that is not in the list", after)
		}
	}
}

// TestBoardListBehindPrivateOnes: many private boards do not make one request look at all of them, and do not end the
// list early.
func TestBoardListBehindPrivateOnes(t *testing.T) {
	e := newEnv(t)
	for i := range 60 {
		e.Board(fmt.Sprintf("p%02d", i), leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate})
	}
	e.Board("z", leaderboard.Rules{})
	e.Board("a", leaderboard.Rules{})
	for _, limit := range []int{1, 2, 7} {
		if got := e.walkBoards(apitest.NoKey, limit); len(got) != 2 || !got["z"] {
			t.Errorf("got %v", got)
		}
	}
}
