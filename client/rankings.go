package client

import (
	"context"
	"iter"

	"leaderboard/api"
)

// CombinedTop returns a page of several boards ranked as one. Limit, offset and cursor work as in a TopQuery.
func (c *Client) CombinedTop(ctx context.Context, boards BoardsQuery, limit int, offset int64, cursor string) (Combined, error) {
	return get[Combined](ctx, c, Path("rankings", "top"), api.CombinedQuery{BoardsQuery: boards, Limit: limit, Offset: offset, Cursor: cursor})
}

// CombinedEntries walks the ranking of several boards from an offset to its end.
func (c *Client) CombinedEntries(ctx context.Context, boards BoardsQuery, offset int64) iter.Seq2[CombinedEntry, error] {
	return Items[CombinedEntry](ctx, c, Path("rankings", "top"), api.Values(api.CombinedQuery{BoardsQuery: boards, Offset: offset}), "entries")
}

// CombinedMember returns all entries of a member on several boards. Errors: leaderboard.ErrNotRanked.
func (c *Client) CombinedMember(ctx context.Context, member string, boards BoardsQuery) (Combined, error) {
	return get[Combined](ctx, c, Path("rankings", "members", member), boards)
}

// CombinedAround returns the entries around the best one of a member on several boards. Errors:
// leaderboard.ErrNotRanked.
func (c *Client) CombinedAround(ctx context.Context, member string, before, after int, boards BoardsQuery) (Combined, error) {
	return get[Combined](ctx, c, Path("rankings", "members", member, "around"), api.CombinedAroundQuery{BoardsQuery: boards, Before: &before, After: &after})
}

// Standings returns where a member stands on each of up to 200 boards, which need not be alike. Profiles of the query has
// no meaning here.
func (c *Client) Standings(ctx context.Context, member string, boards BoardsQuery) (Standings, error) {
	boards.Profiles = false
	return get[Standings](ctx, c, Path("members", member, "standings"), boards)
}
