package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func TestBoardLifecycle(t *testing.T) {
	e := newEnv(t)
	r := e.put(adminKey, "/v1/boards/run", `{}`).want(201)
	if r.header.Get("Location") != "/v1/boards/run" {
		t.Errorf("Location is %q", r.header.Get("Location"))
	}
	const rules = `"title":"","order":"desc","policy":"best","mode":"strict","windows":["all_time"],"time_zone":"UTC","visibility":"public","top_n":1000,` +
		`"refresh":{"full":"","incremental":"10s","dynamic":""},"cache_ttl":"24h","limits":{},"tiebreak":{"order":"desc"},`
	if text := string(r.body); !strings.HasPrefix(text, `{"name":"run",`+rules+`"created_time":"`) {
		t.Errorf("a board without wishes is %s", text)
	}
	full := `{"title":"Autumn","order":"asc","policy":"latest","mode":"tied","windows":["all_time"],"time_zone":"Europe/Berlin","visibility":"private",` +
		`"top_n":5,"refresh":{"full":"0 4 * * *","incremental":"off","dynamic":"900/1 300/10"},"cache_ttl":"1h",` +
		`"limits":{"min_score":-9223372036854775808,"max_score":9223372036854775807,"max_delta":0},"tiebreak":{"order":"asc"},` +
		`"starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-02-01T00:00:00.000001Z"}`
	e.put(adminKey, "/v1/boards/run", full).want(200)
	got := string(e.get(readKey, "/v1/boards/run").want(200).body)
	for _, part := range []string{`"order":"asc"`, `"min_score":-9223372036854775808,"max_score":9223372036854775807,"max_delta":0`, `"ends_at":"2026-02-01T00:00:00.000001Z"`, `"title":"Autumn"`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s is missing in %s", part, got)
		}
	}
	again := e.put(adminKey, "/v1/boards/run", full).want(200)
	var a, b struct{ Title, Order string }
	again.decode(&a)
	if e.get(readKey, "/v1/boards/run").decode(&b); a != b {
		t.Errorf("got %+v and %+v", a, b)
	}
	// What is shown, less what is not a rule, can be sent back.
	e.delete(adminKey, "/v1/boards/run").want(204)
	e.get(readKey, "/v1/boards/run").wantProblem(404, "board-not-found")
	e.delete(adminKey, "/v1/boards/run").wantProblem(404, "board-not-found")
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
	e.put(adminKey, "/v1/boards/b", `{}`).want(201)
	p := e.put(adminKey, "/v1/boards/b", `{"refresh":{"full":"never"},"top_n":-1}`).wantProblem(422, leaderboard.CodeInvalidBoard)
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
		e.board(fmt.Sprintf("b%02d", i), rules)
	}
	for key, want := range map[string]int{noKey: 16, readKey: 25} {
		for _, limit := range []int{1, 2, 7, 16, 1000} {
			if got := e.walkBoards(key, limit); len(got) != want {
				t.Errorf("key %q, limit %d: %d boards, want %d: %v", key, limit, len(got), want, got)
			}
		}
	}
}

func TestBoardListByLabels(t *testing.T) {
	e := newEnv(t)
	e.put(adminKey, "/v1/boards/a", `{"labels":{"type":"moba","aspect":"sound"}}`).want(201)
	e.put(adminKey, "/v1/boards/b", `{"labels":{"type":"card","aspect":"sound"}}`).want(201)
	e.put(adminKey, "/v1/boards/c", `{}`).want(201)
	for query, want := range map[string]string{
		"type:moba": "a", "aspect:sound": "a b", "aspect:sound,type:card": "b", "type:chess": "",
	} {
		var out struct{ Boards []struct{ Name string } }
		e.get(noKey, "/v1/boards?labels="+query).want(200).decode(&out)
		var got []string
		for _, b := range out.Boards {
			got = append(got, b.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s lists %v, want %s", query, got, want)
		}
	}
	for _, query := range []string{"", "type", "Type:moba", "type:moba,type:card", "type:moba,"} {
		if p := e.get(noKey, "/v1/boards?labels="+query).wantProblem(400, wire.CodeMalformed); p.Errors[0].Parameter != "labels" {
			t.Errorf("%q: %+v", query, p.Errors)
		}
	}
	p := e.put(adminKey, "/v1/boards/c", `{"labels":{"type":"Moba"}}`).wantProblem(422, leaderboard.CodeInvalidBoard)
	if p.Errors[0].Pointer != "/labels/type" {
		t.Errorf("%+v", p.Errors)
	}
}

// walkBoards follows the cursors and checks that no board comes twice.
func (e *env) walkBoards(key string, limit int) map[string]bool {
	e.t.Helper()
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
		e.get(key, path).want(200).decode(&out)
		if len(out.Boards) > limit {
			e.t.Errorf("%d boards with limit %d", len(out.Boards), limit)
		}
		for _, b := range out.Boards {
			if seen[b.Name] {
				e.t.Errorf("%s is listed twice", b.Name)
			}
			seen[b.Name] = true
		}
		if cursor = out.Next; cursor == "" {
			return seen
		}
		if after, ok := (wire.List{Name: "boards"}).After(cursor); !ok || !seen[after] {
			e.t.Errorf("a cursor names %q, a board that is not in the list", after)
		}
	}
}

// TestBoardListBehindPrivateOnes: many private boards do not make one request look at all of them, and do not end the
// list early.
func TestBoardListBehindPrivateOnes(t *testing.T) {
	e := newEnv(t)
	for i := range 60 {
		e.board(fmt.Sprintf("p%02d", i), leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate})
	}
	e.board("z", leaderboard.Rules{})
	e.board("a", leaderboard.Rules{})
	for _, limit := range []int{1, 2, 7} {
		if got := e.walkBoards(noKey, limit); len(got) != 2 || !got["z"] {
			t.Errorf("got %v", got)
		}
	}
}
