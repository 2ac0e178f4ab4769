package signin

import (
	"context"
	"strings"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// fakePeople signs Ada in, for any code. The flow is tested with SignIn, and in internal/app with a provider.
type fakePeople struct {
	finish func() error // nil: every code is Ada's
}

func (fakePeople) Begin(context.Context, time.Time) (address, cookie string, err error) {
	return "https://login.example/authorize?state=s", "s.n.v", nil
}

func (fakePeople) Resume(_ context.Context, cookie, state string, _ time.Time) (in Begun, err error) {
	if in.State, _, _ = strings.Cut(cookie, "."); in.State == "" || in.State != state {
		return in, &leaderboard.SignInError{Cause: leaderboard.ErrSignInRefused, Detail: "This browser has no such sign-in under way."}
	}
	return in, nil
}

func (f fakePeople) Finish(context.Context, Begun, string, time.Time) (k leaderboard.Key, err error) {
	if f.finish != nil {
		if err := f.finish(); err != nil {
			return k, err
		}
	}
	return leaderboard.Key{Name: "ada", Person: "ada", Role: "ops", Scope: leaderboard.ScopeAdmin}, nil
}

// fakeSessions makes and ends the keys of people.
type fakeSessions struct{ *apitest.Keyring }

func (f fakeSessions) CreateKey(_ context.Context, k leaderboard.Key, hash leaderboard.KeyHash) (leaderboard.Key, error) {
	k.CreatedTime, k.UpdatedTime = 1_700_000_000_000_000, 1_700_000_000_000_000
	f.Put(k.ID, leaderboard.HashedKey{Key: k, Hash: hash})
	return k, nil
}

func (f fakeSessions) RevokeKey(_ context.Context, id string) (leaderboard.Key, error) {
	k, err := f.Change(id, func(k *leaderboard.HashedKey) error { k.RevokedAt = 1_700_000_000_000_000; return nil })
	return k.Key, err
}
