package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

type hiddenList struct {
	Hidden []api.HiddenMember
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
	e.Board("demo", leaderboard.Rules{}, leaderboard.Submission{Member: "m", Score: 9}, leaderboard.Submission{Member: "n", Score: 5})
	var h api.HiddenMember
	e.Put(apitest.AdminKey, banM, `{"reason":"aimbot"}`).Want(200).Decode(&h)
	if h.Member != "m" || h.Board != "demo" || h.Reason != "aimbot" || h.Actor != "env:admin" || h.HiddenAt.IsZero() {
		t.Errorf("hidden: %+v", h)
	}
	if got := shown(e.Get(apitest.NoKey, "/v1/boards/demo/top").Rows()); got != "all_time all_time n=5" {
		t.Errorf("shown: %s", got)
	}
	e.Post(apitest.WriteKey, "/v1/boards/demo/scores", `{"entries":[{"member":"m","score":11}]}`).Want(200)
	first := h
	e.Put(apitest.AdminKey, banM, `{"reason":"wallhack","actor":"judge"}`).Want(200).Decode(&h)
	if h.Reason != "wallhack" || h.Actor != "judge" || h.HiddenAt != first.HiddenAt {
		t.Errorf("hidden again: %+v", h)
	}
	e.Delete(apitest.AdminKey, banM+"?reason=appeal&actor=court").Want(204)
	if got := shown(e.Get(apitest.NoKey, "/v1/boards/demo/top").Rows()); got != "all_time all_time m=11 n=5" {
		t.Errorf("shown again: %s", got)
	}
	e.Delete(apitest.AdminKey, banM).WantProblem(404, "not-hidden")
}

// TestHiddenMemberIsNotRanked: for all callers but admins a hidden member gets the answer of a member without an entry, to the
// letter.
func TestHiddenMemberIsNotRanked(t *testing.T) {
	e := newEnv(t)
	e.Board("demo", leaderboard.Rules{}, leaderboard.Submission{Member: "m", Score: 9})
	e.Put(apitest.AdminKey, banM, `{"reason":"aimbot"}`).Want(200)
	for _, path := range []string{
		"/v1/boards/demo/members/%s", "/v1/boards/demo/members/%s/around",
		"/v1/rankings/members/%s?boards=demo", "/v1/rankings/members/%s/around?boards=demo",
	} {
		for _, key := range []string{apitest.NoKey, apitest.ReadKey, apitest.WriteKey} {
			same := http.Header{wire.HeaderRequestID: {"the-same"}}
			hidden := e.Do(apitest.Ask{Method: http.MethodGet, Path: fmt.Sprintf(path, "m"), Key: key, Header: same})
			nobody := e.Do(apitest.Ask{Method: http.MethodGet, Path: fmt.Sprintf(path, "nobody"), Key: key, Header: same})
			if hidden.WantProblem(404, "not-ranked"); string(hidden.Body) != string(nobody.Body) {
				t.Errorf("%s tells with key %q: %s", path, key, hidden.Body)
			}
		}
		e.Get(apitest.AdminKey, fmt.Sprintf(path, "nobody")).WantProblem(404, "not-ranked")
		p := e.Get(apitest.AdminKey, fmt.Sprintf(path, "m")).WantProblem(404, wire.CodeMemberHidden)
		if want := "Hidden on this board since 2023-11-14T22:13:20.000000Z by env:admin: aimbot."; p.Detail != want {
			t.Errorf("admins are told %q, want %q", p.Detail, want)
		}
	}
	e.Put(apitest.AdminKey, "/v1/members/m/hidden", `{"reason":"bot","actor":"judge"}`).Want(200)
	p := e.Get(apitest.AdminKey, "/v1/boards/demo/members/m").WantProblem(404, wire.CodeMemberHidden)
	if !strings.HasPrefix(p.Detail, "Hidden everywhere since ") || strings.Count(p.Detail, "since") != 2 {
		t.Errorf("hidden twice, told as %q", p.Detail)
	}
	e.Board("other", leaderboard.Rules{}, leaderboard.Submission{Member: "n", Score: 9})
	p = e.Get(apitest.AdminKey, "/v1/rankings/members/m?boards=demo,other").WantProblem(404, wire.CodeMemberHidden)
	if !strings.Contains(p.Detail, "Hidden on board demo since") {
		t.Errorf("of two boards, told as %q", p.Detail)
	}
	p = e.Delete(apitest.AdminKey, banM+"?reason="+strings.Repeat("x", 201)).WantProblem(422, leaderboard.CodeInvalidHide)
	if len(p.Errors) != 1 || p.Errors[0].Parameter != "reason" {
		t.Errorf("too long a reason: %+v", p.Errors)
	}
}

