package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// bad is one request that has to be refused, and how.
type bad struct {
	name   string
	ask    apitest.Ask
	status int
	code   string
	at     string // pointer or parameter of one of the errors, "" if no place is expected
	detail string // part of its detail
}

// TestBadInput: bad input of every kind gets a clear problem and changes nothing.
func TestBadInput(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{}, apitest.Classic()...)
	e.Board("other", leaderboard.Rules{}, apitest.Classic()...)
	before := string(e.Get(apitest.NoKey, "/v1/boards/b/top").Want(200).Body)
	all := append(badBodies(), badParameters(e)...)
	all = append(all, badBoards()...)
	all = append(all, badElse()...)
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			here := *e
			here.T = t
			writes := e.fake.Writes()
			p := here.Do(c.ask).WantProblem(c.status, c.code)
			if e.fake.Writes() != writes && c.status != 404 && c.status != 409 { // which are the store's to find
				t.Error("it was let through to be written")
			}
			if c.at == "" && c.detail == "" {
				return
			}
			for _, at := range p.Errors {
				if at.Pointer+at.Parameter == c.at && strings.Contains(at.Detail, c.detail) {
					return
				}
			}
			t.Errorf("no error is at %q with %q: %+v", c.at, c.detail, p.Errors)
		})
	}
	if after := string(e.Get(apitest.NoKey, "/v1/boards/b/top").Want(200).Body); after != before {
		t.Errorf("the board changed:\n%s\n%s", before, after)
	}
}

