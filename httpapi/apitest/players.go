package apitest

import (
	"context"
	"strings"
	"sync"
	"time"

	"leaderboard/leaderboard"
)

// Players finds players by plain texts as tokens.
type Players struct {
	mu      sync.Mutex
	Tokens  map[string]*leaderboard.Player
	Refused map[string]error // by token: the reason of its refusal
	Tried   int              // tokens for which a signature would be verified
	Plays   int              // plays that were looked at
}

func (f *Players) Find(_ context.Context, token string, _ time.Time, admit func() error) (*leaderboard.Player, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.Tokens[token]; p != nil {
		return p, nil
	}
	if err := f.Refused[token]; err != nil {
		return nil, err
	}
	if err := admit(); err != nil {
		return nil, err
	}
	f.Tried++
	return nil, &leaderboard.TokenError{Detail: "The signature of the token is not right."}
}

func (f *Players) MintPlay(_ context.Context, p leaderboard.Play, _ time.Time) (string, error) {
	return p.Board + " " + p.Member + " " + p.ID.String(), nil
}

func (f *Players) FindPlay(_ context.Context, token string, _ time.Time, admit func() error) (leaderboard.Play, error) {
	f.Plays++
	if err := f.Refused[token]; err != nil {
		return leaderboard.Play{}, err
	}
	words := strings.Split(token, " ")
	if len(words) != 3 {
		return leaderboard.Play{}, &leaderboard.TokenError{Detail: "That is no play."}
	}
	if err := admit(); err != nil {
		return leaderboard.Play{}, err
	}
	id, _ := leaderboard.ParsePlayID(words[2])
	return leaderboard.Play{ID: id, Board: words[0], Member: words[1]}, nil
}
