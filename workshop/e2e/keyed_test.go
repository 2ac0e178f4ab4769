package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
)

// keyedLoad is a load of numbered requests. Each has a separate idempotency key, and is repeated until a server
// acknowledges it.
type keyedLoad struct {
	count, clients int
	// send sends request i once.
	send func(ctx context.Context, s *server, i int, key string) ([]client.Result, error)

	server          atomic.Pointer[server] // who to ask now
	other           atomic.Pointer[server] // one more, when set: the next that is killed
	acked, repeated atomic.Int64
}

// run sends all requests. Each time that as many are acknowledged as kills says, the server is killed and replaced.
func (l *keyedLoad) run(t *testing.T, w *world, first *server, kills ...int64) {
	t.Helper()
	l.server.Store(first)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	acked := make(chan int64, l.count)
	var next atomic.Int64
	var clients sync.WaitGroup
	for range l.clients {
		clients.Go(func() {
			for i := int(next.Add(1)) - 1; i < l.count; i = int(next.Add(1)) - 1 {
				if err := l.repeat(ctx, i); err != nil {
					t.Errorf("request %d: %s", i, err)
				}
				acked <- l.acked.Add(1)
			}
		})
	}
	for k, n := range kills {
		for await(t, acked, fmt.Sprintf("%d requests acknowledged", n)) < n {
		}
		l.server.Load().kill9(t)
		s := w.serve(t, fmt.Sprintf("server %d", k+1))
		if other := l.other.Load(); other != nil {
			l.other.Store(s)
			s = other
		}
		l.server.Store(s)
	}
	clients.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Logf("%d requests were repeated", l.repeated.Load())
	if l.repeated.Load() == 0 {
		t.Error("no request was repeated: nothing was killed in the middle")
	}
}

// repeat sends request i until it is acknowledged. An answer with an unknown outcome is no acknowledgement.
func (l *keyedLoad) repeat(ctx context.Context, i int) error {
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	for {
		results, err := l.send(ctx, l.server.Load(), i, fmt.Sprintf("key-%d", i))
		switch s := status(err); {
		case err == nil:
			if len(results) == 0 || slices.ContainsFunc(results, func(r client.Result) bool { return r.Status != "applied" }) {
				return fmt.Errorf("it is answered with %+v", results)
			}
			return nil
		case s != 0 && s != http.StatusServiceUnavailable:
			return err
		}
		l.repeated.Add(1)
		select {
		case <-retry.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
