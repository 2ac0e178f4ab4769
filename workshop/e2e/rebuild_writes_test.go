package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// TestWritesDuringRebuilds: while increments come, a board is built from scratch again and again, through two servers in
// turn. Within one refresh interval after the last of them the copy equals MySQL, and MySQL has exactly the acknowledged
// increments (promise B4).
func TestWritesDuringRebuilds(t *testing.T) {
	t.Parallel()
	const members, batch, interval = 2000, 50, 10 * time.Second
	writers, pace := testenv.Size(2, 4), 100*time.Millisecond // 1,000 increments a second, 2,000 at full size
	w := newWorld(t)
	servers := []*server{w.serve(t, "server a"), w.serve(t, "server b")}
	servers[0].putBoard(t, "sums", leaderboard.Rules{Policy: leaderboard.PolicySum, TopN: 1000})
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	var added atomic.Int64
	errs := make([]error, writers)
	for i := range writers {
		writing.Go(func() {
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for round := i * 7919; ctx.Err() == nil; round++ {
				<-tick.C
				var entries []leaderboard.Submission
				for n := range batch {
					entries = append(entries, scored(fmt.Sprintf("m%04d", (round*batch+n*31)%members), int64(1+n)))
				}
				if _, err := servers[i%2].submit(context.WithoutCancel(ctx), "sums", "", entries...); err != nil {
					errs[i] = err
					return
				}
				added.Add(batch * (batch + 1) / 2)
			}
		})
	}
	builds := testenv.Size(5, 50)
	states := map[leaderboard.RunState]int{}
	for n := range builds {
		if n%2 == 1 { // nothing is in place
			if err := w.redis.FlushDB(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
		}
		r, err := servers[n%2].rebuild(t.Context(), "sums")
		if err != nil {
			t.Fatal(err)
		}
		// A build is refused when the copy in place has advanced meanwhile, and is newer than the build.
		if states[r.State]++; r.State == leaderboard.RunStateFailed {
			t.Errorf("rebuild %d: %+v", n, r)
		}
	}
	cancel()
	writing.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	eventually(t, "the copy equals MySQL", func() error { _, err := servers[0].verify(t.Context(), "sums"); return err })
	took := time.Since(stopped)
	if limit := interval + interval/10 + time.Second; took > limit {
		t.Errorf("that took %s, want one refresh interval at most", took)
	}
	var sum int64
	for _, score := range w.scores(t, "sums") {
		sum += score
	}
	if sum != added.Load() {
		t.Errorf("the sums in MySQL are %d together, %d were acknowledged", sum, added.Load())
	}
	if states[leaderboard.RunStateDone] == 0 {
		t.Error("nothing was built")
	}
	t.Logf("%d builds (%v) beside increments of %d together; the copy equal after %s", builds, states, sum, took.Round(time.Millisecond))
}