func TestHideEverywhere(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"a", "b"} {
		e.Board(name, leaderboard.Rules{}, leaderboard.Submission{Member: "m/é", Score: 9}, leaderboard.Submission{Member: "n", Score: 5})
	}
	path := "/v1/members/" + url.PathEscape("m/é") + "/hidden"
	var h map[string]any
	if e.Put(apitest.AdminKey, path, `{"reason":"bot"}`).Want(200).Decode(&h); h["board"] != nil || h["member"] != "m/é" {
		t.Errorf("hidden: %v", h)
	}
	e.Put(apitest.AdminKey, "/v1/boards/a/members/n/hidden", `{"reason":"boost"}`).Want(200)
	e.Board("c", leaderboard.Rules{}, leaderboard.Submission{Member: "m/é", Score: 9})
	for name, want := range map[string]string{"a": "", "b": " n=5", "c": ""} {
		if got := shown(e.Get(apitest.NoKey, "/v1/boards/"+name+"/top").Rows()); got != "all_time all_time"+want {
			t.Errorf("%s shows %s", name, got)
		}
	}
	var list hiddenList
	if e.Get(apitest.AdminKey, "/v1/hidden").Want(200).Decode(&list); list.String() != "/m/é bot by env:admin, a/n boost by env:admin" {
		t.Errorf("listed: %s", list)
	}
	e.Get(apitest.AdminKey, "/v1/hidden?limit=1").Want(200).Decode(&list)
	next := list.Next
	if list = (hiddenList{}); next == "" {
		t.Fatal("no second page")
	}
	if e.Get(apitest.AdminKey, "/v1/hidden?limit=1&cursor="+next).Want(200).Decode(&list); list.String() != "a/n boost by env:admin" || list.Next != "" {
		t.Errorf("second page: %+v", list)
	}
	for query, want := range map[string]string{
		"?board=b": "/m/é bot by env:admin", "?member=n": "a/n boost by env:admin", "?board=b&member=n": "", "?board=a&member=n": "a/n boost by env:admin",
	} {
		var list hiddenList
		if e.Get(apitest.AdminKey, "/v1/hidden"+query).Want(200).Decode(&list); list.String() != want {
			t.Errorf("%s lists %s", query, list)
		}
	}
	e.Get(apitest.AdminKey, "/v1/hidden?board=b&cursor="+next).WantProblem(400, wire.CodeMalformed) // the cursor of another list
	e.Delete(apitest.AdminKey, path).Want(204)
	if got := shown(e.Get(apitest.NoKey, "/v1/boards/c/top").Rows()); got != "all_time all_time m/é=9" {
		t.Errorf("restored: %s", got)
	}
}

