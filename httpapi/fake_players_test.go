package httpapi

import (
	"context"
	"strings"
	"sync"
	"time"

	"leaderboard/leaderboard"
)

// fakePlayers is players with tokens that are texts.
type fakePlayers struct {
	mu      sync.Mutex
	tokens  map[string]*leaderboard.Player
	refused map[string]error // tokens, by why they are
	granted []leaderboard.TokenGrant
	tried   int // tokens for which a signature would be verified
	plays   int // looked at
}

// fakeIssuers is what admins say of issuers, signing keys and bars.
type fakeIssuers struct {
	issuers *table[leaderboard.Issuer]
	bars    *table[leaderboard.MemberBar]
	overlap []time.Duration // of rotations
}

func (f *fakePlayers) Find(_ context.Context, token string, _ time.Time, admit func() error) (*leaderboard.Player, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.tokens[token]; p != nil {
		return p, nil
	}
	if err := f.refused[token]; err != nil {
		return nil, err
	}
	if err := admit(); err != nil {
		return nil, err
	}
	f.tried++
	return nil, &leaderboard.TokenError{Detail: "The signature of the token is not right."}
}

func (f *fakePlayers) Mint(_ context.Context, g leaderboard.TokenGrant, now time.Time) (string, leaderboard.Micros, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.granted = append(f.granted, g)
	return "a.b.c", leaderboard.MicrosOf(now.Add(g.TTL)), nil
}

func (f *fakePlayers) MintPlay(_ context.Context, p leaderboard.Play, _ time.Time) (string, error) {
	return p.Board + " " + p.Member + " " + p.ID.String(), nil
}

func (f *fakePlayers) FindPlay(_ context.Context, token string, _ time.Time, admit func() error) (leaderboard.Play, error) {
	f.plays++
	if err := f.refused[token]; err != nil {
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

func (f *fakePlayers) PublicKeys(context.Context, time.Time) ([]leaderboard.PublicKey, error) {
	return []leaderboard.PublicKey{{ID: "s1", X: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}, nil
}

func (f *fakePlayers) CheckIssuer(rules leaderboard.IssuerRules) []leaderboard.FieldError {
	if rules.JWKSURL == "https://10.0.0.1/keys" {
		return []leaderboard.FieldError{{Pointer: "/jwks_url", Detail: "want an address that is not private"}}
	}
	return nil
}

func (f *fakePlayers) PassedOver(i *leaderboard.Issuer) []leaderboard.UnusableKey {
	if i.JWKS == nil {
		return nil
	}
	return []leaderboard.UnusableKey{{KID: "o", Reason: "is secret"}}
}

func (f *fakeIssuers) PutIssuer(_ context.Context, name string, rules leaderboard.IssuerRules) (leaderboard.Issuer, bool, error) {
	i := leaderboard.Issuer{Name: name, IssuerRules: rules, CreatedTime: 1_700_000_000_000_000, UpdatedTime: 1_700_000_000_000_000}
	for _, other := range f.issuers.list("", 1000) {
		if other.Name != name {
			if err := i.Meets(&other); err != nil {
				return i, false, err
			}
		}
	}
	return i, f.issuers.put(name, i), nil
}

func (f *fakeIssuers) DeleteIssuer(_ context.Context, name string) error {
	return f.issuers.remove(name)
}

func (f *fakeIssuers) Issuer(_ context.Context, name string) (leaderboard.Issuer, error) {
	return f.issuers.get(name)
}

func (f *fakeIssuers) Issuers(_ context.Context, after string, limit int) ([]leaderboard.Issuer, error) {
	return f.issuers.list(after, limit), nil
}

func (f *fakeIssuers) RotateSigning(_ context.Context, overlap time.Duration) error {
	f.overlap = append(f.overlap, overlap)
	return nil
}

func (f *fakeIssuers) BarMember(_ context.Context, member string, _ leaderboard.Micros) (leaderboard.MemberBar, error) {
	bar := leaderboard.MemberBar{Member: member, NotBefore: 1_700_000_000_000_000}
	f.bars.put(member, bar)
	return bar, nil
}

func (f *fakeIssuers) UnbarMember(_ context.Context, member string) error {
	return f.bars.remove(member)
}

func (f *fakeIssuers) Bar(_ context.Context, member string) (leaderboard.MemberBar, error) {
	return f.bars.get(member)
}
