package api

import (
	"encoding/json"
	"time"

	"leaderboard/leaderboard"
)

// AuditEntry is the record of one change.
type AuditEntry struct {
	ID        int64                   `json:"id"`
	Time      time.Time               `json:"time"`
	Actor     string                  `json:"actor"` // id of the key; "": the server itself
	Action    leaderboard.AuditAction `json:"action"`
	Board     string                  `json:"board,omitzero"`
	Member    string                  `json:"member,omitzero"`
	Before    json.RawMessage         `json:"before"` // an object or null
	After     json.RawMessage         `json:"after"`
	RequestID string                  `json:"request_id,omitzero"`
}
