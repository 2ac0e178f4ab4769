package client_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// keysPart makes a key, uses, changes and rotates it, and takes it away again.
func keysPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	made, err := c.CreateKey(ctx, client.KeyRequest{Name: "game", Scope: leaderboard.ScopeWrite, Boards: []string{"keyed-*"}})
	must(t, err)
	withSecret := func(secret string) *client.Client { return admin(t, client.WithKey(secret)) }
	own, err := withSecret(made.Secret).OwnKey(ctx)
	must(t, err)
	if own.ID != made.ID || own.Name != "game" || own.Scope != leaderboard.ScopeWrite || !slices.Equal(own.Boards, []string{"keyed-*"}) {
		t.Errorf("the key itself: %+v", own)
	}
	requests := int64(50)
	changed, err := c.PatchKey(ctx, made.ID, map[string]any{"name": "game server", "boards": nil, "quota": client.Quota{RequestsPerSecond: &requests}})
	must(t, err)
	if changed.Name != "game server" || changed.Boards != nil || changed.Quota == nil || *changed.Quota.RequestsPerSecond != requests || changed.Scope != leaderboard.ScopeWrite {
		t.Errorf("changed: %+v", changed)
	}
	rotated, err := c.RotateKey(ctx, made.ID, time.Hour)
	must(t, err)
	if rotated.ID != made.ID || rotated.Secret == made.Secret || rotated.PreviousSecretUntil == nil {
		t.Errorf("rotated: %+v", rotated.Key)
	}
	for _, secret := range []string{made.Secret, rotated.Secret} {
		_, err := withSecret(secret).OwnKey(ctx)
		must(t, err)
	}
	must(t, c.RevokeKey(ctx, made.ID))
	got, err := c.GetKey(ctx, made.ID)
	must(t, err)
	if keys := all(t, c.Keys(ctx)); got.RevokedAt == nil || !slices.ContainsFunc(keys, func(k client.Key) bool { return k.ID == made.ID }) {
		t.Errorf("revoked: %+v, all: %+v", got, keys)
	}
	_, err = withSecret(rotated.Secret).OwnKey(ctx)
	if problem, ok := errors.AsType[*client.Problem](err); !ok || problem.Status != 401 {
		t.Errorf("after it was revoked: %v", err)
	}
	return []string{"createKey", "getOwnKey", "changeKey", "rotateKey", "revokeKey", "getKey", "listKeys"}
}
