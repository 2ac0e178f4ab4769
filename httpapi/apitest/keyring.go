package apitest

import (
	"context"
	"time"

	"leaderboard/leaderboard"
)

// Keyring is the keys of the database.
type Keyring struct {
	*Table[leaderboard.HashedKey]
	Fails error // the error of Find
	Found int   // how often Find was called for a key that is there
}

// Find finds a key as guard.Keyring does.
func (f *Keyring) Find(_ context.Context, id string, hash leaderboard.KeyHash, now time.Time) (*leaderboard.Key, error) {
	k, err := f.Get(id)
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if err == nil {
		f.Found++
	}
	switch {
	case f.Fails != nil:
		return nil, f.Fails
	case err != nil || !hash.Is(&k.Hash) && !hash.Is(&k.Previous):
		return nil, leaderboard.ErrKeyNotFound
	case k.RevokedAt != 0:
		return nil, leaderboard.ErrKeyRevoked
	case k.ExpiresAt != 0 && k.ExpiresAt <= leaderboard.MicrosOf(now):
		return nil, leaderboard.ErrKeyExpired
	}
	return &k.Key, nil
}
