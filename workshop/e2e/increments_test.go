package e2e

import (
	"context"
	"fmt"
	"testing"

	"leaderboard/client"
	"leaderboard/leaderboard"
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

// incrementBoards are the boards that addition i is for, in either order: every third one is for the left board alone.
func incrementBoards(i int) []string {
	if i%3 == 0 {
		return []string{"left"}
	}
	return []string{[]string{"left", "right"}[i%2], []string{"right", "left"}[i%2]}
}

// sendIncrement sends addition i in one request, to one board or to both.
func sendIncrement(ctx context.Context, s *server, i int, key string) (client.MultiBoardReceipt, error) {
	boards := incrementBoards(i)
	if len(boards) == 1 {
		r, err := s.submit(ctx, boards[0], key, increment(i))
		return client.MultiBoardReceipt{Results: r.Results, Boards: map[string]client.BoardSeqs{boards[0]: r.BoardSeqs}}, err
	}
	var entries []leaderboard.BoardSubmission
	for _, board := range boards {
		entries = append(entries, leaderboard.BoardSubmission{Board: board, Submission: increment(i)})
	}
	return s.SubmitMultiBoard(ctx, entries, client.SubmitOptions{IdempotencyKey: key})
}

// TestKill9DuringIncrements kills the server again and again under 10,000 concurrent increments of one board and of two at
// once. The clients repeat them with the same idempotency keys at the next server. Each is counted exactly once, on all of its
// boards (promise A1).
func TestKill9DuringIncrements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve(t, "server 0")
	for _, board := range []string{"right", "left"} { // ids in another order than names
		s.putBoard(t, board, leaderboard.Rules{Policy: leaderboard.PolicySum})
	}
	receipts := make([]client.MultiBoardReceipt, incrementCount) // by increment, as acknowledged
	load := keyedLoad{count: incrementCount, clients: incrementClients}
	load.send = func(ctx context.Context, s *server, i int, key string) (_ []client.Result, err error) {
		receipts[i], err = sendIncrement(ctx, s, i, key)
		return receipts[i].Results, err
	}
	load.run(t, w, s, 1000, 2500, 4000, 5500, 7000, 8500)
	for _, board := range []string{"left", "right"} {
		checkIncrements(t, w, board)
		checkReceipts(t, receipts, board)
	}
	var keys int64
	w.queryRow(t, "SELECT COUNT(*) FROM idempotency_keys", &keys)
	if keys != incrementCount {
		t.Errorf("MySQL has %d keys, want %d", keys, incrementCount)
	}
}

// checkIncrements compares the sums of a board in MySQL with the acknowledgements.
func checkIncrements(t *testing.T, w *world, board string) {
	t.Helper()
	want, n := map[string]int64{}, int64(0)
	for i := range incrementCount {
		for _, to := range incrementBoards(i) {
			if to == board {
				n++
				want[increment(i).Member] += increment(i).Score
			}
		}
	}
	for member, score := range w.scores(t, board) {
		if score != want[member] {
			t.Errorf("%s: the sum of %s in MySQL is %d, the acknowledged increments make %d", board, member, score, want[member])
		}
		delete(want, member)
	}
	if len(want) > 0 {
		t.Errorf("%s: members missing in MySQL: %v", board, want)
	}
	var lastSeq int64
	w.queryRow(t, "SELECT p.last_seq FROM periods p JOIN boards b ON b.id = p.board_id WHERE b.name = '"+board+"'", &lastSeq)
	if lastSeq != n {
		t.Errorf("%s: MySQL is at seq %d, want %d", board, lastSeq, n)
	}
}

// checkReceipts: every seq of a board was given to one increment, and each receipt adds its own amount to the old score.
func checkReceipts(t *testing.T, receipts []client.MultiBoardReceipt, board string) {
	t.Helper()
	seen := map[int64]int{}
	for i, r := range receipts {
		boards := incrementBoards(i)
		if len(r.Results) != len(boards) || len(r.Boards) != len(boards) {
			t.Fatalf("increment %d of %v: %+v", i, boards, r)
		}
		for n, to := range boards {
			if to != board {
				continue
			}
			seq := r.Boards[board].Seq
			if other, ok := seen[seq]; ok || seq < 1 || seq > incrementCount {
				t.Fatalf("increments %d and %d of %s were both told seq %d", other, i, board, seq)
			}
			seen[seq] = i
			result, before := r.Results[n], int64(0)
			if result.PreviousScore != nil {
				before = *result.PreviousScore
			}
			if result.Status != "applied" || result.Score == nil || *result.Score != before+increment(i).Score {
				t.Fatalf("increment %d of %s: %+v does not add %d to %d", i, board, result, increment(i).Score, before)
			}
		}
	}
}
