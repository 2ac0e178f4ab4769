package storetest

import (
	"context"

	"leaderboard"
)

// PutProfile is store.Store.PutProfile.
func (m *Model) PutProfile(ctx context.Context, p leaderboard.Profile) (leaderboard.Profile, bool, error) {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
		return p, false, err
	}
	if broken := p.Check(); broken != nil {
		return p, false, broken
	}
	if p.Attributes == "" {
		p.Attributes = leaderboard.NoAttributes
	}
	old, ok := m.profiles[p.Member]
	if p.UpdatedTime = old.UpdatedTime; !ok || old != p {
		p.UpdatedTime = m.clock()
	}
	m.profiles[p.Member] = p
	return p, !ok, nil
}

// Profile is store.Store.Profile.
func (m *Model) Profile(ctx context.Context, member string) (leaderboard.Profile, error) {
	found, err := m.Profiles(ctx, []string{member})
	if err == nil && len(found) == 0 {
		err = leaderboard.ErrProfileNotFound
	}
	if err != nil {
		return leaderboard.Profile{}, err
	}
	return found[0], nil
}

// Profiles is store.Store.Profiles.
func (m *Model) Profiles(ctx context.Context, members []string) ([]leaderboard.Profile, error) {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	var found []leaderboard.Profile
	for _, member := range members {
		if p, ok := m.profiles[member]; ok {
			found = append(found, p)
		}
	}
	return found, nil
}
