package httpapi

import (
	"errors"
	"strconv"
	"strings"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// combinedReader serves the reading of several boards ranked as one.
type combinedReader struct {
	Resolver
	Reading
	hides HiddenFinder
}

// top answers GET /v1/rankings/top.
func (h *combinedReader) top(c *Call) error {
	limit, offset, cursor := c.Params.PageParams()
	deep := cursor != "" || offset > leaderboard.MaxLimit-limit // the tops of the boards do not reach so far
	return h.RetrySelection(c, leaderboard.MaxCombined, deep, func(s *Selection) error {
		q := leaderboard.CombinedQuery{Mode: s.Query.Mode, Limit: int(limit), Offset: offset}
		of := wire.CombinedEntries(s.Refs[0].Rules)
		if cursor != "" {
			var ok bool
			if q.After, q.AfterBoard, ok = of.AfterPlace(cursor); !ok {
				return wire.Malformed(wire.BadCursor())
			}
		}
		page, err := h.page(c, s, q)
		if err != nil {
			return err
		}
		a := pageAnswer(page)
		a.etag = s.etag(c.Route.Path, page.States).Int(limit).Int(offset).Text(q.After).Text(q.AfterBoard)
		a.trailer = func(b []byte) []byte {
			if page.Next == "" {
				return b
			}
			return append(of.AppendCursor(append(b, `,"next_cursor":"`...), wire.Place(page.Next, page.NextBoard)), '"')
		}
		return h.send(c, s, a)
	})
}

// member answers GET /v1/rankings/members/{member}: all entries of the member.
func (h *combinedReader) member(c *Call) error {
	member := c.Params.Member()
	return h.RetrySelection(c, leaderboard.MaxCombined, true, func(s *Selection) error {
		q := leaderboard.CombinedMemberQuery{Mode: s.Query.Mode, Member: member}
		found, err := h.Rankings.CombinedMember(c.Ctx, s.Refs, q)
		if err == nil && !s.Reached(found.States) {
			q.Uncached = true
			if found, err = h.Rankings.CombinedMember(c.Ctx, s.Refs, q); err == nil && !s.Reached(found.States) {
				err = leaderboard.ErrSeqAhead
			}
		}
		if err == nil && len(found.Entries) == 0 {
			err = leaderboard.ErrNotRanked
		}
		if err != nil {
			return WhyAbsent(c, h.hides, s.Boards(), member, err)
		}
		total := leaderboard.Total(found.States)
		return h.send(c, s, combinedAnswer{
			states: found.States, n: len(found.Entries), etag: s.etag(c.Route.Path, found.States).Text(member),
			entry: func(i int) *leaderboard.CombinedRanked { return &found.Entries[i] },
			more: func(b []byte, i int) []byte {
				b = append(b, `,"percentile":`...)
				return strconv.AppendFloat(b, leaderboard.Percentile(found.Entries[i].Tied, total), 'f', -1, 64)
			},
		})
	})
}

// around answers GET /v1/rankings/members/{member}/around: the slice around the member's best entry.
func (h *combinedReader) around(c *Call) error {
	member := c.Params.Member()
	before, after := c.Params.AroundParams()
	return h.RetrySelection(c, leaderboard.MaxCombined, true, func(s *Selection) error {
		page, err := h.page(c, s, leaderboard.CombinedQuery{
			Mode: s.Query.Mode, Around: member, Before: int(before), Limit: int(before + 1 + after),
		})
		if err != nil {
			return WhyAbsent(c, h.hides, s.Boards(), member, err)
		}
		a := pageAnswer(page)
		a.etag = s.etag(c.Route.Path, page.States).Text(member).Int(before).Int(after)
		return h.send(c, s, a)
	})
}

// page asks for a page, and again without any copy if the wanted states are not reached.
func (h *combinedReader) page(c *Call, s *Selection, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	page, err := h.Rankings.CombinedPage(c.Ctx, s.Refs, q)
	notRanked := errors.Is(err, leaderboard.ErrNotRanked) && s.MinSeqs != nil // perhaps not in a copy
	if err == nil && s.Reached(page.States) || err != nil && !notRanked {
		return page, err
	}
	q.Uncached = true
	if page, err = h.Rankings.CombinedPage(c.Ctx, s.Refs, q); err == nil && !s.Reached(page.States) {
		err = leaderboard.ErrSeqAhead
	}
	return page, err
}

func pageAnswer(page *leaderboard.CombinedPage) combinedAnswer {
	return combinedAnswer{
		states: page.States, n: len(page.Entries),
		entry: func(i int) *leaderboard.CombinedRanked { return &page.Entries[i] },
	}
}

// combinedAnswer is the common form of the answers about several boards.
type combinedAnswer struct {
	states  []leaderboard.State
	n       int
	entry   func(i int) *leaderboard.CombinedRanked
	etag    wire.ETag
	more    func(b []byte, i int) []byte // further members of entry i; may be nil
	trailer func(b []byte) []byte        // of the whole; may be nil
}

// etag begins the ETag of an answer about several boards.
func (s *Selection) etag(route string, states []leaderboard.State) wire.ETag {
	t := wire.EmptyETag.Int(wire.AnswerFormat).Text(route).Text(string(s.Query.Mode)).Text(strings.Join(s.Absent, ","))
	if tie := &s.Refs[0].Rules.Tiebreak; len(tie.Fields) > 0 {
		t = t.Text(tie.Layout())
	}
	for i := range states {
		t = t.Int(s.Refs[i].ID).Int(states[i].Incarnation).Int(states[i].Seq).Int(int64(states[i].AsOf))
	}
	return t
}

func (h *combinedReader) send(c *Call, s *Selection, a combinedAnswer) error {
	st, shown, err := h.selectionExtras(c, s, &a)
	if err != nil {
		return err
	}
	return c.Respond(&s.Target, &st, shown.AddTo(a.etag), func(b []byte) []byte {
		b = s.appendBoards(b, a.states, &st)
		b = append(b, `,"entries":[`...)
		for i := range a.n {
			e := a.entry(i)
			if i > 0 {
				b = append(b, ',')
			}
			b = wire.AppendRanks(append(b, '{'), s.Query.Mode, &e.Ranks)
			b = wire.AppendString(append(b, `,"board":`...), e.Board)
			b = wire.AppendEntry(append(b, ','), &s.Refs[0].Rules.Tiebreak, &e.Entry)
			if a.more != nil {
				b = a.more(b, i)
			}
			b = append(shown.AppendTo(b, i), '}')
		}
		if b = append(b, ']'); a.trailer != nil {
			b = a.trailer(b)
		}
		return b
	})
}

// appendBoards opens an answer: the state of each board's period, and the common members.
func (s *Selection) appendBoards(b []byte, states []leaderboard.State, all *leaderboard.State) []byte {
	b = append(b, `{"boards":[`...)
	for i := range s.Refs {
		ref, st := &s.Refs[i], &states[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(append(b, `{"board":`...), ref.Board)
		b = wire.AppendString(append(b, `,"window":`...), string(ref.Window))
		b = wire.AppendString(append(b, `,"period":`...), ref.Name)
		b = strconv.AppendInt(append(b, `,"total":`...), st.Total, 10)
		b = strconv.AppendInt(append(b, `,"seq":`...), st.Seq, 10)
		b = append(wire.AppendTime(append(b, `,"as_of":`...), st.AsOf), '}')
	}
	b = append(b, ']')
	for i, name := range s.Absent {
		if b = append(b, ','); i == 0 {
			b = append(b, `"absent":[`...)
		}
		b = wire.AppendString(b, name)
	}
	if len(s.Absent) > 0 {
		b = append(b, ']')
	}
	b = wire.AppendString(append(b, `,"mode":`...), string(s.Query.Mode))
	b = strconv.AppendInt(append(b, `,"total":`...), all.Total, 10)
	b = wire.AppendString(append(b, `,"source":`...), string(all.Source))
	return strconv.AppendBool(append(b, `,"stale":`...), all.Stale)
}

// selectionExtras returns the state of an answer about several boards, and the data to show with its entries.
func (h *combinedReader) selectionExtras(c *Call, s *Selection, a *combinedAnswer) (leaderboard.State, Extras, error) {
	st := s.State(a.states)
	if s.Shows == nil {
		return st, nil, nil
	}
	about := &Shown{State: st, Fresh: func() bool { return h.areFresh(s, a.states) }}
	for i := range a.n {
		about.Entries = append(about.Entries, a.entry(i).Entry)
	}
	shown, err := about.Find(c.Ctx, s.Shows)
	return about.State, shown, err
}

// areFresh reports whether an answer about several boards, each in a different state, may still go out.
func (h *combinedReader) areFresh(s *Selection, states []leaderboard.State) bool {
	for i := range states {
		if !h.Feed.Fresh(s.Refs[i].ID, states[i].Revision) {
			return false
		}
	}
	return true
}
