package httpapi

import (
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// reader serves the reading of one board.
type reader struct {
	Resolver
	Reading
	hides HiddenFinder
	kept  keptAnswers
}

// top answers GET …/top: a page from the best entry, from an offset, or after a cursor.
func (h *reader) top(c *Call) error {
	limit, offset, cursor := c.Params.PageParams()
	on, err := h.Target(c)
	if err != nil {
		return err
	}
	q := leaderboard.PageQuery{Query: on.Query, Limit: int(limit), Offset: offset}
	if cursor != "" {
		var ok bool
		if q.After, ok = wire.AfterKey(&on.Ref, cursor); !ok {
			return wire.Malformed(wire.BadCursor())
		}
	}
	page, st, shown, err := h.page(c, &on, q)
	if err != nil {
		return err
	}
	etag := shown.AddTo(c.ETag(&on, &st).Int(limit).Int(offset).Text(q.After).DenseOf(q.Mode, page.Entries))
	entries := wire.EntriesOf(&on.Ref)
	body := func(b []byte) []byte { return appendPage(b, on.Form(), page, &entries, shown) }
	if !shown.lasts() || offset > 0 || q.After != "" || page.Encoded == nil {
		return c.Answer(&on, &st, etag, body)
	}
	return h.kept.respondShared(c, page, &on, &st, shown, etag, body)
}

// around answers GET …/members/{member}/around: the slice around a member.
func (h *reader) around(c *Call) error {
	member := c.Params.Member()
	before, after := c.Params.AroundParams()
	on, err := h.Target(c)
	if err != nil {
		return err
	}
	page, st, shown, err := h.page(c, &on, leaderboard.PageQuery{
		Query: on.Query, Around: member, Before: int(before), Limit: int(before + 1 + after),
	})
	if err != nil {
		return WhyAbsent(c, h.hides, []string{on.Ref.Board}, member, err)
	}
	etag := shown.AddTo(c.ETag(&on, &st).Text(member).Int(before).Int(after).DenseOf(on.Query.Mode, page.Entries))
	return c.Answer(&on, &st, etag, func(b []byte) []byte { return appendPage(b, on.Form(), page, nil, shown) })
}

// AroundUnranked answers GET …/members/{member}/around for a member without an entry: with an empty page and its state, so that a
// client can follow the member before its first entry. It sends nothing if the member has an entry.
func AroundUnranked(c *Call, find Resolver, rankings leaderboard.Rankings) error {
	member := c.Params.Member()
	on, err := find.Target(c)
	if err != nil {
		return err
	}
	s, err := rankings.Members(c.Ctx, on.Ref, leaderboard.MembersQuery{Query: on.Query, Members: []string{member}})
	if err != nil || len(s.Entries) > 0 {
		return err
	}
	return c.Answer(&on, &s.State, c.ETag(&on, &s.State).Text(member), func(b []byte) []byte { return AppendEntries(b, on.Form(), nil, nil) })
}

// appendPage appends a page, and for a page of a list its cursor.
func appendPage(b []byte, f wire.EntryForm, page *leaderboard.Page, of *wire.List, shown Extras) []byte {
	b = AppendEntries(b, f, page.Entries, shown)
	if of != nil && page.Next != "" {
		b = append(of.AppendCursor(append(b, `,"next_cursor":"`...), page.Next), '"')
	}
	return b
}

// AppendEntries appends the member entries of a page's answer.
func AppendEntries(b []byte, f wire.EntryForm, entries []leaderboard.Ranked, shown Extras) []byte {
	b = append(b, `"entries":[`...)
	for i := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(shown.AppendTo(wire.AppendRanked(append(b, '{'), f, &entries[i]), i), '}')
	}
	return append(b, ']')
}
