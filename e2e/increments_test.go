package e2e

import (
	"context"
	"fmt"
	"testing"

	"leaderboard"
	"leaderboard/client"
)

const (
	incrementCount   = 10_000
	incrementClients = 64
	incrementMembers = 16
)

// increment is addition i to a sum.
func increment(i int) leaderboard.Submission {
	return scored(fmt.Sprintf("m%02d", i%incrementMembers), int64(1+i%97))
}

// TestKill9DuringIncrements kills the server again and again under 10,000 concurrent increments. Each of them is
// counted exactly once: the clients repeat them under the same keys, at the server that comes next (promise A1).
func TestKill9DuringIncrements(t *testing.T) {
	w := newWorld(t)
	s := w.serve(t, "server 0")
	s.putBoard(t, "sums", leaderboard.Rules{Policy: leaderboard.PolicySum})
	receipts := make([]client.Receipt, incrementCount) // by increment, as acknowledged
	load := keyedLoad{count: incrementCount, clients: incrementClients}
	load.send = func(ctx context.Context, s *server, i int, key string) (_ []client.Result, err error) {
		receipts[i], err = s.submit(ctx, "sums", key, increment(i))
		return receipts[i].Results, err
	}
	load.run(t, w, s, 1000, 2500, 4000, 5500, 7000, 8500)
	checkIncrements(t, w)
	checkReceipts(t, receipts)
}

// checkIncrements compares MySQL with the acknowledgements.
func checkIncrements(t *testing.T, w *world) {
	t.Helper()
	want := map[string]int64{}
	for i := range incrementCount {
		sub := increment(i)
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
}

// checkReceipts: every seq was given to one increment, and each receipt adds its own amount to what was there.
func checkReceipts(t *testing.T, receipts []client.Receipt) {
	t.Helper()
	seen := map[int64]int{}
	for i, r := range receipts {
		if other, ok := seen[r.Seq]; ok || r.Seq < 1 || r.Seq > incrementCount {
			t.Fatalf("increments %d and %d were both told seq %d", other, i, r.Seq)
		}
		seen[r.Seq] = i
		sub, before := increment(i), int64(0)
		if r.Results[0].PreviousScore != nil {
			before = *r.Results[0].PreviousScore
		}
		if len(r.Results) != 1 || r.Results[0].Status != "applied" || r.Results[0].Score == nil || *r.Results[0].Score != before+sub.Score {
			t.Fatalf("increment %d: %+v does not add %d to %d", i, r.Results, sub.Score, before)
		}
	}
}
