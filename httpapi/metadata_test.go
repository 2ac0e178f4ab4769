package httpapi

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// withMetadata makes a board with the rule: 4 has metadata there, 5 has none.
func withMetadata(t *testing.T) *env {
	e := newEnv(t)
	e.board("classic", leaderboard.Rules{Metadata: &leaderboard.Metadata{MaxBytes: 100}}, classic()...)
	e.board("none", leaderboard.Rules{}, classic()...)
	const body = `{"entries":[{"member":"4","score":200,"metadata":{ "replay": "/r/1", "score": 12345678901234567890, "x": [null, "1"] }}]}`
	e.post(writeKey, "/v1/boards/classic/scores", body).want(200)
	return e
}

const metadataOf4 = `"metadata":{"replay":"/r/1","score":12345678901234567890,"x":[null,"1"]}`

// readingAnswers are the answers that show metadata beside entries, of member 4 of a board.
func (e *env) readingAnswers(board string) map[string]func(query string) reply {
	e.put(writeKey, "/v1/members/5/friends", `{"members":["4"]}`).want(200)
	path := "/v1/boards/" + board + "/"
	read := func(path string) func(string) reply {
		return func(query string) reply { return e.get(readKey, path+query) }
	}
	return map[string]func(string) reply{
		"top": read(path + "top?"), "member": read(path + "members/4?"), "around": read(path + "members/5/around?"), "friends": read(path + "members/5/friends?"),
		"history": read(path + "members/4/history?"), "standings": read("/v1/members/4/standings?boards=" + board + "&"),
		"ranks": func(query string) reply { return e.post(noKey, path+"ranks?"+query, `{"members":["4","5","nobody"]}`) },
	}
}

// TestMetadataBesideEntries: with metadata=true every reading answer shows it, looked up once, and is another answer than
// without.
func TestMetadataBesideEntries(t *testing.T) {
	e := withMetadata(t)
	for name, ask := range e.readingAnswers("classic") {
		delete(e.fake.called, "Metadata")
		without := ask("").want(200)
		if strings.Contains(string(without.body), "metadata") || e.fake.calls("Metadata") != 0 {
			t.Errorf("%s: %d look-ups; without metadata it is %s", name, e.fake.calls("Metadata"), without.body)
		}
		with := ask("metadata=true").want(200)
		if bare := strings.Replace(string(with.body), ","+metadataOf4, "", 1); bare != string(without.body) || len(with.body) == len(bare) || e.fake.calls("Metadata") != 1 {
			t.Errorf("%s, with %d look-ups, differs in more than the metadata:\n%s\n%s", name, e.fake.calls("Metadata"), with.body, without.body)
		}
		if tag := with.header.Get("ETag"); tag != "" && tag == without.header.Get("ETag") {
			t.Errorf("%s has the same ETag with metadata", name)
		}
		if text := string(ask("metadata=true&numbers=string").want(200).body); !strings.Contains(text, metadataOf4) {
			t.Errorf("%s with numbers as strings: %s", name, text)
		}
		ask("metadata=yes").wantProblem(400, wire.CodeMalformed)
	}
	for name, ask := range e.readingAnswers("none") {
		delete(e.fake.called, "Metadata")
		if with, without := ask("metadata=true").want(200), ask("").want(200); string(with.body) != string(without.body) || e.fake.calls("Metadata") != 0 {
			t.Errorf("without the rule %s has %d look-ups and is %s", name, e.fake.calls("Metadata"), with.body)
		}
	}
}

// TestMetadataOfAnotherEntry: when an entry has changed between the answer and the look-up, both are read again at one state (promise A8).
func TestMetadataOfAnotherEntry(t *testing.T) {
	for _, submitted := range []string{`,"metadata":{"replay":"/r/2"}`, ``} {
		e := withMetadata(t)
		for name, ask := range e.readingAnswers("classic") {
			score := int64(1000)
			for _, s := range e.post(noKey, "/v1/boards/classic/ranks", `{"members":["4"]}`).rows().Entries {
				score = s.Score + 1
			}
			e.post(writeKey, "/v1/boards/classic/scores", `{"entries":[{"member":"4","score":`+string(wire.AppendOptInt(nil, &score))+`,"metadata":{"old":1}}]}`).want(200)
			score++
			text := string(wire.AppendOptInt(nil, &score))
			e.fake.moving = func() {
				e.post(writeKey, "/v1/boards/classic/scores", `{"entries":[{"member":"4","score":`+text+submitted+`}]}`).want(200)
			}
			got := string(ask("metadata=true").want(200).body)
			_, entry, _ := strings.Cut(got, `"score":`+text+",")
			if strings.Contains(got, `"old":1`) || entry == "" || strings.Contains(entry, `{"replay":"/r/2"}`) != (submitted != "") {
				t.Errorf("%s after a submission with %q: %s", name, submitted, got)
			}
		}
	}
}

// TestMetadataAway: what cannot be looked up is an error, and not left out (promise A8).
func TestMetadataAway(t *testing.T) {
	e := withMetadata(t)
	e.fake.fail["Metadata"] = leaderboard.ErrUnavailable
	for name, ask := range e.readingAnswers("classic") {
		t.Log(name)
		ask("metadata=true").wantProblem(503, "unavailable")
		ask("").want(200)
	}
}

