package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Tokens of member 5: one for all boards, and one for boards whose names begin with game1-.
const (
	token5     = "five.all.token"
	token5Some = "five.some.token"
)

// withPlayer makes an API know member 5, and boards: open by all rules, private, and one on which players read and submit.
func withPlayer(t *testing.T, change ...func(*Config)) *env {
	e := newEnv(t, change...)
	e.fake.Players.Tokens[token5] = &leaderboard.Player{Member: "5", All: true, Via: "issuer:game", Owner: "p5"}
	e.fake.Players.Tokens[token5Some] = &leaderboard.Player{Member: "5", Boards: []string{"game1-*"}, Via: "issuer:game", Owner: "p5"}
	private, players := leaderboard.VisibilityPrivate, &leaderboard.Players{Read: true, Submit: leaderboard.PlayersSubmitOwn}
	e.Board("open", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("private", leaderboard.Rules{Visibility: private}, apitest.Classic()...)
	e.Board("mine", leaderboard.Rules{Visibility: private, Players: players}, apitest.Classic()...)
	e.Board("game1-mine", leaderboard.Rules{Visibility: private, Players: players}, apitest.Classic()...)
	e.Board("look", leaderboard.Rules{Visibility: private, Players: &leaderboard.Players{Read: true}}, apitest.Classic()...)
	e.Board("claim", leaderboard.Rules{Visibility: private, Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitOwn}}, apitest.Classic()...)
	e.Board("submit", leaderboard.Rules{Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitOwn}}, apitest.Classic()...)
	return e
}

// TestEveryRouteForPlayers: a player's token opens the routes that need no key, and the submission, about which the board's rule
// decides. All other routes are closed, new routes too.
func TestEveryRouteForPlayers(t *testing.T) {
	e := withPlayer(t)
	writes := e.fake.Writes()
	for _, rt := range routesOfEngine() {
		if rt.Access == api.AccessAnyone {
			continue
		}
		a := apitest.Ask{Method: rt.Method, Path: strings.NewReplacer("{board}", "open", "{member}", "5").Replace(rt.Path), Key: token5}
		a.Path = concrete(a.Path)
		r := e.Do(a)
		switch {
		case rt.Players == api.PlayersMaySubmit && rt.Path != "/v1/boards/{board}/scores" && rt.Path != "/v1/boards/{board}/plays":
			t.Errorf("%s is for players to submit", rt.Path)
		case rt.Players == api.PlayersMayReadOwn && (rt.Access != api.AccessReaders || !rt.Has("member") && !rt.Stream || !rt.Has("board") && !slices.Contains(rt.Params, "boards") || rt.Method != http.MethodGet):
			t.Errorf("%s %s shows players what is theirs", rt.Method, rt.Path)
		case rt.Access == api.AccessReaders:
			if r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden {
				t.Errorf("%s %s: %d, which anyone may read", rt.Method, rt.Path, r.Status)
			}
		case rt.Players == api.PlayersMaySubmit: // TestPlayerSubmits, TestBeginPlay
		default:
			r.WantProblem(http.StatusForbidden, wire.CodeForbidden)
		}
	}
	if e.fake.Writes() != writes {
		t.Error("something was written")
	}
}

// TestPlayerReads: a player reads the player's own entry and the entries around it on a private board whose rule allows it, and
// nothing else of that board; a private board without the rule, or outside the token, is not found.
func TestPlayerReads(t *testing.T) {
	e := withPlayer(t)
	for path, want := range map[string]int{
		"/v1/boards/mine/members/5":                     200,
		"/v1/boards/mine/members/5/around":              200,
		"/v1/boards/look/members/5":                     200,
		"/v1/boards/mine/members/4":                     404,
		"/v1/boards/mine/members/4/around":              404,
		"/v1/boards/mine/top":                           404,
		"/v1/boards/mine":                               404,
		"/v1/boards/mine/scores/1/rank":                 404,
		"/v1/boards/private/members/5":                  404,
		"/v1/boards/none/members/5":                     404,
		"/v1/boards/submit/members/4":                   200, // public
		"/v1/boards/open/top":                           200,
		"/v1/rankings/top?boards=mine,look":             404,
		"/v1/rankings/members/5?boards=mine":            404,
		"/v1/members/5/standings?boards=mine,look,open": 200,
		"/v1/members/5/standings?boards=mine,claim":     404,
		"/v1/members/5/standings?boards=mine,private":   404,
		"/v1/members/4/standings?boards=mine,open":      404,
		"/v1/members/4/standings?boards=open":           200,
		"/v1/boards/mine/members/5?window=day":          404,
		"/v1/boards/mine/members/5/history":             200,
		"/v1/boards/mine/members/4/history":             404,
		"/v1/boards/private/members/5/history":          404,
		"/v1/boards/mine/members/5?nothing=true":        400,
	} {
		r := e.Do(apitest.Ask{Method: http.MethodGet, Path: path, Key: token5, Off: want == 400})
		if r.Status != want {
			t.Errorf("%s: %d, want %d: %s", path, r.Status, want, r.Body)
		}
		if want == 404 && !strings.Contains(path, "window") {
			r.WantProblem(404, leaderboard.ErrBoardNotFound.Code)
		}
	}
	if r := e.Get(token5Some, "/v1/boards/game1-mine/members/5"); r.Status != 200 {
		t.Errorf("a board of the token: %d", r.Status)
	}
	e.Get(token5Some, "/v1/boards/mine/members/5").WantProblem(404, leaderboard.ErrBoardNotFound.Code)
	e.Get(token5Some, "/v1/boards/open/members/5").Want(200)
	e.Get(token5Some, "/v1/members/5/standings?boards=game1-mine,open").Want(200)
	e.Get(token5Some, "/v1/members/5/standings?boards=game1-mine,mine").WantProblem(404, leaderboard.ErrBoardNotFound.Code)
	if cc := e.Get(token5, "/v1/boards/mine/members/5").Header.Get("Cache-Control"); !strings.Contains(cc, "private") {
		t.Errorf("Cache-Control: %s", cc)
	}
	e.Get(apitest.NoKey, "/v1/boards/mine/members/5").WantProblem(404, leaderboard.ErrBoardNotFound.Code)
}

