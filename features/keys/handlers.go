package keys

import (
	"context"
	"net/http"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Keys keeps the keys of the database. Each change records the caller.
type Keys interface {
	// CreateKey adds a key under its ID, with the hash of its secret; *leaderboard.RuleError. All methods that change keys
	// record the caller.
	CreateKey(ctx context.Context, k leaderboard.Key, hash leaderboard.KeyHash) (leaderboard.Key, error)
	// ChangeKey changes a key; *leaderboard.RuleError, ErrKeyRevoked, ErrKeyNotFound.
	ChangeKey(ctx context.Context, id string, change leaderboard.KeyChange) (leaderboard.Key, error)
	// RotateKey gives a key another secret; for the time of the overlap the old one is valid as well. ErrKeyRevoked,
	// ErrKeyOverlap, ErrKeyNotFound.
	RotateKey(ctx context.Context, id string, hash leaderboard.KeyHash, overlap time.Duration) (leaderboard.Key, error)
	// RevokeKey ends a key for good; a repetition changes nothing. ErrKeyNotFound.
	RevokeKey(ctx context.Context, id string) (leaderboard.Key, error)
	// Key finds a key, also a revoked one; ErrKeyNotFound.
	Key(ctx context.Context, id string) (leaderboard.Key, error)
	// Keys lists up to limit keys with an id after that one, in the order of their ids.
	Keys(ctx context.Context, after string, limit int) ([]leaderboard.Key, error)
}

// handlers make, show, change and end keys.
type handlers struct{ keys Keys }

// routes are the routes about keys.
func (h *handlers) routes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.On("listKeys", h.list),
		httpapi.On("createKey", h.create),
		httpapi.On("getOwnKey", h.self),
		httpapi.On("getKey", h.get),
		httpapi.On("changeKey", h.patch),
		httpapi.On("revokeKey", h.revoke),
		httpapi.On("rotateKey", h.rotate),
	}
}

// keyBody is the body of POST /v1/keys, and as a merge patch the body of PATCH: omitted members do not change.
type keyBody struct {
	Name      *string                           `json:"name"`
	Scope     *leaderboard.Scope                `json:"scope"`
	Boards    wire.Nullable[[]string]           `json:"boards"`
	ExpiresAt wire.Nullable[leaderboard.Micros] `json:"expires_at"`
	Quota     wire.Nullable[struct {
		RequestsPerSecond wire.Nullable[int64] `json:"requests_per_second"`
		RowsPerSecond     wire.Nullable[int64] `json:"rows_per_second"`
	}] `json:"quota"`
}

// change returns the change that a body describes. An empty list and zeros, also as null, are refused: they may have been
// meant as none of them.
func (b *keyBody) change() (leaderboard.KeyChange, error) {
	c := leaderboard.KeyChange{Name: b.Name, Scope: b.Scope, Boards: b.Boards.To(), ExpiresAt: b.ExpiresAt.To()}
	var bad wire.BadFields
	if b.Boards.Given != nil && len(*b.Boards.Given) == 0 {
		bad.Add("/boards", "want at least one name or prefix, or null for all boards")
	}
	if b.ExpiresAt.Given != nil && *b.ExpiresAt.Given == 0 {
		bad.Add("/expires_at", "want a time, or null for never")
	}
	if b.Quota.Said {
		zero := int64(0)
		c.RequestsPerSecond, c.RowsPerSecond = &zero, &zero
	}
	if q := b.Quota.Given; q != nil {
		c.RequestsPerSecond, c.RowsPerSecond = q.RequestsPerSecond.To(), q.RowsPerSecond.To()
		for pointer, v := range map[string]*int64{"/quota/requests_per_second": q.RequestsPerSecond.Given, "/quota/rows_per_second": q.RowsPerSecond.Given} {
			if v != nil && *v == 0 {
				bad.Add(pointer, "want 1 at least, or null for what the server's settings say")
			}
		}
	}
	return c, bad.Err()
}

