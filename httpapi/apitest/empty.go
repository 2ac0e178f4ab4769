package apitest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// NullAndEmpty makes requests with each value of a body in turn null, and unless nullOnly also "". The server must accept a
// request if the document allows it, unless a required value is missing, and refuse it otherwise. {n} in the path is a different
// number each time.
func NullAndEmpty(t *testing.T, e *Env, c Ask, nullOnly bool) {
	t.Helper()
	var whole any
	if err := json.Unmarshal([]byte(c.Body), &whole); err != nil {
		t.Fatalf("%s: %s", c.Body, err)
	}
	empties := []any{nil, ""}
	if nullOnly {
		empties = empties[:1]
	}
	variants := map[string]any{"": whole}
	addEmptied(whole, "", empties, variants)
	for i, at := range slices.Sorted(maps.Keys(variants)) {
		t.Run(c.Method+c.Path+at, func(t *testing.T) {
			here := *e
			here.T = t
			body, err := json.Marshal(variants[at])
			if err != nil {
				t.Fatal(err)
			}
			a := c
			a.Path, a.Body = strings.ReplaceAll(c.Path, "{n}", strconv.Itoa(i)), string(body)
			r := here.Do(a) // Do fails if the server takes a request that the document does not allow
			if at == "" && r.Status >= 400 {
				t.Fatalf("the body itself is refused: %s", r.Body)
			}
			if documented(t, a) && r.Status == http.StatusBadRequest && !strings.Contains(string(r.Body), "is required") {
				t.Errorf("refused, though the document allows it: %s\n%s", body, r.Body)
			}
		})
	}
}

// addEmptied adds to out each variant of whole with an empty value in one place, by the pointer to the place and the value.
func addEmptied(whole any, at string, empties []any, out map[string]any) {
	put := func(key string, set func(value any) any) {
		for _, empty := range empties {
			text, _ := json.Marshal(empty) // null or ""
			out[at+"/"+key+"="+string(text)] = set(empty)
		}
	}
	// Variants of an inner value take its place.
	inside := func(key string, value any, set func(value any) any) {
		inner := map[string]any{}
		addEmptied(value, at+"/"+key, empties, inner)
		for where, variant := range inner {
			out[where] = set(variant)
		}
	}
	switch v := whole.(type) {
	case map[string]any:
		for key, value := range v {
			set := func(value any) any {
				clone := maps.Clone(v)
				clone[key] = value
				return clone
			}
			put(key, set)
			inside(key, value, set)
		}
	case []any:
		for i, value := range v {
			set := func(value any) any {
				clone := slices.Clone(v)
				clone[i] = value
				return clone
			}
			put(strconv.Itoa(i), set)
			inside(strconv.Itoa(i), value, set)
		}
	}
}

// documented reports whether the document allows a request.
func documented(t *testing.T, a Ask) bool {
	t.Helper()
	_, router := Document()
	r := a.Request()
	route, params, err := router.FindRoute(r)
	if err != nil {
		t.Fatal(err)
	}
	return openapi3filter.ValidateRequest(t.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true},
	}) == nil
}
