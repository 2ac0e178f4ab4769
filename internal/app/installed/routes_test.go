package installed_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/app/installed"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// rowsOfFeatures are the routes of all features, on an engine that has nothing.
func rowsOfFeatures(e *features.Engine) (rows []httpapi.Route) {
	for _, o := range features.Open(installed.Features(), e) {
		rows = append(rows, o.Routes...)
	}
	return rows
}

// table is the whole table of routes.
func table() []httpapi.Route {
	e := &features.Engine{}
	cfg := httpapi.Config{Routes: rowsOfFeatures(e), Metrics: http.NotFoundHandler()}
	cfg.Shows = features.AllOffered[httpapi.Show](e)
	cfg.Friends = features.Offered[httpapi.Friends](e)
	return httpapi.New(cfg).Routes()
}

// TestDocumentHasTheRoutes: the routes of the mux and the operations of the document are the same set.
func TestDocumentHasTheRoutes(t *testing.T) {
	doc, _ := apitest.Document()
	var documented, routed []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	for _, rt := range table() {
		routed = append(routed, rt.Method+" "+rt.Path)
	}
	slices.Sort(documented)
	slices.Sort(routed)
	if !slices.Equal(documented, routed) {
		t.Errorf("document: %s\nmux: %s", strings.Join(documented, "\n\t"), strings.Join(routed, "\n\t"))
	}
}

// TestDocumentHasTheParameters: the parameters that a route takes are those that the document lists.
func TestDocumentHasTheParameters(t *testing.T) {
	doc, _ := apitest.Document()
	for _, rt := range table() {
		item := doc.Paths.Value(rt.Path)
		var documented []string
		for _, p := range append(slices.Clone(item.Parameters), item.GetOperation(rt.Method).Parameters...) {
			if p.Value.In == "query" {
				documented = append(documented, p.Value.Name)
			}
		}
		params := slices.Sorted(slices.Values(rt.Params))
		slices.Sort(documented)
		if !slices.Equal(params, documented) {
			t.Errorf("%s %s takes %v, the document says %v", rt.Method, rt.Path, params, documented)
		}
		if len(params) > wire.MaxParams {
			t.Errorf("%s %s takes more than %d parameters", rt.Method, rt.Path, wire.MaxParams)
		}
	}
}

// TestDocumentHasTheAccess: what the document says about keys is what the table of routes demands.
func TestDocumentHasTheAccess(t *testing.T) {
	doc, _ := apitest.Document()
	for _, rt := range table() {
		op := doc.Paths.Value(rt.Path).GetOperation(rt.Method)
		var says string
		switch {
		case op.Security == nil:
			says = "whoever the reader believes" // a generator takes it for an oversight
		case len(*op.Security) == 0:
			says = "anyone"
		case len((*op.Security)[0]) == 0:
			says = "readers"
		case strings.Contains(op.Description, "Needs scope read"):
			says = "holders"
		case strings.Contains(op.Description, "Needs scope write"):
			says = "writers"
		case strings.Contains(op.Description, "Needs scope admin"):
			says = "admins"
		}
		if want := map[guard.Access]string{guard.AccessAnyone: "anyone", guard.AccessReaders: "readers", guard.AccessHolders: "holders", guard.AccessWriters: "writers", guard.AccessAdmins: "admins"}[rt.Access]; says != want {
			t.Errorf("%s %s is for %s, the document says %q", rt.Method, rt.Path, want, says)
		}
	}
}

// TestDocumentHasTheQuotas: every route that is charged says that it may answer 429.
func TestDocumentHasTheQuotas(t *testing.T) {
	doc, _ := apitest.Document()
	for _, rt := range table() {
		if op := doc.Paths.Value(rt.Path).GetOperation(rt.Method); !rt.Ops && op.Responses.Value("429") == nil {
			t.Errorf("%s %s: openapi.yaml has no answer 429", rt.Method, rt.Path)
		}
	}
}

