package api

import (
	"time"

	"leaderboard/leaderboard"
)

// Key is an API key, without its secret.
type Key struct {
	ID                  string            `json:"id"`
	Name                string            `json:"name"`
	Scope               leaderboard.Scope `json:"scope"`
	Boards              []string          `json:"boards"`     // names and prefixes such as "game1-*"; nil: all boards
	ExpiresAt           *time.Time        `json:"expires_at"` // nil: never
	Quota               *Quota            `json:"quota"`      // nil: the server's settings
	CreatedTime         *time.Time        `json:"created_time"`
	UpdatedTime         *time.Time        `json:"updated_time"`
	LastUsedAt          *time.Time        `json:"last_used_at"` // to the minute, nil: never
	RevokedAt           *time.Time        `json:"revoked_at"`
	PreviousSecretUntil *time.Time        `json:"previous_secret_until"` // until then the secret before the last rotation is valid too
	Person              string            `json:"person,omitzero"`       // who signed in, of the key of a session
	Role                string            `json:"role,omitzero"`         // that gave it the scope
}

// Quota limits the use of a key per second; a nil field means the server's settings.
type Quota struct {
	RequestsPerSecond *int64 `json:"requests_per_second"`
	RowsPerSecond     *int64 `json:"rows_per_second"`
}

// Session is who asks, and whether people can sign in.
type Session struct {
	SignIn bool `json:"sign_in"`
	Key    *Key `json:"key"` // of the request, nil without one
}

// NewKey is a key with its secret, which no other answer shows.
type NewKey struct {
	Key
	Secret string `json:"secret,omitzero"` // the argument of WithKey
}

// KeyRequest describes a new key.
type KeyRequest struct {
	Name      string            `json:"name"`
	Scope     leaderboard.Scope `json:"scope"`
	Boards    []string          `json:"boards,omitempty"`    // empty: all boards
	ExpiresAt *time.Time        `json:"expires_at,omitzero"` // nil: never
	Quota     *Quota            `json:"quota,omitzero"`
}
