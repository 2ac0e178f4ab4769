package httpapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// naming is how a route's requests name a board.
type naming struct {
	route *Route
	place string // in the path, parameter board, parameter boards, in the body
}

// bodiesOf has a body for every route that takes one, and a body that names a board, BOARD, where a body can.
var bodiesOf = map[string]struct{ plain, names string }{
	"PUT /v1/boards/{board}":                         {`{}`, `{"derive":{"from":[{"board":"BOARD"}]}}`},
	"PATCH /v1/boards/{board}":                       {`{}`, `{"derive":{"from":[{"board":"BOARD"}]}}`},
	"POST /v1/boards/{board}/scores":                 {plain: `{"entries":[{"member":"m","score":1}]}`},
	"POST /v1/scores":                                {names: `{"entries":[{"board":"BOARD","member":"m","score":1}]}`},
	"POST /v1/boards/{board}/ranks":                  {plain: `{"members":["m"]}`},
	"POST /v1/boards/{board}/rebuild":                {plain: `{}`},
	"PUT /v1/boards/{board}/members/{member}/hidden": {plain: `{"reason":"r"}`},
	"PUT /v1/members/{member}/hidden":                {plain: `{"reason":"r"}`},
	"POST /v1/boards/{board}/moderation":             {plain: `{"action":"restore","members":["m"]}`},
	"POST /v1/moderation":                            {plain: `{"action":"restore","members":["m"]}`},
	"POST /v1/boards/{board}/plays":                  {},
}

// namings are all places of all routes in which a request names a board.
func namings(t *testing.T) (out []naming) {
	t.Helper()
	for _, rt := range routesOfEngine() {
		if rt.Access == api.AccessAnyone || rt.Access == api.AccessPlayers { // no key
			continue
		}
		if rt.Has("board") {
			out = append(out, naming{&rt, "path"})
		}
		for _, param := range rt.Params {
			if strings.Contains(param, "board") {
				out = append(out, naming{&rt, param})
			}
		}
		if rt.Body == api.BodyNone {
			continue
		}
		body, ok := bodiesOf[rt.Method+" "+rt.Path]
		if !ok {
			t.Fatalf("bodiesOf does not say whether the body of %s %s names boards", rt.Method, rt.Path)
		}
		if body.names != "" {
			out = append(out, naming{&rt, "body"})
		}
	}
	return out
}

// request returns a request that names a board.
func (n *naming) request(board, key string) apitest.Ask {
	bodies := bodiesOf[n.route.Method+" "+n.route.Path]
	a := apitest.Ask{Method: n.route.Method, Key: key, Body: bodies.plain, Off: true}
	own, query := board, ""
	switch n.place {
	case "path":
		if slices.Contains(n.route.Params, "q") {
			query = "?q=ada" // which is required
		}
	case "body":
		own, a.Body = "game1-of-"+board, strings.ReplaceAll(bodies.names, "BOARD", board)
	default:
		query = "?" + n.place + "=" + board
	}
	a.Path = concrete(strings.ReplaceAll(n.route.Path, "{board}", own)) + query
	return a
}

// isRead reports whether anyone may make the request of a public board.
func (n *naming) isRead() bool { return n.route.Access == api.AccessReaders }