// TestBodyRules: the routes that the document gives a body are those that read one.
func TestBodyRules(t *testing.T) {
	doc, _ := apitest.Document()
	for _, rt := range table() {
		operation := doc.Paths.Find(rt.Path).GetOperation(rt.Method)
		if got, want := rt.Body.Limit > 0, operation.RequestBody != nil; got != want {
			t.Errorf("%s %s: reads a body: %t, has one in the document: %t", rt.Method, rt.Path, got, want)
		}
	}
}

// concrete fills in the wildcards of a route's path.
func concrete(path string) string {
	return strings.NewReplacer("{board}", "b", "{member}", "m", "{friend}", "n", "{score}", "1", "{id}", "1", "{name}", "game", "{code}", "internal", "{page}", "boards", "{file}", "a.js").Replace(path)
}

// TestRoutesDoNotOverlap: no two routes take the same request.
func TestRoutesDoNotOverlap(t *testing.T) {
	rows := table()
	for i := range rows {
		for j := range rows {
			if i != j && rows[i].Method == rows[j].Method && takes(rows[j].Path, concrete(rows[i].Path)) {
				t.Errorf("%s %s is also taken by %s", rows[i].Method, rows[i].Path, rows[j].Path)
			}
		}
	}
}

// takes reports whether a route with a path takes a request.
func takes(path, asked string) bool {
	of, parts := strings.Split(path, "/"), strings.Split(asked, "/")
	for i, part := range of {
		if len(of) != len(parts) || !strings.HasPrefix(part, "{") && part != parts[i] {
			return false
		}
	}
	return true
}

// TestRoutesOfFeaturesDeny holds every route of a feature against every sort of key that may not use it: none, unknown, expired,
// revoked, of lesser scope, for other boards, and players' tokens (promise G1). Nothing is asked for that: there is nothing to ask.
func TestRoutesOfFeaturesDeny(t *testing.T) {
	f := apitest.NewFake()
	rows := rowsOfFeatures(&features.Engine{})
	e := &apitest.Env{T: t, Fake: f, Handler: httpapi.New(httpapi.Config{Keyring: f.Keyring, Players: f.Players, SettingsKeys: apitest.SettingsKeys(), Writer: f, Routes: rows})}
	now := leaderboard.MicrosOf(time.Now())
	unknown, _ := leaderboard.NewKeySecret(leaderboard.NewKeyID())
	dead := map[string]string{
		"unknown": unknown, "mistyped": "Lbk_x",
		"expired": e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.ExpiresAt = now }),
		"revoked": e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.RevokedAt = now }),
	}
	lesser := map[leaderboard.Scope][]string{
		leaderboard.ScopeWrite: {apitest.ReadKey},
		leaderboard.ScopeAdmin: {apitest.ReadKey, apitest.WriteKey},
	}
	elsewhere := e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game2-*"} })
	f.Players.Tokens["five.all.token"] = &leaderboard.Player{Member: "5", All: true, Via: "issuer:game", Owner: "p5"}
	for _, rt := range rows {
		if rt.Access == guard.AccessAnyone {
			continue
		}
		wants := func(status int, sort, key, query string) {
			t.Helper()
			if r := e.Do(apitest.Ask{Method: rt.Method, Path: concrete(rt.Path) + query, Key: key, Off: true}); r.Status != status {
				t.Errorf("%s %s%s with %s: %d, want %d", rt.Method, rt.Path, query, sort, r.Status, status)
			}
		}
		for sort, key := range dead {
			wants(http.StatusUnauthorized, "a key that is "+sort, key, "")
		}
		for _, key := range lesser[rt.Access.Needs()] {
			wants(http.StatusForbidden, "a lesser scope", key, "")
		}
		if rt.Access == guard.AccessReaders {
			continue
		}
		wants(http.StatusUnauthorized, "no key", apitest.NoKey, "")
		if onBoard := strings.Contains(rt.Path, "{board}"); onBoard || !rt.SomeBoards {
			wants(http.StatusForbidden, "a key for other boards", elsewhere, "")
		}
		if slices.Contains(rt.Params, "board") {
			wants(http.StatusForbidden, "a key for other boards", elsewhere, "?board=game1-a")
		}
		if rt.Players == httpapi.PlayersMayAsAnyone && rt.Access != guard.AccessPlayers {
			wants(http.StatusForbidden, "a player's token", "five.all.token", "")
		}
	}
}
