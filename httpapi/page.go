package httpapi

import (
	"leaderboard"
)

// top answers GET …/top: a page from the best entry, from an offset, or behind a cursor.
func top(c *call) error {
	limit, offset, cursor := c.pageParams()
	v, err := c.view()
	if err != nil {
		return err
	}
	q := leaderboard.PageQuery{Query: v.query, Limit: int(limit), Offset: offset}
	if cursor != "" {
		var ok bool
		if q.After, ok = afterKey(&v.ref, cursor); !ok {
			return malformed(badCursor())
		}
	}
	page, err := c.rankings(&v).Page(c.ctx, v.ref, q)
	if err != nil {
		return err
	}
	st := page.State
	shown := c.profilesOf(v.profiles, &st, page.Entries)
	t := shown.mark(c.tag(&v, &st).int(limit).int(offset).text(q.After))
	entries := entriesOf(&v.ref)
	return c.answer(&v, &st, t, func(b []byte) []byte { return appendPage(b, &v.ref.Rules.Tiebreak, page, &entries, &shown) })
}

// pageParams are the parameters of a page.
func (c *call) pageParams() (limit, offset int64, cursor string) {
	limit = c.integer("limit", leaderboard.DefaultLimit, 1, leaderboard.MaxLimit)
	offset = c.integer("offset", 0, 0, maxInt64)
	cursor = c.text("cursor")
	if cursor != "" && c.query.has("offset") {
		c.reject("cursor", "cursor and offset exclude each other")
	}
	return limit, offset, cursor
}

func badCursor() inputError {
	return inputError{Parameter: "cursor", Detail: "is not a cursor of this list"}
}

// appendPage appends a page, encoded once however often it is served without profiles. As a page of a list it says where
// that continues.
func appendPage(b []byte, tie *leaderboard.Tiebreak, page *leaderboard.Page, of *list, shown *beside) []byte {
	encode := func(b []byte) []byte {
		b = appendEntries(b, tie, page.Entries, shown)
		if of != nil && page.Next != "" {
			b = append(b, `,"next_cursor":"`...)
			b = append(of.appendCursor(b, page.Next), '"')
		}
		return b
	}
	if shown.asked {
		return encode(b)
	}
	return append(b, page.Memo.Do(func() []byte { return encode(make([]byte, 0, 256+128*len(page.Entries))) })...)
}

// around answers GET …/members/{member}/around: the slice around a member.
func around(c *call) error {
	member := c.member()
	before, after := c.aroundParams()
	v, err := c.view()
	if err != nil {
		return err
	}
	page, err := c.rankings(&v).Page(c.ctx, v.ref, leaderboard.PageQuery{
		Query: v.query, Around: member, Before: int(before), Limit: int(before + 1 + after),
	})
	if err != nil {
		return c.whyAbsent(member, err)
	}
	st := page.State
	shown := c.profilesOf(v.profiles, &st, page.Entries)
	t := shown.mark(c.tag(&v, &st).text(member).int(before).int(after))
	return c.answer(&v, &st, t, func(b []byte) []byte { return appendPage(b, &v.ref.Rules.Tiebreak, page, nil, &shown) })
}

// aroundParams are how many entries a slice is to have on either side.
func (c *call) aroundParams() (before, after int64) {
	return c.integer("before", leaderboard.DefaultAround, 0, leaderboard.MaxAroundSide),
		c.integer("after", leaderboard.DefaultAround, 0, leaderboard.MaxAroundSide)
}
