package httpapi

import (
	"errors"
	"strconv"
	"strings"

	"leaderboard"
)

// mergedTop answers GET /v1/rankings/top.
func mergedTop(c *call) error {
	limit, offset, cursor := c.pageParams()
	return c.merging(func(s *selected) error {
		q := leaderboard.MergedQuery{Mode: s.query.Mode, Limit: int(limit), Offset: offset}
		of := placesIn(s.refs[0].Rules)
		if cursor != "" {
			var ok bool
			if q.After, q.AfterBoard, ok = of.afterPlace(cursor); !ok {
				return malformed(badCursor())
			}
		}
		page, err := c.mergedPage(s, q)
		if err != nil {
			return err
		}
		a := pageAnswer(page)
		a.tag = c.tagOf(s, page.States).int(limit).int(offset).text(q.After).text(q.AfterBoard)
		a.trailer = func(b []byte) []byte {
			if page.Next == "" {
				return b
			}
			return append(of.appendCursor(append(b, `,"next_cursor":"`...), place(page.Next, page.NextBoard)), '"')
		}
		return c.sendMerged(s, a)
	})
}

// mergedMember answers GET /v1/rankings/members/{member}: all entries of the member.
func mergedMember(c *call) error {
	member := c.member()
	return c.merging(func(s *selected) error {
		q := leaderboard.MergedMemberQuery{Mode: s.query.Mode, Member: member}
		found, err := c.merged().MergedMember(c.ctx, s.refs, q)
		if err == nil && !s.reached(found.States) {
			q.Fresh = true
			if found, err = c.merged().MergedMember(c.ctx, s.refs, q); err == nil && !s.reached(found.States) {
				err = leaderboard.ErrSeqAhead
			}
		}
		if err == nil && len(found.Entries) == 0 {
			err = leaderboard.ErrNotRanked
		}
		if err != nil {
			return c.whyAbsentFrom(s.boards(), member, err)
		}
		total := leaderboard.Total(found.States)
		return c.sendMerged(s, mergedAnswer{
			states: found.States, n: len(found.Entries), tag: c.tagOf(s, found.States).text(member),
			entry: func(i int) *leaderboard.MergedRanked { return &found.Entries[i].MergedRanked },
			more: func(b []byte, i int) []byte {
				b = append(b, `,"percentile":`...)
				return strconv.AppendFloat(b, leaderboard.Percentile(found.Entries[i].Tied, total), 'f', -1, 64)
			},
		})
	})
}

// mergedAround answers GET /v1/rankings/members/{member}/around: the slice around the member's best entry.
func mergedAround(c *call) error {
	member := c.member()
	before, after := c.aroundParams()
	return c.merging(func(s *selected) error {
		page, err := c.mergedPage(s, leaderboard.MergedQuery{
			Mode: s.query.Mode, Around: member, Before: int(before), Limit: int(before + 1 + after),
		})
		if err != nil {
			return c.whyAbsentFrom(s.boards(), member, err)
		}
		a := pageAnswer(page)
		a.tag = c.tagOf(s, page.States).text(member).int(before).int(after)
		return c.sendMerged(s, a)
	})
}

// mergedPage asks for a page, once more and past all copies when the states asked for are not reached.
func (c *call) mergedPage(s *selected, q leaderboard.MergedQuery) (*leaderboard.MergedPage, error) {
	page, err := c.merged().MergedPage(c.ctx, s.refs, q)
	notRanked := errors.Is(err, leaderboard.ErrNotRanked) && s.minSeqs != nil // perhaps not in a copy
	if err == nil && s.reached(page.States) || err != nil && !notRanked {
		return page, err
	}
	q.Fresh = true
	if page, err = c.merged().MergedPage(c.ctx, s.refs, q); err == nil && !s.reached(page.States) {
		err = leaderboard.ErrSeqAhead
	}
	return page, err
}

func pageAnswer(page *leaderboard.MergedPage) mergedAnswer {
	return mergedAnswer{
		states: page.States, n: len(page.Entries),
		entry: func(i int) *leaderboard.MergedRanked { return &page.Entries[i] },
	}
}

// placesIn is the list of the entries of any boards with the order of these rules: a place in it stays one when boards
// come and go.
func placesIn(rules *leaderboard.Rules) list {
	of := list{name: "rankings"}
	if rules.Order == leaderboard.OrderAsc {
		of.id |= 1
	}
	if rules.Tiebreak.Order == leaderboard.OrderAsc {
		of.id |= 2
	}
	return of
}

// place is what a cursor continues after: a sort key, which may have any bytes in it, and the name of a board, which has
// no zero byte.
func place(key, board string) string { return key + "\x00" + board }

func (l list) afterPlace(cursor string) (key, board string, ok bool) {
	s, ok := l.after(cursor)
	if !ok {
		return "", "", false
	}
	at := strings.LastIndexByte(s, 0)
	if at < 0 {
		return "", "", false
	}
	key, board = s[:at], s[at+1:]
	return key, board, isKey(key) && leaderboard.CheckBoardName(board) == nil
}
