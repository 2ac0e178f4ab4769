package peopletest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"leaderboard/internal/names"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// Model is people.Store in memory, on the model of a store. All methods may be called concurrently.
type Model struct {
	*storetest.Model
	mu       sync.Mutex
	profiles map[string]leaderboard.Profile
}

// NewModel returns a model without profiles on the model of a store.
func NewModel(of *storetest.Model) *Model {
	return &Model{Model: of, profiles: map[string]leaderboard.Profile{}}
}

// PutProfile is the model of people.Store.PutProfile.
func (m *Model) PutProfile(ctx context.Context, p leaderboard.Profile) (leaderboard.Profile, bool, error) {
	if broken := p.Check(); broken != nil {
		return p, false, broken
	}
	p.Attributes = cmp.Or(p.Attributes, leaderboard.NoAttributes)
	return m.change(ctx, p.Member, func(old leaderboard.Profile) (leaderboard.Profile, error) {
		p.ResetNames = old.ResetNames
		return p, nil
	})
}

// PatchProfile is the model of people.Store.PatchProfile.
func (m *Model) PatchProfile(ctx context.Context, member string, change leaderboard.ProfilePatch) (leaderboard.Profile, bool, error) {
	return m.change(ctx, member, func(old leaderboard.Profile) (leaderboard.Profile, error) { return old.Patch(change) })
}

// ResetName is the model of people.Store.ResetName.
func (m *Model) ResetName(ctx context.Context, r leaderboard.NameReset) (leaderboard.Profile, error) {
	if broken := r.Check(); broken != nil {
		return leaderboard.Profile{}, broken
	}
	p, err := m.Profile(ctx, r.Member)
	if err != nil || p.DisplayName == "" {
		return p, err
	}
	p, _, err = m.change(ctx, r.Member, func(old leaderboard.Profile) (leaderboard.Profile, error) { return old.ResetName(), nil })
	return p, err
}

// change changes the profile of a member, or an empty one, by a function.
func (m *Model) change(ctx context.Context, member string, by func(leaderboard.Profile) (leaderboard.Profile, error)) (out leaderboard.Profile, created bool, err error) {
	now, err := m.Now(ctx)
	if err != nil {
		return out, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, ok := m.profiles[member]
	if !ok {
		old = leaderboard.Profile{Member: member, Attributes: leaderboard.NoAttributes}
	}
	if out, err = by(old); err == nil {
		out, err = out.CheckName(leaderboard.CallerOf(ctx).Admin)
	}
	if err != nil {
		return out, false, err
	}
	if out.UpdatedTime = old.UpdatedTime; !ok || old != out {
		out.UpdatedTime = now
	}
	m.profiles[member] = out
	return out, !ok, nil
}

// Profile is the model of people.Store.Profile.
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

// Profiles is the model of people.Store.Profiles.
func (m *Model) Profiles(_ context.Context, members []string) (found []leaderboard.Profile, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, member := range members {
		if p, ok := m.profiles[member]; ok {
			found = append(found, p)
		}
	}
	return found, nil
}

// Forget forgets the profile of a member too.
func (m *Model) Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error) {
	out, err := m.Model.Forget(ctx, member, actor)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.profiles, member)
	}
	return out, err
}

// SearchMembers is the model of people.Store.SearchMembers.
func (m *Model) SearchMembers(ctx context.Context, q leaderboard.MemberQuery) (out leaderboard.FoundMembers, err error) {
	known, err := m.known(ctx)
	if err != nil {
		return out, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for member := range m.profiles {
		known = append(known, member)
	}
	slices.Sort(known)
	for _, member := range slices.Compact(known) {
		p, has := m.profiles[member]
		key, after, prefix := member, q.AfterMember, q.Prefix
		if q.ByName {
			key, after, prefix = leaderboard.FoldName(p.DisplayName)+"\x00"+member, q.AfterName+"\x00"+q.AfterMember, leaderboard.FoldName(q.Prefix)
		}
		if q.ByName && p.DisplayName == "" || !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		found := leaderboard.FoundMember{Member: member}
		if has {
			found.Profile = &p
		}
		out.Members = append(out.Members, found)
	}
	if q.ByName { // equal names stay in the order of ids
		slices.SortStableFunc(out.Members, func(a, b leaderboard.FoundMember) int {
			return strings.Compare(leaderboard.FoldName(a.Profile.DisplayName), leaderboard.FoldName(b.Profile.DisplayName))
		})
	}
	out.Members = out.Members[:min(len(out.Members), q.Limit)]
	return out, nil
}

// known returns the members who are hidden or have an entry in an open period.
func (m *Model) known(ctx context.Context) ([]string, error) {
	known := m.Playing(func(p *leaderboard.Period) bool { return p.State == leaderboard.PeriodStateOpen })
	hidden, err := m.Hidden(ctx, leaderboard.HiddenQuery{Limit: math.MaxInt})
	for i := range hidden {
		known = append(known, hidden[i].Member)
	}
	return known, err
}

// FindMembers is the model of people.Store.FindMembers.
func (m *Model) FindMembers(_ context.Context, q leaderboard.ShownQuery) (leaderboard.ShownMembers, error) {
	playing := m.Playing(func(p *leaderboard.Period) bool { return p.ID == q.Period })
	m.mu.Lock()
	defer m.mu.Unlock()
	search := names.NewSearch(&q)
	for _, member := range playing {
		search.Add(leaderboard.ShownName{Folded: leaderboard.FoldName(m.profiles[member].DisplayName), Member: member})
	}
	return leaderboard.ShownMembers{Members: search.Found()}, nil
}
