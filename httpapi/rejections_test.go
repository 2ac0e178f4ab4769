package httpapi

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard"
	"leaderboard/httpapi/internal/wire"
)

// TestRejectionsTakeAShare: whoever is not let in and asks again at once gets as many answers as a share of the
// processors gives, whatever their number; who asks now and then waits for nothing.
func TestRejectionsTakeAShare(t *testing.T) {
	t.Parallel()
	for name, clients := range map[string]int{"200 clients": 200, "4000 clients": 4000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const body, span = 48 << 10, 10 * time.Second
				s := &shared{limits: Limits{MaxConcurrent: 1}, writer: &fake{admit: func(string, int64) error { return &leaderboard.OverloadError{Wait: time.Second} }}}
				call := func(ctx context.Context) *call {
					r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
					r.ContentLength = body
					return &call{shared: s, r: r, route: &route{admitted: true}}
				}
				for range 20 {
					start := time.Now()
					if err := call(t.Context()).letIn(); !errors.Is(err, leaderboard.ErrOverloaded) || time.Since(start) > 10*time.Millisecond {
						t.Errorf("%v after %s", err, time.Since(start))
					}
					time.Sleep(10 * time.Millisecond)
				}
				cost := rejectionCost + time.Duration(body)*time.Second/rejectionByteRate
				most := int64(span)/int64(cost)*int64(runtime.GOMAXPROCS(0))/rejectionShare + int64(clients)
				most = max(most, int64(clients)*int64(span/rejectionPause+1)) // nobody waits for longer than the longest pause
				ctx, cancel := context.WithTimeout(t.Context(), span)
				defer cancel()
				var answers atomic.Int64
				var all sync.WaitGroup
				for range clients {
					all.Go(func() {
						for ctx.Err() == nil && answers.Load() < 2*most {
							_ = call(ctx).letIn()
							answers.Add(1)
						}
					})
				}
				all.Wait()
				if got := answers.Load(); got > most*11/10 || got < most/2 {
					t.Errorf("%d answers in %s, want about %d", got, span, most)
				}
			})
		})
	}
}

// TestRefusedReadsWait: the share is that of reads too, and nobody else waits.
func TestRefusedReadsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEnv(t)
		e.board("b", leaderboard.Rules{})
		ask := func() time.Duration {
			start := time.Now()
			e.get(noKey, "/v1/boards/b/top")
			return time.Since(start)
		}
		e.api.shared.rejections.next = time.Now().Add(300 * time.Millisecond)
		if took := ask(); took != 0 {
			t.Errorf("an answer took %s", took)
		}
		e.fake.fail["Page"] = leaderboard.ErrUnavailable
		if took := ask(); took != 0 {
			t.Errorf("an answer without the database took %s", took)
		}
		e.fake.fail["Page"] = &leaderboard.OverloadError{Wait: time.Second}
		if took := ask(); took != 300*time.Millisecond {
			t.Errorf("a refused one took %s", took)
		}
	})
}

// TestRejectionsWaitAlike: whatever there is too much of, whoever is refused waits for the answer, once.
func TestRejectionsWaitAlike(t *testing.T) {
	t.Parallel()
	const submit = `{"entries":[{"member":"m","score":1}]}`
	many := `{"members":["` + strings.Repeat("m", firstRoom) + `"]}`
	ranks := ask{method: "POST", path: "/v1/boards/b/ranks", body: many, off: true}
	scores := ask{method: "POST", path: "/v1/boards/b/scores", key: writeKey, body: submit}
	for name, c := range map[string]struct {
		ask     ask
		refused func(*env)
	}{
		"no place":                      {ask{method: "GET", path: "/v1/boards/b/top"}, func(e *env) { e.api.shared.limits.MaxConcurrent = 0 }},
		"no place, with a body":         {ranks, func(e *env) { e.api.shared.limits.MaxConcurrent = 0 }},
		"no place, with a submission":   {scores, func(e *env) { e.api.shared.limits.MaxConcurrent = 0 }},
		"no room for the body":          {ranks, func(e *env) { e.api.shared.intake.most = 0 }},
		"no time, before the body":      {scores, func(e *env) { e.fake.admit = func(string, int64) error { return &leaderboard.OverloadError{} } }},
		"no time, found after the body": {scores, func(e *env) { e.fake.fail["Submit"] = &leaderboard.OverloadError{} }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t)
				e.board("b", leaderboard.Rules{})
				c.refused(e)
				e.api.shared.rejections.next = time.Now().Add(300 * time.Millisecond)
				start := time.Now()
				e.do(c.ask).wantProblem(503, wire.CodeOverloaded)
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
		s := &shared{limits: Limits{MaxConcurrent: 1}, writer: &fake{admit: func(string, int64) error {
			if room.Load() {
				return nil
			}
			return &leaderboard.OverloadError{}
		}}}
		s.rejections.next = time.Now().Add(100 * time.Millisecond)
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		go func() { time.Sleep(50 * time.Millisecond); room.Store(true) }()
		if err := (&call{shared: s, r: r, route: &route{admitted: true}}).letIn(); err != nil {
			t.Error(err)
		}
	})
}
