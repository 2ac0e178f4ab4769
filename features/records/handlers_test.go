package records

import (
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// TestSubmissions: callers that may write read submissions, page by page; others do not.
func TestSubmissions(t *testing.T) {
	e, f := newEnv(t)
	e.Put(apitest.AdminKey, "/v1/boards/b", `{"record":"all","record_ttl":"48h"}`).Want(201)
	e.Put(apitest.AdminKey, "/v1/boards/plain", `{}`).Want(201)
	score, tie := int64(5), int64(7)
	f.records = []SubmissionRecord{
		{At: 20, ID: 9, Member: "a", Status: leaderboard.StatusRejected, Score: 1000, Previous: &score, NewScore: &score, Seq: 1, Code: "score-out-of-range", Detail: "too much", Actor: "k2", RequestID: "r2"},
		{At: 20, ID: 8, Member: "a", Status: leaderboard.StatusUnchanged, Score: 4, Previous: &score, NewScore: &score, Seq: 1, Actor: "k2"},
		{At: 10, ID: 10, Member: "a", Status: leaderboard.StatusApplied, Score: 5, Tiebreak: &tie, NewScore: &score, Seq: 1, Actor: "k1", RequestID: "r1"},
		{At: 10, ID: 11, Member: "b", Status: leaderboard.StatusApplied, Score: 5, NewScore: &score, Seq: 2, Actor: "k1"},
	}
	const path = "/v1/boards/b/members/a/submissions"
	const first = `{"time":"1970-01-01T00:00:00.000010Z","status":"applied","score":5,"tiebreak":7,"previous_score":null,"new_score":5,"seq":1,"actor":"k1","request_id":"r1"}`
	whole := e.Get(apitest.WriteKey, path).Want(200)
	if got := string(whole.Body); !strings.HasPrefix(got, `{"board":"b","member":"a","record":"all","submissions":[{`) || !strings.HasSuffix(got, first+`]}`) || strings.Count(got, `"time"`) != 3 ||
		!strings.Contains(got, `"code":"score-out-of-range","detail":"too much"`) {
		t.Errorf("got %s", got)
	}
	var seen []int64
	for cursor := "?limit=1"; cursor != ""; {
		var got api.Submissions
		e.Get(apitest.AdminKey, path+cursor).Want(200).Decode(&got)
		seen = append(seen, *got.Submissions[0].Score)
		if cursor = ""; got.NextCursor != "" {
			cursor = "?limit=1&cursor=" + got.NextCursor
		}
	}
	if len(seen) != 3 || seen[0] != 1000 || seen[2] != 5 {
		t.Errorf("page by page: %v", seen)
	}
	if got := string(e.Get(apitest.WriteKey, "/v1/boards/plain/members/nobody/submissions").Want(200).Body); got != `{"board":"plain","member":"nobody","record":"none","submissions":[]}` {
		t.Errorf("got %s", got)
	}
	e.Put(apitest.AdminKey, "/v1/boards/early", `{"windows":["season"],"seasons":[{"name":"one","starts_at":"2100-01-01T00:00:00Z","ends_at":"2100-02-01T00:00:00Z"}],"visibility":"private"}`).Want(201)
	if got := string(e.Get(apitest.WriteKey, "/v1/boards/early/members/nobody/submissions").Want(200).Body); !strings.HasSuffix(got, `"submissions":[]}`) {
		t.Errorf("before the first season: %s", got)
	}
	e.Get(apitest.ReadKey, path).WantProblem(403, "forbidden")
	e.Get(apitest.NoKey, path).Want(401)
	e.Get(apitest.WriteKey, "/v1/boards/nothing/members/a/submissions").WantProblem(404, "board-not-found")
	e.Get(apitest.WriteKey, path+"?cursor=x").WantProblem(400, "malformed-request")
	for _, bad := range []string{`{"record":"some"}`, `{"record_ttl":"5m"}`, `{"record":"all","derive":{"from":[{"board":"b"}]}}`} {
		e.Put(apitest.AdminKey, "/v1/boards/bad", bad).WantProblem(422, "invalid-board")
	}
}
