package people

import (
	"fmt"
	"strconv"
	"strings"

	"leaderboard/httpapi"
	"leaderboard/internal/names"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// find answers GET /v1/boards/{board}/members: the entries of members whose shown name begins with q. If q is too short for a
// search, the name has to be q. A cursor only has names of members on the board.
func (h *handlers) find(c *httpapi.Call) error {
	q := ShownQuery{Limit: int(c.Params.Integer("limit")) + 1, Prefix: prefixParam(c)}
	q.Whole = !names.Enough(q.Prefix)
	cursor := c.Params.Text("cursor")
	on, err := h.Target(c)
	if err != nil {
		return err
	}
	of := wire.List{Name: "found " + q.Prefix, Id: on.Ref.Incarnation}
	if cursor != "" {
		after, ok := of.After(cursor)
		if q.After.Folded, q.After.Member, _ = strings.Cut(after, "\x00"); !ok || q.After.Member == "" {
			return wire.Malformed(wire.BadCursor())
		}
	}
	q.Period = on.Ref.ID
	found, err := h.people.FindMembers(c.Ctx, q)
	if err != nil {
		return err
	}
	next := ""
	if list := found.Members; len(list) == q.Limit {
		found.Members = list[:q.Limit-1]
		last := &found.Members[q.Limit-2]
		next = of.Cursor(last.Folded + "\x00" + last.Member)
	}
	return h.sendFound(c, &on, &found, next)
}

// prefixParam returns the parameter q of a search on a board.
func prefixParam(c *httpapi.Call) string {
	prefix := c.Params.Text("q")
	if strings.TrimSpace(prefix) == "" || len(prefix) > MaxDisplayName {
		c.Params.BadParam("q", fmt.Sprintf("want the beginning of a name, of at most %d bytes", MaxDisplayName))
	}
	return prefix
}

// sendFound answers with the entries of members, in their order, at one state. Members without an entry in it are left out.
func (h *handlers) sendFound(c *httpapi.Call, on *httpapi.Target, found *ShownMembers, next string) error {
	ids := make([]string, len(found.Members))
	for i := range ids {
		ids[i] = found.Members[i].Member
	}
	s, err := h.Rankings.Members(c.Ctx, on.Ref, leaderboard.MembersQuery{Query: on.Query, Members: ids})
	if err != nil {
		return err
	}
	entries := make(map[string]*leaderboard.Ranked, len(s.Entries))
	for i := range s.Entries {
		entries[s.Entries[i].Member] = &s.Entries[i].Ranked
	}
	list := make([]leaderboard.Ranked, 0, len(ids))
	for _, id := range ids {
		if e := entries[id]; e != nil {
			list = append(list, *e)
		}
	}
	st, shown, err := h.FindExtras(c, on, &s.State, list)
	if err != nil {
		return err
	}
	etag := shown.AddTo(c.ETag(on, &st).Text(next).Text(strconv.FormatBool(found.Partial)).DenseOf(on.Query.Mode, list))
	for i := range list {
		etag = etag.Text(list[i].Member)
	}
	return c.Answer(on, &st, etag, func(b []byte) []byte {
		b = append(httpapi.AppendEntries(b, on.Form(), list, shown), `,"partial":`...)
		if b = strconv.AppendBool(b, found.Partial); next != "" {
			b = wire.AppendString(append(b, `,"next_cursor":`...), next)
		}
		return b
	})
}
