package friends

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// newEnv returns an API with the routes of the feature over a fake.
func newEnv(t testing.TB, change ...func(*httpapi.Config)) *apitest.Env {
	return featuretest.New(t, func(f *apitest.Fake) []httpapi.Route {
		return Routes(httpapi.Resolver{Catalog: f}, httpapi.Reading{Rankings: f, Feed: f}, f)
	}, change...)
}

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
		Profile    *struct {
			DisplayName string `json:"display_name"`
		}
	}
}

// named shows the ids of members as their names.
type named []leaderboard.Entry

func (named) Param() string              { return "profiles" }
func (named) On(*leaderboard.Rules) bool { return true }
func (named) Find(_ context.Context, a *httpapi.Shown) (httpapi.Extra, error) {
	return named(a.Entries), nil
}
func (list named) AddTo(etag wire.ETag) wire.ETag { return etag }
func (list named) AppendTo(b []byte, i int) []byte {
	return append(wire.AppendString(append(b, `,"profile":{"display_name":`...), list[i].Member), `,"avatar_url":"","attributes":{}}`...)
}

func TestBoardFriends(t *testing.T) {
	e := newEnv(t, func(c *httpapi.Config) { c.Shows = []httpapi.Show{named{}} })
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	e.Put(apitest.WriteKey, "/v1/members/2/friends", `{"members":["zz","8","6","5"]}`).Want(200)
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
	if got := ask("2", "?profiles=true&limit=1"); got.Self.Profile == nil || got.Self.Profile.DisplayName != "2" {
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
	e.Fake.Fails["KeptFriends"] = leaderboard.ErrUnavailable
	if got := e.Get(apitest.ReadKey, path).Rows(); !got.Stale {
		t.Error("an old list of friends passes for a new one")
	}
	e.Get(apitest.ReadKey, "/v1/boards/classic/members/5/friends").WantProblem(503, "unavailable")
}

// A token of member 5, for all boards, and a token for boards that begin with game1-.
const (
	token5     = "five.all.token"
	token5Some = "five.some.token"
)

// withPlayer makes an API know member 5, and boards: open by all rules, private, and one on which players read.
func withPlayer(t *testing.T, change ...func(*httpapi.Config)) *apitest.Env {
	e := newEnv(t, change...)
	e.Fake.Players.Tokens[token5] = &leaderboard.Player{Member: "5", All: true}
	e.Fake.Players.Tokens[token5Some] = &leaderboard.Player{Member: "5", Boards: []string{"game1-*"}}
	e.Board("open", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("private", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, apitest.Classic()...)
	e.Board("mine", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate, Players: &leaderboard.Players{Read: true}}, apitest.Classic()...)
	return e
}

// TestPlayerAmongFriends: a player's token opens how the player stands among the own friends on a public board that it is for: not the friends
// of others, not the list, and no private board, whatever its rule. Many friends are heavy work.
func TestPlayerAmongFriends(t *testing.T) {
	e := withPlayer(t)
	e.Put(apitest.WriteKey, "/v1/members/5/friends", `{"members":["4","6"]}`).Want(200)
	e.Put(apitest.WriteKey, "/v1/members/4/friends", `{"members":["5"]}`).Want(200)
	e.Board("game1-open", leaderboard.Rules{}, apitest.Classic()...)
	for path, want := range map[string]int{
		"/v1/boards/open/members/5/friends":       200,
		"/v1/boards/game1-open/members/5/friends": 200,
		"/v1/boards/open/members/4/friends":       403,
		"/v1/boards/open/members/none/friends":    403,
		"/v1/boards/none/members/5/friends":       404,
		"/v1/boards/mine/members/5/friends":       404,
		"/v1/boards/private/members/5/friends":    404,
		"/v1/members/5/friends":                   403,
	} {
		if r := e.Get(token5, path); r.Status != want {
			t.Errorf("%s: %d, want %d: %s", path, r.Status, want, r.Body)
		}
	}
	var out friendRows
	r := e.Get(token5, "/v1/boards/open/members/5/friends?mode=strict").Want(200)
	if r.Decode(&out); len(out.Entries) != 3 || out.Friends != 2 || out.Self == nil || out.Self.Rank != 1 || !strings.Contains(r.Header.Get("Cache-Control"), "private") {
		t.Errorf("%s, %s", r.Body, r.Header.Get("Cache-Control"))
	}
	e.Get(token5Some, "/v1/boards/game1-open/members/5/friends").Want(200)
	e.Get(token5Some, "/v1/boards/open/members/5/friends").WantProblem(403, wire.CodeForbidden)
	e.Get(token5Some, "/v1/boards/none/members/5/friends").WantProblem(403, wire.CodeForbidden) // as of a board that there is
}

// TestManyFriendsAreHeavy: a hundred friends cost a player a unit of heavy work, since players may look again and again;
// they cost a key nothing.
func TestManyFriendsAreHeavy(t *testing.T) {
	q := &charges{}
	e := withPlayer(t, func(c *httpapi.Config) { c.Quotas = q })
	ids := make([]string, 250)
	for i := range ids {
		ids[i] = fmt.Sprintf(`"f%d"`, i)
	}
	e.Put(apitest.WriteKey, "/v1/members/5/friends", `{"members":[`+strings.Join(ids, ",")+`]}`).Want(200)
	q.most = 3
	e.Get(apitest.ReadKey, "/v1/boards/open/members/5/friends").Want(200)
	e.Get(token5, "/v1/boards/open/members/5/friends").Want(200)
	if got := q.charged[leaderboard.QuotaKindHeavy]; got != 2 {
		t.Errorf("%d units, want 2", got)
	}
	e.Get(token5, "/v1/boards/open/members/5/friends").WantProblem(429, wire.CodeQuota)
}

// charges are Quotas that note what callers are charged for. Beyond most heavy units a caller is refused.
type charges struct {
	httpapi.Quotas
	most    int // 0: without end
	charged leaderboard.Charge
}

// Charge implements httpapi.Quotas.
func (q *charges) Charge(_ httpapi.Bearer, _ netip.Addr, c leaderboard.Charge) (out leaderboard.Allowance) {
	if out.Refused = q.most > 0 && q.charged[leaderboard.QuotaKindHeavy]+c[leaderboard.QuotaKindHeavy] > q.most; out.Refused {
		out.Kind, out.Wait = leaderboard.QuotaKindHeavy, time.Second
		return out
	}
	for kind, n := range c {
		q.charged[kind] += n
	}
	return out
}

// TestChargedFor: each friend that is written is a row.
func TestChargedFor(t *testing.T) {
	q := &charges{}
	newEnv(t, func(c *httpapi.Config) { c.Quotas = q }).Put(apitest.AdminKey, "/v1/members/m/friends", `{"members":["a","b","c"]}`).Want(200)
	if want := (leaderboard.Charge{1, 3, 0}); q.charged != want {
		t.Errorf("charged %v, want %v", q.charged, want)
	}
}

// TestNullAndEmpty: null and the empty string are taken where the document allows them and nowhere else.
func TestNullAndEmpty(t *testing.T) {
	for method, body := range map[string]string{"PUT": `{"members":["a","b"]}`, "POST": `{"members":["c"]}`} {
		a := apitest.Ask{Method: method, Path: "/v1/members/m/friends", Key: apitest.AdminKey, Body: body}
		apitest.NullAndEmpty(t, newEnv(t), a, false)
	}
}

// TestExamples runs the lines for a shell of /docs that are about friends.
func TestExamples(t *testing.T) {
	featuretest.Examples(t, open(&features.Engine{}).Routes, func(t testing.TB) *apitest.Env {
		e := newEnv(t)
		e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
		e.Post(apitest.WriteKey, "/v1/members/1/friends", `{"members":["2"]}`).Want(200)
		return e
	}, nil)
}

// kept shows the data that the model keeps with entries.
type kept struct{ texts []string }

func (kept) Param() string                    { return "metadata" }
func (kept) On(rules *leaderboard.Rules) bool { return rules.KeepsMetadata() }
func (k kept) AddTo(etag wire.ETag) wire.ETag { return etag.Text("metadata") }
func (k kept) AppendTo(b []byte, i int) []byte {
	if k.texts[i] == "" {
		return b
	}
	return append(append(b, `,"metadata":`...), k.texts[i]...)
}

func (kept) Find(_ context.Context, a *httpapi.Shown) (httpapi.Extra, error) {
	texts, err := a.Again()
	return kept{texts}, err
}

// TestBoardFriendsForms: the modes, the metadata and the forms of answers are the same as for all reading routes.
func TestBoardFriendsForms(t *testing.T) {
	e := newEnv(t, func(c *httpapi.Config) { c.Shows = []httpapi.Show{kept{}} })
	e.Board("classic", leaderboard.Rules{Metadata: &leaderboard.Metadata{MaxBytes: 100}}, apitest.Classic()...)
	e.Put(apitest.WriteKey, "/v1/members/2/friends", `{"members":["8","4"]}`).Want(200)
	e.Post(apitest.WriteKey, "/v1/boards/classic/scores", `{"entries":[{"member":"4","score":200,"metadata":{"score":12345678901234567890}}]}`).Want(200)
	const path = "/v1/boards/classic/members/2/friends"
	const all = `{"strict_rank":5,"tied_rank":5,"dense_rank":5,"member":"8","score":80,"tiebreak":0,"created_time":"2018-08-16T14:30:01.000000Z","position":2}`
	if body := string(e.Get(apitest.ReadKey, path+"?mode=all").Want(200).Body); !strings.Contains(body, all) || !strings.Contains(body, `"mode":"all"`) || strings.Contains(body, `"rank":`) {
		t.Errorf("mode all: %s", body)
	}
	const metadata = `,"metadata":{"score":12345678901234567890}`
	without, with := e.Get(apitest.ReadKey, path).Want(200), e.Get(apitest.ReadKey, path+"?metadata=true").Want(200)
	if bare := strings.Replace(string(with.Body), metadata, "", 1); bare != string(without.Body) || len(bare) == len(with.Body) || with.Header.Get("Etag") == without.Header.Get("Etag") {
		t.Errorf("differs in more than the metadata:\n%s\n%s", with.Body, without.Body)
	}
	if text := string(e.Get(apitest.ReadKey, path+"?metadata=true&numbers=string").Want(200).Body); !strings.Contains(text, metadata) || !strings.Contains(text, `"score":"200"`) {
		t.Errorf("numbers as strings: %s", text)
	}
	entries, ids := make([]leaderboard.Submission, 30), make([]string, 30)
	for i := range entries {
		ids[i] = fmt.Sprintf("member-%03d", i)
		entries[i] = leaderboard.Submission{Member: ids[i], Score: int64(i)}
	}
	e.Board("many", leaderboard.Rules{}, entries...)
	e.Put(apitest.WriteKey, "/v1/members/2/friends", `{"members":["`+strings.Join(ids, `","`)+`"]}`).Want(200)
	a := apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/many/members/2/friends", Key: apitest.ReadKey}
	plain := e.Do(a).Want(200)
	a.Header = http.Header{"Accept-Encoding": {"gzip"}}
	if zipped := e.Do(a).Want(200); zipped.Zipped == nil || string(zipped.Body) != string(plain.Body) || plain.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("compressed: %s, plain: %s", zipped.Body, plain.Body)
	}
}

// TestBoardFriendsPeriods: a missing period has the error of all reading routes, and a period that never had an entry is
// empty.
func TestBoardFriendsPeriods(t *testing.T) {
	e := newEnv(t)
	e.Board("daily", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowAllTime}})
	const path = "/v1/boards/daily/members/a/friends"
	if p := e.Get(apitest.ReadKey, path+"?window=week").WantProblem(404, wire.CodeNoPeriod); p.Detail != "The board does not have window week, it has day, all_time." {
		t.Error(p.Detail)
	}
	if p := e.Get(apitest.ReadKey, path+"?window=foo").WantProblem(400, wire.CodeMalformed); p.Errors[0].Parameter != "window" {
		t.Errorf("%+v", p.Errors)
	}
	if got := string(e.Get(apitest.ReadKey, path+"?period=previous").Want(200).Body); !strings.Contains(got, `"friends":0,"ranked":0,"self":null,"entries":[]`) {
		t.Error(got)
	}
}