func TestHideRefused(t *testing.T) {
	e := newEnv(t)
	e.Board("demo", leaderboard.Rules{})
	for body, want := range map[string][2]string{
		`{}`:            {leaderboard.CodeInvalidHide, "/reason"},
		`{"reason":""}`: {leaderboard.CodeInvalidHide, "/reason"},
		`{"reason":"` + strings.Repeat("é", 101) + `"}`:             {leaderboard.CodeInvalidHide, "/reason"},
		`{"reason":"r","actor":"` + strings.Repeat("a", 129) + `"}`: {leaderboard.CodeInvalidHide, "/actor"},
	} {
		for _, path := range []string{banM, "/v1/members/m/hidden"} {
			p := e.Do(apitest.Ask{Method: "PUT", Path: path, Key: apitest.AdminKey, Body: body, Off: true}).WantProblem(422, want[0])
			if len(p.Errors) != 1 || p.Errors[0].Pointer != want[1] {
				t.Errorf("%s: %+v", wire.Clip(body), p.Errors)
			}
		}
	}
	for _, body := range []string{``, `null`, `{"reason":1}`, `{"reason":"r","why":"x"}`} {
		e.Do(apitest.Ask{Method: "PUT", Path: banM, Key: apitest.AdminKey, Body: body, Off: true}).WantProblem(400, wire.CodeMalformed)
	}
	e.Put(apitest.AdminKey, banM+"?reopen=maybe", `{"reason":"r"}`).WantProblem(400, wire.CodeMalformed)
	e.Put(apitest.AdminKey, "/v1/boards/demo/members/"+strings.Repeat("m", 65)+"/hidden", `{"reason":"r"}`).WantProblem(400, wire.CodeMalformed)
	e.Put(apitest.AdminKey, "/v1/boards/none/members/m/hidden", `{"reason":"r"}`).WantProblem(404, "board-not-found")
	e.Put(apitest.AdminKey, "/v1/boards/No/members/m/hidden", `{"reason":"r"}`).WantProblem(404, "board-not-found")
	e.Delete(apitest.AdminKey, "/v1/boards/none/members/m/hidden").WantProblem(404, "board-not-found")
	e.Delete(apitest.AdminKey, "/v1/members/m/hidden").WantProblem(404, "not-hidden")
	e.Delete(apitest.AdminKey, "/v1/members/m/hidden?reason="+strings.Repeat("x", 201)).WantProblem(422, leaderboard.CodeInvalidHide)
	e.Get(apitest.AdminKey, "/v1/hidden?board=none").WantProblem(404, "board-not-found")
	for _, query := range []string{"?cursor=x", "?limit=0", "?limit=1001", "?member=" + strings.Repeat("m", 65)} {
		e.Get(apitest.AdminKey, "/v1/hidden"+query).WantProblem(400, wire.CodeMalformed)
	}
	for _, c := range []struct{ method, path string }{
		{"PUT", banM}, {"DELETE", banM}, {"PUT", "/v1/members/m/hidden"}, {"DELETE", "/v1/members/m/hidden"}, {"GET", "/v1/hidden"},
	} {
		e.Do(apitest.Ask{Method: c.method, Path: c.path}).WantProblem(401, wire.CodeUnauthorized)
		e.Do(apitest.Ask{Method: c.method, Path: c.path, Key: apitest.WriteKey}).WantProblem(403, wire.CodeForbidden)
	}
	var list hiddenList
	if e.Get(apitest.AdminKey, "/v1/hidden").Want(200).Decode(&list); len(list.Hidden) != 0 {
		t.Errorf("refused, and yet %s", list)
	}
}

// TestHideReopen: a closed period does not change unless the request is about closed periods too.
func TestHideReopen(t *testing.T) {
	e := past(t)
	e.Put(apitest.AdminKey, "/v1/boards/daily/members/b/hidden", `{"reason":"bot"}`).Want(200)
	const yesterday = "/v1/boards/daily/top?period=2026-11-20"
	if got := shown(e.Get(apitest.NoKey, yesterday).Rows()); got != "day 2026-11-20 b=6 a=5" {
		t.Errorf("hidden, the closed day shows %s", got)
	}
	e.Put(apitest.AdminKey, "/v1/boards/daily/members/b/hidden?reopen=true", `{"reason":"bot"}`).Want(200)
	if got := shown(e.Get(apitest.NoKey, yesterday).Rows()); got != "day 2026-11-20 a=5" {
		t.Errorf("hidden in closed periods too, it shows %s", got)
	}
	e.Delete(apitest.AdminKey, "/v1/boards/daily/members/b/hidden?reopen=true").Want(204)
	if got := shown(e.Get(apitest.NoKey, yesterday).Rows()); got != "day 2026-11-20 b=6 a=5" {
		t.Errorf("restored, it shows %s", got)
	}
}
