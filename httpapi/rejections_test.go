package httpapi

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// TestRefusedReadsWait: refused reads take a share of the waits too, and no other request waits.
func TestRefusedReadsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t)
		e.Board("b", leaderboard.Rules{})
		ask := func() time.Duration {
			start := time.Now()
			e.Get(apitest.NoKey, "/v1/boards/b/top")
			return time.Since(start)
		}
		e.api.shared.guard.RefuseFrom(time.Now().Add(300 * time.Millisecond))
		if took := ask(); took != 0 {
			t.Errorf("an answer took %s", took)
		}
		e.fake.Fails["Page"] = leaderboard.ErrUnavailable
		if took := ask(); took != 0 {
			t.Errorf("an answer without the database took %s", took)
		}
		e.fake.Fails["Page"] = &leaderboard.OverloadError{Wait: time.Second}
		if took := ask(); took != 300*time.Millisecond {
			t.Errorf("a refused one took %s", took)
		}
	})
}

// TestRejectionsWaitAlike: a request that is refused for any lack waits for the answer, once.
func TestRejectionsWaitAlike(t *testing.T) {
	t.Parallel()
	const submit = `{"entries":[{"member":"m","score":1}]}`
	many := `{"members":["` + strings.Repeat("m", guard.FirstRoom) + `"]}`
	ranks := apitest.Ask{Method: "POST", Path: "/v1/boards/b/ranks", Body: many, Off: true}
	scores := apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: submit}
	for name, c := range map[string]struct {
		ask     apitest.Ask
		refused func(*env)
	}{
		"no place":                      {apitest.Ask{Method: "GET", Path: "/v1/boards/b/top"}, func(e *env) { e.api.shared.guard.Served = guard.NewPermits(0, &leaderboard.OverloadError{}) }},
		"no place, with a body":         {ranks, func(e *env) { e.api.shared.guard.Served = guard.NewPermits(0, &leaderboard.OverloadError{}) }},
		"no place, with a submission":   {scores, func(e *env) { e.api.shared.guard.Served = guard.NewPermits(0, &leaderboard.OverloadError{}) }},
		"no room for the body":          {ranks, func(e *env) { e.api.shared.guard.Bodies.BodyBudget = guard.NewBodyBudget(0, "full") }},
		"no time, before the body":      {scores, func(e *env) { e.fake.OnAdmit = func(string, int64) error { return &leaderboard.OverloadError{} } }},
		"no time, found after the body": {scores, func(e *env) { e.fake.Fails["Submit"] = &leaderboard.OverloadError{} }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t)
				e.Board("b", leaderboard.Rules{})
				c.refused(e)
				e.api.shared.guard.RefuseFrom(time.Now().Add(300 * time.Millisecond))
				start := time.Now()
				e.Do(c.ask).WantProblem(503, wire.CodeOverloaded)
				if took := time.Since(start); took != 300*time.Millisecond {
					t.Errorf("the answer took %s", took)
				}
			})
		})
	}
}

// TestLetInAfterAll: there may be room when the answer has waited.
func TestLetInAfterAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var room atomic.Bool
		s := &shared{guard: guard.New(guard.Options{MaxConcurrent: 1}), writer: &apitest.Fake{OnAdmit: func(string, int64) error {
			if room.Load() {
				return nil
			}
			return &leaderboard.OverloadError{}
		}}}
		s.guard.RefuseFrom(time.Now().Add(100 * time.Millisecond))
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		go func() { time.Sleep(50 * time.Millisecond); room.Store(true) }()
		c := Call{response: response{shared: s, R: r}}
		c.follow(&Route{Pattern: Pattern{Operation: api.Operation{Body: api.BodyScores}}})
		if err := c.admitBody(); err != nil {
			t.Error(err)
		}
	})
}
