package httpapi

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// A request with a body may allocate workAtAll bytes, and workPerByte for each byte of the body. The bytes stand for the work:
// most work on a body is to make something for each of its values, which must not be as long as the body.
const (
	workAtAll   = 128 << 10
	workPerByte = 128
)

// bodyRoutes are the requests of all routes that take a body, without it, and the names of members that the body may have.
func bodyRoutes(e *env) (asks []apitest.Ask, members [][]string) {
	doc, _ := apitest.Document()
	e.Board("b", leaderboard.Rules{}, apitest.Classic()...)
	e.fake.Players.Tokens[token5] = &leaderboard.Player{Member: "5", All: true}
	id, _ := leaderboard.KeyIDIn(e.Key(leaderboard.ScopeRead, nil))
	for _, rt := range routesOfEngine() {
		if rt.Body == api.BodyNone {
			continue
		}
		path := strings.NewReplacer("{board}", "b", "{member}", "m", "{id}", id, "{name}", "game").Replace(rt.Path)
		key := apitest.AdminKey
		if rt.Access == api.AccessPlayers {
			key = token5
		}
		asks = append(asks, apitest.Ask{Method: rt.Method, Path: path, Key: key})
		content := doc.Paths.Find(rt.Path).GetOperation(rt.Method).RequestBody.Value.Content
		for _, form := range content { // one, or two that are the same
			members = append(members, slices.Sorted(maps.Keys(form.Schema.Value.Properties)))
			break
		}
	}
	return asks, members
}

// allocates returns how many bytes are allocated to answer a request.
func (e *env) allocates(a apitest.Ask) uint64 {
	e.T.Helper()
	r, w := a.Request(), httptest.NewRecorder()
	r.Header.Set("Content-Type", wire.TypeJSON)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e.api.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	if w.Code >= 500 || w.Code == http.StatusUnsupportedMediaType {
		e.T.Errorf("%s %s %s: answers %d\n%s", a.Method, a.Path, wire.Clip(a.Body), w.Code, wire.Clip(w.Body.String()))
	}
	if len(w.Body.Bytes()) > 64<<10 {
		e.T.Errorf("%s %s %s: the answer has %d bytes", a.Method, a.Path, wire.Clip(a.Body), w.Body.Len())
	}
	return after.TotalAlloc - before.TotalAlloc
}

// hostileValues are values of about size bytes, each the worst for some way to read it.
func hostileValues(size int) map[string]string {
	list := func(each string) string {
		return "[" + strings.Repeat(each+",", size/(len(each)+1)) + each + "]"
	}
	named := func(name, value string) string { return `{"` + name + `":` + value + `}` }
	half, long := size/2, strings.Repeat("n", size/2)
	var members strings.Builder
	for i := 0; members.Len() < size; i++ {
		members.WriteString(`"` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('0'+i/26%10)) + string(rune('A'+i/260%26)) + string(rune('à'+i/6760%60)) + `":null,`)
	}
	deep := func(open, end string) string {
		return strings.Repeat(open, size/(len(open)+len(end))) + "1" + strings.Repeat(end, size/(len(open)+len(end)))
	}
	return map[string]string{
		"zeros":                list("0"),
		"nulls":                list("null"),
		"empty strings":        list(`""`),
		"objects":              list("{}"),
		"entries":              list(`{"member":"m","score":1}`),
		"windows":              list(`"season"`),
		"windows at the end":   list(`"x"`)[:half] + `",` + list(`"day"`)[1:half/6*6] + `]`,
		"zeros in a long name": named(long, "["+strings.Repeat("0,", half/2)+"0]"),
		"nulls in a long name": named(long, "["+strings.Repeat("null,", half/5)+"null]"),
		"many members":         "{" + members.String() + `"end":0}`,
		"a member twice":       "{" + members.String() + `"a0A":0,"a0A":0}`,
		"arrays":               deep("[", "]"),
		"nested objects":       deep(`{"a":`, "}"),
		"nested long names":    deep(`{"`+strings.Repeat("a", 100)+`":`, "}"),
		"arrays without end":   strings.Repeat("[", size),
		"objects without end":  strings.Repeat(`{"aaaaaaaaaaaaaaaa":`, size/20),
		"a long string":        `"` + strings.Repeat("s", size) + `"`,
		"escapes":              `"` + strings.Repeat(`\"`, half) + `"`,
		"backslashes":          `"` + strings.Repeat(`\\`, half),
		"control characters":   `"` + strings.Repeat(`\u0001`, size/6) + `"`,
		"a long number":        "1" + strings.Repeat("0", size),
		"white space":          strings.Repeat(" ", size) + "1",
	}
}

