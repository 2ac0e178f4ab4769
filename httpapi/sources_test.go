package httpapi

import (
	"reflect"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

const sumRule = `{"derive":{"from":[{"board":"runs"},{"board":"rides","window":"day","period":"2023-11-14","weight":-2}]}}`

func TestDerivedBoard(t *testing.T) {
	e := newEnv(t)
	e.board("runs", leaderboard.Rules{}, leaderboard.Submission{Member: "m", Score: 9})
	e.put(adminKey, "/v1/boards/sum", sumRule).want(201)
	e.put(adminKey, "/v1/boards/sum", sumRule).want(200)
	shown := string(e.get(readKey, "/v1/boards/sum").want(200).body)
	if want := `"derive":{"from":[{"board":"runs","period":"current","weight":1},{"board":"rides","window":"day","period":"2023-11-14","weight":-2}],"op":"union","aggregate":"sum"}`; !strings.Contains(shown, want) {
		t.Errorf("shown as %s\nwant %s", shown, want)
	}
	var out struct {
		Board, State string
		Seq, Lag     int64
		AsOf         leaderboard.Micros `json:"as_of"`
		Sources      []sourceJSON
	}
	check := func(state string, seq int64) {
		t.Helper()
		e.get(readKey, "/v1/boards/sum/sources").want(200).decode(&out)
		want := []sourceJSON{
			{Board: "runs", Window: "all_time", Period: "all_time", Weight: 1, Seq: seq, LastSeq: 1, Condition: leaderboard.SourceConditionPresent},
			{Board: "rides", Window: "day", Weight: -2, Condition: leaderboard.SourceConditionNoBoard},
		}
		if out.State != state || out.Board != "sum" || !reflect.DeepEqual(out.Sources, want) {
			t.Errorf("sources are %+v", out)
		}
	}
	check("computing", 0)
	if _, err := e.fake.FollowSources(t.Context(), "sum", true); err != nil {
		t.Fatal(err)
	}
	check("incomplete", 1)
	e.do(ask{method: "PUT", path: "/v1/boards/sum", key: adminKey, body: `{"derive":{"from":[{"board":"runs"}],"last":"7d"}}`}).wantProblem(422, leaderboard.CodeInvalidBoard)
	isProblem(t, e.get(noKey, "/v1/boards/runs/sources").want(404), "not-derived")
	isProblem(t, e.get(noKey, "/v1/boards/none/sources").want(404), "board-not-found")
	body := string(e.post(writeKey, "/v1/boards/sum/scores", `{"entries":[{"member":"m","score":1}]}`).want(200).body)
	if !strings.Contains(body, `"type":"/problems/derived-board"`) {
		t.Errorf("a submission to a derived board: %s", body)
	}
	isProblem(t, e.delete(adminKey, "/v1/boards/sum/members/m").want(422), "derived-board")
	if p := e.get(noKey, "/v1/boards/sum/top").want(200); !strings.Contains(string(p.body), `"member":"m","score":9`) {
		t.Errorf("the entries are %s", p.body)
	}
}

func TestDerivedRefused(t *testing.T) {
	e := newEnv(t)
	e.board("runs", leaderboard.Rules{}, leaderboard.Submission{Member: "m", Score: 9})
	e.put(adminKey, "/v1/boards/sum", sumRule).want(201)
	for body, pointer := range map[string]string{
		`{"derive":{"from":[]}}`:                                                                    "/derive/from",
		`{"windows":["day"],"derive":{"from":[{"board":"runs"}]}}`:                                  "/windows",
		`{"derive":{"from":[{"board":"sum"}]}}`:                                                     "/derive/from/0/board",
		`{"derive":{"from":[{"board":"runs","window":"week"}],"last":"7d"}}`:                        "/derive/from/0/window",
		`{"derive":{"from":[{"board":"runs"},{"board":"runs","window":"day"}],"last":"51d"}}`:       "/derive/from",
		`{"derive":{"from":[{"board":"runs"}],"op":"minus"}}`:                                       "/derive/op",
		`{"derive":{"from":[{"board":"runs"}],"last":"7 days"}}`:                                    "/derive/last",
		`{"derive":{"from":[{"board":"runs","weight":1000000001}]}}`:                                "/derive/from/0/weight",
		`{"tiebreak":{"fields":[{"name":"level","bits":3}]},"derive":{"from":[{"board":"runs"}]}}`:  "/tiebreak/fields",
		`{"ends_at":"2030-01-01T00:00:00Z","derive":{"from":[{"board":"runs"}],"aggregate":"max"}}`: "/derive",
	} {
		r := e.do(ask{method: "PUT", path: "/v1/boards/x", key: adminKey, body: body, off: true}).want(422)
		if p := string(r.body); !strings.Contains(p, `"pointer":"`+pointer+`"`) {
			t.Errorf("%s: %s\nwant a fault at %s", body, p, pointer)
		}
	}
	for _, body := range []string{`{"derive":{"from":[{"board":"runs","factor":2}]}}`, `{"derive":{"from":[{"board":"runs","weight":1.5}]}}`, `{"derive":[]}`, `{"derive":{"from":[{"board":"runs"}],"weights":[1]}}`} {
		e.do(ask{method: "PUT", path: "/v1/boards/x", key: adminKey, body: body, off: true}).want(400)
	}
	isProblem(t, e.put(adminKey, "/v1/boards/runs", `{"derive":{"from":[{"board":"other"}]}}`).want(409), "board-conflict")
}

func TestRecompute(t *testing.T) {
	e := newEnv(t)
	e.board("runs", leaderboard.Rules{}, leaderboard.Submission{Member: "m", Score: 9})
	e.put(adminKey, "/v1/boards/sum", sumRule).want(201)
	r := e.post(adminKey, "/v1/boards/sum/rebuild?wait=30s", `{"kind":"recompute"}`).want(200)
	if !strings.Contains(string(r.body), `"kind":"recompute"`) {
		t.Errorf("got %s", r.body)
	}
	isProblem(t, e.post(adminKey, "/v1/boards/runs/rebuild", `{"kind":"recompute"}`).want(404), "not-derived")
	if _, err := e.fake.FollowSources(t.Context(), "sum", true); err != nil {
		t.Fatal(err)
	}
	if r := e.get(adminKey, "/v1/boards/sum/verify?against=sources").want(200); !strings.Contains(string(r.body), `"equal":true`) {
		t.Errorf("got %s", r.body)
	}
	e.get(adminKey, "/v1/boards/sum/verify?against=copy").want(200)
	isProblem(t, e.get(adminKey, "/v1/boards/runs/verify?against=sources").want(404), "not-derived")
	e.do(ask{method: "GET", path: "/v1/boards/sum/verify?against=all", key: adminKey, off: true}).want(400)
}

func isProblem(t *testing.T, r reply, code string) {
	t.Helper()
	if p := r.problem(); p.Type != "/problems/"+code {
		t.Errorf("the problem is %s, want %s", p.Type, code)
	}
}
