package client

import (
	"context"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"leaderboard/leaderboard"
)

// BoardsQuery selects several boards, to rank them as one or to ask about a member on each: by name or by labels.
type BoardsQuery struct {
	Boards []string           // 1 to 50 names; of Standings 1 to 200
	Labels leaderboard.Labels // all boards that have all of these
	Window leaderboard.Window // "": the first of each
	Period string             // "": current
	Mode   leaderboard.Mode   // strict, tied or all; "": the boards' own mode if they agree, strict otherwise
	MinSeq map[string]int64   // by board: answer from states at least this new
	// Profiles shows profiles beside the entries.
	Profiles bool
	// Metadata shows the metadata of the entries of Standings, on 100 boards at most. Combined rankings have none.
	Metadata bool
}

func (q *BoardsQuery) params() params {
	seqs := make([]string, 0, len(q.MinSeq))
	for _, board := range slices.Sorted(maps.Keys(q.MinSeq)) {
		seqs = append(seqs, board+":"+strconv.FormatInt(q.MinSeq[board], 10))
	}
	return newParams().text("boards", strings.Join(q.Boards, ",")).text("labels", q.Labels.String()).
		text("window", string(q.Window)).text("period", q.Period).text("mode", string(q.Mode)).
		text("min_seq", strings.Join(seqs, ",")).bool("profiles", q.Profiles)
}

// CombinedTop returns a page of several boards ranked as one. The limit, offset and cursor are those of a TopQuery.
func (c *Client) CombinedTop(ctx context.Context, boards BoardsQuery, limit int, offset int64, cursor string) (Combined, error) {
	return get[Combined](ctx, c, Path("rankings", "top"), combinedParams(&boards, limit, offset, cursor))
}

// CombinedEntries walks the ranking of several boards from an offset to its end.
func (c *Client) CombinedEntries(ctx context.Context, boards BoardsQuery, offset int64) iter.Seq2[CombinedEntry, error] {
	return Items[CombinedEntry](ctx, c, Path("rankings", "top"), combinedParams(&boards, 0, offset, ""), "entries")
}

func combinedParams(q *BoardsQuery, limit int, offset int64, cursor string) url.Values {
	return q.params().int("limit", int64(limit)).int("offset", offset).text("cursor", cursor).Values
}

// CombinedMember returns all entries of a member on several boards. Errors: leaderboard.ErrNotRanked.
func (c *Client) CombinedMember(ctx context.Context, member string, boards BoardsQuery) (Combined, error) {
	return get[Combined](ctx, c, Path("rankings", "members", member), boards.params().Values)
}

// CombinedAround returns the entries around the best one of a member on several boards. Errors:
// leaderboard.ErrNotRanked.
func (c *Client) CombinedAround(ctx context.Context, member string, before, after int, boards BoardsQuery) (Combined, error) {
	return get[Combined](ctx, c, Path("rankings", "members", member, "around"), aroundParams(boards.params(), before, after))
}

// Standings returns where a member stands on each of up to 200 boards, which need not be alike. Profiles of the query has
// no meaning here.
func (c *Client) Standings(ctx context.Context, member string, boards BoardsQuery) (Standings, error) {
	boards.Profiles = false
	return get[Standings](ctx, c, Path("members", member, "standings"), boards.params().bool("metadata", boards.Metadata).Values)
}
