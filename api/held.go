package api

import (
	"encoding/json"
	"time"

	"leaderboard/leaderboard"
)

// Held is a submission that waits for an admin, or did: see leaderboard.Review.
type Held struct {
	ID          string                `json:"id"`
	Board       string                `json:"board"`
	Member      string                `json:"member"`
	State       leaderboard.HeldState `json:"state"`
	Reason      string                `json:"reason"` // why it was held
	Score       *int64                `json:"score"`  // as submitted; nil: submitted without a score
	Tiebreak    *int64                `json:"tiebreak,omitzero"`
	Fields      Fields                `json:"fields,omitzero"`
	Set         Fields                `json:"set,omitzero"`
	Add         Fields                `json:"add,omitzero"`
	Op          leaderboard.Policy    `json:"op,omitzero"`
	KeepTime    bool                  `json:"keep_time,omitzero"`
	Metadata    json.RawMessage       `json:"metadata,omitzero"`
	NewScore    int64                 `json:"new_score"` // that it would have made when it came in
	NewTiebreak int64                 `json:"new_tiebreak"`
	CreatedTime time.Time             `json:"created_time"` // of its entry once approved, but with policy sum
	HeldTime    time.Time             `json:"held_time"`
	Actor       string                `json:"actor"`
	RequestID   string                `json:"request_id"`
	DecidedTime *time.Time            `json:"decided_time"` // nil: it waits
	DecidedBy   string                `json:"decided_by,omitzero"`
	Note        string                `json:"note,omitzero"`
	Outcome     leaderboard.Status    `json:"outcome,omitzero"` // of an approved one: applied or unchanged
}
