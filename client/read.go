package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"

	"leaderboard/api"
)

// Top returns a page of the ranking, from the top or at any depth.
func (c *Client) Top(ctx context.Context, board string, q TopQuery) (Page, error) {
	return get[Page](ctx, c, Path("boards", board, "top"), q)
}

// Entries iterates over the ranking from the best entry, from an offset or after a cursor to its end, q.Limit entries per request
// (0: 1,000). Concurrent changes shift nothing: each request continues after the last entry of the previous one.
func (c *Client) Entries(ctx context.Context, board string, q TopQuery) iter.Seq2[Entry, error] {
	return Items[Entry](ctx, c, Path("boards", board, "top"), api.Values(q), "entries")
}

// Member returns a member's entry with its rank and percentile. Errors: leaderboard.ErrNotRanked.
func (c *Client) Member(ctx context.Context, board, member string, q ReadQuery) (MemberEntry, error) {
	return get[MemberEntry](ctx, c, Path("boards", board, "members", member), q)
}

// Around returns the entries around a member, before of them ahead and after below it (0 to 500 each), more on one side
// at an end of the ranking. Errors: leaderboard.ErrNotRanked.
func (c *Client) Around(ctx context.Context, board, member string, before, after int, q ReadQuery) (Page, error) {
	return get[Page](ctx, c, Path("boards", board, "members", member, "around"), api.AroundQuery{ReadQuery: q, Before: &before, After: &after})
}

// FindMembers finds members with an entry in the period.
func (c *Client) FindMembers(ctx context.Context, board string, q FindQuery) (Found, error) {
	return get[Found](ctx, c, Path("boards", board, "members"), q)
}

// Ranks returns the ranks of up to 1,000 members.
func (c *Client) Ranks(ctx context.Context, board string, members []string, q ReadQuery) (Ranks, error) {
	return call[Ranks](ctx, c, Request{
		Method: http.MethodPost, Path: Path("boards", board, "ranks"), Query: api.Values(q), Body: memberList{members},
	})
}

type memberList struct {
	Members []string `json:"members"`
}

// FriendRanks returns a member among its friends, best first, all at one state. Limit 0 is 10. Needs scope read, or the member's own token on a
// public board.
func (c *Client) FriendRanks(ctx context.Context, board, member string, limit, offset int, q ReadQuery) (FriendRanks, error) {
	return get[FriendRanks](ctx, c, Path("boards", board, "members", member, "friends"), api.FriendsQuery{ReadQuery: q, Limit: limit, Offset: int64(offset)})
}

// ScoreRank returns the rank that a new entry would have now.
func (c *Client) ScoreRank(ctx context.Context, board string, q ScoreQuery) (ScoreRank, error) {
	return get[ScoreRank](ctx, c, Path("boards", board, "scores", strconv.FormatInt(q.Score, 10), "rank"), q)
}

// Distribution returns the histogram of the scores in at most this many buckets (1 to 1,000; 0: 40).
func (c *Client) Distribution(ctx context.Context, board string, buckets int, q ReadQuery) (Distribution, error) {
	return get[Distribution](ctx, c, Path("boards", board, "distribution"), api.DistributionQuery{ReadQuery: q, Buckets: buckets})
}
