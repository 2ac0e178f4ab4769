package apitest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"leaderboard/api"
	"leaderboard/internal/wire"
)

// document is openapi.yaml as kin-openapi reads it, with its router.
var document = sync.OnceValues(func() (*openapi3.T, routers.Router) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI())
	if err != nil {
		panic(err)
	}
	for _, plain := range []string{"text/html", "text/csv", "application/jsonl", "application/x-ndjson", "text/event-stream", "image/png"} {
		openapi3filter.RegisterBodyDecoder(plain, openapi3filter.PlainBodyDecoder)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		panic(err)
	}
	return doc, router
})

// Document returns openapi.yaml as kin-openapi reads it, with its router.
func Document() (*openapi3.T, routers.Router) { return document() }

// Check fails the test if an answer is not as openapi.yaml documents it, or if the server accepted a request that openapi.yaml
// does not allow.
func Check(t testing.TB, a Ask, got Reply) {
	t.Helper()
	if got.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Fatalf("%s %s: browsers may guess what the answer is", a.Method, a.Path)
	}
	_, router := Document()
	r := a.Request()
	if strings.Contains(a.Path, "numbers=string") && got.Header.Get("Content-Type") == wire.TypeJSON { // their type in the document is a number
		got.Body = wire.AppendNumbers(nil, got.Body, false)
	}
	if r.Method == http.MethodHead {
		r.Method = http.MethodGet
	}
	route, params, err := router.FindRoute(r)
	if err != nil {
		got.Problem() // a route outside the document answers with a problem
		if got.Status != http.StatusNotFound && got.Status != http.StatusMethodNotAllowed {
			t.Fatalf("%s %s is not in the document and answers %d", a.Method, a.Path, got.Status)
		}
		return
	}
	request, response := "", responseSchema(route, got.Status, got.Header.Get("Content-Type"))
	if a.Body != "" {
		request = requestSchema(route, r.Header.Get("Content-Type"))
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, SkipSettingDefaults: true,
			ExcludeResponseBody:     a.Method == http.MethodHead || got.Status == http.StatusNotModified || got.Status == http.StatusFound,
			ExcludeRequestBody:      request != "",
			SchemaValidationOptions: []openapi3.SchemaValidationOption{openapi3.EnableFormatValidation()},
		},
	}
	if got.Status < 400 && !a.Off {
		err := openapi3filter.ValidateRequest(t.Context(), in)
		if err == nil && request != "" {
			err = bodySchemas().check(request, []byte(a.Body))
		}
		if err != nil {
			t.Fatalf("%s %s answers %d to what the document does not allow: %s", a.Method, a.Path, got.Status, err)
		}
	}
	if response != "" && !in.Options.ExcludeResponseBody {
		in.Options.ExcludeResponseBody = true
		err = bodySchemas().check(response, got.Body)
	}
	err = errors.Join(err, openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: got.Status, Header: got.Header,
		Body: io.NopCloser(bytes.NewReader(got.Body)), Options: in.Options,
	}))
	if err != nil {
		t.Fatalf("%s %s: the answer %d is not as documented: %s\n%s", a.Method, a.Path, got.Status, err, wire.Clip(string(got.Body)))
	}
	if a.Method != http.MethodHead && got.Status < 300 && got.Header.Get("Content-Type") == wire.TypeJSON {
		if err := checkType(route.Operation.Responses.Status(got.Status), got.Body); err != nil {
			t.Fatalf("%s %s: the answer is not what package api has: %s\n%s", a.Method, a.Path, err, wire.Clip(string(got.Body)))
		}
	}
	isPage := got.Header.Get("Content-Type") == "text/html" // and the document has it
	if got.Status >= 400 && route.Path != "/readyz" && !isPage {
		got.Problem()
	}
}
