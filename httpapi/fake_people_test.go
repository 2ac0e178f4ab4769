package httpapi

import (
	"context"
	"time"

	"leaderboard"
)

// fakePeople signs Ada in, by whatever code. The tests of the flow are those of internal/app, with a provider.
type fakePeople struct{}

func (fakePeople) Begin(_ context.Context, in leaderboard.SignIn, _ time.Time) (string, error) {
	return "https://login.example/authorize?state=" + in.State, nil
}

func (fakePeople) Finish(context.Context, leaderboard.SignIn, string, time.Time) (leaderboard.Key, error) {
	return leaderboard.Key{Name: "ada", Person: "ada", Role: "ops", Scope: leaderboard.ScopeAdmin}, nil
}

func (fakePeople) Holds(k *leaderboard.Key) bool { return k.Person != "" }
