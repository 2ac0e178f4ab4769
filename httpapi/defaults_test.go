package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
)

// defaultCase is a rule with a documented default: a board whose other rules allow a value that is not the default, and the
// default as GET shows it.
type defaultCase struct{ board, other, shows string }

// defaultCases are by the pointers of the rules. The zero value "absent" is a rule that GET leaves out.
func defaultCases() map[string]defaultCase {
	const play = `{"players":{"read":true,"submit":"play"}}`
	return map[string]defaultCase{
		"/title": {`{}`, `"T"`, `""`}, "/order": {`{}`, `"asc"`, `"desc"`}, "/policy": {`{}`, `"sum"`, `"best"`}, "/mode": {`{}`, `"tied"`, `"strict"`},
		"/windows": {`{}`, `["day"]`, `["all_time"]`}, "/time_zone": {`{}`, `"Europe/Berlin"`, `"UTC"`}, "/visibility": {`{}`, `"private"`, `"public"`},
		"/top_n": {`{}`, `7`, `1000`}, "/cache_ttl": {`{}`, `"1h"`, `"24h"`}, "/resident": {`{}`, `"always"`, ""}, "/strict_ids": {`{}`, `true`, ""},
		"/record": {`{}`, `"all"`, ""}, "/record_ttl": {`{"record":"all"}`, `"48h"`, ""},
		"/players": {`{}`, `{"read":true}`, ""}, "/players/read": {`{"players":{"submit":"own"}}`, `true`, ""}, "/players/submit": {`{"players":{"read":true}}`, `"own"`, ""}, "/players/min_time": {play, `"10s"`, ""}, "/players/max_time": {play, `"10m"`, ""},
		"/notify": {`{}`, `{"passed":"top","within":3}`, ""}, "/notify/within": {`{"notify":{"passed":"friends"}}`, `3`, `10`},
		"/metadata": {`{}`, `{"max_bytes":5}`, ""}, "/review": {`{}`, `{"hold":[{"above":5}]}`, ""}, "/review/expire": {`{"review":{"hold":[{"above":5}]}}`, `"7d"`, ""},
		"/display": {`{}`, `{"kind":"duration"}`, ""}, "/display/kind": {`{"display":{"decimals":2}}`, `"duration"`, ""}, "/display/decimals": {`{"display":{"kind":"duration"}}`, `3`, ""},
		"/face": {`{}`, `{"logo":"a.png"}`, ""}, "/overrides": {`{}`, `{"keep_time":true}`, ""}, "/overrides/keep_time": {`{"overrides":{"ops":["latest"]}}`, `true`, ""}, "/limits": {`{}`, `{"min_score":1}`, `{}`},
		"/refresh/full": {`{}`, `"0 4 * * *"`, `""`}, "/refresh/incremental": {`{}`, `"5s"`, `"10s"`}, "/refresh/dynamic": {`{}`, `"900/1"`, `""`},
		"/tiebreak/order": {`{}`, `"asc"`, `"desc"`}, "/tiebreak/fields/0/order": {`{"tiebreak":{"fields":[{"name":"a","bits":3}]}}`, `"asc"`, `"desc"`},
		"/derive/from/0/window": {`{"derive":{"from":[{"board":"source"}]}}`, `"all_time"`, ""}, "/derive/from/0/period": {`{"derive":{"from":[{"board":"source"}]}}`, `"all_time"`, `"current"`},
		"/derive/from/0/weight": {`{"derive":{"from":[{"board":"source"}]}}`, `2`, `1`}, "/derive/op": {`{"derive":{"from":[{"board":"source"}]}}`, `"intersect"`, `"union"`},
		"/derive/aggregate": {`{"derive":{"from":[{"board":"source"}]}}`, `"max"`, `"sum"`},
	}
}

// TestDocumentedDefaults: a board gets each default of a rule in openapi.yaml by PUT without the rule, and by PATCH with null.
func TestDocumentedDefaults(t *testing.T) {
	cases := defaultCases()
	documented := map[string]bool{}
	noteDefaults(t, "BoardRules", documented)
	if left, none := slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(cases)); !slices.Equal(left, none) {
		t.Errorf("the document names defaults of\n%s\nthe cases are of\n%s", left, none)
	}
	e := newEnv(t)
	e.Put(apitest.AdminKey, "/v1/boards/source", `{}`).Want(201)
	for pointer, c := range cases {
		path := "/v1/boards/b" + strings.ReplaceAll(strings.ReplaceAll(pointer, "/", "-"), "_", "-")
		check := func(how string) {
			t.Helper()
			var board any
			e.Get(apitest.AdminKey, path).Want(200).Decode(&board)
			if got := member(board, pointer); got != c.shows {
				t.Errorf("%s, %s: %s, want %s", pointer, how, got, c.shows)
			}
		}
		e.Put(apitest.AdminKey, path, c.board).Want(201)
		check("left out")
		if strings.Contains(pointer, "/0/") {
			continue // arrays are replaced as a whole
		}
		for _, value := range []string{c.other, "null"} {
			patch := value
			for _, name := range slices.Backward(strings.Split(pointer[1:], "/")) {
				patch = fmt.Sprintf("{%q:%s}", name, patch)
			}
			e.patch(path, patch, "Content-Type", "application/merge-patch+json").Want(http.StatusOK)
		}
		check("null")
	}
}

// noteDefaults notes the pointers of a schema's members whose descriptions name a default.
func noteDefaults(t *testing.T, name string, into map[string]bool) {
	t.Helper()
	type schema struct {
		Ref         string `yaml:"$ref"`
		Description string
		Properties  map[string]*schema
		Items       *schema
		AllOf       []*schema `yaml:"allOf"`
		OneOf       []*schema `yaml:"oneOf"`
	}
	var doc struct {
		Components struct{ Schemas map[string]*schema }
	}
	if err := yaml.Unmarshal(api.OpenAPI(), &doc); err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`when left out|[Bb]y default|Left out: |left out or null`)
	var walk func(s *schema, pointer string)
	walk = func(s *schema, pointer string) {
		if s == nil {
			return
		}
		if pointer != "" && named.MatchString(s.Description) {
			into[pointer] = true
		}
		walk(doc.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")], pointer)
		for _, part := range append(s.AllOf, s.OneOf...) {
			walk(part, pointer)
		}
		for name, p := range s.Properties {
			walk(p, pointer+"/"+name)
		}
		walk(s.Items, pointer+"/0")
	}
	walk(doc.Components.Schemas[name], "")
}

// member returns the JSON at a pointer, "" for nothing.
func member(v any, pointer string) string {
	for name := range strings.SplitSeq(pointer[1:], "/") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			v = in[0]
		}
	}
	if v == nil {
		return ""
	}
	text, _ := json.Marshal(v)
	return string(text)
}
