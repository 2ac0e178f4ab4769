package app

import (
	"context"
	"slices"
	"time"

	"leaderboard/cache"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// profiles is the profiles of members, cached for a while. A change through this process drops one.
type profiles struct {
	*store.Profiles
	cached *cache.Loader[*leaderboard.Profile]
}

func newProfiles(stored *store.Profiles) profiles {
	fetch := func(ctx context.Context, members []string, _ map[string]*leaderboard.Profile) (map[string]*leaderboard.Profile, error) {
		found, err := stored.Profiles(ctx, members)
		byMember := make(map[string]*leaderboard.Profile, len(found))
		for i := range found {
			byMember[found[i].Member] = &found[i]
		}
		return byMember, err
	}
	return profiles{stored, cache.NewLoader(fetch, sizeOfProfile, cache.LoaderOptions{})}
}

func sizeOfProfile(p *leaderboard.Profile) int {
	if p == nil {
		return 0
	}
	return len(p.DisplayName) + len(p.AvatarURL) + len(p.Attributes)
}

// ProfilesOf returns cached profiles.
func (p profiles) ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error) {
	return p.cached.Of(ctx, members)
}

// PutProfile sets a profile, and drops the cached one also when the outcome is unknown.
func (p profiles) PutProfile(ctx context.Context, profile leaderboard.Profile) (leaderboard.Profile, bool, error) {
	defer p.cached.Forget(profile.Member)
	return p.Profiles.PutProfile(ctx, profile)
}

// PatchProfile changes a profile.
func (p profiles) PatchProfile(ctx context.Context, member string, change leaderboard.ProfilePatch) (leaderboard.Profile, bool, error) {
	defer p.cached.Forget(member)
	return p.Profiles.PatchProfile(ctx, member, change)
}

// ResetName takes a display name away.
func (p profiles) ResetName(ctx context.Context, r leaderboard.NameReset) (leaderboard.Profile, error) {
	defer p.cached.Forget(r.Member)
	return p.Profiles.ResetName(ctx, r)
}

// friends is the lists of friends, cached for a second. A change through this process drops one.
type friends struct {
	*store.FriendLists
	cached *cache.Loader[friendList]
}

// friendList is a list and the version that it is at least as new as.
type friendList struct {
	version leaderboard.Micros
	members []string
}

// listsTogether is how many lists are read in one statement.
const listsTogether = 16

func newFriends(stored *store.FriendLists) friends {
	f := friends{FriendLists: stored}
	// A list of friends is large, and a new friend must show soon: so its version is asked for every second, and the list when
	// that has changed. Without the list there is no answer, so the wait for it is long.
	f.cached = cache.NewLoader(f.fetch, sizeOfList, cache.LoaderOptions{TTL: time.Second, Batch: 64, Bytes: 32 << 20, Timeout: 5 * time.Second})
	return f
}

// fetch reads the lists that have another version than the cached ones. The versions come first: a list that is changed
// between is newer than it says, and read once more the next time.
func (f friends) fetch(ctx context.Context, members []string, old map[string]friendList) (map[string]friendList, error) {
	versions, err := f.FriendVersions(ctx, members)
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
		lists, err := f.FriendLists.FriendsOf(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for _, m := range chunk {
			out[m] = friendList{versions[m], lists[m]}
		}
	}
	return out, nil
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

// FriendsOf returns cached lists.
func (f friends) FriendsOf(ctx context.Context, members []string) ([][]string, error) {
	lists, err := f.cached.Of(ctx, members)
	out := make([][]string, len(lists))
	for i := range lists {
		out[i] = lists[i].members
	}
	return out, err
}

// PutFriends sets a list.
func (f friends) PutFriends(ctx context.Context, member string, list []string) (int, error) {
	defer f.cached.Forget(member)
	return f.FriendLists.PutFriends(ctx, member, list)
}

// AddFriends adds to a list.
func (f friends) AddFriends(ctx context.Context, member string, list []string) (int, error) {
	defer f.cached.Forget(member)
	return f.FriendLists.AddFriends(ctx, member, list)
}

// RemoveFriend takes a friend off a list.
func (f friends) RemoveFriend(ctx context.Context, member, friend string) error {
	defer f.cached.Forget(member)
	return f.FriendLists.RemoveFriend(ctx, member, friend)
}

// shownMembers finds members by what is shown of them.
type shownMembers struct {
	members *store.Members
	gate    gate
}

// FindMembers finds members.
func (m shownMembers) FindMembers(ctx context.Context, q leaderboard.ShownQuery) (leaderboard.ShownMembers, error) {
	return through(ctx, m.gate, func(ctx context.Context) (leaderboard.ShownMembers, error) { return m.members.FindMembers(ctx, q) })
}

// erasures erases members, here too.
type erasures struct {
	stored   *store.Erasures
	profiles profiles
	friends  friends
}

// Forget removes everything about a member.
func (e erasures) Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error) {
	defer e.profiles.cached.Forget(member)
	defer e.friends.cached.Forget(member)
	return e.stored.Forget(ctx, member, actor)
}
