package httpapi

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"leaderboard/httpapi/apitest"
)

func TestDocumentIsValid(t *testing.T) {
	doc, _ := apitest.Document()
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaDefaultsValidation()); err != nil {
		t.Fatal(err)
	}
}