// create answers POST /v1/keys: 201 with the secret, which is never shown again.
func (h *handlers) create(c *httpapi.Call) error {
	var body keyBody
	if err := c.Decode(&body, false, nil); err != nil {
		return err
	}
	var bad wire.BadFields
	if body.Name == nil {
		bad.Add("/name", "is required")
	}
	if body.Scope == nil {
		bad.Add("/scope", "is required")
	}
	if err := bad.Err(); err != nil {
		return err
	}
	change, err := body.change()
	if err != nil {
		return err
	}
	k, err := leaderboard.Key{ID: leaderboard.NewKeyID()}.With(change)
	if err != nil {
		return err
	}
	secret, hash := leaderboard.NewKeySecret(k.ID)
	if k, err = h.keys.CreateKey(c.Ctx, k, hash); err != nil {
		return wire.WriteError(err)
	}
	c.Locate("/v1/keys/" + k.ID)
	return sendSecret(c, http.StatusCreated, &k, secret)
}

// sendSecret answers with a key and its secret, which no cache may keep.
func sendSecret(c *httpapi.Call, status int, k *leaderboard.Key, secret string) error {
	c.NoStore()
	return c.SendJSON(status, api.NewKey{Key: httpapi.ShowKey(k), Secret: secret})
}

// keyID returns the id in the path.
func keyID(c *httpapi.Call) (string, error) {
	id := c.Params.PathValue("id")
	if !leaderboard.IsKeyID(id) {
		return "", leaderboard.ErrKeyNotFound
	}
	return id, nil
}

// get answers GET /v1/keys/{id}.
func (h *handlers) get(c *httpapi.Call) error {
	id, err := keyID(c)
	if err != nil {
		return err
	}
	k, err := h.keys.Key(c.Ctx, id)
	if err != nil {
		return err
	}
	return c.SendJSON(http.StatusOK, httpapi.ShowKey(&k))
}

// self answers GET /v1/key: the key of the request.
func (h *handlers) self(c *httpapi.Call) error {
	return c.SendJSON(http.StatusOK, httpapi.ShowKey(c.Key))
}

// patch answers PATCH /v1/keys/{id}, a merge patch (RFC 7396).
func (h *handlers) patch(c *httpapi.Call) error {
	id, err := keyID(c)
	if err != nil {
		return err
	}
	var body keyBody
	if err := c.Decode(&body, false, nil); err != nil {
		return err
	}
	change, err := body.change()
	if err != nil {
		return err
	}
	k, err := h.keys.ChangeKey(c.Ctx, id, change)
	if err != nil {
		return wire.WriteError(err)
	}
	return c.SendJSON(http.StatusOK, httpapi.ShowKey(&k))
}

// revoke answers DELETE /v1/keys/{id}.
func (h *handlers) revoke(c *httpapi.Call) error {
	id, err := keyID(c)
	if err != nil {
		return err
	}
	if _, err := h.keys.RevokeKey(c.Ctx, id); err != nil {
		return wire.WriteError(err)
	}
	c.SendNothing(http.StatusNoContent)
	return nil
}

// rotate answers POST /v1/keys/{id}/rotate with another secret under the same id.
func (h *handlers) rotate(c *httpapi.Call) error {
	id, err := keyID(c)
	if err != nil {
		return err
	}
	overlap, err := httpapi.OverlapGiven(c, leaderboard.MaxKeyOverlap*time.Microsecond)
	if err != nil {
		return err
	}
	secret, hash := leaderboard.NewKeySecret(id)
	k, err := h.keys.RotateKey(c.Ctx, id, hash, overlap)
	if err != nil {
		return wire.WriteError(err)
	}
	return sendSecret(c, http.StatusOK, &k, secret)
}

// list answers GET /v1/keys, in the order of their ids.
func (h *handlers) list(c *httpapi.Call) error {
	limit := int(c.Params.Integer("limit"))
	of := wire.List{Name: "keys"}
	after := httpapi.AfterCursor(c, of.After)
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	keys, err := h.keys.Keys(c.Ctx, after, limit+1)
	if err != nil {
		return err
	}
	return httpapi.SendList(c, "keys", keys, limit, httpapi.ShowKey, func(last *leaderboard.Key) string { return of.Cursor(last.ID) })
}
