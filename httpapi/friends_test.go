package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func TestFriendLists(t *testing.T) {
	e := newEnv(t)
	const path = "/v1/members/u1/friends"
	list := func(want ...string) {
		t.Helper()
		var out struct{ Members []string }
		if e.Get(apitest.ReadKey, path).Want(200).Decode(&out); !slices.Equal(out.Members, want) || out.Members == nil {
			t.Fatalf("friends %q, want %q", out.Members, want)
		}
	}
	list()
	if got := string(e.Put(apitest.WriteKey, path, `{"members":["c","a","b/ "]}`).Want(200).Body); got != `{"member":"u1","total":3}` {
		t.Errorf("got %s", got)
	}
	if got := string(e.Post(apitest.WriteKey, path, `{"members":["a","d"]}`).Want(200).Body); got != `{"member":"u1","total":4}` {
		t.Errorf("got %s", got)
	}
	list("a", "b/ ", "c", "d")
	e.Delete(apitest.WriteKey, path+"/b%2F%20").Want(204)
	e.Delete(apitest.WriteKey, path+"/nobody").Want(204)
	list("a", "c", "d")
	var page struct {
		Members []string
		Next    string `json:"next_cursor"`
	}
	e.Get(apitest.ReadKey, path+"?limit=2").Want(200).Decode(&page)
	if !slices.Equal(page.Members, []string{"a", "c"}) || page.Next == "" {
		t.Errorf("got %+v", page)
	}
	e.Get(apitest.ReadKey, "/v1/members/u2/friends?cursor="+page.Next).WantProblem(400, wire.CodeMalformed) // another list's
	next := page.Next
	page.Next = ""
	if e.Get(apitest.ReadKey, path+"?limit=2&cursor="+next).Want(200).Decode(&page); !slices.Equal(page.Members, []string{"d"}) || page.Next != "" {
		t.Errorf("got %+v", page)
	}
	e.Put(apitest.WriteKey, path, `{"members":[]}`).Want(200)
	list()
}

func TestFriendListRejections(t *testing.T) {
	e := newEnv(t)
	const path = "/v1/members/u1/friends"
	many := func(n int) string {
		var ids []string
		for i := range n {
			ids = append(ids, fmt.Sprintf(`"f%d"`, i))
		}
		return `{"members":[` + strings.Join(ids, ",") + `]}`
	}
	for _, method := range []string{http.MethodPut, http.MethodPost} {
		for body, pointer := range map[string]string{
			`{"members":["a","u1"]}`: "/members/1", `{"members":["a","b","a"]}`: "/members/2", `{"members":[""]}`: "/members/0",
		} {
			p := e.Do(apitest.Ask{Method: method, Path: path, Key: apitest.WriteKey, Body: body}).WantProblem(422, "invalid-friends")
			if len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
				t.Errorf("%s: %+v", body, p.Errors)
			}
		}
		for _, body := range []string{`{}`, `{"members":null}`, `{"friends":[]}`, `{"members":[1]}`} {
			e.Do(apitest.Ask{Method: method, Path: path, Key: apitest.WriteKey, Body: body}).WantProblem(400, wire.CodeMalformed)
		}
		e.Do(apitest.Ask{Method: method, Path: path, Key: apitest.WriteKey, Body: many(5001)}).WantProblem(422, "too-many-friends")
		e.Do(apitest.Ask{Method: method, Path: path, Key: apitest.ReadKey, Body: `{"members":[]}`}).WantProblem(403, wire.CodeForbidden)
	}
	e.Put(apitest.WriteKey, path, many(5000)).Want(200)
	e.Post(apitest.WriteKey, path, `{"members":["f1","other"]}`).WantProblem(422, "too-many-friends")
	e.Delete(apitest.WriteKey, path+"/f1").Want(204)
	e.Post(apitest.WriteKey, path, `{"members":["f2","other"]}`).Want(200)
	e.Get(apitest.NoKey, path).WantProblem(401, wire.CodeUnauthorized)
}

// friendRows is the answer about friends.
type friendRows struct {
	apitest.Rows
	Friends, Ranked int
	Self            *struct {
		apitest.Row
		Percentile float64
		Profile    *profileJSON
	}
}

