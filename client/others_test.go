package client_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// document has the parts of the OpenAPI document that tests of clients in other languages look up.
type document struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Parameters map[string]struct{ Name string }
		Schemas    map[string]json.RawMessage
	}
}

// schemasOfFiles returns the schemas that the files of other languages send and read.
func schemasOfFiles() []string {
	return []string{"Submit", "Submission", "SubmitResults", "Result", "State", "EntryFields", "TopAnswer", "AroundAnswer", "Problem"}
}

// readDocument reads the document that servers show.
func readDocument(t *testing.T) *document {
	t.Helper()
	content, err := os.ReadFile("../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	d := new(document)
	if err := json.Unmarshal(content, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// properties returns the names of the properties of schemasOfFiles.
func (d *document) properties(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, schema := range schemasOfFiles() {
		var s struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(d.Components.Schemas[schema], &s); err != nil || len(s.Properties) == 0 {
			t.Fatalf("schema %s: %d properties, %v", schema, len(s.Properties), err)
		}
		for name := range s.Properties {
			names[name] = true
		}
	}
	return names
}

// parameters returns the names of the parameters of a method at a path, in which {} is any part, nil if the document has no such
// operation.
func (d *document) parameters(t *testing.T, method, path string) []string {
	t.Helper()
	for template, item := range d.Paths {
		if regexp.MustCompile(`\{\w+\}`).ReplaceAllString(template, "{}") != path || item[method] == nil {
			continue
		}
		var operation struct {
			Parameters []struct {
				Name string
				Ref  string `json:"$ref"`
			}
		}
		if err := json.Unmarshal(item[method], &operation); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range operation.Parameters {
			if p.Ref != "" {
				p.Name = d.Components.Parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")].Name
			}
			names = append(names, p.Name)
		}
		return names
	}
	return nil
}

// language finds names of the API in a file of a client. A call is a method, the path and the parameters of one function.
type language struct {
	file                                string
	function, method, path, query, part *regexp.Regexp // part matches the code that inserts a part of a path
	field                               *regexp.Regexp // names of properties of JSON
}

// languages are the files that are written by hand and are no packages.
func languages() []language {
	return []language{
		{
			file:     "../clients/unity/Leaderboard.cs",
			function: regexp.MustCompile(`(?s)public async Task<.*?\n        }\n`),
			method:   regexp.MustCompile(`HttpMethod\.(\w+)`),
			path:     regexp.MustCompile(`"(/v1/(?:[^"]|" \+ Part\(\w+\) \+ ")*(?:" \+ Part\(\w+\))?)`),
			part:     regexp.MustCompile(`" \+ Part\(\w+\)( \+ ")?`),
			query:    regexp.MustCompile(`\.Add\("([^"]+)"`),
			field:    regexp.MustCompile(`\["(\w+)"\]|TryGetValue\("(\w+)"|\\"(\w+)\\":`),
		},
		{
			file:     "../clients/godot/leaderboard.gd",
			function: regexp.MustCompile(`(?s)\nfunc [a-z].*?\n\n\n`),
			method:   regexp.MustCompile(`METHOD_(\w+)`),
			path:     regexp.MustCompile(`"(/v1/[^"]*)"`),
			part:     regexp.MustCompile(`%s`),
			query:    regexp.MustCompile(`(?:query := \{|, )"(\w+)": [a-z]`),
			field:    regexp.MustCompile(`\["(\w+)"\]|\.get\("(\w+)"|\["(\w+)", "(\w+)"|String in \["(\w+)", "(\w+)", "(\w+)"\]|JSON\.stringify\(\{"(\w+)"|entry := \{"(\w+)": \w+, "(\w+)"`),
		},
	}
}

// find returns the groups of all that a pattern finds, sorted, each once.
func find(pattern *regexp.Regexp, text string) []string {
	found := map[string]bool{}
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		for _, group := range m[1:] {
			if group != "" {
				found[group] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// faultsOf says which names in the text of a client the document has not.
func (l *language) faultsOf(t *testing.T, d *document, text string) (faults []string) {
	t.Helper()
	calls := 0
	for _, function := range l.function.FindAllString(text, -1) {
		paths, methods := find(l.path, function), find(l.method, function)
		if len(paths) != 1 || len(methods) != 1 {
			faults = append(faults, "a function without one path and one method: "+strings.TrimSpace(function)[:60])
			continue
		}
		calls++
		path := l.part.ReplaceAllString(paths[0], "{}")
		known := d.parameters(t, strings.ToLower(methods[0]), path)
		if known == nil {
			faults = append(faults, methods[0]+" "+path+" is no operation")
		}
		wanted := append(find(l.query, function), "numbers")
		if strings.EqualFold(methods[0], "post") {
			wanted = []string{"Idempotency-Key", "numbers"}
		}
		for _, name := range wanted {
			if !slices.Contains(known, name) {
				faults = append(faults, path+" has no parameter "+name)
			}
		}
	}
	if calls != 4 {
		faults = append(faults, "it has other calls than submit, top, rank and around")
	}
	if strings.Count(text, `Idempotency-Key`) != 1 || !strings.Contains(text, "Retry-After") {
		faults = append(faults, "it sends no Idempotency-Key")
	}
	properties := d.properties(t)
	fields := find(l.field, text)
	if len(fields) < 10 {
		faults = append(faults, "hardly a field is found")
	}
	for _, name := range fields {
		if !properties[name] && name != "problem" && name != "numbers" { // of the answers that the client makes itself; a parameter
			faults = append(faults, "no schema has the field "+name)
		}
	}
	for _, problem := range find(regexp.MustCompile(`"(/problems/[\w-]+)"`), text) {
		if !strings.Contains(string(d.Components.Schemas["ProblemType"]), `"`+problem+`"`) {
			faults = append(faults, "there is no "+problem)
		}
	}
	return faults
}

// TestOtherLanguages: the document of the API has all routes, parameters and properties that the files of other languages use,
// and the test would see a wrong one.
func TestOtherLanguages(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	for _, l := range languages() {
		content, err := os.ReadFile(l.file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		if faults := l.faultsOf(t, d, text); len(faults) > 0 {
			t.Errorf("%s:\n%s", l.file, strings.Join(faults, "\n"))
		}
		for was, is := range map[string]string{
			"/v1/boards/": "/v2/boards/", "/scores": "/score", "/around": "/near", `"min_seq"`: `"minSeq"`, `"before"`: `"ahead"`, `"results"`: `"result"`,
			`"previous_score"`: `"previous"`, `"tiebreak"`: `"tie"`, "/problems/not-ranked": "/problems/unranked", "Idempotency-Key": "Idempotency",
			"member": "player", `"detail"`: `"text"`, "/top": "/first",
		} {
			if broken := strings.ReplaceAll(text, was, is); broken == text || len(l.faultsOf(t, d, broken)) == 0 {
				t.Errorf("%s: %s in the place of %s is not seen", l.file, is, was)
			}
		}
	}
}
