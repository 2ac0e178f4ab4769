package storetest

import (
	"context"
	"maps"
	"slices"

	"leaderboard/leaderboard"
)

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

// Playing returns the members with a visible entry in some periods, each once.
func (m *Model) Playing(in func(*leaderboard.Period) bool) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	playing := map[string]bool{}
	for _, p := range m.periods {
		if in(&p.Period) {
			for member := range p.entries {
				playing[member] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(playing))
}