func TestBoardFriends(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	e.Put(apitest.WriteKey, "/v1/members/2/friends", `{"members":["zz","8","6","5"]}`).Want(200)
	e.Put(apitest.WriteKey, "/v1/members/2", `{"display_name":"Two"}`).Want(201)
	ask := func(member, query string) friendRows {
		t.Helper()
		var out friendRows
		e.Get(apitest.ReadKey, "/v1/boards/classic/members/"+member+"/friends"+query).Want(200).Decode(&out)
		return out
	}
	for query, want := range map[string]string{
		"?mode=strict":                "5=1/1 8=5/2 2=6/3 6=8/4 self 6/3 50",
		"?mode=tied":                  "5=1/1 8=5/2 2=5/2 6=8/4 self 5/2 50",
		"?mode=dense":                 "5=1/1 8=5/2 2=5/2 6=7/3 self 5/2 50",
		"?limit=2":                    "5=1/1 8=5/2 self 6/3 50",
		"?limit=2&offset=2&mode=tied": "2=5/2 6=8/4 self 5/2 50",
		"?offset=9223372036854775807": "self 6/3 50",
	} {
		got := ask("2", query)
		var parts []string
		for _, r := range got.Entries {
			parts = append(parts, fmt.Sprintf("%s=%d/%d", r.Member, r.Rank, r.Position))
		}
		parts = append(parts, fmt.Sprintf("self %d/%d %v", got.Self.Rank, got.Self.Position, got.Self.Percentile))
		if have := strings.Join(parts, " "); have != want {
			t.Errorf("%s: got %s, want %s", query, have, want)
		}
		if got.Friends != 4 || got.Ranked != 4 || got.Total != 8 || got.Seq != 8 {
			t.Errorf("%s: %+v", query, got)
		}
	}
	if got := ask("2", "?profiles=true&limit=1"); got.Self.Profile == nil || got.Self.Profile.DisplayName != "Two" {
		t.Errorf("the member's own profile is missing: %+v", got.Self)
	}
	if got := ask("zz", ""); got.Self != nil || got.Friends != 0 || got.Ranked != 0 || len(got.Entries) != 0 {
		t.Errorf("nobody without friends: %+v", got)
	}
	if got := ask("7", ""); got.Self == nil || got.Self.Position != 1 || got.Ranked != 1 || len(got.Entries) != 1 {
		t.Errorf("without friends a member is alone: %+v", got)
	}
}

func TestBoardFriendsIdentityAndRights(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	const path = "/v1/boards/classic/members/2/friends"
	first := e.Get(apitest.ReadKey, path).Want(200)
	if cc := first.Header.Get("Cache-Control"); cc != "private, no-cache" {
		t.Errorf("friendships may be cached by others: %s", cc)
	}
	e.Put(apitest.WriteKey, "/v1/members/2/friends", `{"members":["nobody"]}`).Want(200)
	second := e.Get(apitest.ReadKey, path).Want(200)
	if first.Header.Get("Etag") == second.Header.Get("Etag") {
		t.Error("the ETag does not name the list of friends")
	}
	e.Do(apitest.Ask{Method: http.MethodGet, Path: path, Key: apitest.ReadKey, Header: http.Header{"If-None-Match": {second.Header.Get("Etag")}}}).Want(304)
	e.Get(apitest.NoKey, path).WantProblem(401, wire.CodeUnauthorized)
	e.Get(apitest.ReadKey, path+"?min_seq=9").WantProblem(409, "seq-ahead")
	e.Get(apitest.ReadKey, path+"?limit=1001").WantProblem(400, wire.CodeMalformed)
	e.Get(apitest.ReadKey, "/v1/boards/none/members/2/friends").WantProblem(404, "board-not-found")
	// The cached list is used, and said to be old, while the database is away; without one there is no answer.
	e.fake.Fails["KeptFriends"] = leaderboard.ErrUnavailable
	if got := e.Get(apitest.ReadKey, path).Rows(); !got.Stale {
		t.Error("an old list of friends passes for a new one")
	}
	e.Get(apitest.ReadKey, "/v1/boards/classic/members/5/friends").WantProblem(503, "unavailable")
}
