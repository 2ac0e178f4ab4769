package httpapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// TestNullAndEmpty: null and the empty string are taken where the document says so and nowhere else, at every place of
// every body.
func TestNullAndEmpty(t *testing.T) {
	for _, c := range []struct {
		method, path, body string
		nullOnly           bool // entries are rejected one by one, in a 200
	}{
		{"PUT", "/v1/boards/new{n}", `{"title":"t","order":"asc","policy":"sum","mode":"tied","windows":["season","day"],"time_zone":"Europe/Berlin","visibility":"private",
			"top_n":5,"cache_ttl":"1h","refresh":{"full":"0 4 * * *","incremental":"1s","dynamic":"900/1"},"limits":{"min_score":1,"max_score":2,"max_delta":3},
			"tiebreak":{"order":"asc","fields":[{"name":"level","bits":3,"order":"asc"}]},"starts_at":"2026-01-01T00:00:00Z","ends_at":"2027-01-01T00:00:00Z",
			"seasons":[{"name":"s","starts_at":"2026-01-01T00:00:00Z","ends_at":"2026-02-01T00:00:00Z"}],"keep":{"day":3},"labels":{"type":"moba"}}`, false},
		{"PUT", "/v1/boards/new{n}", `{"derive":{"from":[{"board":"b","window":"all_time","period":"current","weight":2}],"op":"union","aggregate":"sum"}}`, false},
		{"PUT", "/v1/boards/new{n}", `{"derive":{"from":[{"board":"b","weight":2}],"last":"7d"}}`, false},
		{"PUT", "/v1/members/m", `{"display_name":"d","avatar_url":"https://example.org/a.png","attributes":{"window":"x","level":1}}`, false},
		{"PUT", "/v1/members/m/friends", `{"members":["a","b"]}`, false},
		{"POST", "/v1/members/m/friends", `{"members":["c"]}`, false},
		{"PUT", "/v1/members/5/hidden", `{"reason":"r","actor":"a"}`, false},
		{"POST", "/v1/boards/b/rebuild", `{"kind":"full","window":"all_time","period":"current"}`, false},
		{"POST", "/v1/boards/b/ranks", `{"members":["a","b"]}`, false},
		{"PUT", "/v1/endpoints/e", `{"url":"https://events.example/","kinds":["board.changed"],"boards":["b"],"enabled":true,"allow_private":false}`, true},
		{"PUT", "/v1/issuers/i", `{"issuer":"x","audience":"g","jwks_url":"https://x.example/","algorithms":["RS256"],"member_claim":"m","prefix":"p","boards_claim":"b","max_age":"1h",
			"requests_per_second":1,"rows_per_second":2,"name":"i","passed_over":[],"created_time":"2026-01-01T00:00:00Z","updated_time":"2026-01-01T00:00:00Z"}`, true},
		{"PUT", "/v1/members/m/bar", `{"not_before":"2026-01-01T00:00:00Z"}`, true},
		{"POST", "/v1/keys", `{"name":"k","scope":"read","boards":["b"],"expires_at":"2036-01-01T00:00:00Z","quota":{"requests_per_second":1,"rows_per_second":2}}`, true},
		{"POST", "/v1/tokens", `{"member":"m","boards":["b"],"ttl":"1h"}`, true},
		{"POST", "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1,"if":{"absent":false,"score":1,"tiebreak":2,"created_time":"2026-01-01T00:00:00Z"},"op":"best","keep_time":true,"metadata":{}}],"atomic":true}`, true},
		{"POST", "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1,"if":{"absent":false,"fields":{"x":1}},"set":{"x":1},"add":{"y":2}}]}`, true},
		{"POST", "/v1/scores", `{"entries":[{"board":"b","member":"m","score":1,"if":{"absent":false,"fields":{"x":1}},"set":{"x":1},"add":{"y":2},"metadata":{"a":1}}],"atomic":false}`, true},
		{"POST", "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1,"tiebreak":2,"created_time":"2020-01-01T00:00:00Z"}]}`, true},
		{"POST", "/v1/scores", `{"entries":[{"board":"b","member":"m","score":1,"fields":{"level":1},"created_time":"2020-01-01T00:00:00Z"}]}`, true},
	} {
		var whole any
		if err := json.Unmarshal([]byte(c.body), &whole); err != nil {
			t.Fatalf("%s: %s", c.body, err)
		}
		empties := []any{nil, ""}
		if c.nullOnly {
			empties = empties[:1]
		}
		variants := map[string]any{"": whole}
		addEmptied(whole, "", empties, variants)
		e := newEnv(t)
		e.Board("b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}}, apitest.Classic()...)
		for i, at := range slices.Sorted(maps.Keys(variants)) {
			t.Run(c.method+c.path+at, func(t *testing.T) {
				here := *e
				here.T = t
				body, err := json.Marshal(variants[at])
				if err != nil {
					t.Fatal(err)
				}
				a := apitest.Ask{Method: c.method, Path: strings.ReplaceAll(c.path, "{n}", strconv.Itoa(i)), Key: apitest.AdminKey, Body: string(body)}
				r := here.Do(a) // fails when it takes what the document does not allow
				if at == "" && r.Status >= 400 {
					t.Fatalf("the body itself is refused: %s", r.Body)
				}
				if documented(t, a) && r.Status == http.StatusBadRequest && !strings.Contains(string(r.Body), "is required") {
					t.Errorf("refused, though the document allows it: %s\n%s", body, r.Body)
				}
			})
		}
	}
}

// addEmptied adds to out, by its pointer and what is put there, each variant of whole with an empty value in one place.
func addEmptied(whole any, at string, empties []any, out map[string]any) {
	put := func(key string, set func(value any) any) {
		for _, empty := range empties {
			text, _ := json.Marshal(empty) // null or ""
			out[at+"/"+key+"="+string(text)] = set(empty)
		}
	}
	// Variants of what is inside are put where it was.
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
func documented(t *testing.T, a apitest.Ask) bool {
	t.Helper()
	_, router := apitest.Document()
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
