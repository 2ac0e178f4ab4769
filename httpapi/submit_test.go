package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

type results struct {
	Results []struct {
		Member, Status string
		Score          *int64
		Previous       *int64  `json:"previous_score"`
		CreatedTime    *string `json:"created_time"`
		Error          *api.Problem
	}
	Seq  int64
	Seqs map[string]int64
}

func resultsIn(r apitest.Reply) results {
	r.T.Helper()
	var out results
	r.Want(200).Decode(&out)
	return out
}

func TestSubmit(t *testing.T) {
	e := newEnv(t)
	limit := int64(100)
	e.Board("b", leaderboard.Rules{Limits: leaderboard.Limits{MaxScore: &limit}})
	e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"u1","score":80}]}`).Want(200)
	body := `{"entries":[{"member":"u1","score":90},{"member":"u2","score":101},{"member":"u1","score":90},{"member":"","score":1},{"member":"u3","score":-5,"tiebreak":7}]}`
	got := resultsIn(e.Do(apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: body, Off: true}))
	var parts []string
	show := func(v *int64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	for _, r := range got.Results {
		code := ""
		if r.Error != nil {
			code = " " + r.Error.Type
			if r.Error.Status != 422 || r.Error.Title == "" || r.Error.Detail == "" {
				t.Errorf("the error of %q is incomplete: %+v", r.Member, r.Error)
			}
		}
		if (r.CreatedTime == nil) != (r.Score == nil) {
			t.Errorf("created_time and score of %q are not null together", r.Member)
		}
		parts = append(parts, fmt.Sprintf("%s %s %s<%s%s", r.Member, r.Status, show(r.Score), show(r.Previous), code))
	}
	want := "u1 applied 90<80; u2 rejected -<- /problems/score-out-of-range; u1 unchanged 90<90;  rejected -<- /problems/invalid-member; u3 applied -5<-"
	if have := strings.Join(parts, "; "); have != want {
		t.Errorf("got  %s\nwant %s", have, want)
	}
	if got.Seq != 3 || got.Seqs != nil {
		t.Errorf("seq is %d, seqs %v", got.Seq, got.Seqs)
	}
}

func TestCreatedTimeNeedsAdmin(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	body := `{"entries":[{"member":"m","score":1,"created_time":"2020-01-01T02:00:00.5+02:00"}]}`
	e.Post(apitest.WriteKey, "/v1/boards/b/scores", body).WantProblem(403, wire.CodeForbidden)
	e.Post(apitest.AdminKey, "/v1/boards/b/scores", body).Want(200)
	if got := e.Get(apitest.NoKey, "/v1/boards/b/top").Rows().Entries[0].CreatedTime.String(); got != "2020-01-01T00:00:00.500000Z" {
		t.Errorf("created_time is %s", got)
	}
}

func TestIdempotencyKey(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	a := apitest.Ask{
		Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: `{"entries":[{"member":"m","score":5}]}`,
		Header: http.Header{"Idempotency-Key": {strings.Repeat("~", 128)}},
	}
	first := e.Do(a).Want(200)
	second := e.Do(a).Want(200)
	wantReplayed(t, first, second)
	if e.Get(apitest.NoKey, "/v1/boards/b/top").Rows().Entries[0].Score != 5 {
		t.Errorf("the repetition counted: %s", second.Body)
	}
	a.Body = `{"entries":[{"member":"m","score":5},{"member":"n","score":5}]}`
	e.Do(a).WantProblem(422, "idempotency-key-reused")
}

// wantReplayed holds the answer to a repetition against the first: it is the same, and says that nothing counted now.
func wantReplayed(t *testing.T, first, second apitest.Reply) {
	t.Helper()
	if got := first.Header["Idempotency-Replayed"]; got != nil {
		t.Errorf("the first answer has Idempotency-Replayed: %s", got)
	}
	if got := second.Header["Idempotency-Replayed"]; !slices.Equal(got, []string{"true"}) {
		t.Errorf("the repetition has Idempotency-Replayed: %s", got)
	}
	if want := strings.TrimSuffix(string(first.Body), "}\n") + `,"replayed":true}` + "\n"; string(second.Body) != want {
		t.Errorf("the repetition is %s, want %s", second.Body, want)
	}
}

// TestSeqsOfWindows: a board with several windows answers with the seq of each window, and with the seq of the first one in seq
// too.
func TestSeqsOfWindows(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	e.api.handlers.scores.writer = fixedWriter{leaderboard.Receipt{Seq: 9, Seqs: map[leaderboard.Window]int64{"week": 3, "all_time": 9}}}
	if got := e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":5}]}`).Want(200); !strings.Contains(string(got.Body), `"seq":9,"seqs":{"all_time":9,"week":3}`) {
		t.Errorf("got %s", got.Body)
	}
	e.Delete(apitest.AdminKey, "/v1/boards/b/members/m").Want(200)
}

