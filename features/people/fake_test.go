package people_test

import (
	"context"
	"slices"

	"leaderboard/features/people"
	"leaderboard/features/people/peopletest"
	"leaderboard/httpapi/apitest"
)

// fake is the model of profiles on the fake of the API.
type fake struct {
	*peopletest.Model
	api *apitest.Fake
}

func newFake(f *apitest.Fake) *fake { return &fake{peopletest.NewModel(f.Model), f} }

func (f *fake) ProfilesOf(ctx context.Context, members []string) ([]*people.Profile, error) {
	found, err := f.Profiles(ctx, members)
	if err == nil {
		err = f.api.Enter("ProfilesOf") // after the cached profiles
	}
	out := make([]*people.Profile, len(members))
	for i, member := range members { // one may be there several times, with entries on several boards
		if at := slices.IndexFunc(found, func(p people.Profile) bool { return p.Member == member }); at >= 0 {
			out[i] = &found[at]
		}
	}
	return out, err
}
