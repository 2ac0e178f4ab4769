package api

import (
	"time"
)

// Change is one change of a board, or the end of one of its periods.
type Change struct {
	Period      string        `json:"period"`
	Seq         int64         `json:"seq"`
	CommittedAt time.Time     `json:"committed_at"`
	Member      string        `json:"member"`
	Before      *ChangedEntry `json:"before"` // nil: the member had no entry
	After       *ChangedEntry `json:"after"`  // nil: the entry is removed or hidden
	// Cursor is the place after this change. Store it together with the effect of the change.
	Cursor string `json:"cursor"`

	// End: the period has no further changes. Only Period and Cursor are set, and Cursor is the begin of the next period: ""
	// while the board names no further season.
	End bool `json:"end,omitzero"`
}

// ChangedEntry is the entry of a member before or after a change.
type ChangedEntry struct {
	Score       int64     `json:"score"`
	Tiebreak    int64     `json:"tiebreak"`
	Fields      Fields    `json:"fields,omitzero"`
	CreatedTime time.Time `json:"created_time"`
}