type fixedWriter struct{ receipt leaderboard.Receipt }

func (fixedWriter) Admit(string, int64) error { return nil }

func (w fixedWriter) Submit(context.Context, leaderboard.SubmitRequest) (leaderboard.Receipt, error) {
	return w.receipt, nil
}

func (w fixedWriter) SubmitMultiBoard(context.Context, leaderboard.MultiBoardRequest) (leaderboard.MultiBoardReceipt, error) {
	return leaderboard.MultiBoardReceipt{}, nil
}

func (w fixedWriter) Remove(context.Context, leaderboard.RemoveRequest) (leaderboard.Receipt, error) {
	return w.receipt, nil
}

func TestRemove(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{}, apitest.Classic()...)
	var got struct {
		Member string
		Seq    int64
	}
	e.Delete(apitest.AdminKey, "/v1/boards/b/members/5").Want(200).Decode(&got)
	if got.Member != "5" || got.Seq != 9 {
		t.Errorf("got %+v", got)
	}
	e.Get(apitest.NoKey, "/v1/boards/b/members/5?min_seq=9").WantProblem(404, "not-ranked")
	e.Delete(apitest.AdminKey, "/v1/boards/b/members/5").WantProblem(404, "not-ranked")
	e.Delete(apitest.AdminKey, "/v1/boards/b/members/4?period=all_time").Want(200)
	e.Delete(apitest.AdminKey, "/v1/boards/b/members/3?period=2020").WantProblem(400, wire.CodeMalformed)
	e.Delete(apitest.AdminKey, "/v1/boards/b/members/3?window=day").WantProblem(404, "period-not-found")
	e.Delete(apitest.AdminKey, "/v1/boards/none/members/3").WantProblem(404, "board-not-found")
}

// TestAbandonedWrite: a client that stops waiting for a write does not know its outcome.
func TestAbandonedWrite(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Limits.RequestTimeout = 10 * time.Millisecond })
	e.Board("b", leaderboard.Rules{})
	e.api.handlers.scores.writer = stuckWriter{}
	e.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":5}]}`).WantProblem(503, "outcome-unknown")
	e.Post(apitest.WriteKey, "/v1/scores", `{"entries":[{"board":"b","member":"m","score":5}]}`).WantProblem(503, "outcome-unknown")
	e.Delete(apitest.AdminKey, "/v1/boards/b/members/m").WantProblem(503, "outcome-unknown")
}

type stuckWriter struct{}

func (stuckWriter) Admit(string, int64) error { return nil }

func (stuckWriter) Submit(ctx context.Context, _ leaderboard.SubmitRequest) (leaderboard.Receipt, error) {
	<-ctx.Done()
	return leaderboard.Receipt{}, ctx.Err()
}

func (stuckWriter) SubmitMultiBoard(ctx context.Context, _ leaderboard.MultiBoardRequest) (leaderboard.MultiBoardReceipt, error) {
	<-ctx.Done()
	return leaderboard.MultiBoardReceipt{}, ctx.Err()
}

func (stuckWriter) Remove(ctx context.Context, _ leaderboard.RemoveRequest) (leaderboard.Receipt, error) {
	<-ctx.Done()
	return leaderboard.Receipt{}, fmt.Errorf("waiting: %w", ctx.Err())
}

// TestContentTypes: content types that mean JSON in UTF-8 are taken.
func TestContentTypes(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	for _, ct := range []string{"application/json", "Application/JSON", "application/json; charset=utf-8", `application/json;charset="UTF-8"`} {
		e.Do(apitest.Ask{
			Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: ` {"entries":[{"member":"m","score":5}]} ` + "\n",
			Header: http.Header{"Content-Type": {ct}, "Content-Encoding": {"identity"}}, Off: true,
		}).Want(200)
	}
	// A thousand entries are one request.
	body := `{"entries":[` + strings.Repeat(`{"member":"m","score":5},`, 999) + `{"member":"m","score":6,"tiebreak":null,"created_time":null}]}`
	if got := resultsIn(e.Post(apitest.WriteKey, "/v1/boards/b/scores", body)); len(got.Results) != 1000 {
		t.Errorf("%d results", len(got.Results))
	}
}
