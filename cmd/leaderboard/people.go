package main

import (
	"context"

	"leaderboard"
	"leaderboard/cache"
	"leaderboard/store"
)

// people is what the store knows of members, kept for a while, and forgotten when this process changes it.
type people struct {
	*store.Store
	profiles *cache.Kept[*leaderboard.Profile]
}

// newPeople keeps what truth says.
func newPeople(truth *store.Store) people {
	fetch := func(ctx context.Context, members []string) (map[string]*leaderboard.Profile, error) {
		found, err := truth.Profiles(ctx, members)
		byMember := make(map[string]*leaderboard.Profile, len(found))
		for i := range found {
			byMember[found[i].Member] = &found[i]
		}
		return byMember, err
	}
	size := func(p *leaderboard.Profile) int {
		if p == nil {
			return 0
		}
		return len(p.DisplayName) + len(p.AvatarURL) + len(p.Attributes)
	}
	return people{Store: truth, profiles: cache.NewKept(fetch, size, cache.KeptOptions{})}
}

func (p people) PutProfile(ctx context.Context, profile leaderboard.Profile) (leaderboard.Profile, bool, error) {
	defer p.profiles.Forget(profile.Member) // also when the outcome is unknown
	return p.Store.PutProfile(ctx, profile)
}

func (p people) ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error) {
	return p.profiles.Of(ctx, members)
}
