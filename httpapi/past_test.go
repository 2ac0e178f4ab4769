package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// pastAnswer is an answer about a member's past.
type pastAnswer struct {
	Board, Window, Member, Source string
	Stale                         bool
	AsOf                          leaderboard.Micros `json:"as_of"`
	Periods                       []struct {
		Period            string
		StrictRank        int64 `json:"strict_rank"`
		TiedRank          int64 `json:"tied_rank"`
		Score, Total, Seq int64
		Closed            bool
	}
	NextCursor string `json:"next_cursor"`
}

func (a *pastAnswer) String() string {
	var out []string
	for _, p := range a.Periods {
		text := fmt.Sprintf("%s %d/%d=%d of %d at %d", p.Period, p.StrictRank, p.TiedRank, p.Score, p.Total, p.Seq)
		if p.Closed {
			text += " closed"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// TestHistoryOfAMember: the periods in which a member has an entry, newest first, page by page.
func TestHistoryOfAMember(t *testing.T) {
	e := past(t) // 2026-11-20 is closed
	e.Post(apitest.WriteKey, "/v1/boards/daily/scores", `{"entries":[{"member":"b","score":4}]}`).Want(200)
	e.now("2026-11-22T23:00:01Z") // without entries on the 22nd
	e.Post(apitest.WriteKey, "/v1/boards/daily/scores", `{"entries":[{"member":"b","score":4},{"member":"a","score":4}]}`).Want(200)
	const days = "2026-11-23 2/1=4 of 2 at 2, 2026-11-20 2/2=5 of 2 at 2 closed"
	for query, want := range map[string]string{
		"a/history": days, "a/history?window=day&limit=100&min_seq=2": days, "a/history?limit=1": "2026-11-23 2/1=4 of 2 at 2",
		"b/history":                 "2026-11-23 1/1=4 of 2 at 2, 2026-11-21 1/1=4 of 1 at 1 closed, 2026-11-20 1/1=6 of 2 at 2 closed",
		"a/history?window=all_time": "all_time 2/2=5 of 2 at 2", "nobody/history": "",
	} {
		var got pastAnswer
		r := e.Get(apitest.NoKey, "/v1/boards/daily/members/"+query).Want(200)
		if r.Decode(&got); got.String() != want || got.Board != "daily" || got.Stale || got.Source != "local" || !strings.HasPrefix(query, got.Member) {
			t.Errorf("%s: %+v\nwant %s", query, got, want)
		}
		e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/daily/members/" + query, Header: http.Header{"If-None-Match": {r.Header.Get("Etag")}}}).Want(304)
	}
	var pages []string
	for cursor := "?limit=1"; cursor != ""; {
		var got pastAnswer
		e.Get(apitest.NoKey, "/v1/boards/daily/members/a/history"+cursor).Want(200).Decode(&got)
		pages = append(pages, got.String())
		if cursor = ""; got.NextCursor != "" {
			cursor = "?limit=1&cursor=" + got.NextCursor
		}
	}
	if got := strings.Join(pages, "; "); got != strings.Replace(days, ", ", "; ; ", 1) {
		t.Errorf("page by page: %s", got)
	}
}

// TestHistoryChanges: a correction gives the answer another ETag, and a stale answer is marked.
func TestHistoryChanges(t *testing.T) {
	e := past(t)
	const path = "/v1/boards/daily/members/a/history"
	before := e.Get(apitest.NoKey, path).Want(200).Header.Get("Etag")
	e.Delete(apitest.AdminKey, "/v1/boards/daily/members/b?window=day&period=2026-11-20&reopen=true").Want(200)
	r := e.Do(apitest.Ask{Method: "GET", Path: path, Header: http.Header{"If-None-Match": {before}}}).Want(200)
	var got pastAnswer
	if r.Decode(&got); got.String() != "2026-11-20 1/1=5 of 1 at 3 closed" {
		t.Errorf("corrected: %s", &got)
	}
	e.fake.Stale = true
	stale := e.Do(apitest.Ask{Method: "GET", Path: path, Header: http.Header{"If-None-Match": {r.Header.Get("Etag")}}}).Want(200)
	if stale.Decode(&got); !got.Stale || stale.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("stale: %+v, %v", got, stale.Header)
	}
}

// TestNoHistory asks for a history that does not exist, or that the caller may not see.
func TestNoHistory(t *testing.T) {
	e := past(t)
	e.Get(apitest.NoKey, "/v1/boards/nothing/members/a/history").WantProblem(404, "board-not-found")
	e.Get(apitest.NoKey, "/v1/boards/daily/members/a/history?window=week").WantProblem(404, "period-not-found")
	e.Get(apitest.NoKey, "/v1/boards/daily/members/a/history?min_seq=99").WantProblem(409, "seq-ahead")
	for _, bad := range []string{"limit=0", "limit=101", "mode=tied", "period=2026-11-20", "cursor=x", "window=foo", "min_seq=-1"} {
		e.Get(apitest.NoKey, "/v1/boards/daily/members/a/history?"+bad).WantProblem(400, "malformed-request")
	}
	e.Put(apitest.AdminKey, "/v1/boards/daily", `{"windows":["day"],"time_zone":"Europe/Berlin","visibility":"private"}`).Want(200)
	e.Get(apitest.ReadKey, "/v1/boards/daily/members/a/history").Want(200)
	if r := e.Get(apitest.NoKey, "/v1/boards/daily/members/a/history"); r.Status < 400 {
		t.Errorf("a private board shows %s", r.Body)
	}
}
