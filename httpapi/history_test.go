package httpapi

import (
	"context"
	"net/http"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// past is daily a day later: 2026-11-20 is closed.
func past(t *testing.T) *env {
	e := daily(t)
	e.Post(apitest.WriteKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":5},{"member":"b","score":6}]}`).Want(200)
	e.now("2026-11-20T23:00:01Z")
	e.Get(apitest.NoKey, "/v1/boards/daily/top").Want(200)
	return e
}

// TestHistoryIsAskedForAgain: no cache keeps an answer about a closed period without asking, since a correction or an
// erasure changes it.
func TestHistoryIsAskedForAgain(t *testing.T) {
	e := past(t)
	for _, path := range []string{
		"top?period=2026-11-20", "top?period=2026-11-20&limit=1&mode=tied", "members/a?period=2026-11-20", "members/a/around?period=2026-11-20",
		"scores/5/rank?period=2026-11-20", "distribution?period=2026-11-20", "top?window=hour&period=2026-11-20T12",
		"top", "top?period=previous", "top?period=2026-11-21",
	} {
		answer := e.Get(apitest.NoKey, "/v1/boards/daily/"+path).Want(200)
		if got := answer.Header.Get("Cache-Control"); got != "public, no-cache" {
			t.Errorf("%s: Cache-Control %s", path, got)
		}
		e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/daily/" + path, Header: http.Header{"If-None-Match": {answer.Header.Get("Etag")}}}).Want(304)
	}
	e.fake.Stale = true
	if got := e.Get(apitest.NoKey, "/v1/boards/daily/top?period=2026-11-20").Want(200).Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("stale: %s", got)
	}
	e.fake.Stale = false
	e.Put(apitest.AdminKey, "/v1/boards/daily", `{"windows":["day"],"time_zone":"Europe/Berlin","visibility":"private"}`).Want(200)
	if got := e.Get(apitest.ReadKey, "/v1/boards/daily/top?period=2026-11-20").Want(200).Header.Get("Cache-Control"); got != "private, no-cache" {
		t.Errorf("private: %s", got)
	}
}

// TestHistoryIsWhole: an answer about a closed period is never one from before its last change.
func TestHistoryIsWhole(t *testing.T) {
	e := past(t)
	seen := int64(-1)
	e.api.handlers.reader.Rankings = watched{e.fake, func(q leaderboard.Query) { seen = q.MinSeq }}
	for query, want := range map[string]int64{"?period=2026-11-20": 2, "?period=2026-11-20&min_seq=1": 2, "?period=2026-11-21": 0, "": 0} {
		e.Get(apitest.NoKey, "/v1/boards/daily/members/a"+query)
		if seen != want {
			t.Errorf("%q is asked with min_seq %d, want %d", query, seen, want)
		}
	}
	e.Get(apitest.NoKey, "/v1/boards/daily/top?period=2026-11-20&min_seq=3").WantProblem(409, "seq-ahead")
}

// watched sees the queries for members.
type watched struct {
	*fake
	see func(leaderboard.Query)
}

func (w watched) Members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	w.see(q.Query)
	return w.fake.Members(ctx, p, q)
}

