package httpapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func (e *env) patch(path, body string, header ...string) reply {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return e.do(ask{method: http.MethodPatch, path: path, key: adminKey, body: body, header: h})
}

const fullRules = `{"title":"Autumn","order":"asc","policy":"latest","mode":"tied","windows":["all_time","season","day"],"time_zone":"Europe/Berlin","visibility":"private",` +
	`"top_n":5,"refresh":{"full":"0 4 * * *","incremental":"off","dynamic":"900/1 300/10"},"cache_ttl":"1h","resident":"always",` +
	`"limits":{"min_score":-9223372036854775808,"max_score":9223372036854775807,"max_delta":0},"tiebreak":{"order":"asc","fields":[{"name":"level","bits":3}]},` +
	`"seasons":[{"name":"One","starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-02-01T00:00:00Z"}],"keep":{"day":90},"labels":{"type":"moba","aspect":"sound"},` +
	`"starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-02-01T00:00:00.000001Z"}`

// TestPatchKeepsTheRest: what a patch does not name stays, so that a new title publishes no private board.
func TestPatchKeepsTheRest(t *testing.T) {
	e := newEnv(t)
	e.put(adminKey, "/v1/boards/run", fullRules).want(201)
	read := func() (rules map[string]any) {
		e.get(readKey, "/v1/boards/run").want(200).decode(&rules)
		delete(rules, "updated_time")
		return rules
	}
	for _, c := range []struct{ patch, changed string }{
		{`{}`, `{}`},
		{`{"title":"New"}`, `{"title":"New"}`},
		{`{"limits":{"max_delta":null}}`, `{"limits":{"min_score":-9223372036854775808,"max_score":9223372036854775807}}`},
		{`{"limits":{"min_score":3},"labels":{"aspect":null,"region":"eu"}}`, `{"limits":{"min_score":3,"max_score":9223372036854775807},"labels":{"type":"moba","region":"eu"}}`},
		{`{"refresh":{"full":null,"incremental":"5s"}}`, `{"refresh":{"full":"","incremental":"5s","dynamic":"900/1 300/10"}}`},
		{`{"windows":["all_time","season"],"keep":{"day":null,"hour":1}}`, `{"windows":["all_time","season"],"keep":{"hour":1}}`},
		{`{"limits":null,"mode":null,"top_n":null,"time_zone":null}`, `{"limits":{},"mode":"strict","top_n":1000,"time_zone":"UTC"}`},
		{`{"face":{"accent":"#b3261e","footer":"<b>"}}`, `{"face":{"accent":"#b3261e","footer":"<b>"}}`},
		{`{"face":{"accent":null,"logo":"arcade.png"}}`, `{"face":{"logo":"arcade.png","footer":"<b>"}}`},
		{`{"face":{"logo":null,"footer":null}}`, `{"face":null}`},
		{`{"labels":null,"starts_at":null,"resident":null,"keep":null}`, `{"labels":null,"starts_at":null,"resident":null,"keep":null}`},
	} {
		want := read()
		var changed map[string]any
		reply{t: t, body: []byte(c.changed)}.decode(&changed)
		for name, v := range changed {
			if want[name] = v; v == nil {
				delete(want, name)
			}
		}
		e.patch("/v1/boards/run", c.patch, "Content-Type", "application/merge-patch+json").want(200)
		if got := read(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s makes\n%v, want\n%v", c.patch, got, want)
		}
	}
	if v := read()["visibility"]; v != "private" {
		t.Errorf("the board is %v now", v)
	}
}