// TestNamesOfBoards checks every place in which a request names a board with boards that are missing, private and public, inside
// and outside the boards of a key, with no key and with a key of each scope (promise G1). A request that needs a key is 403 for
// each name outside, and the answer names the boards of the key; a read is the same 404 for each board that the caller may not
// read as for a missing board. The bytes of both answers are the same for these, and the 403 asks no database.
func TestNamesOfBoards(t *testing.T) {
	t.Parallel()
	const only = "The key is not for this board, it is for game1-*."
	places := map[string]int{}
	for _, n := range namings(t) {
		places[n.place]++
		for _, scope := range []leaderboard.Scope{"", leaderboard.ScopeRead, leaderboard.ScopeWrite, leaderboard.ScopeAdmin} {
			e, key := newEnv(t), apitest.NoKey
			if scope != "" {
				key = e.Key(scope, func(k *leaderboard.Key) { k.Boards = []string{"game1-*"} })
			}
			blind := &env{Env: &apitest.Env{T: t, Handler: New(Config{Keyring: e.fake.Keyring, Writer: &apitest.Fake{}})}}
			visibility := map[string]leaderboard.Visibility{"private": leaderboard.VisibilityPrivate, "public": leaderboard.VisibilityPublic}
			answers := map[string]string{} // answers that have to be equal, by their status
			for _, prefix := range []string{"game1-", "game2-"} {
				for _, sort := range []string{"missing", "private", "public"} {
					board, inside := prefix+sort, prefix == "game1-"
					if sort != "missing" {
						e.Board(board, leaderboard.Rules{Visibility: visibility[sort]}, leaderboard.Submission{Member: "m", Score: 1})
					}
					e.Board("game1-of-"+board, leaderboard.Rules{})
					writes := e.fake.Writes()
					a := n.request(board, key)
					r := e.Do(a)
					what := fmt.Sprintf("%s %s, %s, of %s with scope %q", a.Method, n.route.Path, n.place, board, scope)
					want, detail := 0, ""
					switch needs := n.route.Access.Needs(); {
					case needs != "" && scope == "":
						want = 401
					case !scope.Includes(needs):
						want, detail = 403, fmt.Sprintf("This needs a key with scope %s, the key given has scope %s.", needs, scope)
					case !n.route.SomeBoards && !n.route.Has("board"):
						want, detail = 403, "This needs a key for all boards, the key given is for game1-*."
					case !n.isRead() && !inside:
						want, detail = 403, only
					case n.isRead() && sort != "public" && (sort == "missing" || scope == "" || !inside):
						want, detail = 404, "No board "
					}
					if want == 0 {
						missing := r.Status == 404 && r.Problem().Type == "/problems/board-not-found"
						if r.Status == 401 || r.Status == 403 || r.Status >= 500 || missing && sort != "missing" {
							t.Errorf("%s: %d %s", what, r.Status, r.Body)
						}
						continue
					}
					if r.Status != want || !strings.HasPrefix(r.Problem().Detail, detail) || e.fake.Writes() != writes {
						t.Errorf("%s: %d %s, want %d %s", what, r.Status, r.Body, want, detail)
						continue
					}
					body, header := shape(r)
					if body = strings.ReplaceAll(fmt.Sprint(body, header), board, "BOARD"); answers[detail] == "" {
						answers[detail] = body
					}
					if answers[detail] != body {
						t.Errorf("%s is told from others:\n%s, want\n%s", what, body, answers[detail])
					}
					if want == 403 {
						if other, _ := shape(blind.Do(a)); !strings.HasPrefix(body, strings.ReplaceAll(other, board, "BOARD")) {
							t.Errorf("%s with nothing to ask: %s, want %s", what, other, body)
						}
					}
				}
			}
		}
	}
	if want := []string{"board", "boards", "body", "path"}; !slices.Equal(slices.Sorted(maps.Keys(places)), want) || places["path"] < 15 || places["board"] != 2 || places["boards"] != 4 || places["body"] != 3 {
		t.Errorf("boards are named in %v", places)
	}
}

// TestKeyForManyBoards: an answer names only the first boards of a key with many.
func TestKeyForManyBoards(t *testing.T) {
	e := newEnv(t)
	var names []string
	for i := range leaderboard.MaxKeyBoards {
		names = append(names, fmt.Sprintf("b%d", i))
	}
	key := e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = names })
	want := "The key is not for this board, it is for b0, b1, b2, b3, b4, b5, b6, b7, b8, b9 and 90 more."
	if p := e.Delete(key, "/v1/boards/other").WantProblem(403, wire.CodeForbidden); p.Detail != want {
		t.Errorf("%s, want %s", p.Detail, want)
	}
}
