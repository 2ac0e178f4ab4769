package api

import (
	"encoding/json"
	"time"

	"leaderboard/leaderboard"
)

// History is a member's entries in periods of a window, newest first; periods without an entry are left out.
type History struct {
	Board      string             `json:"board"`
	Window     leaderboard.Window `json:"window"`
	Member     string             `json:"member"`
	AsOf       time.Time          `json:"as_of"`
	Source     leaderboard.Source `json:"source"`
	Stale      bool               `json:"stale"`
	Periods    []HistoryPeriod    `json:"periods"`
	NextCursor string             `json:"next_cursor,omitzero"` // "": no older ones
}

// HistoryPeriod is a member's entry in one period, exact at Seq.
type HistoryPeriod struct {
	Period      string          `json:"period"`
	StrictRank  int64           `json:"strict_rank"`
	TiedRank    int64           `json:"tied_rank"`
	Score       int64           `json:"score"`
	Tiebreak    int64           `json:"tiebreak"`
	Fields      Fields          `json:"fields,omitzero"`
	CreatedTime time.Time       `json:"created_time"`
	Total       int64           `json:"total"` // entries of the period
	Seq         int64           `json:"seq"`
	Closed      bool            `json:"closed"`
	Metadata    json.RawMessage `json:"metadata,omitzero"` // an object, nil for none
}
