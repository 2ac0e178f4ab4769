package httpapi

import (
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

const sumRule = `{"derive":{"from":[{"board":"runs"},{"board":"rides","window":"day","period":"2023-11-14","weight":-2}]}}`

func TestDerivedRefused(t *testing.T) {
	e := newEnv(t)
	e.Board("runs", leaderboard.Rules{}, leaderboard.Submission{Member: "m", Score: 9})
	e.Put(apitest.AdminKey, "/v1/boards/sum", sumRule).Want(201)
	for body, pointer := range map[string]string{
		`{"derive":{"from":[]}}`:                                                                    "/derive/from",
		`{"windows":["day"],"derive":{"from":[{"board":"runs"}]}}`:                                  "/windows",
		`{"derive":{"from":[{"board":"runs","window":"week"}],"last":"7d"}}`:                        "/derive/from/0/window",
		`{"derive":{"from":[{"board":"runs"},{"board":"runs","window":"day"}],"last":"51d"}}`:       "/derive/from",
		`{"derive":{"from":[{"board":"runs"}],"op":"minus"}}`:                                       "/derive/op",
		`{"derive":{"from":[{"board":"runs"}],"last":"7 days"}}`:                                    "/derive/last",
		`{"derive":{"from":[{"board":"runs","weight":1000000001}]}}`:                                "/derive/from/0/weight",
		`{"tiebreak":{"fields":[{"name":"level","bits":3}]},"derive":{"from":[{"board":"runs"}]}}`:  "/tiebreak/fields",
		`{"ends_at":"2030-01-01T00:00:00Z","derive":{"from":[{"board":"runs"}],"aggregate":"max"}}`: "/derive",
	} {
		r := e.Do(apitest.Ask{Method: "PUT", Path: "/v1/boards/x", Key: apitest.AdminKey, Body: body, Off: true}).Want(422)
		if p := string(r.Body); !strings.Contains(p, `"pointer":"`+pointer+`"`) {
			t.Errorf("%s: %s\nwant a fault at %s", body, p, pointer)
		}
	}
	for _, body := range []string{`{"derive":{"from":[{"board":"runs","factor":2}]}}`, `{"derive":{"from":[{"board":"runs","weight":1.5}]}}`, `{"derive":[]}`, `{"derive":{"from":[{"board":"runs"}],"weights":[1]}}`} {
		e.Do(apitest.Ask{Method: "PUT", Path: "/v1/boards/x", Key: apitest.AdminKey, Body: body, Off: true}).Want(400)
	}
	isProblem(t, e.Put(apitest.AdminKey, "/v1/boards/runs", `{"derive":{"from":[{"board":"other"}]}}`).Want(409), "board-conflict")
}

func TestRecompute(t *testing.T) {
	e := newEnv(t)
	e.Board("runs", leaderboard.Rules{}, leaderboard.Submission{Member: "m", Score: 9})
	e.Put(apitest.AdminKey, "/v1/boards/sum", sumRule).Want(201)
	r := e.Post(apitest.AdminKey, "/v1/boards/sum/rebuild?wait=30s", `{"kind":"recompute"}`).Want(200)
	if !strings.Contains(string(r.Body), `"kind":"recompute"`) {
		t.Errorf("got %s", r.Body)
	}
	isProblem(t, e.Post(apitest.AdminKey, "/v1/boards/runs/rebuild", `{"kind":"recompute"}`).Want(404), "not-derived")
	if r := e.Get(apitest.AdminKey, "/v1/boards/sum/verify?against=sources").Want(200); !strings.Contains(string(r.Body), `"equal":true`) {
		t.Errorf("got %s", r.Body)
	}
	e.Get(apitest.AdminKey, "/v1/boards/sum/verify?against=copy").Want(200)
	isProblem(t, e.Get(apitest.AdminKey, "/v1/boards/runs/verify?against=sources").Want(404), "not-derived")
	e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/sum/verify?against=all", Key: apitest.AdminKey, Off: true}).Want(400)
}

func isProblem(t *testing.T, r apitest.Reply, code string) {
	t.Helper()
	if p := r.Problem(); p.Type != "/problems/"+code {
		t.Errorf("the problem is %s, want %s", p.Type, code)
	}
}
