package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
)

func TestDocumentIsValid(t *testing.T) {
	doc, _ := apitest.Document()
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaDefaultsValidation()); err != nil {
		t.Fatal(err)
	}
}

// TestDocumentHasTheRoutes: the routes of the mux and the operations of the document are the same set.
func TestDocumentHasTheRoutes(t *testing.T) {
	doc, _ := apitest.Document()
	var documented, routed []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	for _, rt := range (&handlers{}).routes(true) {
		routed = append(routed, rt.Method+" "+rt.Path)
	}
	slices.Sort(documented)
	slices.Sort(routed)
	if !slices.Equal(documented, routed) {
		t.Errorf("document: %s\nmux: %s", strings.Join(documented, "\n\t"), strings.Join(routed, "\n\t"))
	}
}

// TestDocumentHasTheParameters: the parameters that a route takes are those that the document lists.
func TestDocumentHasTheParameters(t *testing.T) {
	doc, _ := apitest.Document()
	for _, rt := range (&handlers{}).routes(true) {
		item := doc.Paths.Value(rt.Path)
		var documented []string
		for _, p := range append(slices.Clone(item.Parameters), item.GetOperation(rt.Method).Parameters...) {
			if p.Value.In == "query" {
				documented = append(documented, p.Value.Name)
			}
		}
		params := slices.Sorted(slices.Values(rt.Params))
		slices.Sort(documented)
		if !slices.Equal(params, documented) {
			t.Errorf("%s %s takes %v, the document says %v", rt.Method, rt.Path, params, documented)
		}
		if len(params) > wire.MaxParams {
			t.Errorf("%s %s takes more than %d parameters", rt.Method, rt.Path, wire.MaxParams)
		}
	}
}

// TestDocumentHasTheAccess: what the document says about keys is what the table of routes demands.
func TestDocumentHasTheAccess(t *testing.T) {
	doc, _ := apitest.Document()
	for _, rt := range (&handlers{}).routes(true) {
		op := doc.Paths.Value(rt.Path).GetOperation(rt.Method)
		var says string
		switch {
		case op.Security == nil:
			says = "whoever the reader believes" // a generator takes it for an oversight
		case len(*op.Security) == 0:
			says = "anyone"
		case len((*op.Security)[0]) == 0:
			says = "readers"
		case strings.Contains(op.Description, "Needs scope read"):
			says = "holders"
		case strings.Contains(op.Description, "Needs scope write"):
			says = "writers"
		case strings.Contains(op.Description, "Needs scope admin"):
			says = "admins"
		}
		if want := map[guard.Access]string{guard.AccessAnyone: "anyone", guard.AccessReaders: "readers", guard.AccessHolders: "holders", guard.AccessWriters: "writers", guard.AccessAdmins: "admins"}[rt.Access]; says != want {
			t.Errorf("%s %s is for %s, the document says %q", rt.Method, rt.Path, want, says)
		}
	}
}

// TestServedDocument: the YAML that is served is what was written, and the JSON says the same.
func TestServedDocument(t *testing.T) {
	e := newEnv(t)
	var served, written any
	if got := e.Get(apitest.NoKey, "/openapi.yaml").Want(http.StatusOK); !bytes.Equal(got.Body, api.OpenAPI()) {
		t.Error("/openapi.yaml is not openapi.yaml")
	}
	e.Get(apitest.NoKey, "/openapi.json").Want(http.StatusOK).Decode(&served)
	if err := yaml.Unmarshal(api.OpenAPI(), &written); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	apitest.Reply{T: t, Body: text}.Decode(&written)
	if !reflect.DeepEqual(served, written) {
		t.Error("/openapi.json and openapi.yaml differ")
	}
}
