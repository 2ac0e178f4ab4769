package httpapi

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func (e *env) patch(path, body string, header ...string) apitest.Reply {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return e.Do(apitest.Ask{Method: http.MethodPatch, Path: path, Key: apitest.AdminKey, Body: body, Header: h})
}

const fullRules = `{"title":"Autumn","order":"asc","policy":"latest","mode":"tied","windows":["all_time","season","day"],"time_zone":"Europe/Berlin","visibility":"private",` +
	`"top_n":5,"refresh":{"full":"0 4 * * *","incremental":"off","dynamic":"900/1 300/10"},"cache_ttl":"1h","resident":"always",` +
	`"limits":{"min_score":-9223372036854775808,"max_score":9223372036854775807,"max_delta":0},"tiebreak":{"order":"asc","fields":[{"name":"level","bits":3}]},` +
	`"seasons":[{"name":"One","starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-02-01T00:00:00Z"}],"keep":{"day":90},"labels":{"type":"moba","aspect":"sound"},` +
	`"starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-02-01T00:00:00.000001Z"}`

// TestPatchKeepsTheRest: rules that a patch does not name stay, so that a new title publishes no private board.
func TestPatchKeepsTheRest(t *testing.T) {
	e := newEnv(t)
	e.Put(apitest.AdminKey, "/v1/boards/run", fullRules).Want(201)
	read := func() (rules map[string]any) {
		e.Get(apitest.ReadKey, "/v1/boards/run").Want(200).Decode(&rules)
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
		apitest.Reply{T: t, Body: []byte(c.changed)}.Decode(&changed)
		for name, v := range changed {
			if want[name] = v; v == nil {
				delete(want, name)
			}
		}
		e.patch("/v1/boards/run", c.patch, "Content-Type", "application/merge-patch+json").Want(200)
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
	e.Put(apitest.AdminKey, "/v1/boards/run", fullRules).Want(201)
	before := string(e.Get(apitest.ReadKey, "/v1/boards/run").Want(200).Body)
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
		r := e.Do(apitest.Ask{Method: http.MethodPatch, Path: "/v1/boards/run", Key: apitest.AdminKey, Body: c.body, Off: true}).Want(c.status)
		if p := r.Problem(); c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer) {
			t.Errorf("%s: %+v, want a fault at %s", c.body, p, c.pointer)
		}
	}
	for _, name := range []string{"other", "Run"} {
		if p := e.Put(apitest.AdminKey, "/v1/boards/run", `{"name":"`+name+`"}`).WantProblem(422, leaderboard.CodeInvalidBoard); p.Errors[0] != (wire.InputError{Pointer: "/name", Detail: "is run and cannot be changed"}) {
			t.Errorf("PUT with the name %s points at %+v", name, p.Errors)
		}
	}
	e.Put(apitest.AdminKey, "/v1/boards/new", `{"name":"run"}`).WantProblem(422, leaderboard.CodeInvalidBoard)
	e.Get(apitest.AdminKey, "/v1/boards/new").WantProblem(404, "board-not-found")
	e.patch("/v1/boards/none", `{"title":"x"}`).WantProblem(404, "board-not-found")
	e.patch("/v1/boards/None", `{"title":"x"}`).WantProblem(404, "board-not-found")
	e.patch("/v1/boards/run", `{}`, "Content-Type", "text/plain").WantProblem(415, wire.CodeNotJSON)
	e.fake.Fails["ChangeBoard"] = leaderboard.ErrUnavailable
	e.patch("/v1/boards/run", `{}`).WantProblem(503, "unavailable")
	if after := string(e.Get(apitest.ReadKey, "/v1/boards/run").Want(200).Body); after != before {
		t.Errorf("what was refused changed the board to %s", after)
	}
}

// TestPutTakesItsOwnGet: an answer of GET sent back changes nothing, and without its name it makes the same board elsewhere. An
// outdated answer is refused by PATCH, which would undo the change in between, but not by PUT.
func TestPutTakesItsOwnGet(t *testing.T) {
	e := newEnv(t)
	e.Board("runs", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}})
	for name, rules := range map[string]string{
		"plain": `{}`, "full": fullRules, "sum": `{"derive":{"from":[{"board":"runs"},{"board":"rides","window":"day","period":"2023-11-14","weight":-2}]}}`,
		"last": `{"derive":{"from":[{"board":"runs","window":"day"}],"last":"7d"}}`,
	} {
		e.Put(apitest.AdminKey, "/v1/boards/"+name, rules).Want(201)
		got := e.Get(apitest.AdminKey, "/v1/boards/"+name).Want(200)
		again := e.Put(apitest.AdminKey, "/v1/boards/"+name, string(got.Body)).Want(200)
		if string(again.Body) != string(got.Body) || again.Header.Get("ETag") != got.Header.Get("ETag") {
			t.Errorf("%s was %s\nand is %s", name, got.Body, again.Body)
		}
		r := e.patch("/v1/boards/"+name, string(got.Body)).Want(200)
		if string(r.Body) != string(got.Body) {
			t.Errorf("%s was %s\nand is patched to %s", name, got.Body, r.Body)
		}
		e.Put(apitest.AdminKey, "/v1/boards/"+name+"2", strings.Replace(string(got.Body), `"name":"`+name+`",`, "", 1)).Want(201)
	}
	old := string(e.Get(apitest.AdminKey, "/v1/boards/plain").Body)
	e.fake.SetNow(1_700_000_001_000_000)
	e.patch("/v1/boards/plain", `{"title":"in between"}`).Want(200)
	if p := e.patch("/v1/boards/plain", old).WantProblem(422, leaderboard.CodeInvalidBoard); p.Errors[0].Pointer != "/updated_time" {
		t.Errorf("points at %+v", p.Errors)
	}
	e.Put(apitest.AdminKey, "/v1/boards/plain", old).Want(200)
}

