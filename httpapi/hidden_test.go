package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

type hiddenList struct {
	Hidden []hiddenJSON
	Next   string `json:"next_cursor"`
}

func (l hiddenList) String() string {
	var out []string
	for _, h := range l.Hidden {
		out = append(out, fmt.Sprintf("%s/%s %s by %s", h.Board, h.Member, h.Reason, h.Actor))
	}
	return strings.Join(out, ", ")
}

const banM = "/v1/boards/demo/members/m/hidden"

func TestHide(t *testing.T) {
	e := newEnv(t)
	e.board("demo", leaderboard.Rules{}, leaderboard.Submission{Member: "m", Score: 9}, leaderboard.Submission{Member: "n", Score: 5})
	var h hiddenJSON
	e.put(adminKey, banM, `{"reason":"aimbot"}`).want(200).decode(&h)
	if h.Member != "m" || h.Board != "demo" || h.Reason != "aimbot" || h.Actor != "env:admin" || h.HiddenAt == 0 {
		t.Errorf("hidden: %+v", h)
	}
	if got := shown(e.get(noKey, "/v1/boards/demo/top").rows()); got != "all_time all_time n=5" {
		t.Errorf("shown: %s", got)
	}
	e.post(writeKey, "/v1/boards/demo/scores", `{"entries":[{"member":"m","score":11}]}`).want(200)
	first := h
	e.put(adminKey, banM, `{"reason":"wallhack","actor":"judge"}`).want(200).decode(&h)
	if h.Reason != "wallhack" || h.Actor != "judge" || h.HiddenAt != first.HiddenAt {
		t.Errorf("hidden again: %+v", h)
	}
	e.delete(adminKey, banM+"?reason=appeal&actor=court").want(204)
	if got := shown(e.get(noKey, "/v1/boards/demo/top").rows()); got != "all_time all_time m=11 n=5" {
		t.Errorf("shown again: %s", got)
	}
	e.delete(adminKey, banM).wantProblem(404, "not-hidden")
}

// TestHiddenMemberIsNotRanked: to everybody but admins a hidden member looks like one without an entry, to the letter.
func TestHiddenMemberIsNotRanked(t *testing.T) {
	e := newEnv(t)
	e.board("demo", leaderboard.Rules{}, leaderboard.Submission{Member: "m", Score: 9})
	e.put(adminKey, banM, `{"reason":"aimbot"}`).want(200)
	for _, path := range []string{
		"/v1/boards/demo/members/%s", "/v1/boards/demo/members/%s/around",
		"/v1/rankings/members/%s?boards=demo", "/v1/rankings/members/%s/around?boards=demo",
	} {
		for _, key := range []string{noKey, readKey, writeKey} {
			same := http.Header{wire.HeaderRequestID: {"the-same"}}
			hidden := e.do(ask{method: http.MethodGet, path: fmt.Sprintf(path, "m"), key: key, header: same})
			nobody := e.do(ask{method: http.MethodGet, path: fmt.Sprintf(path, "nobody"), key: key, header: same})
			if hidden.wantProblem(404, "not-ranked"); string(hidden.body) != string(nobody.body) {
				t.Errorf("%s tells with key %q: %s", path, key, hidden.body)
			}
		}
		e.get(adminKey, fmt.Sprintf(path, "nobody")).wantProblem(404, "not-ranked")
		p := e.get(adminKey, fmt.Sprintf(path, "m")).wantProblem(404, wire.CodeMemberHidden)
		if want := "Hidden on this board since 2023-11-14T22:13:20.000000Z by env:admin: aimbot."; p.Detail != want {
			t.Errorf("admins are told %q, want %q", p.Detail, want)
		}
	}
	e.put(adminKey, "/v1/members/m/hidden", `{"reason":"bot","actor":"judge"}`).want(200)
	p := e.get(adminKey, "/v1/boards/demo/members/m").wantProblem(404, wire.CodeMemberHidden)
	if !strings.HasPrefix(p.Detail, "Hidden everywhere since ") || strings.Count(p.Detail, "since") != 2 {
		t.Errorf("hidden twice, told as %q", p.Detail)
	}
	e.board("other", leaderboard.Rules{}, leaderboard.Submission{Member: "n", Score: 9})
	p = e.get(adminKey, "/v1/rankings/members/m?boards=demo,other").wantProblem(404, wire.CodeMemberHidden)
	if !strings.Contains(p.Detail, "Hidden on board demo since") {
		t.Errorf("of two boards, told as %q", p.Detail)
	}
	p = e.delete(adminKey, banM+"?reason="+strings.Repeat("x", 201)).wantProblem(422, leaderboard.CodeInvalidHide)
	if len(p.Errors) != 1 || p.Errors[0].Parameter != "reason" {
		t.Errorf("too long a reason: %+v", p.Errors)
	}
}

