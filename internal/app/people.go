package app

import (
	"context"

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
}

// Forget removes everything about a member.
func (e erasures) Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error) {
	defer e.profiles.cached.Forget(member)
	return e.stored.Forget(ctx, member, actor)
}
