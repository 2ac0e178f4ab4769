package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"leaderboard/leaderboard"
)

// ReadQuery has the parameters of every read; the zero value reads the current period of the board's first window.
type ReadQuery struct {
	Window   leaderboard.Window // "": the board's first
	Period   string             // a name, current or previous; "": current
	Mode     leaderboard.Mode   // "": the board's; leaderboard.ModeAll: ranks in all modes
	MinSeq   int64              // answer from a state at least this new, such as Receipt.Seq; leaderboard.ErrSeqAhead
	Profiles bool               // show profiles beside the entries
	Metadata bool               // show the metadata of entries, on boards with the rule
}

func (q *ReadQuery) params() params {
	return newParams().text("window", string(q.Window)).text("period", q.Period).text("mode", string(q.Mode)).
		int("min_seq", q.MinSeq).bool("profiles", q.Profiles).bool("metadata", q.Metadata)
}

// TopQuery asks for a page.
type TopQuery struct {
	ReadQuery
	Limit  int    // 1 to 1,000; 0: 10
	Offset int64  // entries to skip from the best on
	Cursor string // Page.NextCursor of the page before, instead of Offset
}

func (q *TopQuery) params() url.Values {
	return q.ReadQuery.params().int("limit", int64(q.Limit)).int("offset", q.Offset).text("cursor", q.Cursor).Values
}

// Top returns a page of the ranking, from the top or at any depth.
func (c *Client) Top(ctx context.Context, board string, q TopQuery) (Page, error) {
	return get[Page](ctx, c, Path("boards", board, "top"), q.params())
}

// Entries iterates over the ranking from the best entry, from an offset or after a cursor to its end, q.Limit entries
// per request (0: 1,000). Concurrent changes shift nothing: each request goes on after the last entry of the one
// before.
func (c *Client) Entries(ctx context.Context, board string, q TopQuery) iter.Seq2[Entry, error] {
	return Items[Entry](ctx, c, Path("boards", board, "top"), q.params(), "entries")
}

// Member returns a member's entry with its rank and percentile. Errors: leaderboard.ErrNotRanked.
func (c *Client) Member(ctx context.Context, board, member string, q ReadQuery) (MemberEntry, error) {
	return get[MemberEntry](ctx, c, Path("boards", board, "members", member), q.params().Values)
}

// Around returns the entries around a member, before of them ahead and after below it (0 to 500 each), more on one side
// at an end of the ranking. Errors: leaderboard.ErrNotRanked.
func (c *Client) Around(ctx context.Context, board, member string, before, after int, q ReadQuery) (Page, error) {
	return get[Page](ctx, c, Path("boards", board, "members", member, "around"), aroundParams(q.params(), before, after))
}

// FindQuery asks for members by what is shown of them.
type FindQuery struct {
	ReadQuery
	Name   string // the beginning of the display name in whatever case, or of the id of a member without one; three characters at least
	Limit  int    // 1 to 100; 0: 20
	Cursor string // Page.NextCursor of the page before
}

// FindMembers finds members with an entry in the period.
func (c *Client) FindMembers(ctx context.Context, board string, q FindQuery) (Found, error) {
	return get[Found](ctx, c, Path("boards", board, "members"), q.params().text("q", q.Name).int("limit", int64(q.Limit)).text("cursor", q.Cursor).Values)
}

func aroundParams(p params, before, after int) url.Values {
	p.Set("before", strconv.Itoa(before))
	p.Set("after", strconv.Itoa(after))
	return p.Values
}

// Ranks returns the ranks of up to 1,000 members.
func (c *Client) Ranks(ctx context.Context, board string, members []string, q ReadQuery) (Ranks, error) {
	return call[Ranks](ctx, c, Request{
		Method: http.MethodPost, Path: Path("boards", board, "ranks"), Query: q.params().Values, Body: memberList{members},
	})
}

type memberList struct {
	Members []string `json:"members"`
}

// FriendRanks returns a member among its friends, best first, all at one state. Limit 0 is 10. Needs scope read, or the member's own token on a
// public board.
func (c *Client) FriendRanks(ctx context.Context, board, member string, limit, offset int, q ReadQuery) (FriendRanks, error) {
	p := q.params().int("limit", int64(limit)).int("offset", int64(offset))
	return get[FriendRanks](ctx, c, Path("boards", board, "members", member, "friends"), p.Values)
}

// ScoreQuery asks for the rank that a new entry with a score would have.
type ScoreQuery struct {
	Window   leaderboard.Window
	Period   string
	MinSeq   int64
	Score    int64
	Tiebreak *int64 // nil: 0
	Fields   Fields // instead of Tiebreak, all of the board's fields
}

// ScoreRank returns the rank that a new entry would have now.
func (c *Client) ScoreRank(ctx context.Context, board string, q ScoreQuery) (ScoreRank, error) {
	p := newParams().text("window", string(q.Window)).text("period", q.Period).int("min_seq", q.MinSeq).text("fields", q.Fields.String())
	if q.Tiebreak != nil {
		p.Set("tiebreak", strconv.FormatInt(*q.Tiebreak, 10))
	}
	return get[ScoreRank](ctx, c, Path("boards", board, "scores", strconv.FormatInt(q.Score, 10), "rank"), p.Values)
}

// Distribution returns the histogram of the scores in at most this many buckets (1 to 1,000; 0: 40).
func (c *Client) Distribution(ctx context.Context, board string, buckets int, q ReadQuery) (Distribution, error) {
	return get[Distribution](ctx, c, Path("boards", board, "distribution"), q.params().int("buckets", int64(buckets)).Values)
}
