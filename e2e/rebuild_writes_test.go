package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard"
	"leaderboard/internal/testenv"
)

// TestWritesDuringRebuilds: while increments come, a board is built from scratch again and again, through two servers in
// turn. Within one refresh interval after the last of them the copy equals MySQL, and MySQL what was acknowledged
// (promise B4).
func TestWritesDuringRebuilds(t *testing.T) {
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
	for n := range builds {
		servers[n%2].mustRebuild(t, "sums")
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
	t.Logf("%d builds beside increments of %d together; the copy equal after %s", builds, sum, took.Round(time.Millisecond))
}
