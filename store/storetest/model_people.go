package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"leaderboard/internal/names"
	"leaderboard/leaderboard"
)

// PutProfile is the model of people.Store.PutProfile.
func (m *Model) PutProfile(ctx context.Context, p leaderboard.Profile) (leaderboard.Profile, bool, error) {
	defer m.leave()
	if err := m.enter(ctx, "PutProfile"); err != nil {
		return p, false, err
	}
	if broken := p.Check(); broken != nil {
		return p, false, broken
	}
	if p.Attributes == "" {
		p.Attributes = leaderboard.NoAttributes
	}
	p.ResetNames = m.profiles[p.Member].ResetNames
	return m.putProfile(ctx, p)
}

// PatchProfile is the model of people.Store.PatchProfile.
func (m *Model) PatchProfile(ctx context.Context, member string, change leaderboard.ProfilePatch) (leaderboard.Profile, bool, error) {
	defer m.leave()
	if err := m.enter(ctx, "PatchProfile"); err != nil {
		return leaderboard.Profile{}, false, err
	}
	p, ok := m.profiles[member]
	if !ok {
		p = leaderboard.Profile{Member: member, Attributes: leaderboard.NoAttributes}
	}
	p, err := p.Patch(change)
	if err != nil {
		return p, false, err
	}
	return m.putProfile(ctx, p)
}

// ResetName is the model of people.Store.ResetName.
func (m *Model) ResetName(ctx context.Context, r leaderboard.NameReset) (leaderboard.Profile, error) {
	defer m.leave()
	if err := m.enter(ctx, "ResetName"); err != nil {
		return leaderboard.Profile{}, err
	}
	if broken := r.Check(); broken != nil {
		return leaderboard.Profile{}, broken
	}
	p, ok := m.profiles[r.Member]
	if !ok {
		return p, leaderboard.ErrProfileNotFound
	}
	if p.DisplayName == "" {
		return p, nil
	}
	p, _, err := m.putProfile(ctx, p.ResetName())
	return p, err
}

