package e2e

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// TestKill9DuringPlays kills the server again and again while players begin plays and submit with them, on MySQL and on
// MariaDB. Each play counts once: unacknowledged submissions are sent again, with the same key and the same play (promise
// A1).
func TestKill9DuringPlays(t *testing.T) {
	t.Parallel()
	onBoth(t, killDuringPlays)
}

func killDuringPlays(t *testing.T, w *world) {
	s := w.serve(t, "server 0")
	s.putBoard(t, "plays", leaderboard.Rules{Policy: leaderboard.PolicySum, Players: &leaderboard.Players{Submit: leaderboard.PlayersSubmitPlay}})
	const count = 1000
	score := func(i int) leaderboard.Submission { return scored(fmt.Sprintf("p%04d", i), int64(1+i%97)) }
	tokens, plays := make([]string, count), make([]string, count) // by player, who plays once
	send := func(ctx context.Context, s *server, i int, key string) (_ []client.Result, err error) {
		if tokens[i] == "" {
			token, err := s.CreateToken(ctx, client.TokenRequest{Member: score(i).Member})
			if err != nil {
				return nil, err
			}
			tokens[i] = token.Token
		}
		c, err := client.New(s.url, client.WithKey(tokens[i]), client.WithTimeout(maxWait), client.WithMaxWait(0))
		if err != nil {
			return nil, err
		}
		if plays[i] == "" {
			p, err := c.BeginPlay(ctx, "plays")
			if err != nil {
				return nil, err
			}
			plays[i] = p.Play
		}
		r, err := c.Submit(ctx, "plays", []leaderboard.Submission{score(i)}, client.SubmitOptions{IdempotencyKey: key, Play: plays[i]})
		return r.Results, err
	}
	load := keyedLoad{count: count, clients: 32, send: send}
	load.run(t, w, s, 150, 400, 700)
	all := w.scores(t, "plays")
	for i := range count {
		if all[score(i).Member] != score(i).Score {
			t.Errorf("%s has %d after one play of %d", score(i).Member, all[score(i).Member], score(i).Score)
		}
	}
	var left int64
	w.queryRow(t, "SELECT COUNT(*) FROM plays", &left)
	if left != 0 {
		t.Errorf("%d plays are left, each was used up", left)
	}
	for i := range 20 { // under another key each is another submission, with a play that was used up
		r, err := send(t.Context(), load.server.Load(), i, fmt.Sprint("again-", i))
		if status(err) != http.StatusOK || r[0].Error == nil || r[0].Error.Code() != leaderboard.CodePlayGone {
			t.Errorf("once more: %+v, %v", r, err)
		}
	}
}
