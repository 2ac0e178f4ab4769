package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"leaderboard"
)

// Key is an API key, without its secret.
type Key struct {
	ID                  string            `json:"id"`
	Name                string            `json:"name"`
	Scope               leaderboard.Scope `json:"scope"`
	Boards              []string          `json:"boards"`     // names and prefixes such as "game1-*"; nil: all boards
	ExpiresAt           *time.Time        `json:"expires_at"` // nil: never
	Quota               *Quota            `json:"quota"`      // nil: what the server's settings say
	CreatedTime         *time.Time        `json:"created_time"`
	UpdatedTime         *time.Time        `json:"updated_time"`
	LastUsedAt          *time.Time        `json:"last_used_at"` // to the minute, nil: never
	RevokedAt           *time.Time        `json:"revoked_at"`
	PreviousSecretUntil *time.Time        `json:"previous_secret_until"` // the secret before the last rotation is taken till then
}

// Quota is what a key may ask for in a second; nil is what the server's settings say.
type Quota struct {
	RequestsPerSecond *int64 `json:"requests_per_second"`
	RowsPerSecond     *int64 `json:"rows_per_second"`
}

// NewKey is a key with its secret, which no other answer shows.
type NewKey struct {
	Key
	Secret string `json:"secret"` // what WithKey takes
}

// KeyRequest says what a key is to be.
type KeyRequest struct {
	Name      string            `json:"name"`
	Scope     leaderboard.Scope `json:"scope"`
	Boards    []string          `json:"boards,omitempty"`     // none: all boards
	ExpiresAt *time.Time        `json:"expires_at,omitempty"` // nil: never
	Quota     *Quota            `json:"quota,omitempty"`
}

// CreateKey makes a key. It is sent once: an answer that is lost leaves a key whose secret nobody knows, to be revoked. Needs
// scope admin, as all that follows but OwnKey.
func (c *Client) CreateKey(ctx context.Context, k KeyRequest) (NewKey, error) {
	return call[NewKey](ctx, c, Request{Method: http.MethodPost, Path: Path("keys"), Body: k, Once: true})
}

// Keys lists the keys in the order of their ids, those that are revoked or expired too.
func (c *Client) Keys(ctx context.Context) iter.Seq2[Key, error] {
	return Items[Key](ctx, c, Path("keys"), nil, "keys")
}

// GetKey returns one key; leaderboard.ErrKeyNotFound.
func (c *Client) GetKey(ctx context.Context, id string) (Key, error) {
	return get[Key](ctx, c, Path("keys", id), nil)
}

// OwnKey returns the key that the client sends. Needs scope read.
func (c *Client) OwnKey(ctx context.Context) (Key, error) {
	return get[Key](ctx, c, Path("key"), nil)
}

// PatchKey changes what a merge patch names (RFC 7396), among the members of KeyRequest: null gives boards, expires_at and a
// quota the value of a key that was made without. Within a second it counts on every server.
func (c *Client) PatchKey(ctx context.Context, id string, patch any) (Key, error) {
	return call[Key](ctx, c, Request{Method: http.MethodPatch, Path: Path("keys", id), Body: patch})
}

// RotateKey gives a key another secret under the same id. The one before is taken too for the time of the overlap. It is sent
// once: after a second rotation the one in use would not be the one before any more.
func (c *Client) RotateKey(ctx context.Context, id string, overlap time.Duration) (NewKey, error) {
	return call[NewKey](ctx, c, Request{
		Method: http.MethodPost, Path: Path("keys", id, "rotate"), Body: map[string]string{"overlap": overlap.String()}, Once: true,
	})
}

// RevokeKey ends a key for good.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	return c.drop(ctx, Request{Method: http.MethodDelete, Path: Path("keys", id)})
}
