package main

import (
	"context"
	"time"

	"leaderboard"
	"leaderboard/cache"
	"leaderboard/store"
)

// people is what the store knows of members, kept for a while, and forgotten when this process changes it.
type people struct {
	*store.Store
	profiles *cache.Kept[*leaderboard.Profile]
	friends  *cache.Kept[[]string]
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
	// A list of friends is large, and who adds one wants to see it.
	lists := cache.NewKept(truth.FriendsOf, sizeOfList, cache.KeptOptions{TTL: time.Second, Batch: 16})
	return people{Store: truth, profiles: cache.NewKept(fetch, size, cache.KeptOptions{}), friends: lists}
}

func (p people) PutProfile(ctx context.Context, profile leaderboard.Profile) (leaderboard.Profile, bool, error) {
	defer p.profiles.Forget(profile.Member) // also when the outcome is unknown
	return p.Store.PutProfile(ctx, profile)
}

func (p people) ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error) {
	return p.profiles.Of(ctx, members)
}

// sizeOfList is the size of a list in bytes, roughly.
func sizeOfList(list []string) int {
	const header = 16
	n := 0
	for _, s := range list {
		n += header + len(s)
	}
	return n
}

func (p people) PutFriends(ctx context.Context, member string, friends []string) (int, error) {
	defer p.friends.Forget(member)
	return p.Store.PutFriends(ctx, member, friends)
}

func (p people) AddFriends(ctx context.Context, member string, friends []string) (int, error) {
	defer p.friends.Forget(member)
	return p.Store.AddFriends(ctx, member, friends)
}

func (p people) RemoveFriend(ctx context.Context, member, friend string) error {
	defer p.friends.Forget(member)
	return p.Store.RemoveFriend(ctx, member, friend)
}

func (p people) FriendsOf(ctx context.Context, member string) ([]string, error) {
	lists, err := p.friends.Of(ctx, []string{member})
	return lists[0], err
}

func (p people) Forget(ctx context.Context, member, actor string) (leaderboard.Forgetting, error) {
	defer func() {
		p.profiles.Forget(member)
		p.friends.Forget(member)
	}()
	return p.Store.Forget(ctx, member, actor)
}