// TestWorkOfBodies: the cost of a body is bounded by its bytes on every route, whatever its content, at each place of it.
func TestWorkOfBodies(t *testing.T) {
	e := newEnv(t)
	var most float64
	asks, members := bodyRoutes(e)
	for i, a := range asks {
		for what, value := range hostileValues(32 << 10) {
			for _, name := range append(members[i], "unknown", "") {
				a.Body = `{"` + name + `":` + value + `}`
				if name == "" {
					a.Body = value
				}
				got, bound := e.allocates(a), uint64(workAtAll+workPerByte*len(a.Body))
				if most = max(most, float64(got)/float64(bound)); got > bound {
					t.Errorf("%s %s, %s in %q: %d bytes are allocated for one of %d", a.Method, a.Path, what, name, got, len(a.Body))
				}
			}
		}
	}
	t.Logf("at most %.0f %% of the bound", most*100)
}

// FuzzWorkOfBodies is TestWorkOfBodies for any body of any route.
func FuzzWorkOfBodies(f *testing.F) {
	for _, value := range hostileValues(500) {
		for i := range 8 {
			f.Add(byte(i), []byte(`{"attributes":`+value+`}`))
		}
		f.Add(byte(0), []byte(value))
	}
	for i, b := range badBodies() {
		if len(b.ask.Body) < 500 {
			f.Add(byte(i), []byte(b.ask.Body))
		}
	}
	e := newEnv(f)
	asks, _ := bodyRoutes(e)
	f.Fuzz(func(t *testing.T, route byte, body []byte) {
		here, a := *e, asks[int(route)%len(asks)]
		here.T, a.Body = t, string(body)
		if got := here.allocates(a); got > uint64(workAtAll+workPerByte*len(body)) {
			t.Errorf("%s %s: %d bytes are allocated for one of %d", a.Method, a.Path, got, len(body))
		}
	})
}

// TestOutline: a body may have all that rules allow, and is refused beyond that.
func TestOutline(t *testing.T) {
	e := newEnv(t)
	entry := `{"board":"b","member":"m","score":1,"created_time":"2020-01-01T00:00:00Z","fields":{` + strings.Repeat(`"f":1,`, leaderboard.MaxTiebreakFields-1) + `"f":1}}`
	if of := wire.OutlineOf([]byte(`{"entries":[` + strings.Repeat(entry+",", leaderboard.MaxLimit-1) + entry + "]}")); of.Values > wire.MaxValues || of.Depth > wire.MaxDepth {
		t.Errorf("a full body has the outline %+v, which is refused", of)
	}
	asks, _ := bodyRoutes(e)
	for _, a := range asks {
		for body, detail := range map[string]string{
			strings.Repeat("[", wire.MaxDepth+1):                                    "at most 16 inside",
			`{"a":"` + strings.Repeat("[", wire.MaxDepth+1) + `"}`:                  "", // brackets in a string do not count
			`{"a":[` + strings.Repeat("0,", wire.MaxValues) + `0]}`:                 "at most 32768 values",
			`{"` + strings.Repeat(",", wire.MaxValues+1) + strings.Repeat(`\"{`, 9): "",
		} {
			a.Body = body
			p := e.Do(a).WantProblem(400, wire.CodeMalformed)
			if told := strings.Contains(p.Errors[0].Detail, "at most"); told != (detail != "") || !strings.Contains(p.Errors[0].Detail, detail) {
				t.Errorf("%s %s %s: %+v, want %q", a.Method, a.Path, wire.Clip(body), p.Errors, detail)
			}
		}
	}
}