func badBodies() []bad {
	scores := func(name, body, at, detail string) bad {
		return bad{"scores " + name, apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: body}, 400, wire.CodeMalformed, at, detail}
	}
	entry := func(name, value, at, detail string) bad {
		return scores(name, `{"entries":[{"member":"m","score":1},`+value+`]}`, "/entries/1"+at, detail)
	}
	out := []bad{
		scores("not JSON", `{"entries":`, "/entries", "not valid JSON"),
		scores("white space", ` `, "", "not valid JSON"),
		scores("trailing data", `{"entries":[{"member":"m","score":1}]} {}`, "", "not valid JSON"),
		scores("trailing comma", `{"entries":[{"member":"m","score":1},]}`, "/entries", "not valid JSON"),
		scores("array", `[]`, "", "want an object"),
		scores("null", `null`, "", "want an object"),
		scores("number", `1`, "", "want an object"),
		scores("unknown field", `{"entries":[{"member":"m","score":1}],"board":"b"}`, "/board", "not known"),
		scores("other case", `{"Entries":[{"member":"m","score":1}]}`, "/Entries", "not known"),
		scores("repeated", `{"entries":[{"member":"m","score":1}],"entries":[]}`, "/entries", "duplicate"),
		scores("no entries", `{}`, "/entries", "want 1 to 1000"),
		scores("zero entries", `{"entries":[]}`, "/entries", "want 1 to 1000"),
		scores("entries object", `{"entries":{"member":"m","score":1}}`, "/entries", "want an array"),
		scores("1001 entries", `{"entries":[`+strings.Repeat(`{"member":"m","score":1},`, 1000)+`{"member":"m","score":1}]}`, "/entries", "want 1 to 1000"),
		scores("invalid UTF-8", "{\"entries\":[{\"member\":\"\xff\",\"score\":1}]}", "/entries/0/member", "UTF-8"),
		scores("lone surrogate", `{"entries":[{"member":"\ud800","score":1}]}`, "/entries/0/member", "not valid JSON"),
		scores("deep", strings.Repeat(`[`, 20000), "", ""),
		entry("string", `"m"`, "", "want an object"),
		entry("null", `null`, "/member", "required"),
		entry("no member", `{"score":1}`, "/member", "required"),
		entry("no score", `{"member":"m"}`, "/score", "required"),
		entry("null score", `{"member":"m","score":null}`, "/score", "required"),
		entry("member number", `{"member":1,"score":1}`, "/member", "want a string"),
		entry("fields array", `{"member":"m","score":1,"fields":[7]}`, "/fields", "want an object"),
		entry("field null", `{"member":"m","score":1,"fields":{"a/b":null}}`, "/fields/a~1b", "not null"),
		entry("field true", `{"member":"m","score":1,"fields":{"level":true}}`, "/fields/level", "want a JSON integer"),
		entry("field repeated", `{"member":"m","score":1,"fields":{"level":7,"level":7}}`, "/fields/level", "duplicate"),
		entry("repeated", `{"member":"m","score":1,"score":2}`, "/score", "duplicate"),
		entry("created_time number", `{"member":"m","score":1,"created_time":1534429870}`, "/created_time", "RFC 3339"),
		entry("created_time date", `{"member":"m","score":1,"created_time":"2018-08-16"}`, "/created_time", "RFC 3339"),
		entry("created_time nanoseconds", `{"member":"m","score":1,"created_time":"2018-08-16T14:57:49.0000001Z"}`, "/created_time", "six digits"),
		entry("created_time before 1970", `{"member":"m","score":1,"created_time":"1969-12-31T23:59:59Z"}`, "/created_time", "from 1970"),
	}
	for _, field := range []string{"score", "tiebreak"} {
		for _, value := range []string{`"01"`, `"+1"`, `""`, `" 1"`, `"1 "`, `"x"`, `"0x1"`, `"1."`, `"true"`, `true`, `[1]`, `{}`} {
			object := `{"member":"m","score":1,"tiebreak":` + value + `}`
			if field == "score" {
				object = `{"member":"m","score":` + value + `}`
			}
			out = append(out, entry(field+" "+value, object, "/"+field, "want a JSON integer from -9223372036854775808"))
		}
	}
	for _, value := range []string{`+1`, `-`, `NaN`, `1.`, `.5`, `١`} {
		out = append(out, scores("score "+value, `{"entries":[{"member":"m","score":`+value+`}]}`, "/entries/0/score", "not valid JSON"))
	}
	for _, value := range []string{`01`, `0x1`} {
		out = append(out, scores("score "+value, `{"entries":[{"member":"m","score":`+value+`}]}`, "/entries/0", "not valid JSON"))
	}
	ranks := func(name, body, at, detail string) bad {
		return bad{"ranks " + name, apitest.Ask{Method: "POST", Path: "/v1/boards/b/ranks", Body: body}, 400, wire.CodeMalformed, at, detail}
	}
	return append(
		out,
		ranks("none", `{}`, "/members", "required"),
		ranks("null", `{"members":null}`, "/members", "required"),
		ranks("twice", `{"members":["a","b","a"]}`, "/members/2", "twice"),
		ranks("empty", `{"members":["a",""]}`, "/members/1", "at least 1 byte"),
		ranks("long", `{"members":["`+strings.Repeat("é", 33)+`"]}`, "/members/0", "at most 64 bytes"),
		ranks("number", `{"members":[1]}`, "/members/0", "want a string"),
		ranks("string", `{"members":"a"}`, "/members", "want an array"),
		ranks("1001", `{"members":[`+strings.Repeat(`"a",`, 1000)+`"b"]}`, "/members", "want at most 1000"),
	)
}

