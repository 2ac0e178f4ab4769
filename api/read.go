package api

import (
	"encoding/json"
	"time"

	"leaderboard/leaderboard"
)

// State names the period and the state that an answer is exact at.
type State struct {
	Board  string             `json:"board"`
	Window leaderboard.Window `json:"window"`
	Period string             `json:"period"`
	Mode   leaderboard.Mode   `json:"mode"`
	Total  int64              `json:"total"` // entries of the period
	Seq    int64              `json:"seq"`
	AsOf   time.Time          `json:"as_of"`
	Source leaderboard.Source `json:"source"`
	Stale  bool               `json:"stale"` // there may be something newer
}

// Entry is a ranked entry.
type Entry struct {
	Rank        int64           `json:"rank,omitzero"`        // in the mode of the answer; the next three in mode all
	StrictRank  int64           `json:"strict_rank,omitzero"` // 0 in other modes
	TiedRank    int64           `json:"tied_rank,omitzero"`
	DenseRank   int64           `json:"dense_rank,omitzero"` // 0: not known
	Position    int64           `json:"position,omitzero"`   // among the members asked for
	Member      string          `json:"member"`
	Score       int64           `json:"score"`
	Tiebreak    int64           `json:"tiebreak"`
	Fields      Fields          `json:"fields,omitzero"` // on boards with tiebreak fields
	CreatedTime time.Time       `json:"created_time"`
	Percentile  float64         `json:"percentile,omitzero"` // of a single member: percentage of the entries that it is at least as good as
	Profile     *EntryProfile   `json:"profile,omitzero"`
	Metadata    json.RawMessage `json:"metadata,omitzero"` // an object, nil for none
}

// EntryProfile is the profile of a member, shown with an entry.
type EntryProfile struct {
	DisplayName string          `json:"display_name"`
	AvatarURL   string          `json:"avatar_url"`
	Attributes  json.RawMessage `json:"attributes"` // an object; numbers keep their digits
}

// MemberEntry is one member's entry.
type MemberEntry struct {
	State
	Entry
}

// Page is entries of a board, best first.
type Page struct {
	State
	Entries    []Entry `json:"entries"`
	NextCursor string  `json:"next_cursor,omitzero"` // "": no more
}

// Found is entries of members in the order of their shown names.
type Found struct {
	Page
	Partial bool `json:"partial"` // too many names begin so: members may be missing
}

// Ranks is given members, best first, each with its rank on the board and its position among them.
type Ranks struct {
	State
	Entries   []Entry  `json:"entries"`
	NotRanked []string `json:"not_ranked"`
}

// FriendRanks is a member among its friends.
type FriendRanks struct {
	State
	Friends int     `json:"friends"` // on the member's list
	Ranked  int     `json:"ranked"`  // of them and the member
	Self    *Entry  `json:"self"`    // nil when the member has no entry
	Entries []Entry `json:"entries"`
}

// ScoreRank is the rank that a new entry would have now.
type ScoreRank struct {
	State
	Score      int64  `json:"score"`
	Tiebreak   int64  `json:"tiebreak"`
	Fields     Fields `json:"fields,omitzero"`
	StrictRank int64  `json:"strict_rank"`
	TiedRank   int64  `json:"tied_rank"`
	DenseRank  int64  `json:"dense_rank,omitzero"` // in mode all; 0: not known
}

// Bucket is the number of entries with From <= score <= To.
type Bucket struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Count int64 `json:"count"`
}

// Distribution is a histogram of the scores, in ascending order and without gaps.
type Distribution struct {
	State
	Buckets []Bucket `json:"buckets"`
}
