package apitest

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"leaderboard/api"
	"leaderboard/internal/apidoc"
)

// schemas are the JSON schemas of openapi.yaml, each compiled once. kin-openapi compiles a schema for each body that it looks at,
// which was half the work of the tests of httpapi.
type schemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by their place in the document
}

const documentURL = "openapi.json"

// contract is openapi.yaml in the order in which it is written.
var contract = sync.OnceValue(func() *apidoc.Document {
	doc, err := apidoc.Parse(api.OpenAPI())
	if err != nil {
		panic(err)
	}
	return doc
})

var bodySchemas = sync.OnceValue(func() *schemas {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(contract().JSON()))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(documentURL, doc); err != nil {
		panic(err)
	}
	return &schemas{compiler: c, compiled: map[string]*jsonschema.Schema{}}
})

// check holds a body against the schema at a place of the document.
func (s *schemas) check(place string, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	schema := s.compiled[place]
	if schema == nil {
		if schema, err = s.compiler.Compile(documentURL + place); err != nil {
			return err
		}
		s.compiled[place] = schema
	}
	return schema.Validate(value)
}

// responseSchema returns where the schema of an answer is in the document; "" when the answer is not JSON, or not documented.
func responseSchema(route *routers.Route, status int, contentType string) string {
	code := fmt.Sprint(status)
	response := route.Operation.Responses.Value(code)
	if response == nil {
		return ""
	}
	return jsonSchema(response.Ref, operationAt(route)+"/responses/"+code, response.Value.Content, contentType)
}

// requestSchema returns where the schema of the body of a request is in the document, as responseSchema does.
func requestSchema(route *routers.Route, contentType string) string {
	body := route.Operation.RequestBody
	if body == nil {
		return ""
	}
	return jsonSchema(body.Ref, operationAt(route)+"/requestBody", body.Value.Content, contentType)
}

func operationAt(route *routers.Route) string {
	path := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(route.Path)
	return "#/paths/" + path + "/" + strings.ToLower(route.Method)
}

// jsonSchema returns the place of a JSON schema: below ref, if the document has it elsewhere, or else below own.
func jsonSchema(ref, own string, content openapi3.Content, contentType string) string {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || content[kind] == nil || content[kind].Schema == nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return ""
	}
	if ref != "" {
		own = ref
	}
	return own + "/content/" + strings.ReplaceAll(kind, "/", "~1") + "/schema"
}
