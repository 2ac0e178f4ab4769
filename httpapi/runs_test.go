package httpapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func TestRebuild(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{}, apitest.Classic()...)
	e.fake.RunGate = make(chan struct{})
	for _, body := range []string{"", "{}", `{"kind":"full","window":"all_time","period":"current"}`} {
		r := e.Post(apitest.AdminKey, "/v1/boards/b/rebuild", body).Want(202)
		var run api.Run
		r.Decode(&run)
		if run.Kind != leaderboard.RunKindFull || run.State != leaderboard.RunStateRunning || run.Reason != leaderboard.RunReasonAdmin || run.Actor != "env:admin" {
			t.Errorf("got %+v", run)
		}
		location := r.Header.Get("Location")
		if location != fmt.Sprintf("/v1/runs/%d", run.ID) {
			t.Errorf("Location is %s", location)
		}
		e.Get(apitest.AdminKey, location).Want(200)
	}
	// Not finished in time: as without waiting.
	r := e.Post(apitest.AdminKey, "/v1/boards/b/rebuild?wait=5ms", `{"kind":"incremental"}`).Want(202)
	if !strings.Contains(string(r.Body), `"kind":"incremental"`) || r.Header.Get("Location") == "" {
		t.Errorf("got %s", r.Body)
	}
	close(e.fake.RunGate)
	r = e.Post(apitest.AdminKey, "/v1/boards/b/rebuild?wait=30s", `{}`).Want(200)
	if !strings.Contains(string(r.Body), `"state":"done"`) || !strings.Contains(string(r.Body), `"took":"12.5ms"`) {
		t.Errorf("got %s", r.Body)
	}
}

func TestRuns(t *testing.T) {
	e := newEnv(t)
	e.Board("a", leaderboard.Rules{})
	e.Board("b", leaderboard.Rules{})
	all, ofA := []int64{}, []int64{}
	for i := range 10 {
		var run api.Run
		e.Post(apitest.AdminKey, "/v1/boards/"+string("ab"[i%2])+"/rebuild?wait=1s", "").Want(200).Decode(&run)
		if all = slices.Insert(all, 0, run.ID); i%2 == 0 {
			ofA = slices.Insert(ofA, 0, run.ID)
		}
	}
	for filter, want := range map[string][]int64{"": all, "&board=a": ofA} {
		var ids []int64
		cursor := ""
		for {
			path := "/v1/runs?limit=3" + filter
			if cursor != "" {
				path += "&cursor=" + cursor
			}
			var out struct {
				Runs []api.Run
				Next string `json:"next_cursor"`
			}
			e.Get(apitest.AdminKey, path).Want(200).Decode(&out)
			for _, r := range out.Runs {
				ids = append(ids, r.ID)
			}
			if cursor = out.Next; cursor == "" {
				break
			}
			if filter == "" {
				e.Get(apitest.AdminKey, "/v1/runs?board=a&cursor="+cursor).WantProblem(400, wire.CodeMalformed)
			}
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%q lists %v, want %v", filter, ids, want)
		}
	}
}

// TestFailedRun: a run that failed says so; that it cannot be started is a problem.
func TestFailedRun(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	ref, _, err := e.fake.Resolve(t.Context(), "b", "", "")
	if err != nil {
		t.Fatal(err)
	}
	run, err := e.fake.StartRun(t.Context(), leaderboard.Run{BoardID: ref.BoardID, PeriodID: ref.ID, Kind: leaderboard.RunKindFull, Reason: leaderboard.RunReasonDemand, State: leaderboard.RunStateRunning})
	if err != nil {
		t.Fatal(err)
	}
	run.State, run.Error = leaderboard.RunStateFailed, "redis does not answer"
	if _, err := e.fake.FinishRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if r := e.Get(apitest.AdminKey, fmt.Sprintf("/v1/runs/%d", run.ID)).Want(200); !strings.Contains(string(r.Body), `"error":"redis does not answer"`) {
		t.Errorf("got %s", r.Body)
	}
	e.fake.Fails["Refresh"] = errors.New("redis does not answer")
	failed := e.Post(apitest.AdminKey, "/v1/boards/b/rebuild?wait=30s", "").WantProblem(503, wire.CodeRunFailed)
	if failed.Run == nil || failed.Run.State != leaderboard.RunStateFailed || failed.Run.Error != "redis does not answer" || !strings.Contains(failed.Detail, "redis does not answer") {
		t.Errorf("got %+v", failed)
	}
	delete(e.fake.Fails, "Refresh")
	e.fake.Fails["Start"] = fmt.Errorf("start: %w", leaderboard.ErrUnavailable)
	e.Post(apitest.AdminKey, "/v1/boards/b/rebuild", "").WantProblem(503, "unavailable")
}

func TestVerify(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	if got := string(e.Get(apitest.AdminKey, "/v1/boards/b/verify").Want(200).Body); got != `{"board":"b","window":"all_time","period":"all_time","equal":true,"seq":3,"checked":2,"total":5}` {
		t.Errorf("got %s", got)
	}
	e.fake.Verified = leaderboard.Verification{Seq: 3, Checked: 2, Total: 5, Detail: "rank 2 differs", Difference: &leaderboard.Difference{
		Rank: 2, Database: &leaderboard.Entry{Member: "m", Score: 5, CreatedTime: 1},
	}}
	want := `{"board":"b","window":"all_time","period":"all_time","equal":false,"seq":3,"checked":2,"total":5,"difference":{"rank":2,"copy":null,"truth":{"member":"m","score":5,"tiebreak":0,"created_time":"1970-01-01T00:00:00.000001Z"}},"detail":"rank 2 differs"}`
	if got := string(e.Get(apitest.AdminKey, "/v1/boards/b/verify?window=all_time&period=current").Want(200).Body); got != want {
		t.Errorf("got %s", got)
	}
	e.fake.Fails["Verify"] = errors.New("secret of redis")
	e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/b/verify", Key: apitest.AdminKey, Undocumented: true}).WantProblem(500, wire.CodeInternal)
}
