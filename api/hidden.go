package api

import (
	"time"

	"leaderboard/leaderboard"
)

// HiddenMember is a member who is hidden, on one board or everywhere.
type HiddenMember struct {
	Member   string    `json:"member"`
	Board    string    `json:"board,omitzero"` // "": everywhere
	Reason   string    `json:"reason"`
	Actor    string    `json:"actor"`
	HiddenAt time.Time `json:"hidden_at"`
}

// Moderated is the outcome of a moderation.
type Moderated struct {
	Action    leaderboard.ModerationAction `json:"action"`
	Board     string                       `json:"board,omitzero"` // "": everywhere
	Members   int                          `json:"members"`        // in the request
	Unchanged []string                     `json:"unchanged"`      // members who were not hidden, or had no entry
}
