package guard

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// TestRefusalsTakeAShare: clients that try again at once get as many refusals as the share of the processors allows,
// whatever their number; a client that tries now and then does not wait.
func TestRefusalsTakeAShare(t *testing.T) {
	t.Parallel()
	for name, clients := range map[string]int{"200 clients": 200, "4000 clients": 4000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const body, span = 48 << 10, 10 * time.Second
				g := New(Options{})
				refuse := func(ctx context.Context) { g.DelayRefusal(ctx, &leaderboard.OverloadError{Wait: time.Second}, body) }
				for range 20 {
					start := time.Now()
					if refuse(t.Context()); time.Since(start) > 10*time.Millisecond {
						t.Errorf("after %s", time.Since(start))
					}
					time.Sleep(10 * time.Millisecond)
				}
				cost := rejectionCost + time.Duration(body)*time.Second/rejectionByteRate
				most := int64(span)/int64(cost)*int64(runtime.GOMAXPROCS(0))/rejectionShare + int64(clients)
				most = max(most, int64(clients)*int64(span/rejectionPause+1)) // no refusal waits for longer than the longest pause
				ctx, cancel := context.WithTimeout(t.Context(), span)
				defer cancel()
				var answers atomic.Int64
				var all sync.WaitGroup
				for range clients {
					all.Go(func() {
						for ctx.Err() == nil && answers.Load() < 2*most {
							refuse(ctx)
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
