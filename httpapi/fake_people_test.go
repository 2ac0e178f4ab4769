package httpapi

import (
	"context"
	"strings"
	"time"

	"leaderboard/leaderboard"
)

// fakePeople signs Ada in, by whatever code. The tests of the flow are those of signin, and of internal/app with a provider.
type fakePeople struct {
	finish func() error // nil: every code is Ada's
}

func (fakePeople) Begin(context.Context, time.Time) (address, cookie string, err error) {
	return "https://login.example/authorize?state=s", "s.n.v", nil
}

func (fakePeople) Resume(_ context.Context, cookie, state string, _ time.Time) (in leaderboard.SignIn, err error) {
	if in.State, _, _ = strings.Cut(cookie, "."); in.State == "" || in.State != state {
		return in, &leaderboard.SignInError{Cause: leaderboard.ErrSignInRefused, Detail: "This browser has no such sign-in under way."}
	}
	return in, nil
}

func (f fakePeople) Finish(context.Context, leaderboard.SignIn, string, time.Time) (k leaderboard.Key, err error) {
	if f.finish != nil {
		if err := f.finish(); err != nil {
			return k, err
		}
	}
	return leaderboard.Key{Name: "ada", Person: "ada", Role: "ops", Scope: leaderboard.ScopeAdmin}, nil
}

// roleWithout is a role from which the settings have taken what it gave.
const roleWithout = "nothing any more"

func (fakePeople) Holds(k *leaderboard.Key) bool { return k.Person != "" && k.Role != roleWithout }
