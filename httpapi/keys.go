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
		ID: k.ID, Name: k.Name, Scope: k.Scope, ExpiresAt: given(k.ExpiresAt), CreatedTime: given(k.CreatedTime), UpdatedTime: given(k.UpdatedTime),
		LastUsedAt: given(k.LastUsed), RevokedAt: given(k.RevokedAt), PreviousUntil: given(k.PreviousUntil),
		Person: k.Person, Role: k.Role,
	}
	if k.Limited() {
		out.Boards = &k.Boards
	}
	if k.Quota != (leaderboard.Quota{}) {
		out.Quota = &quotaJSON{given(k.Quota.RequestsPerSecond), given(k.Quota.RowsPerSecond)}
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
func (h *keyHandlers) create(c *call) error {
	var body keyBody
	if err := c.decode(&body, false, nil); err != nil {
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
	if k, err = h.keys.CreateKey(c.ctx, k, hash); err != nil {
		return wire.WriteError(err)
	}
	c.locate("/v1/keys/" + k.ID)
	return sendSecret(c, http.StatusCreated, &k, secret)
}

// sendSecret answers with a key and its secret, which no cache may keep.
func sendSecret(c *call, status int, k *leaderboard.Key, secret string) error {
	shown := showKey(k)
	shown.Secret = secret
	body, err := json.Marshal(shown, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	c.w.Header()["Cache-Control"] = c.shared.values.noStore
	return c.send(status, wire.TypeJSON, body)
}

// keyID returns the id in the path.
func keyID(c *call) (string, error) {
	id := c.pathValue("id")
	if !leaderboard.IsKeyID(id) {
		return "", leaderboard.ErrKeyNotFound
	}
	return id, nil
}

// get answers GET /v1/keys/{id}.
func (h *keyHandlers) get(c *call) error {
	id, err := keyID(c)
	if err != nil {
		return err
	}
	k, err := h.keys.Key(c.ctx, id)
	if err != nil {
		return err
	}
	return c.sendJSON(http.StatusOK, showKey(&k))
}

// self answers GET /v1/key: the key of the request.
func (h *keyHandlers) self(c *call) error { return c.sendJSON(http.StatusOK, showKey(c.key)) }

// patch answers PATCH /v1/keys/{id}, a merge patch (RFC 7396).
func (h *keyHandlers) patch(c *call) error {
	id, err := keyID(c)
	if err != nil {
		return err
	}
	var body keyBody
	if err := c.decode(&body, false, nil); err != nil {
		return err
	}
	change, err := body.change()
	if err != nil {
		return err
	}
	k, err := h.keys.ChangeKey(c.ctx, id, change)
	if err != nil {
		return wire.WriteError(err)
	}
	return c.sendJSON(http.StatusOK, showKey(&k))
}

// revoke answers DELETE /v1/keys/{id}.
func (h *keyHandlers) revoke(c *call) error {
	id, err := keyID(c)
	if err != nil {
		return err
	}
	if _, err := h.keys.RevokeKey(c.ctx, id); err != nil {
		return wire.WriteError(err)
	}
	c.sendNothing(http.StatusNoContent)
	return nil
}

// rotate answers POST /v1/keys/{id}/rotate with another secret under the same id.
func (h *keyHandlers) rotate(c *call) error {
	id, err := keyID(c)
	if err != nil {
		return err
	}
	overlap, err := overlapGiven(c, leaderboard.MaxKeyOverlap*time.Microsecond)
	if err != nil {
		return err
	}
	secret, hash := leaderboard.NewKeySecret(id)
	k, err := h.keys.RotateKey(c.ctx, id, hash, overlap)
	if err != nil {
		return wire.WriteError(err)
	}
	return sendSecret(c, http.StatusOK, &k, secret)
}

// list answers GET /v1/keys, in the order of their ids.
func (h *keyHandlers) list(c *call) error {
	limit := int(c.integer("limit", defaultList, 1, maxList))
	of := wire.List{Name: "keys"}
	after := afterCursor(c, of.After)
	if err := c.badInput(); err != nil {
		return err
	}
	keys, err := h.keys.Keys(c.ctx, after, limit+1)
	if err != nil {
		return err
	}
	return sendList(c, "keys", keys, limit, showKey, func(last *leaderboard.Key) string { return of.Cursor(last.ID) })
}
