package httpapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"
)

// What linters and generators of clients stumble over; make openapi runs them, this needs none of them.

// Every operation has an id of its own, and the words that documents are made of.
func TestOperationsAreNamed(t *testing.T) {
	doc, _ := document()
	ids := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			where := method + " " + path
			if other := ids[op.OperationID]; other != "" || op.OperationID == "" {
				t.Errorf("%s: the operationId %q is empty or that of %q too", where, op.OperationID, other)
			}
			ids[op.OperationID] = where
			if op.Summary == "" || op.Description == "" {
				t.Errorf("%s has no summary or no description", where)
			}
			if len(op.Tags) != 1 || doc.Tags.Get(op.Tags[0]) == nil {
				t.Errorf("%s has the tags %v, want one of those declared", where, op.Tags)
			}
			for _, status := range []string{"400", "401", "503"} {
				if strings.HasPrefix(path, "/v1/") && op.Responses.Value(status) == nil {
					t.Errorf("%s has no answer %s, which every operation can give", where, status)
				}
			}
		}
	}
}

// A generator makes one type of each component, whatever its kind.
func TestComponentsHaveNamesOfTheirOwn(t *testing.T) {
	root := documentNode(t)
	seen := map[string]string{}
	for _, kind := range []string{"schemas", "parameters", "requestBodies", "responses"} {
		each(at(root, "components", kind), func(name string, _ *yaml.Node) {
			if other := seen[strings.ToLower(name)]; other != "" {
				t.Errorf("components/%s/%s has the name of %s", kind, name, other)
			}
			seen[strings.ToLower(name)] = kind + "/" + name
		})
	}
}

// A type is one type, or one and null. Members of a body have no default: generators of types for responses take
// a member with a default for one that is always there, and so would ask for it in requests.
func TestSchemasSuitGenerators(t *testing.T) {
	root := documentNode(t)
	schemas := at(root, "components", "schemas")
	walkNodes(schemas, "schemas", func(where string, n *yaml.Node) {
		types := items(at(n, "type"))
		if len(types) > 0 && (len(types) != 2 || types[1].Value != "null") {
			t.Errorf("%s: the list of types is not one type and null", where)
		}
		if at(n, "default") != nil {
			t.Errorf("%s has a default; say it in the description", where)
		}
	})
}

// walkNodes calls fn with every object under n.
func walkNodes(n *yaml.Node, where string, fn func(where string, n *yaml.Node)) {
	if n.Kind == yaml.MappingNode {
		fn(where, n)
	}
	each(n, func(name string, value *yaml.Node) { walkNodes(value, where+"/"+name, fn) })
	for i, item := range items(n) {
		walkNodes(item, where+"/"+strconv.Itoa(i), fn)
	}
}

func documentNode(t *testing.T) *yaml.Node {
	t.Helper()
	root, err := parseDocument(openAPIDocument)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// The table of problems and the types that the document lists are the same.
func TestDocumentHasTheProblems(t *testing.T) {
	doc, _ := document()
	listed := map[string]bool{}
	for _, v := range doc.Components.Schemas["ProblemType"].Value.Enum {
		listed[v.(string)] = true
	}
	for i := range kinds {
		if !listed[kinds[i].typ()] {
			t.Errorf("openapi.yaml, schemas/ProblemType: %s is missing", kinds[i].typ())
		}
		delete(listed, kinds[i].typ())
	}
	for typ := range listed {
		t.Errorf("openapi.yaml, schemas/ProblemType: %s is not in problems.go", typ)
	}
}

// The description of an answer names the problems of its status, and none of another one.
func TestAnswersNameTheirProblems(t *testing.T) {
	doc, _ := document()
	word := regexp.MustCompile(`[A-Za-z]+(?:-[a-z]+)*`)
	for name, statuses := range problemAnswers(doc) {
		said := word.FindAllString(*doc.Components.Responses[name].Value.Description, -1)
		for i := range kinds {
			k := &kinds[i]
			named := slices.Contains(said, k.code)
			if slices.Contains(statuses, strconv.Itoa(k.status)) && !named {
				t.Errorf("responses/%s does not name %s", name, k.code)
			}
			if strings.Contains(k.code, "-") && named && !slices.Contains(statuses, strconv.Itoa(k.status)) {
				t.Errorf("responses/%s names %s, which is answered with %d", name, k.code, k.status)
			}
		}
		for _, w := range said {
			if strings.Contains(w, "-") && w == strings.ToLower(w) && kindOf(w).code != w {
				t.Errorf("responses/%s names %s, which is no problem", name, w)
			}
		}
	}
}

// problemAnswers lists the answers of components/responses that are problems, with the statuses that they are given for.
func problemAnswers(doc *openapi3.T) map[string][]string {
	out := map[string][]string{}
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for status, r := range op.Responses.Map() {
				name, shared := strings.CutPrefix(r.Ref, "#/components/responses/")
				if shared && r.Value.Content["application/problem+json"] != nil && !slices.Contains(out[name], status) {
					out[name] = append(out[name], status)
				}
			}
		}
	}
	return out
}