func badParameters(e *env) []bad {
	get := func(path, at, detail string) bad {
		return bad{path, apitest.Ask{Method: "GET", Path: "/v1/boards/" + path}, 400, wire.CodeMalformed, at, detail}
	}
	foreign := e.Get(apitest.NoKey, "/v1/boards/other/top?limit=1").Rows().Next
	cursor := e.Get(apitest.NoKey, "/v1/boards/b/top?limit=1").Rows().Next
	out := []bad{
		get("b/top?limt=5", "limt", "want one of window, period"),
		get("b?x=1", "x", "want one of numbers"),
		get("b/top?limit=5&limit=5", "limit", "more than once"),
		get("b/top?limit=5&LIMIT=5", "LIMIT", "not known"),
		get("b/top?limit=%zz", "limit", "percent-encoded"),
		get("b/top?%zz=1", "", "name"),
		get("b/top?limit=1;offset=2", "limit", "whole number"),
		get("b/top?mode=%ff", "mode", "UTF-8"),
		get("b/top?window=", "window", "empty"),
		get("b/top?period=", "period", "empty"),
		get("b/top?mode=ranked", "mode", "strict, tied, dense"),
		get("b/top?mode=Strict", "mode", "strict, tied, dense"),
		get("b/top?min_seq=-1", "min_seq", "from 0"),
		get("b/top?offset=0&cursor="+cursor, "cursor", "exclude"),
		get("b/top?cursor=", "cursor", "empty"),
		get("b/top?cursor="+foreign, "cursor", "not a cursor"),
		get("b/top?cursor="+cursor[:len(cursor)-2], "cursor", "not a cursor"),
		get("b/top?cursor="+cursor+"AA", "cursor", "not a cursor"),
		get("b/top?cursor=B"+cursor[1:], "cursor", "not a cursor"),
		get("b/top?cursor=@@@", "cursor", "not a cursor"),
		get("b/top?cursor="+strings.Repeat("A", 300), "cursor", "not a cursor"),
		get("b/periods?cursor="+cursor, "cursor", "not a cursor"),
		get("b/members/1/around?before=501", "before", "from 0 to 500"),
		get("b/members/1/around?after=-1", "after", "from 0 to 500"),
		get("b/members/"+strings.Repeat("x", 65), "member", "at most 64 bytes"),
		get("b/members/%ff", "member", "UTF-8"),
		get("b/members/%ff/around", "member", "UTF-8"),
		get("b/distribution?buckets=0", "buckets", "from 1 to 1000"),
		get("b/distribution?buckets=1001", "buckets", "from 1 to 1000"),
		get("b/scores/80/rank?tiebreak=x", "tiebreak", "whole number"),
		get("b/scores/80/rank?fields=", "fields", "empty"),
		get("b/scores/80/rank?fields=level", "fields", "want name:value"),
		get("b/scores/80/rank?fields=level:7,", "fields", "want name:value"),
		get("b/scores/80/rank?fields=level:07", "fields", "want name:value"),
		get("b/scores/80/rank?fields=level:7,level:8", "fields", "twice"),
	}
	for _, limit := range []string{"0", "-1", "1001", "1.5", "1e-1", "1e4", "x", "", "+5", "05", "0x5", "9223372036854775808", "99999999999999999999", "%20 5"} {
		out = append(out, get("b/top?limit="+strings.ReplaceAll(limit, " ", "%20"), "limit", "from 1 to 1000"))
	}
	for _, offset := range []string{"-1", "9223372036854775808", "1.5"} {
		out = append(out, get("b/top?offset="+offset, "offset", "from 0 to 9223372036854775807"))
	}
	for _, score := range []string{"1.5", "1e19", "x", "9223372036854775808", "-9223372036854775809", "+1", "007", "-0", "--1", "%31%20"} {
		if score != "-0" {
			out = append(out, get("b/scores/"+score+"/rank", "score", "whole number"))
		}
	}
	admin := func(method, path, at, detail string) bad {
		return bad{method + " " + path, apitest.Ask{Method: method, Path: path, Key: apitest.AdminKey}, 400, wire.CodeMalformed, at, detail}
	}
	return append(
		out,
		admin("GET", "/v1/runs?cursor="+cursor, "cursor", "not a cursor"),
		admin("GET", "/v1/runs?limit=0", "limit", "from 1 to 1000"),
		admin("GET", "/v1/boards?cursor="+cursor, "cursor", "not a cursor"),
		admin("POST", "/v1/boards/b/rebuild?wait=soon", "wait", "duration"),
		admin("POST", "/v1/boards/b/rebuild?wait=301s", "wait", "duration"),
		admin("POST", "/v1/boards/b/rebuild?wait=-1s", "wait", "duration"),
		admin("DELETE", "/v1/boards/b/members/"+strings.Repeat("x", 65), "member", "64 bytes"),
		admin("DELETE", "/v1/boards/b/members/1?period=", "period", "empty"),
		admin("DELETE", "/v1/boards/b?force=true", "force", "want one of numbers"),
	)
}