// TestPlayerSubmits: a player submits for the own id where the rule says so, and nothing that only admins may say.
func TestPlayerSubmits(t *testing.T) {
	e := withPlayer(t)
	own, other := `{"entries":[{"member":"5","score":999}]}`, `{"entries":[{"member":"5","score":1},{"member":"4","score":1}]}`
	paid := `{"entries":[{"member":"5","score":1},{"member":"5","score":1,"op":"latest"},{"member":"5","set":{"paid":1}},{"member":"5","score":1,"keep_time":true}]}`
	timed := `{"entries":[{"member":"5","score":1,"created_time":"2020-01-01T00:00:00Z"}]}`
	writes := e.fake.Writes()
	for _, c := range []struct {
		key, board, body, code string
		status                 int
	}{
		{token5, "open", own, wire.CodeForbidden, 403},
		{token5, "private", own, leaderboard.ErrBoardNotFound.Code, 404},
		{token5, "none", own, leaderboard.ErrBoardNotFound.Code, 404},
		{token5, "look", own, wire.CodeForbidden, 403},
		{token5, "mine", other, wire.CodeForbidden, 403},
		{token5, "mine", timed, wire.CodeForbidden, 403},
		{token5, "mine", paid, wire.CodeForbidden, 403},
		{token5Some, "submit", own, wire.CodeForbidden, 403},
		{token5Some, "mine", own, leaderboard.ErrBoardNotFound.Code, 404},
	} {
		if p := e.Post(c.key, "/v1/boards/"+c.board+"/scores", c.body).WantProblem(c.status, c.code); c.body == other && p.Errors[0].Pointer != "/entries/1/member" {
			t.Errorf("%+v", p.Errors)
		} else if c.body == paid && c.board == "mine" && (!strings.Contains(p.Detail, "keep_time need a key") || strings.Contains(p.Detail, "for the player alone")) {
			t.Errorf("what needs a key is refused with %q", p.Detail)
		}
	}
	for path, want := range map[string]int{"mine/scores?standings=true&friends=true": 403, "claim/scores?standings=true": 403, "claim/scores": 200, "mine/scores?standings=true": 200} {
		if r := e.Post(token5, "/v1/boards/"+path, own); r.Status != want {
			t.Errorf("%s: %d, want %d: %s", path, r.Status, want, r.Body)
		}
		if want != 200 && e.fake.Writes() != writes {
			t.Fatal("something was written")
		}
		writes = e.fake.Writes()
	}
	e.Post(token5, "/v1/boards/mine/scores", own).Want(200)
	e.Post(token5, "/v1/boards/submit/scores", own).Want(200)
	e.Post(token5Some, "/v1/boards/game1-mine/scores", own).Want(200)
	e.Post(token5, "/v1/scores", `{"entries":[{"board":"submit","member":"5","score":1}]}`).WantProblem(403, wire.CodeForbidden)
}

// TestBadTokens: a refused token is 401, and an attempt of its address unless its signature is right. For an address without
// attempts left no more signatures are verified, and a known token continues to work.
func TestBadTokens(t *testing.T) {
	q := &charges{most: leaderboard.Charge{leaderboard.QuotaKindRequests: 100}}
	e := withPlayer(t, withCharges(q))
	e.fake.Players.Refused["five.old.token"] = &leaderboard.TokenError{Detail: "The time of the token is over.", Signed: true}
	from := func(key string) apitest.Reply { return e.Get(key, "/v1/boards/open/top") }
	for range 10 {
		if p := from("five.old.token").WantProblem(401, wire.CodeUnauthorized); p.Detail != "The time of the token is over." {
			t.Error(p.Detail)
		}
	}
	if q.attempts != 0 || q.charged[leaderboard.QuotaKindRequests] != 10 {
		t.Errorf("%d attempts and %v for tokens that were good once", q.attempts, q.charged)
	}
	for range 3 {
		from("not.my.token").WantProblem(401, wire.CodeUnauthorized)
	}
	for range 100 {
		from("not.my.token").WantProblem(429, wire.CodeAttempts)
	}
	if e.fake.Players.Tried != 3 {
		t.Errorf("%d signatures were verified, want 3", e.fake.Players.Tried)
	}
	from(token5).Want(200)
	if who := q.who[len(q.who)-1]; who != "5" {
		t.Errorf("%s was charged", who)
	}
	e.fake.Players.Refused["five.away.token"] = leaderboard.ErrUnavailable
	if r := from("five.away.token"); r.Status != 503 {
		t.Errorf("%d while tokens cannot be looked at", r.Status)
	}
}