func TestPatchRefuses(t *testing.T) {
	e := newEnv(t, func(c *Config) {
		c.CheckRules = func(r leaderboard.Rules) []leaderboard.FieldError {
			if r.Refresh.Full != "never" {
				return nil
			}
			return []leaderboard.FieldError{{Pointer: "/refresh/full", Detail: "want a cron expression"}}
		}
	})
	e.put(adminKey, "/v1/boards/run", fullRules).want(201)
	before := string(e.get(readKey, "/v1/boards/run").want(200).body)
	for _, c := range []struct {
		body    string
		status  int
		pointer string
	}{
		{`[]`, 400, ""},
		{`"x"`, 400, ""},
		{`null`, 400, ""},
		{``, 400, ""},
		{`{"tittle":"x"}`, 400, "/tittle"},
		{`{"tittle":null}`, 400, "/tittle"},
		{`{"limits":{"most":null}}`, 400, "/limits/most"},
		{`{"title":7}`, 400, "/title"},
		{`{"face":{"style":"x"}}`, 400, "/face/style"},
		{`{"face":{"accent":7}}`, 400, "/face/accent"},
		{`{"face":{"accent":"red"}}`, 422, "/face/accent"},
		{`{"face":{"logo":"../logo.png"}}`, 422, "/face/logo"},
		{`{"face":{"footer":"two\nlines"}}`, 422, "/face/footer"},
		{`{"top_n":1.5}`, 400, "/top_n"},
		{`{"windows":[null]}`, 400, "/windows/0"},
		{`{"time_zone":""}`, 400, "/time_zone"},
		{`{"windows":[]}`, 422, "/windows"},
		{`{"top_n":0}`, 422, "/top_n"},
		{`{"refresh":{"full":"never"}}`, 422, "/refresh/full"},
		{`{"seasons":null}`, 422, "/seasons"},
		{`{"name":"other"}`, 422, "/name"},
		{`{"name":"run2","title":"x"}`, 422, "/name"},
		{`{"name":null}`, 422, "/name"},
		{`{"name":7}`, 422, "/name"},
		{`{"created_time":"2020-01-01T00:00:00Z"}`, 422, "/created_time"},
		{`{"created_time":null}`, 422, "/created_time"},
		{`{"updated_time":"x"}`, 422, "/updated_time"},
	} {
		r := e.do(ask{method: http.MethodPatch, path: "/v1/boards/run", key: adminKey, body: c.body, off: true}).want(c.status)
		if p := r.problem(); c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: %+v, want a fault at %s", c.body, p, c.pointer)
		}
	}
	for _, name := range []string{"other", "Run"} {
		if p := e.put(adminKey, "/v1/boards/run", `{"name":"`+name+`"}`).wantProblem(422, leaderboard.CodeInvalidBoard); p.Errors[0] != (wire.InputError{Pointer: "/name", Detail: "is run and cannot be changed"}) {
			t.Errorf("PUT with the name %s points at %+v", name, p.Errors)
		}
	}
	e.put(adminKey, "/v1/boards/new", `{"name":"run"}`).wantProblem(422, leaderboard.CodeInvalidBoard)
	e.get(adminKey, "/v1/boards/new").wantProblem(404, "board-not-found")
	e.patch("/v1/boards/none", `{"title":"x"}`).wantProblem(404, "board-not-found")
	e.patch("/v1/boards/None", `{"title":"x"}`).wantProblem(404, "board-not-found")
	e.patch("/v1/boards/run", `{}`, "Content-Type", "text/plain").wantProblem(415, wire.CodeNotJSON)
	e.fake.fail["ChangeBoard"] = leaderboard.ErrUnavailable
	e.patch("/v1/boards/run", `{}`).wantProblem(503, "unavailable")
	if after := string(e.get(readKey, "/v1/boards/run").want(200).body); after != before {
		t.Errorf("what was refused changed the board to %s", after)
	}
}

// TestPutTakesItsOwnGet: an answer of GET sent back changes nothing, and without its name it makes the same board elsewhere. A
// later one tells PATCH, which would undo the change in between, but not PUT.
func TestPutTakesItsOwnGet(t *testing.T) {
	e := newEnv(t)
	e.board("runs", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}})
	for name, rules := range map[string]string{
		"plain": `{}`, "full": fullRules, "sum": `{"derive":{"from":[{"board":"runs"},{"board":"rides","window":"day","period":"2023-11-14","weight":-2}]}}`,
		"last": `{"derive":{"from":[{"board":"runs","window":"day"}],"last":"7d"}}`,
	} {
		e.put(adminKey, "/v1/boards/"+name, rules).want(201)
		got := e.get(adminKey, "/v1/boards/"+name).want(200)
		again := e.put(adminKey, "/v1/boards/"+name, string(got.body)).want(200)
		if string(again.body) != string(got.body) || again.header.Get("ETag") != got.header.Get("ETag") {
			t.Errorf("%s was %s\nand is %s", name, got.body, again.body)
		}
		r := e.patch("/v1/boards/"+name, string(got.body)).want(200)
		if string(r.body) != string(got.body) {
			t.Errorf("%s was %s\nand is patched to %s", name, got.body, r.body)
		}
		e.put(adminKey, "/v1/boards/"+name+"2", strings.Replace(string(got.body), `"name":"`+name+`",`, "", 1)).want(201)
	}
	old := string(e.get(adminKey, "/v1/boards/plain").body)
	e.fake.SetNow(1_700_000_001_000_000)
	e.patch("/v1/boards/plain", `{"title":"in between"}`).want(200)
	if p := e.patch("/v1/boards/plain", old).wantProblem(422, leaderboard.CodeInvalidBoard); p.Errors[0].Pointer != "/updated_time" {
		t.Errorf("points at %+v", p.Errors)
	}
	e.put(adminKey, "/v1/boards/plain", old).want(200)
}