func badBoards() []bad {
	put := func(name, body string, status int, code, at, detail string) bad {
		return bad{"board " + name, apitest.Ask{Method: "PUT", Path: "/v1/boards/new", Key: apitest.AdminKey, Body: body}, status, code, at, detail}
	}
	rule := func(body, at, detail string) bad {
		return put(body, body, 422, leaderboard.CodeInvalidBoard, at, detail)
	}
	out := []bad{
		put("no body", "", 400, wire.CodeMalformed, "", "empty"),
		put("null", "null", 400, wire.CodeMalformed, "", "want an object"),
		put("unknown", `{"colour":"red"}`, 400, wire.CodeMalformed, "/colour", "not known"),
		put("name", `{"names":"x"}`, 400, wire.CodeMalformed, "/names", "not known"),
		put("nested unknown", `{"limits":{"min":1}}`, 400, wire.CodeMalformed, "/limits/min", "not known"),
		put("top_n fraction", `{"top_n":1.5}`, 400, wire.CodeMalformed, "/top_n", "integer"),
		put("top_n string", `{"top_n":"1"}`, 400, wire.CodeMalformed, "/top_n", "integer"),
		put("limit fraction", `{"limits":{"max_score":1e-3}}`, 400, wire.CodeMalformed, "/limits/max_score", "integer"),
		put("windows string", `{"windows":"all_time"}`, 400, wire.CodeMalformed, "/windows", "array"),
		put("starts_at", `{"starts_at":"tomorrow"}`, 400, wire.CodeMalformed, "/starts_at", "RFC 3339"),
		rule(`{"order":"up"}`, "/order", "desc, asc"),
		rule(`{"order":""}`, "/order", "desc, asc"),
		rule(`{"policy":"average"}`, "/policy", "best"),
		rule(`{"mode":"x"}`, "/mode", "strict"),
		rule(`{"visibility":"hidden"}`, "/visibility", "public"),
		rule(`{"tiebreak":{"order":"x"}}`, "/tiebreak/order", "desc"),
		put("unknown of a field", `{"tiebreak":{"fields":[{"name":"a","bits":1,"default":0}]}}`, 400, wire.CodeMalformed, "/tiebreak/fields/0/default", "not known"),
		put("bits fraction", `{"tiebreak":{"fields":[{"name":"a","bits":1.5}]}}`, 400, wire.CodeMalformed, "/tiebreak/fields/0/bits", "integer"),
		rule(`{"tiebreak":{"fields":[{"name":"a","bits":1,"order":""}]}}`, "/tiebreak/fields/0/order", "desc"),
		rule(`{"tiebreak":{"fields":[{"name":"a","bits":1},{"bits":1}]}}`, "/tiebreak/fields/1/name", "[a-z]"),
		rule(`{"tiebreak":{"fields":[{"name":"level","bits":20},{"name":"paid","bits":1},{"name":"deaths","bits":43}]}}`, "/tiebreak/fields", "level 20 + paid 1 + deaths 43 = 64 bits, a tiebreak has 63"),
		rule(`{"windows":["week","fortnight"]}`, "/windows/1", "all_time, hour, day"),
		rule(`{"windows":["all_time","all_time"]}`, "/windows/1", "twice"),
		rule(`{"windows":[]}`, "/windows", "at least one"),
		rule(`{"top_n":0}`, "/top_n", "1 to"),
		rule(`{"top_n":100001}`, "/top_n", "1 to"),
		rule(`{"time_zone":"Mars/Base"}`, "/time_zone", "IANA"),
		rule(`{"cache_ttl":"1s"}`, "/cache_ttl", "at least"),
		rule(`{"refresh":{"incremental":"1ms"}}`, "/refresh/incremental", "at least"),
		rule(`{"refresh":{"dynamic":"9"}}`, "/refresh/dynamic", "pairs"),
		rule(`{"limits":{"min_score":2,"max_score":1}}`, "/limits/max_score", "min_score"),
		rule(`{"limits":{"max_delta":-1}}`, "/limits/max_delta", "0 or more"),
		rule(`{"starts_at":"2026-01-02T00:00:00Z","ends_at":"2026-01-01T00:00:00Z"}`, "/ends_at", "after"),
		rule(`{"title":"`+strings.Repeat("x", 201)+`"}`, "/title", "200 bytes"),
		put("order of a board with entries", `{"order":"asc"}`, 409, "board-conflict", "/order", "stays desc"),
	}
	out[len(out)-1].ask.Path = "/v1/boards/b"
	for _, name := range []string{"A", "-a", ".a", "_a", "a%20b", "a%2Fb", "%C3%A9", strings.Repeat("a", 65)} {
		out = append(
			out,
			bad{"put " + name, apitest.Ask{Method: "PUT", Path: "/v1/boards/" + name, Key: apitest.AdminKey, Body: `{}`}, 422, leaderboard.CodeInvalidBoard, "board", "[a-z0-9]"},
			bad{"get " + name, apitest.Ask{Method: "GET", Path: "/v1/boards/" + name}, 404, "board-not-found", "", ""},
			bad{"submit " + name, apitest.Ask{Method: "POST", Path: "/v1/boards/" + name + "/scores", Key: apitest.WriteKey, Body: `{"entries":[{"member":"m","score":1}]}`}, 404, "board-not-found", "", ""},
		)
	}
	return out
}