// TestMetadataSubmitted: what is no object is malformed, what the board does not take rejects its entry alone.
func TestMetadataSubmitted(t *testing.T) {
	e := withMetadata(t)
	for _, value := range []string{`[]`, `"{}"`, `1`} {
		body := `{"entries":[{"member":"1","score":300},{"member":"2","score":300,"metadata":` + value + `}]}`
		p := e.post(writeKey, "/v1/boards/classic/scores", body).wantProblem(400, wire.CodeMalformed)
		if len(p.Errors) != 1 || p.Errors[0] != (wire.InputError{Pointer: "/entries/1/metadata", Detail: "want a JSON object"}) {
			t.Errorf("%s: %+v", value, p.Errors)
		}
	}
	long := `{"entries":[{"member":"1","score":300,"metadata":{"t":"` + strings.Repeat("x", 100) + `"}},{"member":"2","score":300,"metadata":{ }}]}`
	if got := string(e.post(writeKey, "/v1/boards/classic/scores", long).want(200).body); !strings.Contains(got, "at most 100 bytes") || !strings.Contains(got, "/problems/invalid-metadata") || strings.Count(got, `"applied"`) != 1 {
		t.Errorf("too long: %s", got)
	}
	if got := string(e.post(writeKey, "/v1/boards/none/scores", `{"entries":[{"member":"1","score":300,"metadata":{}}]}`).want(200).body); !strings.Contains(got, "it has no rule metadata") {
		t.Errorf("without the rule: %s", got)
	}
	several := `{"entries":[{"board":"classic","member":"3","score":300,"metadata":{"n":3}},{"board":"none","member":"3","score":300,"metadata":{"n":3}}]}`
	if got := string(e.post(writeKey, "/v1/scores", several).want(200).body); strings.Count(got, `"applied"`) != 1 || strings.Count(got, `"rejected"`) != 1 {
		t.Errorf("on several boards: %s", got)
	}
	if got := string(e.get(noKey, "/v1/boards/classic/members/3?metadata=true").want(200).body); !strings.Contains(got, `"metadata":{"n":3}`) {
		t.Errorf("of several boards: %s", got)
	}
}

// TestMetadataExport: an export and the data of a member have it.
func TestMetadataExport(t *testing.T) {
	e := withMetadata(t)
	ask := func(query string) []string {
		return strings.Split(string(e.get(adminKey, "/v1/boards/classic/export"+query).want(200).body), "\n")
	}
	csv := ask("?metadata=true")
	if csv[0] != csvHead+",metadata" || !strings.HasSuffix(csv[1], `Z,"{""replay"":""/r/1"",""score"":12345678901234567890,""x"":[null,""1""]}"`) || !strings.HasSuffix(csv[2], "Z,") {
		t.Errorf("CSV is %q", csv)
	}
	lines := ask("?format=jsonl&metadata=true")
	if !strings.HasSuffix(lines[0], ","+metadataOf4+"}") || strings.Contains(lines[1], "metadata") {
		t.Errorf("JSON lines are %q", lines)
	}
	if text := strings.Join(append(ask(""), ask("?format=jsonl")...), ""); strings.Contains(text, "replay") || strings.Contains(text, "metadata") {
		t.Errorf("without it: %s", text)
	}
	if data := string(e.get(adminKey, "/v1/members/4/data").want(200).body); strings.Count(data, metadataOf4) != 1 || strings.Count(data, "metadata") != 1 {
		t.Errorf("data of a member: %s", data)
	}
}

// TestMetadataRule: the rule is checked, changed and taken away.
func TestMetadataRule(t *testing.T) {
	e := withMetadata(t)
	for body, pointer := range map[string]string{
		`{"metadata":{"max_bytes":0}}`: "/metadata/max_bytes", `{"metadata":{"max_bytes":4097}}`: "/metadata/max_bytes", `{"metadata":{"most":1}}`: "/metadata/most",
		`{"derive":{"from":[{"board":"none"}]},"metadata":{"max_bytes":10}}`: "/metadata",
	} {
		if p := e.put(adminKey, "/v1/boards/new", body).problem(); len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p)
		}
	}
	patch := func(body string) string {
		r := e.do(ask{method: http.MethodPatch, path: "/v1/boards/classic", key: adminKey, body: body})
		return string(r.want(200).body)
	}
	if got := patch(`{"metadata":{"max_bytes":7}}`); !strings.Contains(got, `"metadata":{"max_bytes":7}`) {
		t.Errorf("changed: %s", got)
	}
	if got := patch(`{"metadata":null}`); strings.Contains(got, "metadata") {
		t.Errorf("taken away: %s", got)
	}
	if got := string(e.get(noKey, "/v1/boards/classic/top?metadata=true").want(200).body); strings.Contains(got, "metadata") {
		t.Errorf("without the rule: %s", got)
	}
}

// TestMetadataStandingsBound: standings with metadata are of fewer boards.
func TestMetadataStandingsBound(t *testing.T) {
	e := newEnv(t)
	var names []string
	for i := range int64(MaxMetadataBoards + 1) {
		name := "b" + string(wire.AppendOptInt(nil, &i))
		names = append(names, name)
		if _, _, err := e.fake.PutBoard(context.Background(), name, leaderboard.Rules{Labels: leaderboard.Labels{"a": "b"}}.WithDefaults()); err != nil {
			t.Fatal(err)
		}
	}
	e.get(noKey, "/v1/members/m/standings?boards="+strings.Join(names, ",")).want(200)
	e.get(noKey, "/v1/members/m/standings?metadata=true&boards="+strings.Join(names, ",")).wantProblem(400, wire.CodeMalformed)
	e.get(noKey, "/v1/members/m/standings?metadata=true&boards="+strings.Join(names[1:], ",")).want(200)
	e.get(noKey, "/v1/members/m/standings?metadata=true&labels=a:b").wantProblem(422, leaderboard.CodeTooManyBoards)
}
