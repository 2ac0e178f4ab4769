package installed_test

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"leaderboard/api"
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/app/installed"
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

// TestDocumentHasTheOperations: the table of operations, the routes of a server and the operations of the document are the same set.
func TestDocumentHasTheOperations(t *testing.T) {
	doc, _ := apitest.Document()
	var documented, listed, routed []string
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			documented = append(documented, op.OperationID+" "+method+" "+path)
		}
	}
	for _, op := range api.Operations() {
		listed = append(listed, op.ID+" "+op.Method+" "+op.Path)
	}
	for _, rt := range table() {
		routed = append(routed, rt.ID+" "+rt.Method+" "+rt.Path)
	}
	slices.Sort(documented)
	slices.Sort(listed)
	slices.Sort(routed)
	if !slices.Equal(documented, listed) || !slices.Equal(documented, routed) {
		t.Errorf("document: %s\ntable: %s\nroutes: %s", strings.Join(documented, "\n\t"), strings.Join(listed, "\n\t"), strings.Join(routed, "\n\t"))
	}
}

// TestDocumentHasTheParameters: the document lists exactly the parameters of an operation, with their bounds, words and defaults,
// and a server with all features takes them.
func TestDocumentHasTheParameters(t *testing.T) {
	doc, _ := apitest.Document()
	for _, rt := range table() {
		item := doc.Paths.Value(rt.Path)
		documented := map[string]*openapi3.Schema{}
		for _, p := range append(slices.Clone(item.Parameters), item.GetOperation(rt.Method).Parameters...) {
			if p.Value.In == "query" {
				documented[p.Value.Name] = p.Value.Schema.Value
			}
		}
		if !slices.Equal(slices.Sorted(slices.Values(rt.Params)), slices.Sorted(maps.Keys(documented))) {
			t.Errorf("%s takes %v, the document says %v", rt.ID, rt.Params, slices.Sorted(maps.Keys(documented)))
		}
		if len(rt.Params) > wire.MaxParams {
			t.Errorf("%s takes more than %d parameters", rt.ID, wire.MaxParams)
		}
		for _, p := range api.ParamsOf(rt.Query) {
			if want := documented[p.Name]; want != nil && saysTable(rt.ID, &p) != saysDocument(want) && !rt.AnyQuery() {
				t.Errorf("%s: %s is %s, the document says %s", rt.ID, p.Name, saysTable(rt.ID, &p), saysDocument(want))
			}
		}
	}
}

// saysTable returns the description of a parameter by the table.
func saysTable(operation string, p *api.Param) string {
	if operation == "streamPage" && (p.Name == "before" || p.Name == "after") {
		p.Bounds[1] = 99 // they are less than 100 together, which the handler looks at
	}
	switch {
	case p.Type.Kind() == reflect.Bool:
		return "boolean"
	case p.Type == reflect.TypeFor[int]() || p.Type == reflect.TypeFor[int64]():
		return fmt.Sprintf("integer from %d to %d, by default %d", p.Bounds[0], p.Bounds[1], p.Number)
	}
	return fmt.Sprintf("text of %v, by default %q", p.Words, p.Default)
}

// saysDocument returns the description of a parameter by the document.
func saysDocument(schema *openapi3.Schema) string {
	switch {
	case schema.Type.Is("boolean"):
		return "boolean"
	case schema.Type.Is("integer"):
		bounds := [2]int64{math.MinInt64, math.MaxInt64}
		for i, bound := range []*float64{schema.Min, schema.Max} {
			if bound != nil {
				bounds[i] = int64(*bound)
			}
		}
		number, _ := schema.Default.(float64)
		return fmt.Sprintf("integer from %d to %d, by default %d", bounds[0], bounds[1], int64(number))
	}
	text, _ := schema.Default.(string)
	return fmt.Sprintf("text of %v, by default %q", schema.Enum, text)
}

// TestDocumentHasTheAccess: the document requires the same keys as the table of routes.
func TestDocumentHasTheAccess(t *testing.T) {
	doc, _ := apitest.Document()
	for _, rt := range table() {
		op := doc.Paths.Value(rt.Path).GetOperation(rt.Method)
		var says string
		switch {
		case op.Security == nil:
			says = "whoever the reader believes" // generators report it as an oversight
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
		if want := map[api.Access]string{api.AccessAnyone: "anyone", api.AccessReaders: "readers", api.AccessHolders: "holders", api.AccessWriters: "writers", api.AccessAdmins: "admins"}[rt.Access]; says != want {
			t.Errorf("%s %s is for %s, the document says %q", rt.Method, rt.Path, want, says)
		}
	}
}

// TestDocumentHasTheQuotas: every route that is charged says that it may answer 429.
func TestDocumentHasTheQuotas(t *testing.T) {
	doc, _ := apitest.Document()
	for _, rt := range table() {
		if op := doc.Paths.Value(rt.Path).GetOperation(rt.Method); !rt.Ops() && op.Responses.Value("429") == nil {
			t.Errorf("%s %s: openapi.yaml has no answer 429", rt.Method, rt.Path)
		}
	}
}

// TestBodyRules: the document gives a body to exactly the routes that read one.
func TestBodyRules(t *testing.T) {
	doc, _ := apitest.Document()
	for _, rt := range table() {
		operation := doc.Paths.Find(rt.Path).GetOperation(rt.Method)
		if got, want := rt.Body != api.BodyNone, operation.RequestBody != nil; got != want {
			t.Errorf("%s: reads a body: %t, has one in the document: %t", rt.ID, got, want)
		} else if want && (rt.Body == api.BodyPatch) != (operation.RequestBody.Value.Content["application/merge-patch+json"] != nil) {
			t.Errorf("%s: takes a merge patch in the table or in the document, not in both", rt.ID)
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
			if i != j && rows[i].Method == rows[j].Method && matches(rows[j].Path, concrete(rows[i].Path)) {
				t.Errorf("%s %s is also taken by %s", rows[i].Method, rows[i].Path, rows[j].Path)
			}
		}
	}
}

// matches reports whether a route with a path takes a request.
func matches(path, asked string) bool {
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
		if rt.Access == api.AccessAnyone {
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
		if rt.Access == api.AccessReaders {
			continue
		}
		wants(http.StatusUnauthorized, "no key", apitest.NoKey, "")
		if onBoard := strings.Contains(rt.Path, "{board}"); onBoard || !rt.SomeBoards {
			wants(http.StatusForbidden, "a key for other boards", elsewhere, "")
		}
		if slices.Contains(rt.Params, "board") {
			wants(http.StatusForbidden, "a key for other boards", elsewhere, "?board=game1-a")
		}
		if rt.Players == api.PlayersMayAsAnyone && rt.Access != api.AccessPlayers {
			wants(http.StatusForbidden, "a player's token", "five.all.token", "")
		}
	}
}
