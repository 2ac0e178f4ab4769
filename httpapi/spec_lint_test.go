package httpapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
)

// Linters and generators of clients fail at these mistakes; make test KIND=openapi runs them, these tests need none of them.

// TestOperationsAreNamed: every operation has a unique id, and the words that documents are made of.
func TestOperationsAreNamed(t *testing.T) {
	doc, _ := apitest.Document()
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

// TestDocumentHasTheProblems: the table of problems and the types that the document lists are the same.
func TestDocumentHasTheProblems(t *testing.T) {
	doc, _ := apitest.Document()
	listed := map[string]bool{}
	for _, v := range doc.Components.Schemas["ProblemType"].Value.Enum {
		listed[v.(string)] = true
	}
	for i := range wire.Kinds {
		if !listed[wire.Kinds[i].Type("")] {
			t.Errorf("openapi.yaml, schemas/ProblemType: %s is missing", wire.Kinds[i].Type(""))
		}
		delete(listed, wire.Kinds[i].Type(""))
	}
	for typ := range listed {
		t.Errorf("openapi.yaml, schemas/ProblemType: %s is not in problems.go", typ)
	}
}

// TestAnswersNameTheirProblems: the description of an answer names the problems of its status, and none of another one.
func TestAnswersNameTheirProblems(t *testing.T) {
	doc, _ := apitest.Document()
	word := regexp.MustCompile(`[A-Za-z]+(?:-[a-z]+)*`)
	for name, statuses := range problemAnswers(doc) {
		said := word.FindAllString(*doc.Components.Responses[name].Value.Description, -1)
		for i := range wire.Kinds {
			k := &wire.Kinds[i]
			named := slices.Contains(said, k.Code)
			if slices.Contains(statuses, strconv.Itoa(k.Status)) && !named {
				t.Errorf("responses/%s does not name %s", name, k.Code)
			}
			if strings.Contains(k.Code, "-") && named && !slices.Contains(statuses, strconv.Itoa(k.Status)) {
				t.Errorf("responses/%s names %s, which is answered with %d", name, k.Code, k.Status)
			}
		}
		for _, w := range said {
			if strings.Contains(w, "-") && w == strings.ToLower(w) && wire.KindOf(w).Code != w {
				t.Errorf("responses/%s names %s, which is no problem", name, w)
			}
		}
	}
}

// problemAnswers lists the answers of components/responses that are problems, with the statuses that they are given
// for.
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
