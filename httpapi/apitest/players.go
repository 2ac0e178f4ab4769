package apitest

import (
	"context"
	"strings"
	"sync"
	"time"

	"leaderboard/leaderboard"
)

// Players is players with tokens that are texts.
type Players struct {
	mu      sync.Mutex
	Tokens  map[string]*leaderboard.Player
	Refused map[string]error // tokens, by why they are
	Granted []leaderboard.TokenGrant
	Tried   int // tokens for which a signature would be verified
	Plays   int // looked at
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

func (f *Players) Mint(_ context.Context, g leaderboard.TokenGrant, now time.Time) (string, leaderboard.Micros, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Granted = append(f.Granted, g)
	return "a.b.c", leaderboard.MicrosOf(now.Add(g.TTL)), nil
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

func (f *Players) PublicKeys(context.Context, time.Time) ([]leaderboard.PublicKey, error) {
	return []leaderboard.PublicKey{{ID: "s1", X: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}, nil
}

func (f *Players) CheckIssuer(rules leaderboard.IssuerRules) []leaderboard.FieldError {
	if rules.JWKSURL == "https://10.0.0.1/keys" {
		return []leaderboard.FieldError{{Pointer: "/jwks_url", Detail: "want an address that is not private"}}
	}
	return nil
}

func (f *Players) PassedOver(i *leaderboard.Issuer) []leaderboard.UnusableKey {
	if i.JWKS == nil {
		return nil
	}
	return []leaderboard.UnusableKey{{KID: "o", Reason: "is secret"}}
}
