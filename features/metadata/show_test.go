package metadata_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"leaderboard/features/featuretest"
	"leaderboard/features/metadata"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// fake is the model, with an event between an answer and the look-up.
type fake struct {
	*apitest.Fake
	moving func() // once
}

// Metadata is the model's, after the event.
func (f *fake) Metadata(ctx context.Context, of []leaderboard.MetadataQuery) ([][]leaderboard.EntryMetadata, error) {
	if between := f.moving; between != nil {
		f.moving = nil
		between()
	}
	return f.Model.Metadata(ctx, of)
}

// api is an API whose entries have metadata.
type api struct {
	*apitest.Env
	fake *fake
}

func newAPI(t *testing.T) api {
	var f *fake
	return api{featuretest.New(t, func(of *apitest.Fake) []httpapi.Route {
		f = &fake{Fake: of}
		return nil
	}, func(c *httpapi.Config) {
		c.Shows = []httpapi.Show{metadata.Show{Reader: f, Rankings: f}}
	}), f}
}

// withRule makes a board with the rule: 4 has metadata there, 5 does not.
func withRule(t *testing.T) api {
	e := newAPI(t)
	e.Board("classic", leaderboard.Rules{Metadata: &leaderboard.Metadata{MaxBytes: 100}}, apitest.Classic()...)
	e.Board("none", leaderboard.Rules{}, apitest.Classic()...)
	const body = `{"entries":[{"member":"4","score":200,"metadata":{ "replay": "/r/1", "score": 12345678901234567890, "x": [null, "1"] }}]}`
	e.Post(apitest.WriteKey, "/v1/boards/classic/scores", body).Want(200)
	return e
}

const metadataOf4 = `"metadata":{"replay":"/r/1","score":12345678901234567890,"x":[null,"1"]}`

// readingAnswers are the answers that show metadata with entries, of member 4 of a board.
func (e api) readingAnswers(board string) map[string]func(query string) apitest.Reply {
	path := "/v1/boards/" + board + "/"
	read := func(path string) func(string) apitest.Reply {
		return func(query string) apitest.Reply { return e.Get(apitest.ReadKey, path+query) }
	}
	return map[string]func(string) apitest.Reply{
		"top": read(path + "top?"), "member": read(path + "members/4?"), "around": read(path + "members/5/around?"),
		"history": read(path + "members/4/history?"), "standings": read("/v1/members/4/standings?boards=" + board + "&"),
		"ranks": func(query string) apitest.Reply {
			return e.Post(apitest.NoKey, path+"ranks?"+query, `{"members":["4","5","nobody"]}`)
		},
	}
}

// TestMetadataBesideEntries: with metadata=true every reading answer shows it, looked up once, and is another answer than
// without.
func TestMetadataBesideEntries(t *testing.T) {
	e := withRule(t)
	for name, ask := range e.readingAnswers("classic") {
		delete(e.Fake.Called, "Metadata")
		without := ask("").Want(200)
		if strings.Contains(string(without.Body), "metadata") || e.Fake.Calls("Metadata") != 0 {
			t.Errorf("%s: %d look-ups; without metadata it is %s", name, e.Fake.Calls("Metadata"), without.Body)
		}
		with := ask("metadata=true").Want(200)
		if bare := strings.Replace(string(with.Body), ","+metadataOf4, "", 1); bare != string(without.Body) || len(with.Body) == len(bare) || e.Fake.Calls("Metadata") != 1 {
			t.Errorf("%s, with %d look-ups, differs in more than the metadata:\n%s\n%s", name, e.Fake.Calls("Metadata"), with.Body, without.Body)
		}
		if tag := with.Header.Get("ETag"); tag != "" && tag == without.Header.Get("ETag") {
			t.Errorf("%s has the same ETag with metadata", name)
		}
		if text := string(ask("metadata=true&numbers=string").Want(200).Body); !strings.Contains(text, metadataOf4) {
			t.Errorf("%s with numbers as strings: %s", name, text)
		}
		ask("metadata=yes").WantProblem(400, wire.CodeMalformed)
	}
	for name, ask := range e.readingAnswers("none") {
		delete(e.Fake.Called, "Metadata")
		if with, without := ask("metadata=true").Want(200), ask("").Want(200); string(with.Body) != string(without.Body) || e.Fake.Calls("Metadata") != 0 {
			t.Errorf("without the rule %s has %d look-ups and is %s", name, e.Fake.Calls("Metadata"), with.Body)
		}
	}
}

// TestMetadataOfAnotherEntry: when an entry has changed between the answer and the look-up, both are read again at one state (promise A8).
func TestMetadataOfAnotherEntry(t *testing.T) {
	for _, submitted := range []string{`,"metadata":{"replay":"/r/2"}`, ``} {
		e := withRule(t)
		for name, ask := range e.readingAnswers("classic") {
			score := int64(1000)
			for _, s := range e.Post(apitest.NoKey, "/v1/boards/classic/ranks", `{"members":["4"]}`).Rows().Entries {
				score = s.Score + 1
			}
			e.Post(apitest.WriteKey, "/v1/boards/classic/scores", `{"entries":[{"member":"4","score":`+string(wire.AppendOptInt(nil, &score))+`,"metadata":{"old":1}}]}`).Want(200)
			score++
			text := string(wire.AppendOptInt(nil, &score))
			e.fake.moving = func() {
				e.Post(apitest.WriteKey, "/v1/boards/classic/scores", `{"entries":[{"member":"4","score":`+text+submitted+`}]}`).Want(200)
			}
			got := string(ask("metadata=true").Want(200).Body)
			_, entry, _ := strings.Cut(got, `"score":`+text+",")
			if strings.Contains(got, `"old":1`) || entry == "" || strings.Contains(entry, `{"replay":"/r/2"}`) != (submitted != "") {
				t.Errorf("%s after a submission with %q: %s", name, submitted, got)
			}
		}
	}
}

