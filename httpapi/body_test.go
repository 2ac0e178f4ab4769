package httpapi

import (
	"testing"

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
		{"PUT", "/v1/boards/new{n}", `{"players":{"read":true,"submit":"play","min_time":"1s","max_time":"1h"},"limits":{"per_second":5},
			"review":{"hold":[{"above":5},{"rank_within":6},{"per_second":7},{"by":"players"}],"expire":"7d"},"notify":{"passed":"top","within":5},"record":"all","record_ttl":"48h"}`, false},
		{"PUT", "/v1/members/5/hidden", `{"reason":"r","actor":"a"}`, false},
		{"POST", "/v1/boards/b/rebuild", `{"kind":"full","window":"all_time","period":"current"}`, false},
		{"POST", "/v1/boards/b/ranks", `{"members":["a","b"]}`, false},
		{"POST", "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1,"if":{"absent":false,"score":1,"tiebreak":2,"created_time":"2026-01-01T00:00:00Z"},"op":"best","keep_time":true,"metadata":{}}],"atomic":true}`, true},
		{"POST", "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1,"if":{"absent":false,"fields":{"x":1}},"set":{"x":1},"add":{"y":2}}]}`, true},
		{"POST", "/v1/scores", `{"entries":[{"board":"b","member":"m","score":1,"if":{"absent":false,"fields":{"x":1}},"set":{"x":1},"add":{"y":2},"metadata":{"a":1}}],"atomic":false}`, true},
		{"POST", "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1,"tiebreak":2,"created_time":"2020-01-01T00:00:00Z"}]}`, true},
		{"POST", "/v1/scores", `{"entries":[{"board":"b","member":"m","score":1,"fields":{"level":1},"created_time":"2020-01-01T00:00:00Z"}]}`, true},
	} {
		e := newEnv(t)
		e.Board("b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}}, apitest.Classic()...)
		apitest.NullAndEmpty(t, e.Env, apitest.Ask{Method: c.method, Path: c.path, Key: apitest.AdminKey, Body: c.body}, c.nullOnly)
	}
}
