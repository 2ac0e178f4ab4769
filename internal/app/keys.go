package app

import (
	"context"
	"time"

	"leaderboard"
	"leaderboard/cache/keyring"
	"leaderboard/store"
)

// apiKeys is the store, and has this process know at once what it has changed.
type apiKeys struct {
	*store.Store
	ring *keyring.Ring
}

// known returns a key once this process knows it. Elsewhere, and here when that fails, it is known within a second.
func (k apiKeys) known(ctx context.Context, key leaderboard.Key, err error) (leaderboard.Key, error) {
	if err == nil {
		_ = k.ring.Renew(ctx)
	}
	return key, err
}

func (k apiKeys) ChangeKey(ctx context.Context, id string, change leaderboard.KeyChange) (leaderboard.Key, error) {
	key, err := k.Store.ChangeKey(ctx, id, change)
	return k.known(ctx, key, err)
}

func (k apiKeys) RotateKey(ctx context.Context, id string, hash leaderboard.KeyHash, overlap time.Duration) (leaderboard.Key, error) {
	key, err := k.Store.RotateKey(ctx, id, hash, overlap)
	return k.known(ctx, key, err)
}

func (k apiKeys) RevokeKey(ctx context.Context, id string) (leaderboard.Key, error) {
	key, err := k.Store.RevokeKey(ctx, id)
	return k.known(ctx, key, err)
}
