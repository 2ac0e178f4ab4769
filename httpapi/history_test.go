package httpapi

import (
	"context"
	"net/http"
	"testing"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// past is daily a day later: 2026-11-20 is closed.
func past(t *testing.T) *env {
	e := daily(t)
	e.post(writeKey, "/v1/boards/daily/scores", `{"entries":[{"member":"a","score":5},{"member":"b","score":6}]}`).want(200)
	e.now("2026-11-20T23:00:01Z")
	e.get(noKey, "/v1/boards/daily/top").want(200)
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
		answer := e.get(noKey, "/v1/boards/daily/"+path).want(200)
		if got := answer.header.Get("Cache-Control"); got != "public, no-cache" {
			t.Errorf("%s: Cache-Control %s", path, got)
		}
		e.do(ask{method: "GET", path: "/v1/boards/daily/" + path, header: http.Header{"If-None-Match": {answer.header.Get("Etag")}}}).want(304)
	}
	e.fake.stale = true
	if got := e.get(noKey, "/v1/boards/daily/top?period=2026-11-20").want(200).header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("stale: %s", got)
	}
	e.fake.stale = false
	e.put(adminKey, "/v1/boards/daily", `{"windows":["day"],"time_zone":"Europe/Berlin","visibility":"private"}`).want(200)
	if got := e.get(readKey, "/v1/boards/daily/top?period=2026-11-20").want(200).header.Get("Cache-Control"); got != "private, no-cache" {
		t.Errorf("private: %s", got)
	}
}

// TestHistoryIsWhole: an answer about a closed period is never one from before its last change.
func TestHistoryIsWhole(t *testing.T) {
	e := past(t)
	seen := int64(-1)
	e.api.handlers.reader.Rankings = watched{e.fake, func(q leaderboard.Query) { seen = q.MinSeq }}
	for query, want := range map[string]int64{"?period=2026-11-20": 2, "?period=2026-11-20&min_seq=1": 2, "?period=2026-11-21": 0, "": 0} {
		e.get(noKey, "/v1/boards/daily/members/a"+query)
		if seen != want {
			t.Errorf("%q is asked with min_seq %d, want %d", query, seen, want)
		}
	}
	e.get(noKey, "/v1/boards/daily/top?period=2026-11-20&min_seq=3").wantProblem(409, "seq-ahead")
}

// watched tells what members are asked for with.
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
	etag := e.get(noKey, "/v1/boards/daily/top?period=2026-11-20").want(200).header.Get("Etag")
	const path = "/v1/boards/daily/members/b?period=2026-11-20"
	e.delete(adminKey, path).wantProblem(409, "period-closed")
	e.delete(adminKey, path+"&reopen=false").wantProblem(409, "period-closed")
	e.delete(writeKey, path+"&reopen=true").wantProblem(403, wire.CodeForbidden)
	e.do(ask{method: "DELETE", path: path + "&reopen=yes", key: adminKey, off: true}).wantProblem(400, wire.CodeMalformed)
	if got := shown(e.get(noKey, "/v1/boards/daily/top?period=2026-11-20").rows()); got != "day 2026-11-20 b=6 a=5" {
		t.Errorf("refused, and yet it shows %s", got)
	}
	var r struct {
		Member string
		Seq    int64
	}
	if e.delete(adminKey, path+"&reopen=true").want(200).decode(&r); r.Member != "b" || r.Seq != 3 {
		t.Errorf("corrected: %+v", r)
	}
	after := e.get(noKey, "/v1/boards/daily/top?period=2026-11-20")
	if shown(after.rows()) != "day 2026-11-20 a=5" || after.header.Get("Etag") == etag {
		t.Errorf("after the correction: %s, %s", shown(after.rows()), after.header.Get("Etag"))
	}
	var runs struct {
		Runs []struct {
			Kind, Actor, Period string
			ToSeq               int64 `json:"to_seq"`
		}
	}
	e.get(adminKey, "/v1/runs?board=daily").want(200).decode(&runs)
	if len(runs.Runs) != 1 || runs.Runs[0].Kind != "reopen" || runs.Runs[0].Actor != "env:admin" || runs.Runs[0].Period != "2026-11-20" || runs.Runs[0].ToSeq != 3 {
		t.Errorf("runs %+v", runs)
	}
}

func TestKeepRule(t *testing.T) {
	e := newEnv(t)
	var b struct{ Keep map[string]int }
	e.put(adminKey, "/v1/boards/b", `{"windows":["day"],"keep":{"day":90,"hour":48}}`).want(201).decode(&b)
	if b.Keep["day"] != 90 || b.Keep["hour"] != 48 {
		t.Errorf("shown as %+v", b)
	}
	for _, c := range [][2]string{{`{"keep":{"all_time":1}}`, "/keep"}, {`{"keep":{"day":-1}}`, "/keep/day"}, {`{"keep":{"decade":1}}`, "/keep"}} {
		got := e.do(ask{method: "PUT", path: "/v1/boards/b", key: adminKey, body: c[0], off: true}).wantProblem(422, leaderboard.CodeInvalidBoard)
		if len(got.Errors) != 1 || got.Errors[0].Pointer != c[1] {
			t.Errorf("%s: %+v", c[0], got.Errors)
		}
	}
}

// TestSeasons: between its seasons a board shows the standings of the last one, and refuses submissions.
func TestSeasons(t *testing.T) {
	e := newEnv(t)
	e.now("2026-11-01T00:00:00Z")
	e.put(adminKey, "/v1/boards/cup", `{"windows":["season"],"seasons":[{"name":"S1","starts_at":"2026-11-02T00:00:00Z","ends_at":"2026-11-09T00:00:00Z"},`+
		`{"name":"S2","starts_at":"2026-12-01T00:00:00Z","ends_at":"2026-12-08T00:00:00Z"}]}`).want(201)
	e.put(adminKey, "/v1/boards/cup2", `{"windows":["season"],"seasons":[]}`).wantProblem(422, leaderboard.CodeInvalidBoard)
	submit := func(want string) {
		t.Helper()
		var r struct {
			Results []struct {
				Status string
				Error  struct{ Type string }
			}
		}
		e.post(writeKey, "/v1/boards/cup/scores", `{"entries":[{"member":"a","score":5}]}`).want(200).decode(&r)
		if got := r.Results[0].Status + r.Results[0].Error.Type; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	submit("rejected/problems/board-not-started")
	e.now("2026-11-02T00:00:00Z")
	submit("applied")
	if got := shown(e.get(noKey, "/v1/boards/cup/top").rows()); got != "season S1 a=5" {
		t.Errorf("during S1: %s", got)
	}
	e.now("2026-11-10T00:00:00Z")
	submit("rejected/problems/between-seasons")
	if got := shown(e.get(noKey, "/v1/boards/cup/top?period=S1").rows()); got != "season S1 a=5" {
		t.Errorf("after S1: %s", got)
	}
	e.now("2026-12-08T00:00:00Z")
	submit("rejected/problems/board-ended")
}