func (m *Model) putProfile(ctx context.Context, p leaderboard.Profile) (out leaderboard.Profile, created bool, err error) {
	if p, err = p.CheckName(leaderboard.CallerOf(ctx).Admin); err != nil {
		return p, false, err
	}
	old, ok := m.profiles[p.Member]
	if p.UpdatedTime = old.UpdatedTime; !ok || old != p {
		p.UpdatedTime = m.clock()
	}
	m.profiles[p.Member] = p
	return p, !ok, nil
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
func (m *Model) Profiles(ctx context.Context, members []string) ([]leaderboard.Profile, error) {
	defer m.leave()
	if err := m.enter(ctx, "Profiles"); err != nil {
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

// PutFriends makes the members given the friends of member, and returns how many there are.
func (m *Model) PutFriends(ctx context.Context, member string, friends []string) (int, error) {
	return m.changeFriends(ctx, "PutFriends", member, friends, false)
}

// AddFriends adds to the friends of member and returns how many there are then.
func (m *Model) AddFriends(ctx context.Context, member string, friends []string) (int, error) {
	return m.changeFriends(ctx, "AddFriends", member, friends, true)
}

func (m *Model) changeFriends(ctx context.Context, method string, member string, given []string, keep bool) (int, error) {
	defer m.leave()
	if err := m.enter(ctx, method); err != nil {
		return 0, err
	}
	if broken := leaderboard.CheckFriends(member, given); broken != nil {
		return 0, broken
	}
	next := map[string]bool{}
	for f := range m.friends[member] {
		next[f] = keep
	}
	maps.DeleteFunc(next, func(_ string, kept bool) bool { return !kept })
	for _, f := range given {
		next[f] = true
	}
	if broken := leaderboard.CheckFriendCount(len(next)); broken != nil {
		return 0, broken
	}
	m.friends[member] = next
	return len(next), nil
}

// RemoveFriend takes one friend off the list of member.
func (m *Model) RemoveFriend(ctx context.Context, member, friend string) error {
	defer m.leave()
	if err := m.enter(ctx, "RemoveFriend"); err != nil {
		return err
	}
	delete(m.friends[member], friend)
	return nil
}

// Friends lists the friends of member in byte order, after the one given, at most limit.
func (m *Model) Friends(ctx context.Context, member, after string, limit int) ([]string, error) {
	lists, err := m.FriendsOf(ctx, []string{member})
	list := slices.DeleteFunc(append([]string{}, lists[member]...), func(f string) bool { return f <= after })
	return list[:min(limit, len(list))], err
}

// FriendsOf returns the friends of each of members that has any, in byte order.
func (m *Model) FriendsOf(ctx context.Context, members []string) (map[string][]string, error) {
	defer m.leave()
	if err := m.enter(ctx, "FriendsOf"); err != nil {
		return nil, err
	}
	lists := map[string][]string{}
	for _, member := range members {
		if of := m.friends[member]; len(of) > 0 {
			lists[member] = slices.Sorted(maps.Keys(of))
		}
	}
	return lists, nil
}

// Forget is the model of store.Erasures.Forget; the model is done at once.
func (m *Model) Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error) {
	defer m.leave()
	if err := m.enter(ctx, "Forget"); err != nil {
		return leaderboard.Erasure{}, err
	}
	if broken := leaderboard.CheckMember(member); broken != nil {
		return leaderboard.Erasure{}, broken
	}
	out := leaderboard.Erasure{Member: member, Done: true, StartedAt: m.clock()}
	for _, b := range m.boards {
		m.current(b)
		delete(b.plays, member)
		b.held = slices.DeleteFunc(slices.Clone(b.held), func(h *leaderboard.Held) bool { return h.Member == member })
		for _, p := range b.periods {
			_, kept := p.hiddenEntries[member]
			_, visible := p.entries[member]
			if kept || visible {
				out.Entries++
			}
			m.removeEntry(b, p, member, actor)
		}
	}
	delete(m.profiles, member)
	delete(m.friends, member)
	for _, list := range m.friends {
		delete(list, member)
	}
	m.hidden = slices.DeleteFunc(m.hidden, func(h leaderboard.HiddenMember) bool { return h.Member == member })
	return out, nil
}

// DataLists returns the lists that a server with all features has.
func (*Model) DataLists() []leaderboard.DataList {
	lists := []leaderboard.DataList{{Name: "profile", One: true}}
	for _, name := range []string{"friends", "friend_of", "hidden", "bars", "plays", "held", "entries", "submissions", "audit"} {
		lists = append(lists, leaderboard.DataList{Name: name})
	}
	return lists
}

// MemberData is the model of store.Members.MemberData; it has neither profiles nor recorded submissions nor an audit.
func (m *Model) MemberData(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	records, err := m.memberData(ctx, member)
	for i := range records {
		if err == nil {
			err = tell(records[i])
		}
	}
	return err
}

func (m *Model) memberData(ctx context.Context, member string) (out []leaderboard.MemberRecord, err error) {
	defer m.leave()
	if err := m.enter(ctx, "MemberData"); err != nil {
		return nil, err
	}
	if broken := leaderboard.CheckMember(member); broken != nil {
		return nil, broken
	}
	for _, friend := range slices.Sorted(maps.Keys(m.friends[member])) {
		out = append(out, leaderboard.MemberRecord{List: "friends", Record: friend})
	}
	for _, fan := range slices.Sorted(maps.Keys(m.friends)) {
		if m.friends[fan][member] {
			out = append(out, leaderboard.MemberRecord{List: "friend_of", Record: fan})
		}
	}
	for i := range m.hidden {
		if m.hidden[i].Member == member {
			out = append(out, leaderboard.MemberRecord{List: "hidden", Record: m.hidden[i]})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.periods)) {
		p := m.periods[id]
		for _, b := range m.boards {
			if b.ID != p.BoardID {
				continue
			}
			if e, ok := p.entries[member]; ok {
				out = append(out, leaderboard.MemberRecord{List: "entries", Record: leaderboard.MemberEntry{Entry: e, Period: p.Ref(&b.Board), Metadata: p.metadata[member]}})
			}
			if e, ok := p.hiddenEntries[member]; ok {
				out = append(out, leaderboard.MemberRecord{List: "entries", Record: leaderboard.MemberEntry{Entry: e, Period: p.Ref(&b.Board), Hidden: true, Metadata: p.metadata[member]}})
			}
		}
	}
	return out, nil
}

// SearchMembers is the model of people.Store.SearchMembers.
func (m *Model) SearchMembers(ctx context.Context, q leaderboard.MemberQuery) (out leaderboard.FoundMembers, err error) {
	defer m.leave()
	if err := m.enter(ctx, "SearchMembers"); err != nil {
		return out, err
	}
	for member := range m.known() {
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
	slices.SortFunc(out.Members, func(a, b leaderboard.FoundMember) int {
		byName := 0
		if q.ByName {
			byName = strings.Compare(leaderboard.FoldName(a.Profile.DisplayName), leaderboard.FoldName(b.Profile.DisplayName))
		}
		return cmp.Or(byName, strings.Compare(a.Member, b.Member))
	})
	out.Members = out.Members[:min(len(out.Members), q.Limit)]
	return out, nil
}

// FindMembers is the model of people.Store.FindMembers.
func (m *Model) FindMembers(ctx context.Context, q leaderboard.ShownQuery) (out leaderboard.ShownMembers, err error) {
	defer m.leave()
	if err := m.enter(ctx, "FindMembers"); err != nil || m.periods[q.Period] == nil {
		return out, err
	}
	search := names.NewSearch(&q)
	for member := range m.periods[q.Period].entries {
		search.Add(leaderboard.ShownName{Folded: leaderboard.FoldName(m.profiles[member].DisplayName), Member: member})
	}
	out.Members = search.Found()
	return out, nil
}

// known returns the members that have a profile, are hidden, or have an entry in an open period.
func (m *Model) known() map[string]bool {
	known := map[string]bool{}
	for member := range m.profiles {
		known[member] = true
	}
	for i := range m.hidden {
		known[m.hidden[i].Member] = true
	}
	for _, p := range m.periods {
		if p.State == leaderboard.PeriodStateOpen {
			for member := range p.entries {
				known[member] = true
			}
		}
	}
	return known
}
