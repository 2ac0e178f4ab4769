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

// ModerationRequest is one action on many members.
type ModerationRequest struct {
	Action  leaderboard.ModerationAction `json:"action"`
	Members []string                     `json:"members"`
	Reason  string                       `json:"reason,omitzero"` // needed to hide
	Actor   string                       `json:"actor,omitzero"`  // "": the key
	Reopen  bool                         `json:"reopen,omitzero"` // closed periods too
}

// Moderated is the outcome of a moderation.
type Moderated struct {
	Action    leaderboard.ModerationAction `json:"action"`
	Board     string                       `json:"board,omitzero"` // "": everywhere
	Members   int                          `json:"members"`        // in the request
	Unchanged []string                     `json:"unchanged"`      // members who were not hidden, or had no entry
}