// TestMetadataAway: a failed look-up is an error, and not left out (promise A8).
func TestMetadataAway(t *testing.T) {
	e := withRule(t)
	e.Fake.Fails["Metadata"] = leaderboard.ErrUnavailable
	for name, ask := range e.readingAnswers("classic") {
		t.Log(name)
		ask("metadata=true").WantProblem(503, "unavailable")
		ask("").Want(200)
	}
}

// TestMetadataSubmitted: a value that is not an object is malformed, and metadata that the board does not take rejects its
// entry alone.
func TestMetadataSubmitted(t *testing.T) {
	e := withRule(t)
	for _, value := range []string{`[]`, `"{}"`, `1`} {
		body := `{"entries":[{"member":"1","score":300},{"member":"2","score":300,"metadata":` + value + `}]}`
		p := e.Post(apitest.WriteKey, "/v1/boards/classic/scores", body).WantProblem(400, wire.CodeMalformed)
		if len(p.Errors) != 1 || p.Errors[0] != (wire.InputError{Pointer: "/entries/1/metadata", Detail: "want a JSON object"}) {
			t.Errorf("%s: %+v", value, p.Errors)
		}
	}
	long := `{"entries":[{"member":"1","score":300,"metadata":{"t":"` + strings.Repeat("x", 100) + `"}},{"member":"2","score":300,"metadata":{ }}]}`
	if got := string(e.Post(apitest.WriteKey, "/v1/boards/classic/scores", long).Want(200).Body); !strings.Contains(got, "at most 100 bytes") || !strings.Contains(got, "/problems/invalid-metadata") || strings.Count(got, `"applied"`) != 1 {
		t.Errorf("too long: %s", got)
	}
	if got := string(e.Post(apitest.WriteKey, "/v1/boards/none/scores", `{"entries":[{"member":"1","score":300,"metadata":{}}]}`).Want(200).Body); !strings.Contains(got, "it has no rule metadata") {
		t.Errorf("without the rule: %s", got)
	}
	several := `{"entries":[{"board":"classic","member":"3","score":300,"metadata":{"n":3}},{"board":"none","member":"3","score":300,"metadata":{"n":3}}]}`
	if got := string(e.Post(apitest.WriteKey, "/v1/scores", several).Want(200).Body); strings.Count(got, `"applied"`) != 1 || strings.Count(got, `"rejected"`) != 1 {
		t.Errorf("on several boards: %s", got)
	}
	if got := string(e.Get(apitest.NoKey, "/v1/boards/classic/members/3?metadata=true").Want(200).Body); !strings.Contains(got, `"metadata":{"n":3}`) {
		t.Errorf("of several boards: %s", got)
	}
}

// TestMetadataRule: the rule is checked, changed and taken away.
func TestMetadataRule(t *testing.T) {
	e := withRule(t)
	for body, pointer := range map[string]string{
		`{"metadata":{"max_bytes":0}}`: "/metadata/max_bytes", `{"metadata":{"max_bytes":4097}}`: "/metadata/max_bytes", `{"metadata":{"most":1}}`: "/metadata/most",
		`{"derive":{"from":[{"board":"none"}]},"metadata":{"max_bytes":10}}`: "/metadata",
	} {
		if p := e.Put(apitest.AdminKey, "/v1/boards/new", body).Problem(); len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p)
		}
	}
	patch := func(body string) string {
		r := e.Do(apitest.Ask{Method: http.MethodPatch, Path: "/v1/boards/classic", Key: apitest.AdminKey, Body: body})
		return string(r.Want(200).Body)
	}
	if got := patch(`{"metadata":{"max_bytes":7}}`); !strings.Contains(got, `"metadata":{"max_bytes":7}`) {
		t.Errorf("changed: %s", got)
	}
	if got := patch(`{"metadata":null}`); strings.Contains(got, "metadata") {
		t.Errorf("taken away: %s", got)
	}
	if got := string(e.Get(apitest.NoKey, "/v1/boards/classic/top?metadata=true").Want(200).Body); strings.Contains(got, "metadata") {
		t.Errorf("without the rule: %s", got)
	}
}

// TestMetadataStandingsBound: standings with metadata are of fewer boards.
func TestMetadataStandingsBound(t *testing.T) {
	e := newAPI(t)
	var names []string
	for i := range int64(httpapi.MaxKeptBoards + 1) {
		name := "b" + string(wire.AppendOptInt(nil, &i))
		names = append(names, name)
		if _, _, err := e.Fake.PutBoard(context.Background(), name, leaderboard.Rules{Labels: leaderboard.Labels{"a": "b"}}.WithDefaults()); err != nil {
			t.Fatal(err)
		}
	}
	e.Get(apitest.NoKey, "/v1/members/m/standings?boards="+strings.Join(names, ",")).Want(200)
	e.Get(apitest.NoKey, "/v1/members/m/standings?metadata=true&boards="+strings.Join(names, ",")).WantProblem(400, wire.CodeMalformed)
	e.Get(apitest.NoKey, "/v1/members/m/standings?metadata=true&boards="+strings.Join(names[1:], ",")).Want(200)
	e.Get(apitest.NoKey, "/v1/members/m/standings?metadata=true&labels=a:b").WantProblem(422, leaderboard.CodeTooManyBoards)
}
