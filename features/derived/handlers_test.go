package derived

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// newAPI returns an API over a model.
func newAPI(t testing.TB) (e *apitest.Env, m *model) {
	e = featuretest.New(t, func(f *apitest.Fake) []httpapi.Route {
		m = newModel(f.Model)
		return Routes(httpapi.Resolver{Catalog: f}, m)
	})
	return e, m
}

// TestExamples runs the line for a shell of /docs.
func TestExamples(t *testing.T) {
	server := func(t testing.TB) *apitest.Env { e, _ := newAPI(t); return e }
	featuretest.Examples(t, Routes(httpapi.Resolver{}, nil), server, map[string]func(*apitest.Env, string) string{
		"getSources": func(e *apitest.Env, line string) string {
			e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
			e.Board("week", leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "demo"}}}})
			return strings.Replace(line, "demo", "week", 1)
		},
	})
}

func TestDerivedBoard(t *testing.T) {
	e, m := newAPI(t)
	const rule = `{"derive":{"from":[{"board":"runs"},{"board":"rides","window":"day","period":"2023-11-14","weight":-2}]}}`
	e.Board("runs", leaderboard.Rules{}, leaderboard.Submission{Member: "m", Score: 9})
	e.Put(apitest.AdminKey, "/v1/boards/sum", rule).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/sum", rule).Want(200)
	shown := string(e.Get(apitest.ReadKey, "/v1/boards/sum").Want(200).Body)
	if want := `"derive":{"from":[{"board":"runs","period":"current","weight":1},{"board":"rides","window":"day","period":"2023-11-14","weight":-2}],"op":"union","aggregate":"sum"}`; !strings.Contains(shown, want) {
		t.Errorf("shown as %s\nwant %s", shown, want)
	}
	var out struct {
		Board, State string
		Seq, Lag     int64
		AsOf         leaderboard.Micros `json:"as_of"`
		Sources      []api.Source
	}
	check := func(state string, seq int64) {
		t.Helper()
		e.Get(apitest.ReadKey, "/v1/boards/sum/sources").Want(200).Decode(&out)
		want := []api.Source{
			{Board: "runs", Window: "all_time", Period: "all_time", Weight: 1, Seq: seq, LastSeq: 1, Condition: api.SourceConditionPresent},
			{Board: "rides", Window: "day", Weight: -2, Condition: api.SourceConditionNoBoard},
		}
		if out.State != state || out.Board != "sum" || !reflect.DeepEqual(out.Sources, want) {
			t.Errorf("sources are %+v", out)
		}
	}
	check("computing", 0)
	if _, err := m.FollowSources(t.Context(), "sum", true); err != nil {
		t.Fatal(err)
	}
	check("incomplete", 1)
	for body, pointer := range map[string]string{`{"derive":{"from":[{"board":"runs"}],"last":"7d"}}`: "/derive/last", `{"derive":{"from":[{"board":"sum"}]}}`: "/derive/from/0/board"} {
		for _, board := range []string{"sum", "other"} {
			p := e.Do(apitest.Ask{Method: "PUT", Path: "/v1/boards/" + board, Key: apitest.AdminKey, Body: body}).WantProblem(422, leaderboard.CodeInvalidBoard)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
				t.Errorf("%s on %s: %+v, want a fault at %s", body, board, p, pointer)
			}
		}
	}
	e.Get(apitest.NoKey, "/v1/boards/runs/sources").WantProblem(404, "not-derived")
	e.Get(apitest.NoKey, "/v1/boards/none/sources").WantProblem(404, "board-not-found")
	body := string(e.Post(apitest.WriteKey, "/v1/boards/sum/scores", `{"entries":[{"member":"m","score":1}]}`).Want(200).Body)
	if !strings.Contains(body, `"type":"/problems/derived-board"`) {
		t.Errorf("a submission to a derived board: %s", body)
	}
	e.Delete(apitest.AdminKey, "/v1/boards/sum/members/m").WantProblem(422, "derived-board")
	if p := e.Get(apitest.NoKey, "/v1/boards/sum/top").Want(200); !strings.Contains(string(p.Body), `"member":"m","score":9`) {
		t.Errorf("the entries are %s", p.Body)
	}
}

// TestPrivateSources: a public board derived from a private one names it, on every route, only to callers that may read it, and
// has another ETag for other callers (finding D14). These do not learn whether a source exists.
func TestPrivateSources(t *testing.T) {
	e, m := newAPI(t)
	id := leaderboard.NewKeyID()
	other, hash := leaderboard.NewKeySecret(id)
	e.Fake.Keyring.Put(id, leaderboard.HashedKey{Key: leaderboard.Key{ID: id, Name: "k", Scope: leaderboard.ScopeRead, Boards: []string{"game1-*"}}, Hash: hash})
	e.Board("open", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("secret", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, apitest.Classic()...)
	e.Board("game1-secret", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, apitest.Classic()...)
	e.Put(apitest.AdminKey, "/v1/boards/sum", `{"derive":{"from":[{"board":"open"},{"board":"secret"},{"board":"game1-secret"},{"board":"none"}]}}`).Want(201)
	if _, err := m.FollowSources(t.Context(), "sum", true); err != nil {
		t.Fatal(err)
	}
	e.Board("secret", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, leaderboard.Submission{Member: "new", Score: 1})
	tags := map[string]bool{}
	for key, want := range map[string][]string{
		apitest.NoKey: {"open"}, other: {"open", "game1-secret"}, apitest.ReadKey: {"open", "secret", "game1-secret", "none"}, apitest.AdminKey: {"open", "secret", "game1-secret", "none"},
	} {
		type named struct{ Board string }
		var board struct{ Derive struct{ From []named } }
		var list struct {
			Boards []struct {
				Name   string
				Derive struct{ From []named }
			}
		}
		var sources struct {
			Sources []named
			Lag     int64
		}
		r := e.Get(key, "/v1/boards/sum").Want(200)
		r.Decode(&board)
		e.Get(key, "/v1/boards").Want(200).Decode(&list)
		e.Get(key, "/v1/boards/sum/sources").Want(200).Decode(&sources)
		listed := list.Boards[len(list.Boards)-1]
		for what, got := range map[string][]named{"the board": board.Derive.From, "the list": listed.Derive.From, "the sources": sources.Sources} {
			names := []string{}
			for _, n := range got {
				names = append(names, n.Board)
			}
			if !slices.Equal(names, want) || listed.Name != "sum" {
				t.Errorf("with key %q %s names %v, want %v", key, what, names, want)
			}
		}
		tags[r.Header.Get("ETag")] = true
		tag := apitest.Ask{Method: "GET", Path: "/v1/boards/sum", Key: key, Header: http.Header{"If-None-Match": {r.Header.Get("ETag")}}}
		e.Do(tag).Want(304)
	}
	if len(tags) != 3 {
		t.Errorf("the answers have the tags %v", tags)
	}
	own := e.Get(apitest.AdminKey, "/v1/boards/sum").Want(200)
	e.Do(apitest.Ask{Method: "PUT", Path: "/v1/boards/sum", Key: apitest.AdminKey, Body: string(own.Body), Header: http.Header{"If-Match": {own.Header.Get("ETag")}}}).Want(200)
}
