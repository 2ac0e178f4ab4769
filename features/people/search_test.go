package people_test

import (
	"net/url"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// TestSearchMembers: members are found by id or name, page by page, by admins of all boards.
func TestSearchMembers(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "ada-3"})
	for id, name := range map[string]string{"ada-1": "Bob", "ada-2": "bOB & co", "zed": "BOB"} {
		e.Put(apitest.WriteKey, "/v1/members/"+id, `{"display_name":"`+name+`"}`).Want(201)
	}
	search := func(query url.Values) string {
		t.Helper()
		var members []string
		for {
			var page api.FoundMembers
			e.Get(apitest.AdminKey, "/v1/members?"+query.Encode()).Want(200).Decode(&page)
			for _, m := range page.Members {
				if (m.Profile == nil) != (m.Member == "ada-3") {
					t.Errorf("%s has profile %v", m.Member, m.Profile)
				}
				members = append(members, m.Member)
			}
			if page.NextCursor == "" {
				return strings.Join(members, " ")
			}
			query.Set("cursor", page.NextCursor)
		}
	}
	for _, limit := range []string{"1", "2", "100"} {
		for query, want := range map[string]string{
			"q=ada": "ada-1 ada-2 ada-3", "q=": "ada-1 ada-2 ada-3 zed", "by=id": "ada-1 ada-2 ada-3 zed", "q=bob": "", "q=bob&by=name": "ada-1 zed ada-2",
			"q=bob+%26&by=name": "ada-2", "by=name": "ada-1 zed ada-2",
		} {
			values, err := url.ParseQuery(query + "&limit=" + limit)
			if err != nil {
				t.Fatal(err)
			}
			if got := search(values); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
	}
	var page struct {
		Next string `json:"next_cursor"`
	}
	e.Get(apitest.AdminKey, "/v1/members?q=ada&limit=1").Want(200).Decode(&page)
	for _, bad := range []string{"by=score", "limit=101", "q=" + strings.Repeat("x", 101), "cursor=AQID", "q=a&cursor=" + page.Next, "q=ada&by=name&cursor=" + page.Next} {
		e.Get(apitest.AdminKey, "/v1/members?"+bad).WantProblem(400, wire.CodeMalformed)
	}
	e.Get(apitest.WriteKey, "/v1/members").WantProblem(403, wire.CodeForbidden)
	e.Get(e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"b"} }), "/v1/members").WantProblem(403, wire.CodeForbidden)
}
