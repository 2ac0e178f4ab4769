package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// TestNumbersAsStrings: every answer is the same with numbers=string, except that wide numbers are strings; it has a different
// tag, whichever form was asked for first, plain and compressed.
func TestNumbersAsStrings(t *testing.T) {
	e := newEnv(t)
	tie := leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "score", Bits: 10, Order: leaderboard.OrderDesc}}}
	least := int64(math.MinInt64)
	e.Board("b", leaderboard.Rules{Tiebreak: tie, Limits: leaderboard.Limits{MinScore: &least}, Windows: []leaderboard.Window{"all_time", "day"}})
	e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"77","score":9007199254740993,"fields":{"score":3}},{"member":"m","score":-9007199254740993,"fields":{"score":4}}]}`).Want(200)
	for _, path := range []string{
		"/v1/boards/b/top", "/v1/boards/b/top?mode=all", "/v1/boards/b/top?profiles=true", "/v1/boards/b/top?offset=1", "/v1/boards/b/members/77", "/v1/boards/b/members/77/around",
		"/v1/boards/b/members/77/history", "/v1/boards/b/scores/5/rank?tiebreak=1", "/v1/boards/b/distribution", "/v1/boards/b/periods", "/v1/rankings/top?boards=b", "/v1/boards/b",
		"/v1/boards", "/v1/status",
	} {
		join := map[bool]string{false: "?", true: "&"}[strings.Contains(path, "?")]
		plain := e.Get(apitest.AdminKey, path).Want(200)
		quoted := e.Get(apitest.AdminKey, path+join+"numbers=string")
		again := e.Get(apitest.AdminKey, path+join+"numbers=number")
		if tag := plain.Header.Get("ETag"); path != "/v1/boards/b" && tag != "" && (tag == quoted.Header.Get("ETag") || tag != again.Header.Get("ETag")) {
			t.Errorf("%s: the tags are %s and %s", path, tag, quoted.Header.Get("ETag"))
		}
		if path != "/v1/status" && !bytes.Equal(plain.Body, again.Body) {
			t.Errorf("%s: %s, after numbers as strings %s", path, plain.Body, again.Body)
		}
		if want := wantStrings(t, plain.Body); path != "/v1/status" && string(bytes.TrimSpace(quoted.Body)) != want {
			t.Errorf("%s: %s\nwant %s", path, quoted.Body, want)
		}
		if bytes.Contains(quoted.Body, []byte(`"seq":0`)) || strings.Contains(path, "/top") && !strings.Contains(path, "offset") && !bytes.Contains(quoted.Body, []byte(`"score":"9007199254740993"`)) {
			t.Errorf("%s: %s", path, quoted.Body)
		}
		if tag := quoted.Header.Get("ETag"); tag != "" {
			e.Do(apitest.Ask{Method: "GET", Path: path + join + "numbers=string", Key: apitest.AdminKey, Header: map[string][]string{"If-None-Match": {tag}}}).Want(304)
		}
	}
	e.Get(apitest.ReadKey, "/v1/boards/b/top?numbers=text").WantProblem(400, wire.CodeMalformed)
	e.Get(apitest.ReadKey, "/v1/boards/b/top?numbers=").WantProblem(400, wire.CodeMalformed)
	if r := e.Post(apitest.ReadKey, "/v1/boards/b/ranks?numbers=string", `{"members":["77"]}`); !strings.Contains(string(r.Body), `"position":"1"`) || !strings.Contains(string(r.Body), `"fields":{"score":"3"}`) {
		t.Errorf("ranks: %s", r.Body)
	}
}

// wantStrings rewrites an answer by another way than appendNumbers: decoded, by names, and encoded again.
func wantStrings(t *testing.T, body []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var b strings.Builder
	var write func(name string, all bool)
	write = func(name string, all bool) {
		token, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch v := token.(type) {
		case json.Delim:
			list := slices.Contains([]string{"fields", "seqs", "limits"}, name)
			b.WriteString(v.String())
			for i := 0; dec.More(); i++ {
				if i > 0 {
					b.WriteByte(',')
				}
				inner := ""
				if v == '{' {
					token, _ := dec.Token()
					inner = token.(string)
					b.Write(must(json.Marshal(inner)))
					b.WriteByte(':')
				}
				if name == "attributes" {
					value, _ := dec.Token()
					b.Write(must(json.Marshal(value)))
					continue
				}
				write(inner, list)
			}
			end, _ := dec.Token()
			b.WriteString(end.(json.Delim).String())
		case json.Number:
			if !strings.ContainsAny(v.String(), ".eE") && (all || wire.IsWide([]byte(name))) {
				b.WriteString(`"` + v.String() + `"`)
			} else {
				b.WriteString(v.String())
			}
		default:
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(v); err != nil {
				t.Fatal(err)
			}
			b.Write(bytes.TrimSpace(out.Bytes()))
		}
	}
	write("", false)
	return b.String()
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// TestWideNumbers: the numbers that become strings are the members of format int64 in the document, except quotas, whose name is
// also the name of rates of another format.
func TestWideNumbers(t *testing.T) {
	var doc struct {
		Components struct{ Schemas map[string]any }
	}
	if err := yaml.Unmarshal(api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	wide, narrow := map[string]bool{}, map[string]bool{}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		schema, ok := v.(map[string]any)
		if !ok {
			return
		}
		if ref, ok := schema["$ref"].(string); ok {
			target, _ := doc.Components.Schemas[ref[strings.LastIndexByte(ref, '/')+1:]].(map[string]any)
			if _, isObject := target["properties"]; !isObject && target["type"] == "integer" {
				walk(name, target)
			}
			return
		}
		if kinds, _ := schema["type"].([]any); schema["type"] == "integer" || slices.Contains(kinds, any("integer")) {
			if schema["format"] == "int64" {
				wide[name] = true
			} else {
				narrow[name] = true
			}
		}
		properties, _ := schema["properties"].(map[string]any)
		for inner, s := range properties {
			walk(inner, s)
		}
		walk(name+"{}", schema["additionalProperties"])
		walk(name+"{}", schema["items"])
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			some, _ := schema[key].([]any)
			for _, s := range some {
				walk(name, s)
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		if _, ok := schema.(map[string]any)["properties"]; ok {
			walk(name, schema)
		}
	}
	for _, quota := range []string{"requests_per_second", "rows_per_second"} {
		delete(wide, quota)
	}
	if len(wide) < 20 || !wide["fields{}"] {
		t.Fatalf("the document has %v", slices.Sorted(maps.Keys(wide)))
	}
	is := func(name string) bool {
		list, isList := strings.CutSuffix(name, "{}")
		return isList && wire.IsWideList([]byte(list)) || !isList && wire.IsWide([]byte(name))
	}
	for name := range wide {
		if !is(name) {
			t.Errorf("%s has 64 bits and does not become a string", name)
		}
	}
	for name := range narrow {
		if is(name) {
			t.Errorf("%s becomes a string and has no 64 bits", name)
		}
	}
}

// TestQuotedNumbersIn: bodies may have wide numbers in quotes, wherever numbers may be, and mean the same.
func TestQuotedNumbersIn(t *testing.T) {
	e := newEnv(t)
	w := &recordingWriter{}
	e.api.handlers.scores.writer = w
	body := `{"entries":[{"member":"1","score":"9223372036854775807","tiebreak":"-9223372036854775808"},{"member":"2","score":2,"fields":{"level":"7","score":8}},{"member":"\"3\"","score":"0"}]}`
	e.Do(apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: body, Off: true}).Want(200)
	if len(w.entries) != 3 {
		t.Fatalf("%d entries", len(w.entries))
	}
	first, second, third := w.entries[0], w.entries[1], w.entries[2]
	if first.Member != "1" || first.Score != math.MaxInt64 || *first.Tiebreak != math.MinInt64 {
		t.Errorf("first: %+v", first)
	}
	if second.Member != "2" || second.Score != 2 || second.Fields["level"] != 7 || second.Fields["score"] != 8 || third.Member != `"3"` || third.Score != 0 {
		t.Errorf("second: %+v, third: %+v", second, third)
	}
	e.Do(apitest.Ask{Method: "PUT", Path: "/v1/boards/limits", Key: apitest.AdminKey, Body: `{"top_n":50,"labels":{"rank":"1"},"limits":{"min_score":"-9007199254740993"}}`, Off: true}).Want(201)
	b, err := e.fake.Board(context.Background(), "limits")
	if err != nil || *b.Rules.Limits.MinScore != -9007199254740993 || b.Rules.TopN != 50 || b.Rules.Labels["rank"] != "1" {
		t.Errorf("rules: %+v, %v", b.Rules, err)
	}
}

// TestNumbersInAnyForm: a whole number is taken however JSON writes it, exactly, in every place of a submit and of rules.
func TestNumbersInAnyForm(t *testing.T) {
	e := newEnv(t)
	w := &recordingWriter{}
	e.api.handlers.scores.writer = w
	for text, want := range map[string]int64{
		`100.0`: 100, `1e2`: 100, `"100.0"`: 100, `"1E2"`: 100, `-0.0`: 0, `9223372036854775807.0`: math.MaxInt64, `-9223372036854775808e0`: math.MinInt64, `9007199254740993.0`: 9007199254740993,
	} {
		w.entries = nil
		entry := `{"member":"a","score":N,"fields":{"x":N},"if":{"score":N,"tiebreak":N,"fields":{"y":N}}},{"member":"b","score":7,"tiebreak":N},{"member":"c","set":{"x":N},"add":{"y":N}}`
		e.Do(apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: `{"entries":[` + strings.ReplaceAll(entry, "N", text) + `]}`, Off: true}).Want(200)
		if len(w.entries) != 3 {
			t.Fatalf("%s: %d entries", text, len(w.entries))
		}
		a, b, c := w.entries[0], w.entries[1], w.entries[2]
		got := []int64{a.Score, a.Fields["x"], *a.If.Score, *a.If.Tiebreak, a.If.Fields["y"], *b.Tiebreak, c.Edit.Set["x"], c.Edit.Add["y"]}
		if slices.ContainsFunc(got, func(n int64) bool { return n != want }) || b.Score != 7 || a.BadNumber+b.BadNumber+c.BadNumber != "" {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
	rules := `{"top_n":50.0,"limits":{"min_score":-1e2,"max_score":"1e2","max_delta":9007199254740993.0},"tiebreak":{"fields":[{"name":"x","bits":1e1}]}}`
	e.Do(apitest.Ask{Method: "PUT", Path: "/v1/boards/rules", Key: apitest.AdminKey, Body: rules, Off: true}).Want(201)
	e.Do(apitest.Ask{Method: "PATCH", Path: "/v1/boards/rules", Key: apitest.AdminKey, Body: `{"top_n":6e1,"limits":{"min_score":"-2e2"}}`, Off: true}).Want(200)
	board, err := e.fake.Board(t.Context(), "rules")
	if l := board.Rules.Limits; err != nil || board.Rules.TopN != 60 || *l.MinScore != -200 || *l.MaxScore != 100 || *l.MaxDelta != 9007199254740993 || board.Rules.Tiebreak.Fields[0].Bits != 10 {
		t.Errorf("rules: %+v, %v", board.Rules, err)
	}
	derived := `{"derive":{"op":"union","from":[{"board":"rules","weight":3.0}]}}`
	e.Do(apitest.Ask{Method: "PUT", Path: "/v1/boards/derived", Key: apitest.AdminKey, Body: derived, Off: true}).Want(201)
	for _, body := range []string{`{"limits":{"max_score":1.5}}`, `{"limits":{"max_score":"1e19"}}`, `{"top_n":1e-1}`, `{"top_n":"60"}`} {
		e.Do(apitest.Ask{Method: "PATCH", Path: "/v1/boards/rules", Key: apitest.AdminKey, Body: body, Off: true}).WantProblem(400, wire.CodeMalformed)
	}
}

// TestNumbersInAddresses: paths and parameters take a whole number in the forms that bodies take.
func TestNumbersInAddresses(t *testing.T) {
	e := newEnv(t)
	tie := leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 10, Order: leaderboard.OrderDesc}}}
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 100}, leaderboard.Submission{Member: "b", Score: 90})
	e.Board("f", leaderboard.Rules{Tiebreak: tie})
	e.Post(apitest.WriteKey, "/v1/boards/f/scores", `{"entries":[{"member":"a","score":100,"fields":{"level":3}}]}`).Want(200)
	for plain, forms := range map[string][]string{
		"b/scores/100/rank":                   {"b/scores/100.0/rank", "b/scores/1e2/rank", "b/scores/1E%2B2/rank"},
		"b/scores/100/rank?tiebreak=3":        {"b/scores/100/rank?tiebreak=3.0", "b/scores/1e2/rank?tiebreak=30e-1"},
		"f/scores/100/rank?fields=level:10":   {"f/scores/100/rank?fields=level:10.0", "f/scores/100/rank?fields=level:1e1"},
		"b/top?limit=1&offset=1&min_seq=1":    {"b/top?limit=1.0&offset=1e0&min_seq=1.0"},
		"b/members/a/around?before=0&after=1": {"b/members/a/around?before=0.0&after=10e-1"},
	} {
		want := e.Get(apitest.ReadKey, "/v1/boards/"+plain).Want(200).Body
		for _, form := range forms {
			if got := e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/" + form, Key: apitest.ReadKey, Off: true}).Want(200).Body; !bytes.Equal(got, want) {
				t.Errorf("%s: %s, want %s", form, got, want)
			}
		}
	}
	e.Do(apitest.Ask{Method: "GET", Path: "/v1/rankings/top?boards=b&min_seq=b:1.0", Key: apitest.ReadKey, Off: true}).Want(200)
}

// TestOddNumbers: a number that is no whole number of 64 bits refuses the entry that has it, and no other one.
func TestOddNumbers(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{Record: leaderboard.RecordAll})
	for entry, at := range map[string]string{
		`"score":1.5`: "score 1.5: ", `"score":"1.5"`: "score 1.5: ", `"score":1e19`: "score 1e19: ", `"score":9223372036854775808`: "score 9223372036854775808: ", `"score":-1e400`: "score -1e400: ",
		`"score":1,"tiebreak":0.1`: "tiebreak 0.1: ", `"score":1,"fields":{"x":1e-1}`: "fields/x 1e-1: ", `"add":{"x":0.5}`: "add/x 0.5: ", `"set":{"x":0.5}`: "set/x 0.5: ",
		`"score":1,"if":{"score":2.5}`: "if/score 2.5: ", `"score":0.5,"tiebreak":0.1`: "score 0.5: ",
	} {
		for _, several := range []bool{false, true} {
			path, board := "/v1/boards/b/scores", ""
			if several {
				path, board = "/v1/scores", `"board":"b",`
			}
			body := `{"entries":[{` + board + `"member":"a","score":1},{` + board + `"member":"m",` + entry + `},{` + board + `"member":"c","score":3}]}`
			got := resultsIn(e.Do(apitest.Ask{Method: "POST", Path: path, Key: apitest.WriteKey, Body: body, Off: true})).Results
			if got[0].Status == "rejected" || got[2].Status == "rejected" || got[1].Status != "rejected" || got[1].Score != nil {
				t.Errorf("%s: %+v", body, got)
				continue
			}
			if p := got[1].Error; p.Type != "/problems/invalid-number" || p.Detail != at+leaderboard.WantWholeNumber {
				t.Errorf("%s: %+v", body, p)
			}
		}
	}
	atomic := resultsIn(e.Do(apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: `{"entries":[{"member":"z","score":1},{"member":"m","score":1.5}],"atomic":true}`, Off: true})).Results
	if atomic[0].Status != "aborted" || atomic[1].Status != "rejected" {
		t.Errorf("atomic: %+v", atomic)
	}
	keyed := apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: `{"entries":[{"member":"m","score":1.5}]}`, Off: true, Header: map[string][]string{"Idempotency-Key": {"k"}}}
	e.Do(keyed).Want(200)
	e.Do(keyed).Want(200)
	keyed.Body = `{"entries":[{"member":"m","score":2.5}]}`
	e.Do(keyed).WantProblem(422, "idempotency-key-reused")
}

// TestNullIsAbsent: an optional member of an entry that is null is as if it were not there.
func TestNullIsAbsent(t *testing.T) {
	e := newEnv(t)
	w := &recordingWriter{}
	e.api.handlers.scores.writer = w
	for _, name := range []string{"tiebreak", "fields", "created_time", "if", "set", "add", "op", "keep_time", "play", "metadata"} {
		w.entries = nil
		e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1,"`+name+`":null}],"atomic":null}`).Want(200)
		if got, want := w.entries, []leaderboard.Submission{{Member: "m", Score: 1}}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
		if name != "play" {
			e.Post(apitest.WriteKey, "/v1/scores", `{"entries":[{"board":"b","member":"m","score":1,"`+name+`":null}],"atomic":null}`).Want(200)
		}
	}
}

// BenchmarkNumbers is a page of 100 entries rewritten.
func BenchmarkNumbers(b *testing.B) {
	e := newEnv(b)
	var entries []leaderboard.Submission
	for i := range 100 {
		entries = append(entries, leaderboard.Submission{Member: "member" + string(rune('A'+i)), Score: int64(i) << 40})
	}
	e.Board("b", leaderboard.Rules{}, entries...)
	w := httptest.NewRecorder()
	e.api.ServeHTTP(w, apitest.Ask{Method: "GET", Path: "/v1/boards/b/top?limit=100"}.Request())
	var out []byte
	b.ReportAllocs()
	b.SetBytes(int64(w.Body.Len()))
	for b.Loop() {
		out = wire.AppendNumbers(out[:0], w.Body.Bytes(), true)
	}
}
