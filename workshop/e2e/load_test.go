package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
)

// readers ask for pages of a board without writes, and compare every answer with the ranking. A failed or wrong
// answer is an error of the test. The pages differ, so that most of them are in no process's memory.
type readers struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup

	asked atomic.Int64
	mu    sync.Mutex
	from  map[string]int64 // answers by source
	wrong []error
}

// read starts n readers of a board, spread over the servers. Each reads once per pace, 0 for as fast as it can.
func read(t *testing.T, n int, pace time.Duration, board string, want ranking, servers ...*server) *readers {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &readers{cancel: cancel, from: map[string]int64{}}
	for i := range n {
		s, random := servers[i%len(servers)], rand.New(rand.NewPCG(uint64(i), 7))
		r.wg.Go(func() {
			tick := time.NewTicker(max(pace, 1))
			defer tick.Stop()
			for ctx.Err() == nil {
				<-tick.C
				limit := 1 + random.IntN(20)
				offset := random.IntN(len(want))
				if random.IntN(2) == 0 {
					offset = random.IntN(min(50, len(want)))
				}
				p, err := readTop(ctx, s.api, board, want, offset, limit)
				if ctx.Err() != nil {
					return
				}
				r.note(p, err)
			}
		})
	}
	t.Cleanup(r.stop)
	return r
}

func readTop(ctx context.Context, a *api, board string, want ranking, offset, limit int) (client.Page, error) {
	p, err := a.top(ctx, board, offset, limit)
	if err == nil {
		err = want.checkTop(p, offset, limit)
	}
	return p, err
}

func (r *readers) note(p client.Page, err error) {
	r.asked.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from[string(p.Source)]++
	if err != nil && len(r.wrong) < 5 {
		r.wrong = append(r.wrong, err)
	}
}

func (r *readers) stop() {
	r.cancel()
	r.wg.Wait()
}

// check stops the readers and reports what went wrong.
func (r *readers) check(t *testing.T) {
	t.Helper()
	r.stop()
	if len(r.wrong) > 0 {
		t.Errorf("of %d answers (by source: %v) some are wrong: %s", r.asked.Load(), r.from, errors.Join(r.wrong...))
	}
	t.Logf("%d answers, all compared, by source: %v", r.asked.Load(), r.from)
}

// awaitMore waits until n more answers have come.
func (r *readers) awaitMore(t *testing.T, n int64) {
	t.Helper()
	from := r.asked.Load()
	eventually(t, fmt.Sprintf("%d more answers", n), func() error {
		if got := r.asked.Load() - from; got < n {
			return fmt.Errorf("there are %d", got)
		}
		return nil
	})
}