// TestBoardETag: the tag changes with each change of the rules, and with nothing else.
func TestBoardETag(t *testing.T) {
	e := newEnv(t)
	seen := map[string]bool{}
	news := func(r reply) string {
		t.Helper()
		tag := r.header.Get("ETag")
		if tag == "" || seen[tag] {
			t.Errorf("the tag %q is none, or an old one", tag)
		}
		seen[tag] = true
		return tag
	}
	tag := news(e.put(adminKey, "/v1/boards/run", `{}`).want(201))
	if got := e.get(noKey, "/v1/boards/run").want(200).header.Get("ETag"); got != tag {
		t.Errorf("GET has the tag %s, PUT has %s", got, tag)
	}
	e.post(writeKey, "/v1/boards/run/scores", `{"entries":[{"member":"m","score":1}]}`).want(200)
	for _, match := range []string{tag, `"x", W/` + tag, "*"} {
		r := e.do(ask{method: "GET", path: "/v1/boards/run", header: http.Header{"If-None-Match": {match}}}).want(304)
		if r.header.Get("ETag") != tag || len(r.body) != 0 {
			t.Errorf("304 with the tag %s and %q", r.header.Get("ETag"), r.body)
		}
	}
	news(e.patch("/v1/boards/run", `{"title":"`+strings.Repeat("x", 190)+`"}`).want(200))
	e.do(ask{method: "GET", path: "/v1/boards/run", header: http.Header{"If-None-Match": {tag}}}).want(200)
	news(e.patch("/v1/boards/run", `{"title":null}`).want(200))
	e.delete(adminKey, "/v1/boards/run").want(204)
	news(e.put(adminKey, "/v1/boards/run", `{}`).want(201))
}

func TestIfMatch(t *testing.T) {
	e := newEnv(t)
	e.put(adminKey, "/v1/boards/run", strings.Replace(fullRules, "Autumn", strings.Repeat("x", 200), 1)).want(201)
	e.patch("/v1/boards/run", `{"labels":{"a":"`+strings.Repeat("x", 64)+`","b":"`+strings.Repeat("y", 64)+`"}}`).want(200)
	zipped := e.do(ask{method: "GET", path: "/v1/boards/run", key: readKey, header: http.Header{"Accept-Encoding": {"gzip"}}}).want(200).header.Get("ETag")
	if !strings.HasSuffix(zipped, wire.GzipTagEnd) {
		t.Fatalf("the answer is not compressed: %s", zipped)
	}
	change := func(method, match, body string) reply {
		return e.do(ask{method: method, path: "/v1/boards/run", key: adminKey, body: body, header: http.Header{"If-Match": {match}}})
	}
	tag := change("PATCH", zipped, `{"title":"1"}`).want(200).header.Get("ETag")
	before := string(e.get(readKey, "/v1/boards/run").body)
	for _, match := range []string{zipped, `"0-0"`, "W/" + tag, "", tag[1:], `"x",W/` + tag} {
		for _, method := range []string{"PUT", "PATCH"} {
			p := change(method, match, `{"title":"2"}`).wantProblem(412, wire.CodePrecondition)
			if !strings.Contains(p.Detail, tag) {
				t.Errorf("%s does not tell the tag %s", p.Detail, tag)
			}
		}
	}
	if after := string(e.get(readKey, "/v1/boards/run").body); after != before {
		t.Errorf("what was refused changed the board to %s", after)
	}
	tag = change("PATCH", `"x", `+tag, `{"title":"3"}`).want(200).header.Get("ETag")
	tag = change("PUT", tag, strings.Replace(fullRules, "Autumn", "4", 1)).want(200).header.Get("ETag")
	change("PATCH", "*", `{"title":"5"}`).want(200)
	change("PUT", "*", fullRules).want(200)
	change("PATCH", tag, `{"title":"6"}`).wantProblem(412, wire.CodePrecondition)

	e.do(ask{method: "PUT", path: "/v1/boards/new", key: adminKey, body: `{}`, header: http.Header{"If-Match": {"*"}}}).wantProblem(412, wire.CodePrecondition)
	create := ask{method: "PUT", path: "/v1/boards/new", key: adminKey, body: `{}`, header: http.Header{"If-None-Match": {"*"}}}
	e.do(create).want(201)
	e.do(create).wantProblem(412, wire.CodePrecondition)
}

// TestIfMatchAtOnce: of several who have read the same state one changes it.
func TestIfMatchAtOnce(t *testing.T) {
	e := newEnv(t)
	tag := e.put(adminKey, "/v1/boards/run", `{}`).want(201).header.Get("ETag")
	const writers = 8
	answers := make([]reply, writers)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			body, _ := json.Marshal(map[string]int{"top_n": i + 1})
			answers[i] = e.patch("/v1/boards/run", string(body), "If-Match", tag)
		})
	}
	all.Wait()
	won := 0
	for _, r := range answers {
		if r.status == 200 {
			won++
		} else {
			r.wantProblem(412, wire.CodePrecondition)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d changed what they had read", won, writers)
	}
}
