package httpapi

import (
	"context"
	"time"

	"leaderboard/leaderboard"
)

// fakeKeys is the keys of the database, for handlers that change them and for the guard.
type fakeKeys struct {
	*table[leaderboard.HashedKey]
	fails error // of Find
	found int   // how often Find was called for a key that is there
}

func (f *fakeKeys) Find(_ context.Context, id string, hash leaderboard.KeyHash, now time.Time) (*leaderboard.Key, error) {
	k, err := f.get(id)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.found++
	}
	switch {
	case f.fails != nil:
		return nil, f.fails
	case err != nil || !hash.Is(&k.Hash) && !hash.Is(&k.Previous):
		return nil, leaderboard.ErrKeyNotFound
	case k.RevokedAt != 0:
		return nil, leaderboard.ErrKeyRevoked
	case k.ExpiresAt != 0 && k.ExpiresAt <= leaderboard.MicrosOf(now):
		return nil, leaderboard.ErrKeyExpired
	}
	return &k.Key, nil
}

// changeKey changes a key that is not revoked.
func (f *fakeKeys) changeKey(id string, do func(*leaderboard.HashedKey) error) (leaderboard.Key, error) {
	k, err := f.change(id, func(k *leaderboard.HashedKey) error {
		if k.RevokedAt != 0 {
			return leaderboard.ErrKeyRevoked
		}
		return do(k)
	})
	return k.Key, err
}

func (f *fakeKeys) CreateKey(_ context.Context, k leaderboard.Key, hash leaderboard.KeyHash) (leaderboard.Key, error) {
	k.CreatedTime, k.UpdatedTime = 1_700_000_000_000_000, 1_700_000_000_000_000
	if err := k.CheckExpiry(0); err != nil {
		return k, err
	}
	f.put(k.ID, leaderboard.HashedKey{Key: k, Hash: hash})
	return k, nil
}

func (f *fakeKeys) ChangeKey(_ context.Context, id string, change leaderboard.KeyChange) (leaderboard.Key, error) {
	return f.changeKey(id, func(k *leaderboard.HashedKey) (err error) {
		was := k.ExpiresAt
		if k.Key, err = k.With(change); err != nil {
			return err
		}
		return k.CheckExpiry(was)
	})
}

func (f *fakeKeys) RotateKey(_ context.Context, id string, hash leaderboard.KeyHash, overlap time.Duration) (leaderboard.Key, error) {
	return f.changeKey(id, func(k *leaderboard.HashedKey) error {
		if overlap > 0 && k.PreviousUntil > leaderboard.MicrosOf(time.Now()) {
			return leaderboard.ErrKeyOverlap
		}
		if k.Previous, k.PreviousUntil = (leaderboard.KeyHash{}), 0; overlap > 0 {
			k.Previous, k.PreviousUntil = k.Hash, leaderboard.MicrosOf(time.Now().Add(overlap))
		}
		k.Hash = hash
		return nil
	})
}

func (f *fakeKeys) RevokeKey(_ context.Context, id string) (leaderboard.Key, error) {
	k, err := f.change(id, func(k *leaderboard.HashedKey) error { k.RevokedAt = 1_700_000_000_000_000; return nil })
	return k.Key, err
}

func (f *fakeKeys) Key(_ context.Context, id string) (leaderboard.Key, error) {
	k, err := f.get(id)
	return k.Key, err
}

func (f *fakeKeys) Keys(_ context.Context, after string, limit int) (out []leaderboard.Key, _ error) {
	for _, k := range f.list(after, limit) {
		out = append(out, k.Key)
	}
	return out, nil
}

// key makes an API key past the API and returns its text.
func (e *env) key(scope leaderboard.Scope, change func(*leaderboard.Key)) string {
	k := leaderboard.Key{ID: leaderboard.NewKeyID(), Name: "test", Scope: scope}
	if change != nil {
		change(&k)
	}
	text, hash := leaderboard.NewKeySecret(k.ID)
	if _, err := e.fake.keys.CreateKey(context.Background(), k, hash); err != nil {
		e.t.Fatal(err)
	}
	return text
}
