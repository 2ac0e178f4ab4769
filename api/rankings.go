package api

import (
	"encoding/json"
	"time"

	"leaderboard/leaderboard"
)

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
	NextCursor string             `json:"next_cursor,omitzero"`
}

// Standings has the standings of a member on several boards, in the order of their names, each exact at its Seq.
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
	Mode        leaderboard.Mode   `json:"mode"`          // how Rank is numbered
	Rank        int64              `json:"rank,omitzero"` // 0 in mode all, which has the next two
	StrictRank  int64              `json:"strict_rank,omitzero"`
	TiedRank    int64              `json:"tied_rank,omitzero"`
	DenseRank   int64              `json:"dense_rank,omitzero"` // 0: not known
	Score       int64              `json:"score"`
	Tiebreak    int64              `json:"tiebreak"`
	Fields      Fields             `json:"fields,omitzero"`
	CreatedTime time.Time          `json:"created_time"`
	Percentile  float64            `json:"percentile"` // share of the entries that this one is at least as good as
	Total       int64              `json:"total"`      // entries of the period
	Seq         int64              `json:"seq"`
	AsOf        time.Time          `json:"as_of"`
	Metadata    json.RawMessage    `json:"metadata,omitzero"` // an object, nil for none
}
