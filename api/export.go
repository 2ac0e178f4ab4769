package api

import (
	"encoding/json"
	"time"
)

// ExportedEntry is an entry of an export, with both ranks.
type ExportedEntry struct {
	StrictRank  int64           `json:"strict_rank"`
	TiedRank    int64           `json:"tied_rank"`
	Member      string          `json:"member"`
	Score       int64           `json:"score"`
	Tiebreak    int64           `json:"tiebreak"`
	Fields      Fields          `json:"fields,omitzero"`
	CreatedTime time.Time       `json:"created_time"`
	Metadata    json.RawMessage `json:"metadata,omitzero"` // an object, nil for none
}
