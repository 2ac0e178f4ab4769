package httpapi

import (
	"context"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// fake is everything behind the API: the fake behind the engine's routes, and the health of the process.
type fake struct {
	*apitest.Fake
	health Health
	slow   bool // an erasure is not done within a request
}

func newFake() *fake {
	f := apitest.NewFake()
	return &fake{
		Fake: f, health: Health{Ready: true},
	}
}

// Forget is done at once unless it is to look as if it took longer.
func (f *fake) Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error) {
	out, err := f.Model.Forget(ctx, member, actor)
	out.Done = out.Done && !f.slow
	return out, err
}
