package client

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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

// BoardState is the state of one of several boards.
type BoardState struct {
	Board  string             `json:"board"`
	Window leaderboard.Window `json:"window"`
	Period string             `json:"period"`
	Total  int64              `json:"total"`
	Seq    int64              `json:"seq"`
	AsOf   time.Time          `json:"as_of"`
}

// CombinedEntry is an entry of one of several boards.
type CombinedEntry struct {
	Board string `json:"board"`
	Entry
}

// Combined is entries of several boards ranked as one, best first, each with its board.
type Combined struct {
	Boards     []BoardState       `json:"boards"`           // in the order of their names
	Absent     []string           `json:"absent,omitempty"` // boards without such a window or period
	Mode       leaderboard.Mode   `json:"mode"`
	Total      int64              `json:"total"` // entries of all boards
	Source     leaderboard.Source `json:"source"`
	Stale      bool               `json:"stale"`
	Entries    []CombinedEntry    `json:"entries"`
	NextCursor string             `json:"next_cursor,omitempty"`
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

// Standings is where a member stands on several boards, in the order of their names, each at a state of its own.
type Standings struct {
	Member    string             `json:"member"`
	Source    leaderboard.Source `json:"source"` // the slowest layer that was asked
	Stale     bool               `json:"stale"`
	Standings []Standing         `json:"standings"`
	NotRanked []string           `json:"not_ranked"`       // boards on which the member has no entry
	Absent    []string           `json:"absent,omitempty"` // boards without such a window or period
}

// Standing is where a member stands on one of several boards, exact at Seq.
type Standing struct {
	Board       string             `json:"board"`
	Window      leaderboard.Window `json:"window"`
	Period      string             `json:"period"`
	Mode        leaderboard.Mode   `json:"mode"` // how Rank is numbered
	Rank        int64              `json:"rank"` // 0 in mode all, which has the next two
	StrictRank  int64              `json:"strict_rank"`
	TiedRank    int64              `json:"tied_rank"`
	Score       int64              `json:"score"`
	Tiebreak    int64              `json:"tiebreak"`
	Fields      Fields             `json:"fields,omitempty"`
	CreatedTime time.Time          `json:"created_time"`
	Percentile  float64            `json:"percentile"` // share of the entries that this one is at least as good as
	Total       int64              `json:"total"`      // entries of the period
	Seq         int64              `json:"seq"`
	AsOf        time.Time          `json:"as_of"`
	Metadata    json.RawMessage    `json:"metadata,omitempty"` // an object, nil for none
}

// Standings returns where a member stands on each of up to 200 boards, which need not be alike. Profiles of the query has
// no meaning here.
func (c *Client) Standings(ctx context.Context, member string, boards BoardsQuery) (Standings, error) {
	boards.Profiles = false
	return get[Standings](ctx, c, Path("members", member, "standings"), boards.params().bool("metadata", boards.Metadata).Values)
}
