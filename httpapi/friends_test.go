package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func TestFriendLists(t *testing.T) {
	e := newEnv(t)
	const path = "/v1/members/u1/friends"
	list := func(want ...string) {
		t.Helper()
		var out struct{ Members []string }
		if e.get(readKey, path).want(200).decode(&out); !slices.Equal(out.Members, want) || out.Members == nil {
			t.Fatalf("friends %q, want %q", out.Members, want)
		}
	}
	list()
	if got := string(e.put(writeKey, path, `{"members":["c","a","b/ "]}`).want(200).body); got != `{"member":"u1","total":3}` {
		t.Errorf("got %s", got)
	}
	if got := string(e.post(writeKey, path, `{"members":["a","d"]}`).want(200).body); got != `{"member":"u1","total":4}` {
		t.Errorf("got %s", got)
	}
	list("a", "b/ ", "c", "d")
	e.delete(writeKey, path+"/b%2F%20").want(204)
	e.delete(writeKey, path+"/nobody").want(204)
	list("a", "c", "d")
	var page struct {
		Members []string
		Next    string `json:"next_cursor"`
	}
	e.get(readKey, path+"?limit=2").want(200).decode(&page)
	if !slices.Equal(page.Members, []string{"a", "c"}) || page.Next == "" {
		t.Errorf("got %+v", page)
	}
	e.get(readKey, "/v1/members/u2/friends?cursor="+page.Next).wantProblem(400, wire.CodeMalformed) // another list's
	next := page.Next
	page.Next = ""
	if e.get(readKey, path+"?limit=2&cursor="+next).want(200).decode(&page); !slices.Equal(page.Members, []string{"d"}) || page.Next != "" {
		t.Errorf("got %+v", page)
	}
	e.put(writeKey, path, `{"members":[]}`).want(200)
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
			p := e.do(ask{method: method, path: path, key: writeKey, body: body}).wantProblem(422, "invalid-friends")
			if len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
				t.Errorf("%s: %+v", body, p.Errors)
			}
		}
		for _, body := range []string{`{}`, `{"members":null}`, `{"friends":[]}`, `{"members":[1]}`} {
			e.do(ask{method: method, path: path, key: writeKey, body: body}).wantProblem(400, wire.CodeMalformed)
		}
		e.do(ask{method: method, path: path, key: writeKey, body: many(5001)}).wantProblem(422, "too-many-friends")
		e.do(ask{method: method, path: path, key: readKey, body: `{"members":[]}`}).wantProblem(403, wire.CodeForbidden)
	}
	e.put(writeKey, path, many(5000)).want(200)
	e.post(writeKey, path, `{"members":["f1","other"]}`).wantProblem(422, "too-many-friends")
	e.delete(writeKey, path+"/f1").want(204)
	e.post(writeKey, path, `{"members":["f2","other"]}`).want(200)
	e.get(noKey, path).wantProblem(401, wire.CodeUnauthorized)
}

// friendRows is the answer about friends.
type friendRows struct {
	rows
	Friends, Ranked int
	Self            *struct {
		row
		Percentile float64
		Profile    *profileJSON
	}
}

func TestBoardFriends(t *testing.T) {
	e := newEnv(t)
	e.board("classic", leaderboard.Rules{}, classic()...)
	e.put(writeKey, "/v1/members/2/friends", `{"members":["zz","8","6","5"]}`).want(200)
	e.put(writeKey, "/v1/members/2", `{"display_name":"Two"}`).want(201)
	ask := func(member, query string) friendRows {
		t.Helper()
		var out friendRows
		e.get(readKey, "/v1/boards/classic/members/"+member+"/friends"+query).want(200).decode(&out)
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
	e.board("classic", leaderboard.Rules{}, classic()...)
	const path = "/v1/boards/classic/members/2/friends"
	first := e.get(readKey, path).want(200)
	if cc := first.header.Get("Cache-Control"); cc != "private, no-cache" {
		t.Errorf("friendships may be cached by others: %s", cc)
	}
	e.put(writeKey, "/v1/members/2/friends", `{"members":["nobody"]}`).want(200)
	second := e.get(readKey, path).want(200)
	if first.header.Get("Etag") == second.header.Get("Etag") {
		t.Error("the ETag does not name the list of friends")
	}
	e.do(ask{method: http.MethodGet, path: path, key: readKey, header: http.Header{"If-None-Match": {second.header.Get("Etag")}}}).want(304)
	e.get(noKey, path).wantProblem(401, wire.CodeUnauthorized)
	e.get(readKey, path+"?min_seq=9").wantProblem(409, "seq-ahead")
	e.get(readKey, path+"?limit=1001").wantProblem(400, wire.CodeMalformed)
	e.get(readKey, "/v1/boards/none/members/2/friends").wantProblem(404, "board-not-found")
	// The cached list is used, and said to be old, while the database is away; without one there is no answer.
	e.fake.fail["KeptFriends"] = leaderboard.ErrUnavailable
	if got := e.get(readKey, path).rows(); !got.Stale {
		t.Error("an old list of friends passes for a new one")
	}
	e.get(readKey, "/v1/boards/classic/members/5/friends").wantProblem(503, "unavailable")
}