func TestHideEverywhere(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"a", "b"} {
		e.board(name, leaderboard.Rules{}, leaderboard.Submission{Member: "m/é", Score: 9}, leaderboard.Submission{Member: "n", Score: 5})
	}
	path := "/v1/members/" + url.PathEscape("m/é") + "/hidden"
	var h map[string]any
	if e.put(adminKey, path, `{"reason":"bot"}`).want(200).decode(&h); h["board"] != nil || h["member"] != "m/é" {
		t.Errorf("hidden: %v", h)
	}
	e.put(adminKey, "/v1/boards/a/members/n/hidden", `{"reason":"boost"}`).want(200)
	e.board("c", leaderboard.Rules{}, leaderboard.Submission{Member: "m/é", Score: 9})
	for name, want := range map[string]string{"a": "", "b": " n=5", "c": ""} {
		if got := shown(e.get(noKey, "/v1/boards/"+name+"/top").rows()); got != "all_time all_time"+want {
			t.Errorf("%s shows %s", name, got)
		}
	}
	var list hiddenList
	if e.get(adminKey, "/v1/hidden").want(200).decode(&list); list.String() != "/m/é bot by env:admin, a/n boost by env:admin" {
		t.Errorf("listed: %s", list)
	}
	e.get(adminKey, "/v1/hidden?limit=1").want(200).decode(&list)
	next := list.Next
	if list = (hiddenList{}); next == "" {
		t.Fatal("no second page")
	}
	if e.get(adminKey, "/v1/hidden?limit=1&cursor="+next).want(200).decode(&list); list.String() != "a/n boost by env:admin" || list.Next != "" {
		t.Errorf("second page: %+v", list)
	}
	for query, want := range map[string]string{
		"?board=b": "/m/é bot by env:admin", "?member=n": "a/n boost by env:admin", "?board=b&member=n": "", "?board=a&member=n": "a/n boost by env:admin",
	} {
		var list hiddenList
		if e.get(adminKey, "/v1/hidden"+query).want(200).decode(&list); list.String() != want {
			t.Errorf("%s lists %s", query, list)
		}
	}
	e.get(adminKey, "/v1/hidden?board=b&cursor="+next).wantProblem(400, wire.CodeMalformed) // that of another list
	e.delete(adminKey, path).want(204)
	if got := shown(e.get(noKey, "/v1/boards/c/top").rows()); got != "all_time all_time m/é=9" {
		t.Errorf("restored: %s", got)
	}
}

