package api

import (
	"time"
)

// HiddenMember is a member who is hidden, on one board or everywhere.
type HiddenMember struct {
	Member   string    `json:"member"`
	Board    string    `json:"board,omitzero"` // "": everywhere
	Reason   string    `json:"reason"`
	Actor    string    `json:"actor"`
	HiddenAt time.Time `json:"hidden_at"`
}