// TestBoardETag: the tag changes with each change of the rules, and with nothing else.
func TestBoardETag(t *testing.T) {
	e := newEnv(t)
	seen := map[string]bool{}
	news := func(r apitest.Reply) string {
		t.Helper()
		tag := r.Header.Get("ETag")
		if tag == "" || seen[tag] {
			t.Errorf("the tag %q is none, or an old one", tag)
		}
		seen[tag] = true
		return tag
	}
	tag := news(e.Put(apitest.AdminKey, "/v1/boards/run", `{}`).Want(201))
	if got := e.Get(apitest.NoKey, "/v1/boards/run").Want(200).Header.Get("ETag"); got != tag {
		t.Errorf("GET has the tag %s, PUT has %s", got, tag)
	}
	e.Post(apitest.WriteKey, "/v1/boards/run/scores", `{"entries":[{"member":"m","score":1}]}`).Want(200)
	for _, match := range []string{tag, `"x", W/` + tag, "*"} {
		r := e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/run", Header: http.Header{"If-None-Match": {match}}}).Want(304)
		if r.Header.Get("ETag") != tag || len(r.Body) != 0 {
			t.Errorf("304 with the tag %s and %q", r.Header.Get("ETag"), r.Body)
		}
	}
	news(e.patch("/v1/boards/run", `{"title":"`+strings.Repeat("x", 190)+`"}`).Want(200))
	e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/run", Header: http.Header{"If-None-Match": {tag}}}).Want(200)
	news(e.patch("/v1/boards/run", `{"title":null}`).Want(200))
	e.Delete(apitest.AdminKey, "/v1/boards/run").Want(204)
	news(e.Put(apitest.AdminKey, "/v1/boards/run", `{}`).Want(201))
}

func TestIfMatch(t *testing.T) {
	e := newEnv(t)
	e.Put(apitest.AdminKey, "/v1/boards/run", strings.Replace(fullRules, "Autumn", strings.Repeat("x", 200), 1)).Want(201)
	e.patch("/v1/boards/run", `{"labels":{"a":"`+strings.Repeat("x", 64)+`","b":"`+strings.Repeat("y", 64)+`"}}`).Want(200)
	zipped := e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/run", Key: apitest.ReadKey, Header: http.Header{"Accept-Encoding": {"gzip"}}}).Want(200).Header.Get("ETag")
	if !strings.HasSuffix(zipped, wire.GzipTagEnd) {
		t.Fatalf("the answer is not compressed: %s", zipped)
	}
	change := func(method, match, body string) apitest.Reply {
		return e.Do(apitest.Ask{Method: method, Path: "/v1/boards/run", Key: apitest.AdminKey, Body: body, Header: http.Header{"If-Match": {match}}})
	}
	tag := change("PATCH", zipped, `{"title":"1"}`).Want(200).Header.Get("ETag")
	before := string(e.Get(apitest.ReadKey, "/v1/boards/run").Body)
	for _, match := range []string{zipped, `"0-0"`, "W/" + tag, "", tag[1:], `"x",W/` + tag} {
		for _, method := range []string{"PUT", "PATCH"} {
			p := change(method, match, `{"title":"2"}`).WantProblem(412, wire.CodePrecondition)
			if !strings.Contains(p.Detail, tag) {
				t.Errorf("%s does not tell the tag %s", p.Detail, tag)
			}
		}
	}
	if after := string(e.Get(apitest.ReadKey, "/v1/boards/run").Body); after != before {
		t.Errorf("what was refused changed the board to %s", after)
	}
	tag = change("PATCH", `"x", `+tag, `{"title":"3"}`).Want(200).Header.Get("ETag")
	tag = change("PUT", tag, strings.Replace(fullRules, "Autumn", "4", 1)).Want(200).Header.Get("ETag")
	change("PATCH", "*", `{"title":"5"}`).Want(200)
	change("PUT", "*", fullRules).Want(200)
	change("PATCH", tag, `{"title":"6"}`).WantProblem(412, wire.CodePrecondition)

	e.Do(apitest.Ask{Method: "PUT", Path: "/v1/boards/new", Key: apitest.AdminKey, Body: `{}`, Header: http.Header{"If-Match": {"*"}}}).WantProblem(412, wire.CodePrecondition)
	create := apitest.Ask{Method: "PUT", Path: "/v1/boards/new", Key: apitest.AdminKey, Body: `{}`, Header: http.Header{"If-None-Match": {"*"}}}
	e.Do(create).Want(201)
	e.Do(create).WantProblem(412, wire.CodePrecondition)
}

// TestIfMatchAtOnce: of several who have read the same state one changes it.
func TestIfMatchAtOnce(t *testing.T) {
	e := newEnv(t)
	tag := e.Put(apitest.AdminKey, "/v1/boards/run", `{}`).Want(201).Header.Get("ETag")
	const writers = 8
	answers := make([]apitest.Reply, writers)
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
		if r.Status == 200 {
			won++
		} else {
			r.WantProblem(412, wire.CodePrecondition)
		}
	}
	if won != 1 {
		t.Errorf("%d of %d changed what they had read", won, writers)
	}
}
