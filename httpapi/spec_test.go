package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
)

func TestDocumentIsValid(t *testing.T) {
	doc, _ := apitest.Document()
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaDefaultsValidation()); err != nil {
		t.Fatal(err)
	}
}

// TestServedDocument: the served YAML is openapi.yaml, and the JSON has the same content.
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
