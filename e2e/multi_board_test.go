package e2e

import (
	"context"
	"fmt"
	"testing"

	"leaderboard"
	"leaderboard/client"
)

const (
	multiBoardCount   = 3000
	multiBoardClients = 48
	multiBoardMembers = 8
)

// addition is addition i on the boards left and right: every third one is to the left one alone.
func addition(i int) leaderboard.Submission {
	return scored(fmt.Sprintf("m%d", i%multiBoardMembers), int64(1+i%97))
}

// sendAddition sends addition i, to both boards in one request, in either order, unless it is to one alone.
func sendAddition(ctx context.Context, s *server, i int, key string) ([]client.Result, error) {
	sub := addition(i)
	if i%3 == 0 {
		r, err := s.submit(ctx, "left", key, sub)
		return r.Results, err
	}
	boards := [2]string{"left", "right"}
	entries := []leaderboard.BoardSubmission{{Board: boards[i%2], Submission: sub}, {Board: boards[1-i%2], Submission: sub}}
	r, err := s.SubmitMultiBoard(ctx, entries, client.SubmitOptions{IdempotencyKey: key})
	return r.Results, err
}

// TestKill9MultiBoard kills the server again and again under additions to one board and to two at once. Each is
// counted exactly once, on both boards or on none.
func TestKill9MultiBoard(t *testing.T) {
	w := newWorld(t)
	s := w.serve(t, "server 0")
	for _, b := range []string{"right", "left"} { // ids in another order than names
		s.putBoard(t, b, leaderboard.Rules{Policy: leaderboard.PolicySum})
	}
	load := keyedLoad{count: multiBoardCount, clients: multiBoardClients, send: sendAddition}
	load.run(t, w, s, 400, 1000, 1600, 2200)
	left, right := map[string]int64{}, map[string]int64{}
	for i := range multiBoardCount {
		sub := addition(i)
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
