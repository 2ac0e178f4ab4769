package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Keys keeps the keys of the database. Each change records the caller.
type Keys interface {
	// CreateKey adds a key under its ID, with the hash of its secret; *leaderboard.RuleError. This and all that changes keys
	// records the caller.
	CreateKey(ctx context.Context, k leaderboard.Key, hash leaderboard.KeyHash) (leaderboard.Key, error)
	// ChangeKey changes a key; *leaderboard.RuleError, ErrKeyRevoked, ErrKeyNotFound.
	ChangeKey(ctx context.Context, id string, change leaderboard.KeyChange) (leaderboard.Key, error)
	// RotateKey gives a key another secret; for the time of the overlap the old one is valid as well. ErrKeyRevoked,
	// ErrKeyOverlap, ErrKeyNotFound.
	RotateKey(ctx context.Context, id string, hash leaderboard.KeyHash, overlap time.Duration) (leaderboard.Key, error)
	// RevokeKey ends a key for good; a repetition changes nothing. ErrKeyNotFound.
	RevokeKey(ctx context.Context, id string) (leaderboard.Key, error)
	// Key finds a key, one that was revoked too; ErrKeyNotFound.
	Key(ctx context.Context, id string) (leaderboard.Key, error)
	// Keys lists up to limit keys with an id after that one, in the order of their ids.
	Keys(ctx context.Context, after string, limit int) ([]leaderboard.Key, error)
}

// keyHandlers make, show, change and end keys.
type keyHandlers struct{ keys Keys }

// keyJSON is a key as it is shown.
type keyJSON struct {
	ID            string              `json:"id"`
	Secret        string              `json:"secret,omitempty"` // the whole text of the key, once
	Name          string              `json:"name"`
	Scope         leaderboard.Scope   `json:"scope"`
	Boards        *[]string           `json:"boards"` // null: all
	ExpiresAt     *leaderboard.Micros `json:"expires_at"`
	Quota         *quotaJSON          `json:"quota"`
	CreatedTime   *leaderboard.Micros `json:"created_time"`
	UpdatedTime   *leaderboard.Micros `json:"updated_time"`
	LastUsedAt    *leaderboard.Micros `json:"last_used_at"`
	RevokedAt     *leaderboard.Micros `json:"revoked_at"`
	PreviousUntil *leaderboard.Micros `json:"previous_secret_until"`
	Person        string              `json:"person,omitempty"`
	Role          string              `json:"role,omitempty"`
}

// quotaJSON is a quota; what is null is what the server's settings say.
type quotaJSON struct {
	RequestsPerSecond *int64 `json:"requests_per_second"`
	RowsPerSecond     *int64 `json:"rows_per_second"`
}

func showKey(k *leaderboard.Key) keyJSON {
	out := keyJSON{
		ID: k.ID, Name: k.Name, Scope: k.Scope, ExpiresAt: Given(k.ExpiresAt), CreatedTime: Given(k.CreatedTime), UpdatedTime: Given(k.UpdatedTime),
		LastUsedAt: Given(k.LastUsed), RevokedAt: Given(k.RevokedAt), PreviousUntil: Given(k.PreviousUntil),
		Person: k.Person, Role: k.Role,
	}
	if k.Limited() {
		out.Boards = &k.Boards
	}
	if k.Quota != (leaderboard.Quota{}) {
		out.Quota = &quotaJSON{Given(k.Quota.RequestsPerSecond), Given(k.Quota.RowsPerSecond)}
	}
	return out
}

// keyBody is the body of POST /v1/keys, and as a merge patch that of PATCH: what is left out stays.
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

// change returns what a body changes. An empty list and zeros, which null stands for, are refused: they may have
// been meant as none.
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
func (h *keyHandlers) create(c *Call) error {
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
func sendSecret(c *Call, status int, k *leaderboard.Key, secret string) error {
	shown := showKey(k)
	shown.Secret = secret
	body, err := json.Marshal(shown, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	c.NoStore()
	return c.Send(status, wire.TypeJSON, body)
}

// keyID returns the id in the path.
func keyID(c *Call) (string, error) {
	id := c.Params.PathValue("id")
	if !leaderboard.IsKeyID(id) {
		return "", leaderboard.ErrKeyNotFound
	}
	return id, nil
}

// get answers GET /v1/keys/{id}.
func (h *keyHandlers) get(c *Call) error {
	id, err := keyID(c)
	if err != nil {
		return err
	}
	k, err := h.keys.Key(c.Ctx, id)
	if err != nil {
		return err
	}
	return c.SendJSON(http.StatusOK, showKey(&k))
}

// self answers GET /v1/key: the key of the request.
func (h *keyHandlers) self(c *Call) error { return c.SendJSON(http.StatusOK, showKey(c.Key)) }

// patch answers PATCH /v1/keys/{id}, a merge patch (RFC 7396).
func (h *keyHandlers) patch(c *Call) error {
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
	return c.SendJSON(http.StatusOK, showKey(&k))
}

// revoke answers DELETE /v1/keys/{id}.
func (h *keyHandlers) revoke(c *Call) error {
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
func (h *keyHandlers) rotate(c *Call) error {
	id, err := keyID(c)
	if err != nil {
		return err
	}
	overlap, err := OverlapGiven(c, leaderboard.MaxKeyOverlap*time.Microsecond)
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
func (h *keyHandlers) list(c *Call) error {
	limit := int(c.Params.Integer("limit", DefaultList, 1, MaxList))
	of := wire.List{Name: "keys"}
	after := AfterCursor(c, of.After)
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	keys, err := h.keys.Keys(c.Ctx, after, limit+1)
	if err != nil {
		return err
	}
	return SendList(c, "keys", keys, limit, showKey, func(last *leaderboard.Key) string { return of.Cursor(last.ID) })
}
