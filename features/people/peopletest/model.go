package peopletest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"leaderboard/features/people"
	"leaderboard/internal/names"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// Model is people.Store in memory, on the model of a store. All methods may be called concurrently.
type Model struct {
	*storetest.Model
	mu       sync.Mutex
	profiles map[string]people.Profile
}

// NewModel returns a model without profiles on the model of a store.
func NewModel(of *storetest.Model) *Model {
	return &Model{Model: of, profiles: map[string]people.Profile{}}
}

// PutProfile is the model of people.Store.PutProfile.
func (m *Model) PutProfile(ctx context.Context, p people.Profile) (people.Profile, bool, error) {
	if broken := p.Check(); broken != nil {
		return p, false, broken
	}
	p.Attributes = cmp.Or(p.Attributes, people.NoAttributes)
	return m.change(ctx, p.Member, func(old people.Profile) (people.Profile, error) {
		p.ResetNames = old.ResetNames
		return p, nil
	})
}

// PatchProfile is the model of people.Store.PatchProfile.
func (m *Model) PatchProfile(ctx context.Context, member string, change people.ProfilePatch) (people.Profile, bool, error) {
	return m.change(ctx, member, func(old people.Profile) (people.Profile, error) { return old.Patch(change) })
}

// ResetName is the model of people.Store.ResetName.
func (m *Model) ResetName(ctx context.Context, r people.NameReset) (people.Profile, error) {
	if broken := r.Check(); broken != nil {
		return people.Profile{}, broken
	}
	p, err := m.Profile(ctx, r.Member)
	if err != nil || p.DisplayName == "" {
		return p, err
	}
	p, _, err = m.change(ctx, r.Member, func(old people.Profile) (people.Profile, error) { return old.ResetName(), nil })
	return p, err
}

// change changes the profile of a member, or an empty one, by a function.
func (m *Model) change(ctx context.Context, member string, by func(people.Profile) (people.Profile, error)) (out people.Profile, created bool, err error) {
	now, err := m.Now(ctx)
	if err != nil {
		return out, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, ok := m.profiles[member]
	if !ok {
		old = people.Profile{Member: member, Attributes: people.NoAttributes}
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
func (m *Model) Profile(ctx context.Context, member string) (people.Profile, error) {
	found, err := m.Profiles(ctx, []string{member})
	if err == nil && len(found) == 0 {
		err = leaderboard.ErrProfileNotFound
	}
	if err != nil {
		return people.Profile{}, err
	}
	return found[0], nil
}

// Profiles is the model of people.Store.Profiles.
func (m *Model) Profiles(_ context.Context, members []string) (found []people.Profile, err error) {
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
func (m *Model) SearchMembers(ctx context.Context, q people.MemberQuery) (out people.FoundMembers, err error) {
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
			key, after, prefix = names.Fold(p.DisplayName)+"\x00"+member, q.AfterName+"\x00"+q.AfterMember, names.Fold(q.Prefix)
		}
		if q.ByName && p.DisplayName == "" || !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		found := people.FoundMember{Member: member}
		if has {
			found.Profile = &p
		}
		out.Members = append(out.Members, found)
	}
	if q.ByName { // equal names stay in the order of ids
		slices.SortStableFunc(out.Members, func(a, b people.FoundMember) int {
			return strings.Compare(names.Fold(a.Profile.DisplayName), names.Fold(b.Profile.DisplayName))
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
func (m *Model) FindMembers(_ context.Context, q people.ShownQuery) (people.ShownMembers, error) {
	playing := m.Playing(func(p *leaderboard.Period) bool { return p.ID == q.Period })
	m.mu.Lock()
	defer m.mu.Unlock()
	search := names.NewSearch(q.Prefix, q.Whole, q.After, q.Limit)
	for _, member := range playing {
		search.Add(names.Name{Folded: names.Fold(m.profiles[member].DisplayName), Member: member})
	}
	return people.ShownMembers{Members: search.Found()}, nil
}
