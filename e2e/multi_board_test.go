package e2e

import (
	"context"
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
	multiBoardCount   = 3000
	multiBoardClients = 48
	multiBoardMembers = 8
)

// additions is a load on the boards left and right: every third addition is to the left one alone, the others are to
// both in one request, in either order. Each is repeated under its key until it is acknowledged.
type additions struct {
	server   atomic.Pointer[server] // who to ask now
	acked    atomic.Int64
	repeated atomic.Int64
	kills    chan int64 // is told of every acknowledgement, by number
}

func (ad *additions) submission(i int) leaderboard.Submission {
	return scored(fmt.Sprintf("m%d", i%multiBoardMembers), int64(1+i%97))
}

func (ad *additions) ask(ctx context.Context, i int) ([]client.Result, error) {
	sub, key := ad.submission(i), fmt.Sprintf("key-%d", i)
	if i%3 == 0 {
		r, err := ad.server.Load().submit(ctx, "left", key, sub)
		return r.Results, err
	}
	boards := [2]string{"left", "right"}
	entries := []leaderboard.BoardSubmission{{Board: boards[i%2], Submission: sub}, {Board: boards[1-i%2], Submission: sub}}
	r, err := ad.server.Load().SubmitMultiBoard(ctx, entries, client.SubmitOptions{IdempotencyKey: key})
	return r.Results, err
}

// send repeats addition i until it is acknowledged.
func (ad *additions) send(ctx context.Context, i int) error {
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	for {
		results, err := ad.ask(ctx, i)
		switch s := status(err); {
		case err == nil:
			for _, r := range results {
				if r.Status != "applied" {
					return fmt.Errorf("addition %d: %+v", i, results)
				}
			}
			ad.kills <- ad.acked.Add(1)
			return nil
		case s != 0 && s != http.StatusServiceUnavailable:
			return fmt.Errorf("addition %d: %w", i, err)
		}
		ad.repeated.Add(1)
		select {
		case <-retry.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestKill9MultiBoard kills the server again and again under additions to one board and to two at once. Each is
// counted exactly once, on both boards or on none.
func TestKill9MultiBoard(t *testing.T) {
	w := newWorld(t)
	ad := &additions{kills: make(chan int64, multiBoardCount)}
	ad.server.Store(w.serve(t, "server 0"))
	for _, b := range []string{"right", "left"} { // ids in another order than names
		ad.server.Load().putBoard(t, b, leaderboard.Rules{Policy: leaderboard.PolicySum})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var next atomic.Int64
	var clients sync.WaitGroup
	for range multiBoardClients {
		clients.Go(func() {
			for i := int(next.Add(1)) - 1; i < multiBoardCount; i = int(next.Add(1)) - 1 {
				if err := ad.send(ctx, i); err != nil {
					t.Error(err)
					ad.kills <- ad.acked.Add(1)
				}
			}
		})
	}
	for k, acked := range []int64{400, 1000, 1600, 2200} {
		for await(t, ad.kills, "additions are acknowledged") < acked {
		}
		ad.server.Load().kill9(t)
		ad.server.Store(w.serve(t, fmt.Sprintf("server %d", k+1)))
	}
	clients.Wait()
	t.Logf("%d requests were repeated", ad.repeated.Load())
	if ad.repeated.Load() == 0 {
		t.Error("no request was repeated: nothing was killed in the middle")
	}
	left, right := map[string]int64{}, map[string]int64{}
	for i := range multiBoardCount {
		sub := ad.submission(i)
		if left[sub.Member] += sub.Score; i%3 != 0 {
			right[sub.Member] += sub.Score
		}
	}
	for board, want := range map[string]map[string]int64{"left": left, "right": right} {
		got := w.scores(t, board)
		for member := range want {
			if got[member] != want[member] {
				t.Errorf("sum of %s on %s in MySQL is %d, the acknowledged additions make %d", member, board, got[member], want[member])
			}
		}
	}
	var leftSeq, rightSeq, keys int64
	const seqs = "SELECT MAX(IF(b.name = 'left', p.last_seq, 0)), MAX(IF(b.name = 'right', p.last_seq, 0)), (SELECT COUNT(*) FROM idempotency_keys)" +
		" FROM periods p JOIN boards b ON b.id = p.board_id"
	w.queryRow(t, seqs, &leftSeq, &rightSeq, &keys)
	if leftSeq != multiBoardCount || rightSeq != multiBoardCount*2/3 || keys != multiBoardCount {
		t.Errorf("MySQL is at seq %d and %d with %d keys, want %d, %d and %d", leftSeq, rightSeq, keys, multiBoardCount, multiBoardCount*2/3, multiBoardCount)
	}
}
