package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// TestOverloadPasses floods a server with large batches from clients that try again at once, and empties Redis meanwhile.
// Refused clients get a Retry-After, and acknowledged scores are there. At most ten seconds after the flood no request is
// refused any longer, without an operator (promise E1).
func TestOverloadPasses(t *testing.T) {
	const rows, after = 1000, 10 * time.Second
	w := worldOn(t, testenv.MySQL(t), testenv.PrivateRedis(t).URL)
	s := w.serve(t, "server", "--write-wait", "500ms")
	s.fill(t, "race", 2000, leaderboard.Rules{})
	s.putBoard(t, "flooded", leaderboard.Rules{Policy: leaderboard.PolicySum})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var served, refused atomic.Int64
	clients := testenv.Size(48, 200)
	errs := make([]error, clients)
	var all sync.WaitGroup
	for id := range clients {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				entries := make([]leaderboard.Submission, rows)
				for n := range entries {
					entries[n] = scored(fmt.Sprintf("m%05d", n), 1)
				}
				_, err := s.submit(context.WithoutCancel(ctx), "flooded", fmt.Sprintf("key-%d-%d", id, i), entries...)
				problem, ok := errors.AsType[*client.Problem](err)
				switch {
				case err == nil:
					served.Add(1)
				case ok && problem.Status == http.StatusServiceUnavailable && problem.RetryAfter > 0 && problem.Type != "/problems/outcome-unknown":
					refused.Add(1)
				default:
					errs[id] = err
					return
				}
			}
		})
	}
	time.AfterFunc(testenv.Size(time.Second, 15*time.Second), func() { _ = w.redis.FlushAll(context.WithoutCancel(ctx)) })
	<-time.After(testenv.Size(3*time.Second, 30*time.Second))
	cancel()
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	ended := time.Now()
	goods := 0
	for i := 0; goods < 200; i++ {
		_, wrote := s.submit(t.Context(), "race", "", scored(fmt.Sprint("after-", i), 1))
		_, read := s.top(t.Context(), "race", i%1000, 10)
		if goods++; wrote != nil || read != nil {
			goods = 0
		}
		if time.Since(ended) > after+maxWait/2 {
			t.Fatalf("still refused: %v, %v", wrote, read)
		}
		if goods == 1 && time.Since(ended) > after {
			t.Errorf("requests are refused %s after the flood", time.Since(ended))
		}
	}
	if got := w.scores(t, "flooded")["m00000"]; got != served.Load() {
		t.Errorf("the sum is %d after %d batches that were acknowledged", got, served.Load())
	}
	t.Logf("%d batches of %d served, %d refused", served.Load(), rows, refused.Load())
	if refused.Load() == 0 || served.Load() == 0 {
		t.Error("that was no overload")
	}
}
