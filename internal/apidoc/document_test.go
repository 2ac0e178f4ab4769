package apidoc

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Generators of clients fail at these mistakes; make test KIND=openapi runs the generators, these tests need none of them.

// TestComponentsHaveNamesOfTheirOwn: a generator makes one type of each component, whatever its kind.
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

// TestSchemasSuitGenerators: a type is one type, or one type and null. Members of a body have no default: generators of types for
// responses take a member with a default for always present, and so would ask for it in requests.
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
	text, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc.root
}
