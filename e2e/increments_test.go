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

	"leaderboard"
	"leaderboard/client"
)

const (
	incrementCount   = 10_000
	incrementClients = 64
	incrementMembers = 16
)

// increments is a load of additions to sums, each under a key of its own and repeated until it is acknowledged.
type increments struct {
	server atomic.Pointer[server] // who to ask now

	mu       sync.Mutex
	receipts []client.Receipt // by increment, as acknowledged
	acked    int
	repeated int           // requests that got no answer, or one that leaves the outcome open
	milepost int           // progress is closed when so many are acknowledged
	progress chan struct{} // replaced by awaitAcked
	failed   []error
}

func (in *increments) submission(i int) leaderboard.Submission {
	return scored(fmt.Sprintf("m%02d", i%incrementMembers), int64(1+i%97))
}

// send repeats increment i until it is acknowledged.
func (in *increments) send(ctx context.Context, i int) {
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	for ctx.Err() == nil {
		r, err := in.server.Load().submit(ctx, "sums", fmt.Sprintf("key-%d", i), in.submission(i))
		if err == nil && len(r.Results) != 1 {
			err = fmt.Errorf("increment %d: %+v", i, r)
		}
		if s := status(err); err == nil || s != 0 && s != http.StatusServiceUnavailable {
			in.acknowledge(i, r, err)
			return
		}
		in.mu.Lock()
		in.repeated++
		in.mu.Unlock()
		<-retry.C
	}
}

func (in *increments) acknowledge(i int, r client.Receipt, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.receipts[i] = r
	in.acked++
	if err != nil {
		in.failed = append(in.failed, err)
	}
	if in.acked == in.milepost {
		close(in.progress)
	}
}

// awaitAcked waits until n increments are acknowledged and most of the clients are in the middle of the next.
func (in *increments) awaitAcked(t *testing.T, n int) {
	t.Helper()
	in.mu.Lock()
	reached := make(chan struct{})
	if in.progress, in.milepost = reached, n; in.acked >= n {
		close(reached)
	}
	in.mu.Unlock()
	await(t, reached, fmt.Sprintf("%d increments acknowledged", n))
}

// TestKill9DuringIncrements kills the server again and again under 10,000 concurrent increments. Each of them is
// counted exactly once: the clients repeat them under the same keys, at the server that comes next (promise A1).
func TestKill9DuringIncrements(t *testing.T) {
	w := newWorld(t)
	in := &increments{receipts: make([]client.Receipt, incrementCount)}
	in.server.Store(w.serve(t, "server 0"))
	in.server.Load().putBoard(t, "sums", leaderboard.Rules{Policy: leaderboard.PolicySum})

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var next atomic.Int64
	var clients sync.WaitGroup
	for range incrementClients {
		clients.Go(func() {
			for i := int(next.Add(1)) - 1; i < incrementCount; i = int(next.Add(1)) - 1 {
				in.send(ctx, i)
			}
		})
	}
	for k, acked := range []int{1000, 2500, 4000, 5500, 7000, 8500} {
		in.awaitAcked(t, acked)
		in.server.Load().kill9(t)
		in.server.Store(w.serve(t, fmt.Sprintf("server %d", k+1)))
	}
	clients.Wait()
	if in.acked != incrementCount || in.failed != nil {
		t.Fatalf("%d of %d acknowledged, %d failed: %s", in.acked, incrementCount, len(in.failed), errors.Join(in.failed[:min(3, len(in.failed))]...))
	}
	t.Logf("%d requests were repeated", in.repeated)
	if in.repeated == 0 {
		t.Error("no request was repeated: nothing was killed in the middle")
	}
	in.check(t, w)
}

// check compares MySQL with the acknowledgements.
func (in *increments) check(t *testing.T, w *world) {
	t.Helper()
	want := map[string]int64{}
	for i := range incrementCount {
		sub := in.submission(i)
		want[sub.Member] += sub.Score
	}
	for member, score := range w.scores(t, "sums") {
		if score != want[member] {
			t.Errorf("sum of %s in MySQL is %d, the acknowledged increments make %d", member, score, want[member])
		}
		delete(want, member)
	}
	if len(want) > 0 {
		t.Errorf("members missing in MySQL: %v", want)
	}
	var lastSeq, keys int64
	w.queryRow(t, "SELECT last_seq, (SELECT COUNT(*) FROM idempotency_keys) FROM periods", &lastSeq, &keys)
	if lastSeq != incrementCount || keys != incrementCount {
		t.Errorf("MySQL is at seq %d with %d keys, want %d of each", lastSeq, keys, incrementCount)
	}
	in.checkReceipts(t)
}

// checkReceipts: every seq was given to one increment, and each receipt adds its own amount to what was there.
func (in *increments) checkReceipts(t *testing.T) {
	t.Helper()
	seen := map[int64]int{}
	for i, r := range in.receipts {
		if other, ok := seen[r.Seq]; ok || r.Seq < 1 || r.Seq > incrementCount {
			t.Fatalf("increments %d and %d were both told seq %d", other, i, r.Seq)
		}
		seen[r.Seq] = i
		sub, before := in.submission(i), int64(0)
		if r.Results[0].PreviousScore != nil {
			before = *r.Results[0].PreviousScore
		}
		if r.Results[0].Status != "applied" || r.Results[0].Score == nil || *r.Results[0].Score != before+sub.Score {
			t.Fatalf("increment %d: %+v does not add %d to %d", i, r.Results[0], sub.Score, before)
		}
	}
}
