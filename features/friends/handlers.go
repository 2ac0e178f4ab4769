package friends

import (
	"context"
	"net/http"
	"strconv"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Lists keeps the lists of friends.
type Lists interface {
	httpapi.Friends
	// PutFriends makes a list the one given and returns its length; AddFriends adds to it, all or nothing. Errors of both:
	// *leaderboard.RuleError.
	PutFriends(ctx context.Context, member string, friends []string) (int, error)
	AddFriends(ctx context.Context, member string, friends []string) (int, error)
	// RemoveFriend takes a friend off the list; it may not be on it.
	RemoveFriend(ctx context.Context, member, friend string) error
	// Friends lists up to limit friends after the given one, in the order of their bytes, in the present state.
	Friends(ctx context.Context, member, after string, limit int) ([]string, error)
}

// handlers serve lists of friends, and boards among friends.
type handlers struct {
	httpapi.Resolver
	httpapi.Reading
	lists Lists
}

// Routes returns the rows of the lists of friends, and of boards among friends.
func Routes(find httpapi.Resolver, reading httpapi.Reading, lists Lists) []httpapi.Route {
	h := &handlers{find, reading, lists}
	return []httpapi.Route{
		httpapi.On("getBoardFriends", find.RetryOutdated(h.onBoard)),
		httpapi.On("listFriends", h.list),
		httpapi.On("putFriends", h.put),
		httpapi.On("addFriends", h.add),
		httpapi.On("removeFriend", h.remove),
	}
}

// friendsBody is the body of PUT and POST /v1/members/{member}/friends.
type friendsBody struct {
	Members []string `json:"members"`
}

// givenFriends reads the member of the path and the list of the body.
func givenFriends(c *httpapi.Call) (member string, friends []string, err error) {
	member = c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return "", nil, err
	}
	var body friendsBody
	if err := c.Decode(&body, false, nil); err != nil {
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
func (h *handlers) put(c *httpapi.Call) error {
	member, friends, err := givenFriends(c)
	if err != nil {
		return err
	}
	total, err := h.lists.PutFriends(c.Ctx, member, friends)
	if err != nil {
		return wire.WriteError(err)
	}
	return c.SendJSON(http.StatusOK, api.FriendCount{Member: member, Total: total})
}

// add answers POST /v1/members/{member}/friends: those given are added, all of them or none.
func (h *handlers) add(c *httpapi.Call) error {
	member, friends, err := givenFriends(c)
	if err != nil {
		return err
	}
	total, err := h.lists.AddFriends(c.Ctx, member, friends)
	if err != nil {
		return wire.WriteError(err)
	}
	return c.SendJSON(http.StatusOK, api.FriendCount{Member: member, Total: total})
}

// remove answers DELETE /v1/members/{member}/friends/{friend}, in the same way when it was no friend.
func (h *handlers) remove(c *httpapi.Call) error {
	member, friend := c.Params.Member(), c.Params.PathValue("friend")
	if broken := leaderboard.AsRule(leaderboard.CheckMember(friend)); broken != nil {
		c.Params.BadParam("friend", broken.Detail)
	}
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	if err := h.lists.RemoveFriend(c.Ctx, member, friend); err != nil {
		return wire.WriteError(err)
	}
	c.SendNothing(http.StatusNoContent)
	return nil
}

// list answers GET /v1/members/{member}/friends: in the byte order of their ids.
func (h *handlers) list(c *httpapi.Call) error {
	member := c.Params.Member()
	limit := int(c.Params.Integer("limit"))
	cursor := c.Params.Text("cursor")
	if err := c.Params.BadInput(); err != nil {
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
	friends, err := h.lists.Friends(c.Ctx, member, after, limit+1)
	if err != nil {
		return err
	}
	out := api.FriendList{Member: member, Members: friends}
	if len(friends) > limit {
		out.Members = friends[:limit]
		out.NextCursor = of.Cursor(friends[limit-1])
	}
	return c.SendJSON(http.StatusOK, out)
}

// onBoard answers GET …/members/{member}/friends: the member's friends and the member, best first.
func (h *handlers) onBoard(c *httpapi.Call) error {
	member := c.Params.Member()
	limit := c.Params.Integer("limit")
	offset := c.Params.Integer("offset")
	on, err := h.Target(c)
	if err != nil {
		return err
	}
	on.Private = true // it shows friendships, on public boards too
	lists, missed := h.lists.FriendsOf(c.Ctx, []string{member})
	friends := lists[0]
	if missed != nil && len(friends) == 0 {
		return missed
	}
	if many := httpapi.LookUpsOf(len(friends)); c.Player != nil && many != (leaderboard.Charge{}) {
		if err := c.Charge(many); err != nil {
			return err
		}
	}
	q := leaderboard.MembersQuery{Query: on.Query, Limit: int(limit), Offset: int(min(offset, leaderboard.MaxMembers)), Self: member}
	q.Members = append(append(make([]string, 0, len(friends)+1), friends...), member)
	s, st, shown, err := h.Members(c, &on, q)
	if err != nil {
		return err
	}
	st.Stale = st.Stale || missed != nil // the list is a cached one
	t := c.ETag(&on, &st).Text(member).Int(limit).Int(offset)
	for _, f := range friends {
		t = t.Text(f)
	}
	for i := range s.Entries {
		t = t.Dense(on.Query.Mode, &s.Entries[i].Ranks)
	}
	if s.Self != nil {
		t = t.Dense(on.Query.Mode, &s.Self.Ranks)
	}
	return c.Answer(&on, &st, shown.AddTo(t), func(b []byte) []byte {
		b = strconv.AppendInt(append(b, `"friends":`...), int64(len(friends)), 10)
		b = strconv.AppendInt(append(b, `,"ranked":`...), int64(s.Ranked), 10)
		b = appendSelf(append(b, `,"self":`...), &on, s, shown)
		return httpapi.AppendPositioned(append(b, ','), &on, s, shown)
	})
}

// appendSelf appends the standing of the member itself, null without a standing.
func appendSelf(b []byte, on *httpapi.Target, s *leaderboard.Standings, shown httpapi.Extras) []byte {
	if s.Self == nil {
		return append(b, "null"...)
	}
	b = wire.AppendRanked(append(b, '{'), on.Form(), &s.Self.Ranked)
	b = httpapi.AppendPosition(append(b, ','), on, &s.Self.Position)
	b = wire.AppendPercentile(append(b, ','), s.Self.Tied, s.Total)
	return append(shown.AppendTo(b, len(s.Entries)), '}')
}
