package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// TestSubmitMultiBoard: one request for several boards: results in order, each by the rules of its board, and the state of
// every board.
func TestSubmitMultiBoard(t *testing.T) {
	e := newEnv(t)
	limit := int64(10)
	e.Board("sound", leaderboard.Rules{Limits: leaderboard.Limits{MaxScore: &limit}, Visibility: leaderboard.VisibilityPrivate})
	e.Board("plays", leaderboard.Rules{Policy: leaderboard.PolicySum, Windows: []leaderboard.Window{"day", "all_time"}})
	body := `{"entries":[{"board":"sound","member":"g1","score":9},{"board":"plays","member":"g1","score":2},{"board":"none","member":"g1","score":1},` +
		`{"board":"plays","member":"g1","score":3},{"board":"sound","member":"g2","score":11,"tiebreak":null}]}`
	got := string(e.Post(apitest.WriteKey, "/v1/scores", body).Want(200).Body)
	at := `"created_time":"2023-11-14T22:13:20.00000`
	want := `{"results":[{"board":"sound","member":"g1","status":"applied","score":9,"previous_score":null,` + at + `0Z"},` +
		`{"board":"plays","member":"g1","status":"applied","score":2,"previous_score":null,` + at + `0Z"},` +
		`{"board":"none","member":"g1","status":"rejected","score":null,"previous_score":null,"created_time":null,` +
		`"error":{"type":"/problems/board-not-found","title":"Board not found","status":404,"detail":"No board has this name."}},` +
		`{"board":"plays","member":"g1","status":"applied","score":5,"previous_score":2,` + at + `1Z"},` +
		`{"board":"sound","member":"g2","status":"rejected","score":null,"previous_score":null,"created_time":null,` +
		`"error":{"type":"/problems/score-out-of-range","title":"The score is outside of the board's limits","status":422,"detail":"score 11 is above the board's max_score 10"}}],` +
		`"boards":{"plays":{"seq":2,"seqs":{"all_time":2,"day":2}},"sound":{"seq":1}}}` + "\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e.Get(apitest.NoKey, "/v1/boards/plays/members/g1?min_seq=2").Want(200)

	// A name that no board can have is one of no board too.
	odd := e.Do(apitest.Ask{Method: "POST", Path: "/v1/scores", Key: apitest.WriteKey, Body: `{"entries":[{"board":"No Board","member":"m","score":1}]}`, Off: true})
	if got := string(odd.Want(200).Body); !strings.Contains(got, "/problems/board-not-found") || !strings.HasSuffix(got, `"boards":{}}`+"\n") {
		t.Errorf("got %s", got)
	}
}

func TestSubmitMultiBoardKey(t *testing.T) {
	e := newEnv(t)
	e.Board("a", leaderboard.Rules{Policy: leaderboard.PolicySum})
	e.Board("b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	a := apitest.Ask{
		Method: "POST", Path: "/v1/scores", Key: apitest.WriteKey, Body: `{"entries":[{"board":"a","member":"m","score":5},{"board":"b","member":"m","score":5}]}`,
		Header: http.Header{"Idempotency-Key": {"k"}},
	}
	first, second := e.Do(a).Want(200), e.Do(a).Want(200)
	wantReplayed(t, first, second)
	if e.Get(apitest.NoKey, "/v1/boards/b/top").Rows().Entries[0].Score != 5 {
		t.Errorf("the repetition counted: %s", second.Body)
	}
	a.Body = strings.Replace(a.Body, `"b"`, `"a"`, 1)
	e.Do(a).WantProblem(422, "idempotency-key-reused")
	one := a
	one.Path, one.Body = "/v1/boards/a/scores", `{"entries":[{"member":"m","score":1}]}`
	e.Do(one).Want(200) // the same key of another route is another key
}

// TestSubmitMultiBoardBadInput: whatever is wrong with the envelope is refused as a whole, and says where.
func TestSubmitMultiBoardBadInput(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	writes := e.fake.Writes()
	many := func(n, boards int) string {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf(`{"board":"b%d","member":"m","score":1}`, i%boards)
		}
		return strings.Join(entries, ",")
	}
	for _, c := range []struct{ entries, at, detail string }{
		{"", "/entries", "want 1 to 1000 entries"},
		{many(1001, 1), "/entries", "want 1 to 1000 entries"},
		{many(51, 51), "/entries", "want at most 50 different boards"},
		{`{"member":"m","score":1}`, "/entries/0/board", "is required"},
		{`{"board":null,"member":"m","score":1}`, "/entries/0/board", "is required"},
		{many(1, 1) + `,{"board":"b","score":1}`, "/entries/1/member", "is required"},
		{`{"board":"b","member":"m"}`, "/entries/0/score", "is required"},
		{`{"board":"b","member":"m","score":"1,5"}`, "/entries/0/score", "integer"},
		{`{"board":7,"member":"m","score":1}`, "/entries/0/board", "want a string"},
		{`{"board":"b","member":"m","score":1,"Board":"b"}`, "/entries/0/Board", "is not known"},
		{`{"board":"b","board":"b","member":"m","score":1}`, "/entries/0/board", ""},
		{`{"board":"b","member":"m","score":1,"window":"day"}`, "/entries/0/window", "is not known"},
	} {
		p := e.Post(apitest.WriteKey, "/v1/scores", `{"entries":[`+c.entries+`]}`).WantProblem(400, wire.CodeMalformed)
		if !slices.ContainsFunc(p.Errors, func(f wire.InputError) bool { return f.Pointer == c.at && strings.Contains(f.Detail, c.detail) }) {
			t.Errorf("%.80s: %+v, want %s at %s", c.entries, p.Errors, c.detail, c.at)
		}
	}
	good := `{"entries":[{"board":"b","member":"m","score":1}]}`
	e.Post(apitest.NoKey, "/v1/scores", good).WantProblem(401, wire.CodeUnauthorized)
	e.Post(apitest.ReadKey, "/v1/scores", good).WantProblem(403, wire.CodeForbidden)
	e.Post(apitest.WriteKey, "/v1/scores?board=b", good).WantProblem(400, wire.CodeMalformed)
	e.Post(apitest.WriteKey, "/v1/scores", `{"entries":[{"board":"b","member":"m","score":1,"created_time":"2020-01-01T00:00:00Z"}]}`).WantProblem(403, wire.CodeForbidden)
	e.Get(apitest.WriteKey, "/v1/scores").WantProblem(405, wire.CodeMethod)
	e.Do(apitest.Ask{Method: "POST", Path: "/v1/scores", Key: apitest.WriteKey, Body: good, Header: http.Header{"Content-Type": {"text/plain"}}, Off: true}).WantProblem(415, wire.CodeNotJSON)
	if e.fake.Writes() != writes {
		t.Errorf("%d refused requests were written", e.fake.Writes()-writes)
	}
	e.fake.Fail(leaderboard.ErrUnavailable)
	e.Post(apitest.WriteKey, "/v1/scores", good).WantProblem(503, "unavailable")
	e.fake.Fail(nil)
	// A thousand entries for fifty boards are one request.
	if got := resultsIn(e.Post(apitest.WriteKey, "/v1/scores", `{"entries":[`+many(1000, 50)+`]}`)); len(got.Results) != 1000 {
		t.Errorf("%d results", len(got.Results))
	}
}