func TestCorrectHistory(t *testing.T) {
	e := past(t)
	etag := e.Get(apitest.NoKey, "/v1/boards/daily/top?period=2026-11-20").Want(200).Header.Get("Etag")
	const path = "/v1/boards/daily/members/b?period=2026-11-20"
	e.Delete(apitest.AdminKey, path).WantProblem(409, "period-closed")
	e.Delete(apitest.AdminKey, path+"&reopen=false").WantProblem(409, "period-closed")
	e.Delete(apitest.WriteKey, path+"&reopen=true").WantProblem(403, wire.CodeForbidden)
	e.Do(apitest.Ask{Method: "DELETE", Path: path + "&reopen=yes", Key: apitest.AdminKey, Off: true}).WantProblem(400, wire.CodeMalformed)
	if got := shown(e.Get(apitest.NoKey, "/v1/boards/daily/top?period=2026-11-20").Rows()); got != "day 2026-11-20 b=6 a=5" {
		t.Errorf("refused, and yet it shows %s", got)
	}
	var r struct {
		Member string
		Seq    int64
	}
	if e.Delete(apitest.AdminKey, path+"&reopen=true").Want(200).Decode(&r); r.Member != "b" || r.Seq != 3 {
		t.Errorf("corrected: %+v", r)
	}
	after := e.Get(apitest.NoKey, "/v1/boards/daily/top?period=2026-11-20")
	if shown(after.Rows()) != "day 2026-11-20 a=5" || after.Header.Get("Etag") == etag {
		t.Errorf("after the correction: %s, %s", shown(after.Rows()), after.Header.Get("Etag"))
	}
	var runs struct {
		Runs []struct {
			Kind, Actor, Period string
			ToSeq               int64 `json:"to_seq"`
		}
	}
	e.Get(apitest.AdminKey, "/v1/runs?board=daily").Want(200).Decode(&runs)
	if len(runs.Runs) != 1 || runs.Runs[0].Kind != "reopen" || runs.Runs[0].Actor != "env:admin" || runs.Runs[0].Period != "2026-11-20" || runs.Runs[0].ToSeq != 3 {
		t.Errorf("runs %+v", runs)
	}
}

func TestKeepRule(t *testing.T) {
	e := newEnv(t)
	var b struct{ Keep map[string]int }
	e.Put(apitest.AdminKey, "/v1/boards/b", `{"windows":["day"],"keep":{"day":90,"hour":48}}`).Want(201).Decode(&b)
	if b.Keep["day"] != 90 || b.Keep["hour"] != 48 {
		t.Errorf("shown as %+v", b)
	}
	for _, c := range [][2]string{{`{"keep":{"all_time":1}}`, "/keep"}, {`{"keep":{"day":-1}}`, "/keep/day"}, {`{"keep":{"decade":1}}`, "/keep"}} {
		got := e.Do(apitest.Ask{Method: "PUT", Path: "/v1/boards/b", Key: apitest.AdminKey, Body: c[0], Off: true}).WantProblem(422, leaderboard.CodeInvalidBoard)
		if len(got.Errors) != 1 || got.Errors[0].Pointer != c[1] {
			t.Errorf("%s: %+v", c[0], got.Errors)
		}
	}
}

// TestSeasons: between its seasons a board shows the standings of the last one, and refuses submissions.
func TestSeasons(t *testing.T) {
	e := newEnv(t)
	e.now("2026-11-01T00:00:00Z")
	e.Put(apitest.AdminKey, "/v1/boards/cup", `{"windows":["season"],"seasons":[{"name":"S1","starts_at":"2026-11-02T00:00:00Z","ends_at":"2026-11-09T00:00:00Z"},`+
		`{"name":"S2","starts_at":"2026-12-01T00:00:00Z","ends_at":"2026-12-08T00:00:00Z"}]}`).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/cup2", `{"windows":["season"],"seasons":[]}`).WantProblem(422, leaderboard.CodeInvalidBoard)
	submit := func(want string) {
		t.Helper()
		var r struct {
			Results []struct {
				Status string
				Error  struct{ Type string }
			}
		}
		e.Post(apitest.WriteKey, "/v1/boards/cup/scores", `{"entries":[{"member":"a","score":5}]}`).Want(200).Decode(&r)
		if got := r.Results[0].Status + r.Results[0].Error.Type; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	submit("rejected/problems/board-not-started")
	e.now("2026-11-02T00:00:00Z")
	submit("applied")
	if got := shown(e.Get(apitest.NoKey, "/v1/boards/cup/top").Rows()); got != "season S1 a=5" {
		t.Errorf("during S1: %s", got)
	}
	e.now("2026-11-10T00:00:00Z")
	submit("rejected/problems/between-seasons")
	if got := shown(e.Get(apitest.NoKey, "/v1/boards/cup/top?period=S1").Rows()); got != "season S1 a=5" {
		t.Errorf("after S1: %s", got)
	}
	e.now("2026-12-08T00:00:00Z")
	submit("rejected/problems/board-ended")
}