func badElse() []bad {
	const entry = `{"entries":[{"member":"m","score":1}]}`
	submit := func(name string, h http.Header, status int, code, at string) bad {
		return bad{name, apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: entry, Header: h}, status, code, at, ""}
	}
	type h = http.Header
	out := []bad{
		submit("no content type", h{"Content-Type": nil}, 415, wire.CodeNotJSON, ""),
		submit("text", h{"Content-Type": {"text/plain"}}, 415, wire.CodeNotJSON, ""),
		submit("form", h{"Content-Type": {"application/x-www-form-urlencoded"}}, 415, wire.CodeNotJSON, ""),
		submit("other charset", h{"Content-Type": {"application/json; charset=latin1"}}, 415, wire.CodeNotJSON, ""),
		submit("other parameter", h{"Content-Type": {"application/json; v=1"}}, 415, wire.CodeNotJSON, ""),
		submit("gzip", h{"Content-Encoding": {"gzip"}}, 415, wire.CodeNotJSON, ""),
		submit("created_time needs admin", nil, 403, wire.CodeForbidden, "/entries/0/created_time"),
		{"unknown board", apitest.Ask{Method: "POST", Path: "/v1/boards/none/scores", Key: apitest.WriteKey, Body: entry}, 404, "board-not-found", "", ""},
		{"unknown window", apitest.Ask{Method: "GET", Path: "/v1/boards/b/top?window=week"}, 404, "period-not-found", "", ""},
		{"unknown period", apitest.Ask{Method: "GET", Path: "/v1/boards/b/top?period=2020"}, 400, wire.CodeMalformed, "period", "want current or all_time"},
		{"unknown period of a rebuild", apitest.Ask{Method: "POST", Path: "/v1/boards/b/rebuild", Key: apitest.AdminKey, Body: `{"period":"2020"}`}, 400, wire.CodeMalformed, "/period", "want current or all_time"},
		{"kind of a rebuild", apitest.Ask{Method: "POST", Path: "/v1/boards/b/rebuild", Key: apitest.AdminKey, Body: `{"kind":"half"}`}, 400, wire.CodeMalformed, "/kind", "full"},
		{"field of a rebuild", apitest.Ask{Method: "POST", Path: "/v1/boards/b/rebuild", Key: apitest.AdminKey, Body: `{"board":"b"}`}, 400, wire.CodeMalformed, "/board", "not known"},
		{"run 0", apitest.Ask{Method: "GET", Path: "/v1/runs/0", Key: apitest.AdminKey}, 404, "run-not-found", "", ""},
		{"run x", apitest.Ask{Method: "GET", Path: "/v1/runs/x", Key: apitest.AdminKey}, 404, "run-not-found", "", ""},
		{"run 99", apitest.Ask{Method: "GET", Path: "/v1/runs/99", Key: apitest.AdminKey}, 404, "run-not-found", "", ""},
		{"runs of no board", apitest.Ask{Method: "GET", Path: "/v1/runs?board=none", Key: apitest.AdminKey}, 404, "board-not-found", "", ""},
		{"runs of A", apitest.Ask{Method: "GET", Path: "/v1/runs?board=A", Key: apitest.AdminKey}, 404, "board-not-found", "", ""},
		{"remove nobody", apitest.Ask{Method: "DELETE", Path: "/v1/boards/b/members/nobody", Key: apitest.AdminKey}, 404, "not-ranked", "", ""},
		{"delete nothing", apitest.Ask{Method: "DELETE", Path: "/v1/boards/none", Key: apitest.AdminKey}, 404, "board-not-found", "", ""},
		{"no route", apitest.Ask{Method: "GET", Path: "/v1/boards/b/bottom"}, 404, wire.CodeNotFound, "", ""},
	}
	out[6].ask.Body = `{"entries":[{"member":"m","score":1,"created_time":"2020-01-01T00:00:00Z"}]}`
	for i, key := range [][]string{{""}, {"a b"}, {"a\tb"}, {"é"}, {strings.Repeat("k", 129)}, {"a", "b"}, {"\x7f"}} {
		out = append(out, submit(fmt.Sprintf("key %d", i), h{"Idempotency-Key": key}, 400, wire.CodeMalformed, "Idempotency-Key"))
	}
	for _, m := range []string{"POST", "PATCH", "DELETE", "OPTIONS", "BREW", "get"} {
		out = append(out, bad{m, apitest.Ask{Method: m, Path: "/v1/boards/b/top", Key: apitest.AdminKey}, 405, wire.CodeMethod, "", ""})
	}
	return out
}

func TestAllow(t *testing.T) {
	e := newEnv(t)
	for path, want := range map[string]string{
		"/v1/boards":             "GET, HEAD",
		"/v1/boards/b":           "GET, HEAD, PUT, PATCH, DELETE",
		"/v1/boards/b/scores":    "POST",
		"/v1/boards/b/members/m": "DELETE, GET, HEAD",
		"/livez":                 "GET, HEAD",
	} {
		r := e.Do(apitest.Ask{Method: "TRACE", Path: path})
		r.WantProblem(405, wire.CodeMethod)
		if got := r.Header.Get("Allow"); got != want {
			t.Errorf("%s allows %q, want %q", path, got, want)
		}
	}
}

// TestAllBadParametersAreTold: an answer names all errors of the parameters at once.
func TestAllBadParametersAreTold(t *testing.T) {
	e := newEnv(t)
	p := e.Get(apitest.NoKey, "/v1/boards/b/top?limit=x&offset=-1&mode=y&min_seq=z").WantProblem(400, wire.CodeMalformed)
	if len(p.Errors) != 4 {
		t.Errorf("got %+v", p.Errors)
	}
}
