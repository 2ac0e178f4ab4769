package httpapi

import (
	"context"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// MemberFinder searches the members of a period.
type MemberFinder interface {
	// FindMembers finds those with an entry in a period by what is shown of them; the work is bounded.
	FindMembers(ctx context.Context, q leaderboard.ShownQuery) (leaderboard.ShownMembers, error)
}

// reader serves the reading of one board.
type reader struct {
	resolver
	profileFinder
	hides hiddenFinder
	found MemberFinder
	kept  keptAnswers
}

// top answers GET …/top: a page from the best entry, from an offset, or after a cursor.
func (h *reader) top(c *call) error {
	limit, offset, cursor := c.pageParams()
	on, err := h.target(c)
	if err != nil {
		return err
	}
	q := leaderboard.PageQuery{Query: on.query, Limit: int(limit), Offset: offset}
	if cursor != "" {
		var ok bool
		if q.After, ok = wire.AfterKey(&on.ref, cursor); !ok {
			return wire.Malformed(wire.BadCursor())
		}
	}
	page, bodies, err := h.page(c, &on, q)
	if err != nil {
		return err
	}
	st := page.State
	shown := h.ofEntries(c, &on, &st, page.Entries)
	shown.metadata = bodies
	etag := shown.addTo(c.etag(&on, &st).Int(limit).Int(offset).Text(q.After).DenseOf(q.Mode, page.Entries))
	entries := wire.EntriesOf(&on.ref)
	body := func(b []byte) []byte { return appendPage(b, on.form(), page, &entries, &shown) }
	if shown.asked || shown.metadata != nil || offset > 0 || q.After != "" || page.Encoded == nil {
		return c.answer(&on, &st, etag, body)
	}
	return h.kept.respondShared(c, page, &on, &st, etag, body)
}

// around answers GET …/members/{member}/around: the slice around a member.
func (h *reader) around(c *call) error {
	member := c.member()
	before, after := c.aroundParams()
	on, err := h.target(c)
	if err != nil {
		return err
	}
	page, bodies, err := h.page(c, &on, leaderboard.PageQuery{
		Query: on.query, Around: member, Before: int(before), Limit: int(before + 1 + after),
	})
	if err != nil {
		return whyAbsent(c, h.hides, []string{on.ref.Board}, member, err)
	}
	st := page.State
	shown := h.ofEntries(c, &on, &st, page.Entries)
	shown.metadata = bodies
	etag := shown.addTo(c.etag(&on, &st).Text(member).Int(before).Int(after).DenseOf(on.query.Mode, page.Entries))
	return c.answer(&on, &st, etag, func(b []byte) []byte { return appendPage(b, on.form(), page, nil, &shown) })
}

// aroundUnranked answers as around does, for a member without an entry: with a page without entries, so that a client that
// follows the member need not come back when it has one, and sees the state. It answers nothing when the member has an entry
// by now.
func (h *reader) aroundUnranked(c *call) error {
	member := c.member()
	on, err := h.target(c)
	if err != nil {
		return err
	}
	s, err := h.rankings.Members(c.ctx, on.ref, leaderboard.MembersQuery{Query: on.query, Members: []string{member}})
	if err != nil || len(s.Entries) > 0 {
		return err
	}
	return c.answer(&on, &s.State, c.etag(&on, &s.State).Text(member), func(b []byte) []byte { return appendEntries(b, on.form(), nil, nil) })
}

// appendPage appends a page. As a page of a list it says where that continues.
func appendPage(b []byte, f wire.EntryForm, page *leaderboard.Page, of *wire.List, shown *besides) []byte {
	b = appendEntries(b, f, page.Entries, shown)
	if of != nil && page.Next != "" {
		b = append(of.AppendCursor(append(b, `,"next_cursor":"`...), page.Next), '"')
	}
	return b
}

// appendEntries appends the member entries of a page's answer.
func appendEntries(b []byte, f wire.EntryForm, entries []leaderboard.Ranked, shown *besides) []byte {
	b = append(b, `"entries":[`...)
	for i := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(shown.appendTo(wire.AppendRanked(append(b, '{'), f, &entries[i]), i), '}')
	}
	return append(b, ']')
}
