package records

import (
	"context"
	"testing"

	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// fake is the store behind the routes.
type fake struct {
	*apitest.Fake
	records []SubmissionRecord // newest first

	activity      Activity
	activityAsked ActivityQuery
	race          Race
	raceAsked     RaceQuery
	goneOnce      bool // the next question about laps finds that one was given up
}

// newEnv returns an API with the routes of the feature over a fake.
func newEnv(t testing.TB) (*apitest.Env, *fake) {
	var own *fake
	e := featuretest.New(t, func(f *apitest.Fake) []httpapi.Route {
		own = &fake{Fake: f}
		return Routes(httpapi.Resolver{Catalog: f}, own, own)
	})
	return e, own
}

func (f *fake) Submissions(_ context.Context, q SubmissionsQuery) ([]SubmissionRecord, error) {
	if err := f.Enter("Submissions"); err != nil {
		return nil, err
	}
	var out []SubmissionRecord
	for _, r := range f.records {
		if r.Member == q.Member && (q.Before == 0 || r.At < q.Before || r.At == q.Before && r.ID < q.BeforeID) && len(out) < q.Limit {
			out = append(out, r)
		}
	}
	return out, nil
}

func (f *fake) Activity(_ context.Context, q ActivityQuery) (Activity, error) {
	f.activityAsked = q
	return f.activity, f.Enter("Activity")
}

func (f *fake) Race(_ context.Context, q RaceQuery) (Race, error) {
	f.raceAsked = q
	return f.race, f.Enter("Race")
}

func (f *fake) Past(ctx context.Context, periods []leaderboard.PeriodRef, member string) ([]leaderboard.PastEntry, error) {
	if f.goneOnce {
		f.goneOnce = false
		return nil, leaderboard.ErrPeriodNotFound
	}
	if err := f.Enter("Past"); err != nil {
		return nil, err
	}
	return f.Fake.Past(ctx, periods, member)
}
