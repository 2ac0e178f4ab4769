package httpapi

import (
	"net/http"
	"strconv"

	"leaderboard"
)

// friendsBody is the body of PUT and POST /v1/members/{member}/friends.
type friendsBody struct {
	Members []string `json:"members"`
}

// friendsJSON says how long a list is after a change.
type friendsJSON struct {
	Member string `json:"member"`
	Total  int    `json:"total"`
}

// friendsGiven reads the member of the path and the list of the body.
func (c *call) friendsGiven() (member string, friends []string, err error) {
	member = c.member()
	if err := c.badInput(); err != nil {
		return "", nil, err
	}
	var body friendsBody
	if err := c.decode(&body, false, nil); err != nil {
		return "", nil, err
	}
	if body.Members == nil {
		return "", nil, malformed(inputError{Pointer: "/members", Detail: "is required"})
	}
	if broken := leaderboard.CheckFriends(member, body.Members); broken != nil {
		return "", nil, broken
	}
	return member, body.Members, nil
}

// putFriends answers PUT /v1/members/{member}/friends: the list is the one given.
func putFriends(c *call) error {
	member, friends, err := c.friendsGiven()
	if err != nil {
		return err
	}
	total, err := c.api.cfg.Friends.PutFriends(c.ctx, member, friends)
	if err != nil {
		return writeError(err)
	}
	return c.sendJSON(http.StatusOK, friendsJSON{member, total})
}

// addFriends answers POST /v1/members/{member}/friends: those given are added, all of them or none.
func addFriends(c *call) error {
	member, friends, err := c.friendsGiven()
	if err != nil {
		return err
	}
	total, err := c.api.cfg.Friends.AddFriends(c.ctx, member, friends)
	if err != nil {
		return writeError(err)
	}
	return c.sendJSON(http.StatusOK, friendsJSON{member, total})
}

// removeFriend answers DELETE /v1/members/{member}/friends/{friend}, in the same way when it was none.
func removeFriend(c *call) error {
	member, friend := c.member(), c.pathValue("friend")
	if broken := leaderboard.AsRule(leaderboard.CheckMember(friend)); broken != nil {
		c.reject("friend", broken.Detail)
	}
	if err := c.badInput(); err != nil {
		return err
	}
	if err := c.api.cfg.Friends.RemoveFriend(c.ctx, member, friend); err != nil {
		return writeError(err)
	}
	c.status = http.StatusNoContent
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// listFriends answers GET /v1/members/{member}/friends: in the byte order of their ids.
func listFriends(c *call) error {
	member := c.member()
	limit := int(c.integer("limit", defaultList, 1, maxList))
	cursor := c.text("cursor")
	if err := c.badInput(); err != nil {
		return err
	}
	of := list{"friends of " + member, 0}
	var after string
	if cursor != "" {
		var ok bool
		if after, ok = of.after(cursor); !ok {
			return malformed(badCursor())
		}
	}
	friends, err := c.api.cfg.Friends.Friends(c.ctx, member, after, limit+1)
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
		out.Next = of.cursor(friends[limit-1])
	}
	return c.sendJSON(http.StatusOK, out)
}

// boardFriends answers GET …/members/{member}/friends: the member's friends and the member, best first.
func boardFriends(c *call) error {
	member := c.member()
	limit := c.integer("limit", leaderboard.DefaultLimit, 1, leaderboard.MaxLimit)
	offset := c.integer("offset", 0, 0, maxInt64)
	v, err := c.view()
	if err != nil {
		return err
	}
	v.private = true // it tells who is whose friend, on public boards too
	friends, missed := c.api.cfg.Friends.FriendsOf(c.ctx, member)
	if missed != nil && len(friends) == 0 {
		return missed
	}
	q := leaderboard.MembersQuery{Query: v.query, Limit: int(limit), Offset: int(min(offset, leaderboard.MaxMembers)), Self: member}
	q.Members = append(append(make([]string, 0, len(friends)+1), friends...), member)
	s, err := c.rankings(&v).Members(c.ctx, v.ref, q)
	if err != nil {
		return err
	}
	st := s.State
	st.Stale = st.Stale || missed != nil // the list is the one at hand
	n := len(s.Entries)
	shown := c.profiles(v.profiles, &st, n+1, func(i int) string {
		if i == n {
			return member
		}
		return s.Entries[i].Member
	})
	t := c.tag(&v, &st).text(member).int(limit).int(offset)
	for _, f := range friends {
		t = t.text(f)
	}
	return c.answer(&v, &st, shown.mark(t), func(b []byte) []byte {
		b = strconv.AppendInt(append(b, `"friends":`...), int64(len(friends)), 10)
		b = strconv.AppendInt(append(b, `,"ranked":`...), int64(s.Ranked), 10)
		b = appendSelf(append(b, `,"self":`...), &v, s, &shown)
		return appendPositioned(append(b, ','), &v, s, &shown)
	})
}

// appendSelf appends the standing of the member itself, null without one.
func appendSelf(b []byte, v *view, s *leaderboard.Standings, shown *beside) []byte {
	if s.Self == nil {
		return append(b, "null"...)
	}
	b = appendRanked(append(b, '{'), &v.ref.Rules.Tiebreak, &s.Self.Ranked)
	b = strconv.AppendInt(append(b, `,"position":`...), s.Self.Position, 10)
	b = appendPercentile(append(b, ','), s.Self.Tied, s.Total)
	return append(shown.appendTo(b, len(s.Entries)), '}')
}
