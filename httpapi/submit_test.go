package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

type results struct {
	Results []struct {
		Member, Status string
		Score          *int64
		Previous       *int64  `json:"previous_score"`
		CreatedTime    *string `json:"created_time"`
		Error          *wire.Problem
	}
	Seq  int64
	Seqs map[string]int64
}

func (r reply) results() results {
	r.t.Helper()
	var out results
	r.want(200).decode(&out)
	return out
}

func TestSubmit(t *testing.T) {
	e := newEnv(t)
	limit := int64(100)
	e.board("b", leaderboard.Rules{Limits: leaderboard.Limits{MaxScore: &limit}})
	e.post(writeKey, "/v1/boards/b/scores", `{"entries":[{"member":"u1","score":80}]}`).want(200)
	body := `{"entries":[{"member":"u1","score":90},{"member":"u2","score":101},{"member":"u1","score":90},{"member":"","score":1},{"member":"u3","score":-5,"tiebreak":7}]}`
	got := e.do(ask{method: "POST", path: "/v1/boards/b/scores", key: writeKey, body: body, off: true}).results()
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
	e.board("b", leaderboard.Rules{})
	body := `{"entries":[{"member":"m","score":1,"created_time":"2020-01-01T02:00:00.5+02:00"}]}`
	e.post(writeKey, "/v1/boards/b/scores", body).wantProblem(403, wire.CodeForbidden)
	e.post(adminKey, "/v1/boards/b/scores", body).want(200)
	if got := e.get(noKey, "/v1/boards/b/top").rows().Entries[0].CreatedTime.String(); got != "2020-01-01T00:00:00.500000Z" {
		t.Errorf("created_time is %s", got)
	}
}

func TestIdempotencyKey(t *testing.T) {
	e := newEnv(t)
	e.board("b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	a := ask{
		method: "POST", path: "/v1/boards/b/scores", key: writeKey, body: `{"entries":[{"member":"m","score":5}]}`,
		header: http.Header{"Idempotency-Key": {strings.Repeat("~", 128)}},
	}
	first := e.do(a).want(200)
	second := e.do(a).want(200)
	wantReplayed(t, first, second)
	if e.get(noKey, "/v1/boards/b/top").rows().Entries[0].Score != 5 {
		t.Errorf("the repetition counted: %s", second.body)
	}
	a.body = `{"entries":[{"member":"m","score":5},{"member":"n","score":5}]}`
	e.do(a).wantProblem(422, "idempotency-key-reused")
}

// wantReplayed holds the answer to a repetition against the first: it is the same, and says that nothing counted now.
func wantReplayed(t *testing.T, first, second reply) {
	t.Helper()
	if got := first.header["Idempotency-Replayed"]; got != nil {
		t.Errorf("the first answer has Idempotency-Replayed: %s", got)
	}
	if got := second.header["Idempotency-Replayed"]; !slices.Equal(got, []string{"true"}) {
		t.Errorf("the repetition has Idempotency-Replayed: %s", got)
	}
	if want := strings.TrimSuffix(string(first.body), "}\n") + `,"replayed":true}` + "\n"; string(second.body) != want {
		t.Errorf("the repetition is %s, want %s", second.body, want)
	}
}

// TestSeqsOfWindows: with several windows the seq of each is told, that of the first also by itself.
func TestSeqsOfWindows(t *testing.T) {
	e := newEnv(t)
	e.board("b", leaderboard.Rules{})
	e.api.handlers.scores.writer = fixedWriter{leaderboard.Receipt{Seq: 9, Seqs: map[leaderboard.Window]int64{"week": 3, "all_time": 9}}}
	if got := e.post(writeKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":5}]}`).want(200); !strings.Contains(string(got.body), `"seq":9,"seqs":{"all_time":9,"week":3}`) {
		t.Errorf("got %s", got.body)
	}
	e.delete(adminKey, "/v1/boards/b/members/m").want(200)
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
	e.board("b", leaderboard.Rules{}, classic()...)
	var got struct {
		Member string
		Seq    int64
	}
	e.delete(adminKey, "/v1/boards/b/members/5").want(200).decode(&got)
	if got.Member != "5" || got.Seq != 9 {
		t.Errorf("got %+v", got)
	}
	e.get(noKey, "/v1/boards/b/members/5?min_seq=9").wantProblem(404, "not-ranked")
	e.delete(adminKey, "/v1/boards/b/members/5").wantProblem(404, "not-ranked")
	e.delete(adminKey, "/v1/boards/b/members/4?period=all_time").want(200)
	e.delete(adminKey, "/v1/boards/b/members/3?period=2020").wantProblem(400, wire.CodeMalformed)
	e.delete(adminKey, "/v1/boards/b/members/3?window=day").wantProblem(404, "period-not-found")
	e.delete(adminKey, "/v1/boards/none/members/3").wantProblem(404, "board-not-found")
}

// TestAbandonedWrite: a client that stops waiting for a write does not know its outcome.
func TestAbandonedWrite(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Limits.RequestTimeout = 10 * time.Millisecond })
	e.board("b", leaderboard.Rules{})
	e.api.handlers.scores.writer = stuckWriter{}
	e.post(writeKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":5}]}`).wantProblem(503, "outcome-unknown")
	e.post(writeKey, "/v1/scores", `{"entries":[{"board":"b","member":"m","score":5}]}`).wantProblem(503, "outcome-unknown")
	e.delete(adminKey, "/v1/boards/b/members/m").wantProblem(503, "outcome-unknown")
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
	e.board("b", leaderboard.Rules{})
	for _, ct := range []string{"application/json", "Application/JSON", "application/json; charset=utf-8", `application/json;charset="UTF-8"`} {
		e.do(ask{
			method: "POST", path: "/v1/boards/b/scores", key: writeKey, body: ` {"entries":[{"member":"m","score":5}]} ` + "\n",
			header: http.Header{"Content-Type": {ct}, "Content-Encoding": {"identity"}}, off: true,
		}).want(200)
	}
	// A thousand entries are one request.
	body := `{"entries":[` + strings.Repeat(`{"member":"m","score":5},`, 999) + `{"member":"m","score":6,"tiebreak":null,"created_time":null}]}`
	if got := e.post(writeKey, "/v1/boards/b/scores", body).results(); len(got.Results) != 1000 {
		t.Errorf("%d results", len(got.Results))
	}
}
