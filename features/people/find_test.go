package people_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// TestFindMembers: anybody finds members of a public board by their shown names, page by page, with their ranks; on a
// private one only who may read it. Hidden members are not found, nor named by a cursor.
func TestFindMembers(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m-1", Score: 5}, leaderboard.Submission{Member: "m-2", Score: 7}, leaderboard.Submission{Member: "m-3", Score: 9},
		leaderboard.Submission{Member: "adam", Score: 1}, leaderboard.Submission{Member: "m-5"}, leaderboard.Submission{Member: "m-6"}, leaderboard.Submission{Member: "m-7"}, leaderboard.Submission{Member: "m-8"})
	e.Board("secret", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, leaderboard.Submission{Member: "m-4", Score: 5})
	for id, name := range map[string]string{"m-1": "Ada Lovelace", "m-2": "ADA B", "m-3": "Ada hidden", "m-4": "Ada secret", "m-5": "Kid Zoé", "m-6": "高橋", "m-7": "AJ", "m-8": "J"} {
		e.Put(apitest.WriteKey, "/v1/members/"+id, `{"display_name":"`+name+`"}`).Want(201)
	}
	e.Put(apitest.AdminKey, "/v1/boards/b/members/m-3/hidden", `{"reason":"bot"}`).Want(200)
	type page struct {
		Entries []struct {
			Member  string
			Rank    int64
			Profile *struct {
				DisplayName string `json:"display_name"`
			}
		}
		Partial bool
		Seq     int64
		Next    string `json:"next_cursor"`
	}
	find := func(key, board, q, limit string) string {
		t.Helper()
		var out []string
		query := url.Values{"q": {q}, "limit": {limit}, "profiles": {"true"}}
		for {
			var p page
			e.Get(key, "/v1/boards/"+board+"/members?"+query.Encode()).Want(200).Decode(&p)
			for _, m := range p.Entries {
				if out = append(out, m.Member); m.Rank == 0 || (m.Profile == nil) != (m.Member == "adam") || p.Partial || p.Seq == 0 {
					t.Errorf("%+v", p)
				}
			}
			if p.Next == "" {
				return strings.Join(out, " ")
			}
			query.Set("cursor", p.Next)
		}
	}
	for _, limit := range []string{"1", "2", "100"} {
		for q, want := range map[string]string{
			"ada": "m-2 m-1 adam", "aDA L": "m-1", "ada h": "", "adam": "adam", "m-1": "", "love": "m-1", "zoe": "m-5", "橋": "m-6", "AJ": "m-7", "a": "", "a+d": "", "j": "m-8", "J": "m-8",
		} {
			if got := find("", "b", q, limit); got != want {
				t.Errorf("%q, %s at a time: %s, want %s", q, limit, got, want)
			}
		}
	}
	if got := find(apitest.ReadKey, "secret", "ada", "9"); got != "m-4" {
		t.Errorf("on the private board: %s", got)
	}
	e.Get("", "/v1/boards/secret/members?q=ada").WantProblem(404, "board-not-found")
	var p page
	e.Get("", "/v1/boards/b/members?q=ada&limit=1").Want(200).Decode(&p)
	for _, bad := range []string{"", "q=", "q=++", "q=" + strings.Repeat("x", 101), "q=ada&limit=101", "q=ada&cursor=AQID", "q=adam&cursor=" + p.Next} {
		e.Get("", "/v1/boards/b/members?"+bad).WantProblem(400, wire.CodeMalformed)
	}
	first := e.Get("", "/v1/boards/b/members?q=ada&profiles=true").Want(200)
	again := func() apitest.Reply {
		return e.Do(apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/b/members?q=ada&profiles=true", Header: http.Header{"If-None-Match": first.Header["Etag"]}})
	}
	again().Want(304)
	e.Put(apitest.WriteKey, "/v1/members/m-1", `{"display_name":"Ada L."}`).Want(200)
	again().Want(200)
}
