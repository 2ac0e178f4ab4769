package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Friends keeps the lists of friends.
type Friends interface {
	// PutFriends makes a list the one given and returns its length; AddFriends adds to it, all or nothing. Errors of both:
	// *leaderboard.RuleError.
	PutFriends(ctx context.Context, member string, friends []string) (int, error)
	AddFriends(ctx context.Context, member string, friends []string) (int, error)
	// RemoveFriend takes a friend off the list; it may not be on it.
	RemoveFriend(ctx context.Context, member, friend string) error
	// Friends lists up to limit friends after the given one, in the order of their bytes, as they are now.
	Friends(ctx context.Context, member, after string, limit int) ([]string, error)
	// FriendsOf returns all friends of members, which are distinct, in the order of the members; those of each are in the
	// order of their bytes. A list may be a second old unless it was changed here. With an error the lists are the cached ones,
	// of any age. The caller must not change them.
	FriendsOf(ctx context.Context, members []string) ([][]string, error)
}

// friendHandlers serve lists of friends, and boards among friends.
type friendHandlers struct {
	reader *reader
	lists  Friends
}

// friendsBody is the body of PUT and POST /v1/members/{member}/friends.
type friendsBody struct {
	Members []string `json:"members"`
}

// friendsJSON says how long a list is after a change.
type friendsJSON struct {
	Member string `json:"member"`
	Total  int    `json:"total"`
}

// givenFriends reads the member of the path and the list of the body.
func givenFriends(c *call) (member string, friends []string, err error) {
	member = c.member()
	if err := c.badInput(); err != nil {
		return "", nil, err
	}
	var body friendsBody
	if err := c.decode(&body, false, nil); err != nil {
		return "", nil, err
	}
	if body.Members == nil {
		return "", nil, wire.Malformed(wire.InputError{Pointer: "/members", Detail: "is required"})
	}
	if broken := leaderboard.CheckFriends(member, body.Members); broken != nil {
		return "", nil, broken
	}
	return member, body.Members, nil
}

// put answers PUT /v1/members/{member}/friends: the list is the one given.
func (h *friendHandlers) put(c *call) error {
	member, friends, err := givenFriends(c)
	if err != nil {
		return err
	}
	total, err := h.lists.PutFriends(c.ctx, member, friends)
	if err != nil {
		return wire.WriteError(err)
	}
	return c.sendJSON(http.StatusOK, friendsJSON{member, total})
}

// add answers POST /v1/members/{member}/friends: those given are added, all of them or none.
func (h *friendHandlers) add(c *call) error {
	member, friends, err := givenFriends(c)
	if err != nil {
		return err
	}
	total, err := h.lists.AddFriends(c.ctx, member, friends)
	if err != nil {
		return wire.WriteError(err)
	}
	return c.sendJSON(http.StatusOK, friendsJSON{member, total})
}

// remove answers DELETE /v1/members/{member}/friends/{friend}, in the same way when it was none.
func (h *friendHandlers) remove(c *call) error {
	member, friend := c.member(), c.pathValue("friend")
	if broken := leaderboard.AsRule(leaderboard.CheckMember(friend)); broken != nil {
		c.badParam("friend", broken.Detail)
	}
	if err := c.badInput(); err != nil {
		return err
	}
	if err := h.lists.RemoveFriend(c.ctx, member, friend); err != nil {
		return wire.WriteError(err)
	}
	c.sendNothing(http.StatusNoContent)
	return nil
}

// list answers GET /v1/members/{member}/friends: in the byte order of their ids.
func (h *friendHandlers) list(c *call) error {
	member := c.member()
	limit := int(c.integer("limit", defaultList, 1, maxList))
	cursor := c.text("cursor")
	if err := c.badInput(); err != nil {
		return err
	}
	of := wire.List{Name: "friends of " + member}
	var after string
	if cursor != "" {
		var ok bool
		if after, ok = of.After(cursor); !ok {
			return wire.Malformed(wire.BadCursor())
		}
	}
	friends, err := h.lists.Friends(c.ctx, member, after, limit+1)
	if err != nil {
		return err
	}
	out := struct {
		Member  string   `json:"member"`
		Members []string `json:"members"`
		Next    string   `json:"next_cursor,omitempty"`
	}{Member: member, Members: friends}
	if len(friends) > limit {
		out.Members = friends[:limit]
		out.Next = of.Cursor(friends[limit-1])
	}
	return c.sendJSON(http.StatusOK, out)
}

// onBoard answers GET …/members/{member}/friends: the member's friends and the member, best first.
func (h *friendHandlers) onBoard(c *call) error {
	member := c.member()
	limit := c.integer("limit", leaderboard.DefaultLimit, 1, leaderboard.MaxLimit)
	offset := c.integer("offset", 0, 0, maxInt64)
	on, err := h.reader.target(c)
	if err != nil {
		return err
	}
	on.private = true // it shows friendships, on public boards too
	lists, missed := h.lists.FriendsOf(c.ctx, []string{member})
	friends := lists[0]
	if missed != nil && len(friends) == 0 {
		return missed
	}
	if many := lookUpsOf(len(friends)); c.player != nil && many != (leaderboard.Charge{}) {
		if err := c.charge(many); err != nil {
			return err
		}
	}
	q := leaderboard.MembersQuery{Query: on.query, Limit: int(limit), Offset: int(min(offset, leaderboard.MaxMembers)), Self: member}
	q.Members = append(append(make([]string, 0, len(friends)+1), friends...), member)
	s, bodies, err := h.reader.members(c, &on, q)
	if err != nil {
		return err
	}
	st := s.State
	st.Stale = st.Stale || missed != nil // the list is a cached one
	n := len(s.Entries)
	shown := h.reader.of(c, &on, &st, n+1, func(i int) string {
		if i == n {
			return member
		}
		return s.Entries[i].Member
	})
	shown.metadata = bodies
	t := c.etag(&on, &st).Text(member).Int(limit).Int(offset)
	for _, f := range friends {
		t = t.Text(f)
	}
	for i := range s.Entries {
		t = t.Dense(on.query.Mode, &s.Entries[i].Ranks)
	}
	if s.Self != nil {
		t = t.Dense(on.query.Mode, &s.Self.Ranks)
	}
	return c.answer(&on, &st, shown.addTo(t), func(b []byte) []byte {
		b = strconv.AppendInt(append(b, `"friends":`...), int64(len(friends)), 10)
		b = strconv.AppendInt(append(b, `,"ranked":`...), int64(s.Ranked), 10)
		b = appendSelf(append(b, `,"self":`...), &on, s, &shown)
		return appendPositioned(append(b, ','), &on, s, &shown)
	})
}

// appendSelf appends the standing of the member itself, null without one.
func appendSelf(b []byte, on *target, s *leaderboard.Standings, shown *besides) []byte {
	if s.Self == nil {
		return append(b, "null"...)
	}
	b = wire.AppendRanked(append(b, '{'), on.form(), &s.Self.Ranked)
	b = appendPosition(append(b, ','), on, &s.Self.Position)
	b = wire.AppendPercentile(append(b, ','), s.Self.Tied, s.Total)
	return append(shown.appendTo(b, len(s.Entries)), '}')
}
