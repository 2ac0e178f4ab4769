package httpapi

import (
	"sync"
	"sync/atomic"

	"leaderboard"
)

// reader serves the reading of one board.
type reader struct {
	resolver
	profileFinder
	rankings leaderboard.Rankings
	hidden   HiddenMembers
	encoded  encodings
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
		if q.After, ok = afterKey(&on.ref, cursor); !ok {
			return malformed(badCursor())
		}
	}
	page, err := rankingsOf(h.rankings, &on.ref).Page(c.ctx, on.ref, q)
	if err != nil {
		return err
	}
	st := page.State
	shown := h.ofEntries(c, on.profiles, &st, page.Entries)
	etag := shown.addTo(c.etag(&on, &st).int(limit).int(offset).text(q.After).denseOf(q.Mode, page.Entries))
	entries := entriesOf(&on.ref)
	return c.answer(&on, &st, etag, func(b []byte) []byte { return h.appendPage(b, on.form(), page, &entries, &shown) })
}

// around answers GET …/members/{member}/around: the slice around a member.
func (h *reader) around(c *call) error {
	member := c.member()
	before, after := c.aroundParams()
	on, err := h.target(c)
	if err != nil {
		return err
	}
	page, err := rankingsOf(h.rankings, &on.ref).Page(c.ctx, on.ref, leaderboard.PageQuery{
		Query: on.query, Around: member, Before: int(before), Limit: int(before + 1 + after),
	})
	if err != nil {
		return whyAbsent(c, h.hidden, []string{on.ref.Board}, member, err)
	}
	st := page.State
	shown := h.ofEntries(c, on.profiles, &st, page.Entries)
	etag := shown.addTo(c.etag(&on, &st).text(member).int(before).int(after).denseOf(on.query.Mode, page.Entries))
	return c.answer(&on, &st, etag, func(b []byte) []byte { return h.appendPage(b, on.form(), page, nil, &shown) })
}

// appendPage appends a page, encoded once however often it is served without profiles. As a page of a list it says
// where that continues.
func (h *reader) appendPage(b []byte, f form, page *leaderboard.Page, of *list, shown *shownProfiles) []byte {
	encode := func(b []byte) []byte {
		b = appendEntries(b, f, page.Entries, shown)
		if of != nil && page.Next != "" {
			b = append(b, `,"next_cursor":"`...)
			b = append(of.appendCursor(b, page.Next), '"')
		}
		return b
	}
	if shown.asked {
		return encode(b)
	}
	return append(b, h.encoded.get(page, f.mode, func() []byte { return encode(make([]byte, 0, 256+128*len(page.Entries))) })...)
}

// appendEntries appends the member entries of a page's answer.
func appendEntries(b []byte, f form, entries []leaderboard.Ranked, shown *shownProfiles) []byte {
	b = append(b, `"entries":[`...)
	for i := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(shown.appendTo(appendRanked(append(b, '{'), f, &entries[i]), i), '}')
	}
	return append(b, ']')
}

// Bounds of encodings, in bytes.
const (
	maxEncoded     = 4 << 20
	encodedBesides = 512 // what an answer counts besides its encoding: itself, its place in the map
)

// encodings keeps what shared answers were encoded as, so that one that is served many times is encoded once: encoding
// a page of 100 entries takes five times as long as all other work on it. When it is full it begins again.
type encodings struct {
	bodies sync.Map // of []byte by encodingKey
	bytes  atomic.Int64
}

// encodingKey is an answer's address, which nobody else gets while it is a key, and the mode of the ranks that it shows.
type encodingKey struct {
	answer any
	mode   leaderboard.Mode
}

// get returns what encode made for the answer at this address. The caller must not write to it.
func (e *encodings) get(answer any, mode leaderboard.Mode, encode func() []byte) []byte {
	key := encodingKey{answer, mode}
	if body, ok := e.bodies.Load(key); ok {
		return body.([]byte)
	}
	body := encode()
	size := int64(len(body)) + encodedBesides
	if e.bytes.Add(size) > maxEncoded {
		e.bodies.Clear()
		e.bytes.Store(size)
	}
	e.bodies.Store(key, body)
	return body
}
