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
	Before      *ChangedEntry `json:"before"` // nil: there was none
	After       *ChangedEntry `json:"after"`  // nil: there is none any more
	// Cursor is where the changes go on. Keep it with what was made of the change.
	Cursor string `json:"cursor"`

	// End: nothing is committed to the period any more, and nothing else is set but Period and Cursor, which is of the next
	// period. It is "" while the board names no further season.
	End bool `json:"end,omitzero"`
}

// ChangedEntry is what a member has in a period before or after a change.
type ChangedEntry struct {
	Score       int64     `json:"score"`
	Tiebreak    int64     `json:"tiebreak"`
	Fields      Fields    `json:"fields,omitzero"`
	CreatedTime time.Time `json:"created_time"`
}
