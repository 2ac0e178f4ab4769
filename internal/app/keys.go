package app

import (
	"context"
	"time"

	"leaderboard"
	"leaderboard/cache/keyring"
	"leaderboard/cache/watch"
	"leaderboard/store"
)

// maxWatchInterval is between two looks at the database at most, however old answers may be: a key that was revoked is to
// stop within a second.
const maxWatchInterval = 250 * time.Millisecond

// wireWatch makes what asks the database how old answers are, and whether keys have changed, in one statement.
func (a *App) wireWatch() {
	a.watch = watch.New(a.store, watch.Options{
		MaxAge: a.cfg.MaxAge, Interval: min(a.cfg.MaxAge/4, maxWatchInterval), OnRound: a.metrics.watchRound,
		KeysInUse: func(now time.Time) bool { return a.keys.InUse(now) },
		OnShown: func(shown map[int64]leaderboard.Revision, sent time.Time) {
			if r, ok := shown[leaderboard.KeysPeriod]; ok {
				a.keys.Shown(r, sent)
			}
			a.resident.Shown(shown)
		},
	})
	a.keys = keyring.New(a.store, a.watch, keyring.Options{Log: a.log})
}

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