func TestHideRefused(t *testing.T) {
	e := newEnv(t)
	e.board("demo", leaderboard.Rules{})
	for body, want := range map[string][2]string{
		`{}`:            {leaderboard.CodeInvalidHide, "/reason"},
		`{"reason":""}`: {leaderboard.CodeInvalidHide, "/reason"},
		`{"reason":"` + strings.Repeat("é", 101) + `"}`:             {leaderboard.CodeInvalidHide, "/reason"},
		`{"reason":"r","actor":"` + strings.Repeat("a", 129) + `"}`: {leaderboard.CodeInvalidHide, "/actor"},
	} {
		for _, path := range []string{banM, "/v1/members/m/hidden"} {
			p := e.do(ask{method: "PUT", path: path, key: adminKey, body: body, off: true}).wantProblem(422, want[0])
			if len(p.Errors) != 1 || p.Errors[0].Pointer != want[1] {
				t.Errorf("%s: %+v", wire.Clip(body), p.Errors)
			}
		}
	}
	for _, body := range []string{``, `null`, `{"reason":1}`, `{"reason":"r","why":"x"}`} {
		e.do(ask{method: "PUT", path: banM, key: adminKey, body: body, off: true}).wantProblem(400, wire.CodeMalformed)
	}
	e.put(adminKey, banM+"?reopen=maybe", `{"reason":"r"}`).wantProblem(400, wire.CodeMalformed)
	e.put(adminKey, "/v1/boards/demo/members/"+strings.Repeat("m", 65)+"/hidden", `{"reason":"r"}`).wantProblem(400, wire.CodeMalformed)
	e.put(adminKey, "/v1/boards/none/members/m/hidden", `{"reason":"r"}`).wantProblem(404, "board-not-found")
	e.put(adminKey, "/v1/boards/No/members/m/hidden", `{"reason":"r"}`).wantProblem(404, "board-not-found")
	e.delete(adminKey, "/v1/boards/none/members/m/hidden").wantProblem(404, "board-not-found")
	e.delete(adminKey, "/v1/members/m/hidden").wantProblem(404, "not-hidden")
	e.delete(adminKey, "/v1/members/m/hidden?reason="+strings.Repeat("x", 201)).wantProblem(422, leaderboard.CodeInvalidHide)
	e.get(adminKey, "/v1/hidden?board=none").wantProblem(404, "board-not-found")
	for _, query := range []string{"?cursor=x", "?limit=0", "?limit=1001", "?member=" + strings.Repeat("m", 65)} {
		e.get(adminKey, "/v1/hidden"+query).wantProblem(400, wire.CodeMalformed)
	}
	for _, c := range []struct{ method, path string }{
		{"PUT", banM}, {"DELETE", banM}, {"PUT", "/v1/members/m/hidden"}, {"DELETE", "/v1/members/m/hidden"}, {"GET", "/v1/hidden"},
	} {
		e.do(ask{method: c.method, path: c.path}).wantProblem(401, wire.CodeUnauthorized)
		e.do(ask{method: c.method, path: c.path, key: writeKey}).wantProblem(403, wire.CodeForbidden)
	}
	var list hiddenList
	if e.get(adminKey, "/v1/hidden").want(200).decode(&list); len(list.Hidden) != 0 {
		t.Errorf("refused, and yet %s", list)
	}
}

// TestHideReopen: a closed period stays as it is unless the request is about those too.
func TestHideReopen(t *testing.T) {
	e := past(t)
	e.put(adminKey, "/v1/boards/daily/members/b/hidden", `{"reason":"bot"}`).want(200)
	const yesterday = "/v1/boards/daily/top?period=2026-11-20"
	if got := shown(e.get(noKey, yesterday).rows()); got != "day 2026-11-20 b=6 a=5" {
		t.Errorf("hidden, the closed day shows %s", got)
	}
	e.put(adminKey, "/v1/boards/daily/members/b/hidden?reopen=true", `{"reason":"bot"}`).want(200)
	if got := shown(e.get(noKey, yesterday).rows()); got != "day 2026-11-20 a=5" {
		t.Errorf("hidden in closed periods too, it shows %s", got)
	}
	e.delete(adminKey, "/v1/boards/daily/members/b/hidden?reopen=true").want(204)
	if got := shown(e.get(noKey, yesterday).rows()); got != "day 2026-11-20 b=6 a=5" {
		t.Errorf("restored, it shows %s", got)
	}
}
