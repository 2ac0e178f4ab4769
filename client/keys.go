package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// CreateKey creates a key. It is sent once: when the answer is lost, the key's secret is lost too, and the key should
// be revoked. Needs scope admin, like the methods below except OwnKey.
func (c *Client) CreateKey(ctx context.Context, k KeyRequest) (NewKey, error) {
	return call[NewKey](ctx, c, Request{Method: http.MethodPost, Path: Path("keys"), Body: k, Once: true})
}

// Keys lists the keys in the order of their ids, revoked and expired ones too.
func (c *Client) Keys(ctx context.Context) iter.Seq2[Key, error] {
	return Items[Key](ctx, c, Path("keys"), nil, "keys")
}

// GetKey returns one key. Errors: leaderboard.ErrKeyNotFound.
func (c *Client) GetKey(ctx context.Context, id string) (Key, error) {
	return get[Key](ctx, c, Path("keys", id), nil)
}

// OwnKey returns the key that the client sends. Needs scope read.
func (c *Client) OwnKey(ctx context.Context) (Key, error) {
	return get[Key](ctx, c, Path("key"), nil)
}

// PatchKey changes the members of KeyRequest that a merge patch (RFC 7396) names: null gives boards, expires_at or a
// quota the value of a key that was created without. It takes effect on every server within a second.
func (c *Client) PatchKey(ctx context.Context, id string, patch any) (Key, error) {
	return call[Key](ctx, c, Request{Method: http.MethodPatch, Path: Path("keys", id), Body: patch})
}

// RotateKey gives a key another secret under the same id. The previous secret stays valid for the overlap. It is sent
// once: a second rotation would end the secret that is in use.
func (c *Client) RotateKey(ctx context.Context, id string, overlap time.Duration) (NewKey, error) {
	return call[NewKey](ctx, c, Request{
		Method: http.MethodPost, Path: Path("keys", id, "rotate"), Body: map[string]string{"overlap": overlap.String()}, Once: true,
	})
}

// RevokeKey ends a key for good.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	return c.drop(ctx, Request{Method: http.MethodDelete, Path: Path("keys", id)})
}
