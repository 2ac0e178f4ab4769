package app

import (
	"context"
	"slices"
	"time"

	"leaderboard/cache"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// people is the store with profiles and friends of members cached for a while. A change through this process drops them.
type people struct {
	*store.Store
	profiles *cache.Loader[*leaderboard.Profile]
	friends  *cache.Loader[friendList]
}

// friendList is a list and the version that it is at least as new as.
type friendList struct {
	version leaderboard.Micros
	members []string
}

// listsTogether is how many lists are read in one statement.
const listsTogether = 16

// newPeople makes the caches in front of a database.
func newPeople(database *store.Store) people {
	p := people{Store: database}
	p.profiles = cache.NewLoader(p.fetchProfiles, sizeOfProfile, cache.LoaderOptions{})
	// A list of friends is large, and a new friend must show soon: so its version is asked for every second, and the list when
	// that has changed. Without the list there is no answer, so the wait for it is long.
	p.friends = cache.NewLoader(p.fetchFriends, sizeOfList, cache.LoaderOptions{
		TTL: time.Second, Batch: 64, Bytes: 32 << 20, Timeout: 5 * time.Second,
	})
	return p
}

func (p people) fetchProfiles(ctx context.Context, members []string, _ map[string]*leaderboard.Profile) (map[string]*leaderboard.Profile, error) {
	found, err := p.Store.Profiles(ctx, members)
	byMember := make(map[string]*leaderboard.Profile, len(found))
	for i := range found {
		byMember[found[i].Member] = &found[i]
	}
	return byMember, err
}

func sizeOfProfile(p *leaderboard.Profile) int {
	if p == nil {
		return 0
	}
	return len(p.DisplayName) + len(p.AvatarURL) + len(p.Attributes)
}

// fetchFriends reads the lists that have another version than the cached ones. The versions come first: a list that is
// changed between is newer than it says, and read once more the next time.
func (p people) fetchFriends(ctx context.Context, members []string, old map[string]friendList) (map[string]friendList, error) {
	versions, err := p.Store.FriendVersions(ctx, members)
	if err != nil {
		return nil, err
	}
	out := make(map[string]friendList, len(versions))
	var changed []string
	for m, version := range versions {
		if out[m] = old[m]; out[m].version != version {
			changed = append(changed, m)
		}
	}
	for chunk := range slices.Chunk(changed, listsTogether) {
		lists, err := p.Store.FriendsOf(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, m := range chunk {
			out[m] = friendList{versions[m], lists[m]}
		}
	}
	return out, nil
}

func (p people) PutProfile(ctx context.Context, profile leaderboard.Profile) (leaderboard.Profile, bool, error) {
	defer p.profiles.Forget(profile.Member) // also when the outcome is unknown
	return p.Store.PutProfile(ctx, profile)
}

func (p people) PatchProfile(ctx context.Context, member string, change leaderboard.ProfilePatch) (leaderboard.Profile, bool, error) {
	defer p.profiles.Forget(member)
	return p.Store.PatchProfile(ctx, member, change)
}

func (p people) ResetName(ctx context.Context, r leaderboard.NameReset) (leaderboard.Profile, error) {
	defer p.profiles.Forget(r.Member)
	return p.Store.ResetName(ctx, r)
}

func (p people) ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error) {
	return p.profiles.Of(ctx, members)
}

// sizeOfList returns the size of a list in bytes, roughly.
func sizeOfList(list friendList) int {
	const header = 16
	n := 0
	for _, s := range list.members {
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

func (p people) FriendsOf(ctx context.Context, members []string) ([][]string, error) {
	lists, err := p.friends.Of(ctx, members)
	out := make([][]string, len(lists))
	for i := range lists {
		out[i] = lists[i].members
	}
	return out, err
}

func (p people) Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error) {
	defer func() {
		p.profiles.Forget(member)
		p.friends.Forget(member)
	}()
	return p.Store.Forget(ctx, member, actor)
}
