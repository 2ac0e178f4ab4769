package httpapi

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"leaderboard/leaderboard"
)

// fakeKeys is the keys of the database, for handlers that change them and for the guard.
type fakeKeys struct {
	mu    sync.Mutex
	keys  map[string]leaderboard.HashedKey
	fails error // of Find
	found int   // how often Find was called for a key that is there
}

func (f *fakeKeys) Find(_ context.Context, id string, hash leaderboard.KeyHash, now time.Time) (*leaderboard.Key, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.keys[id]
	if ok {
		f.found++
	}
	switch {
	case f.fails != nil:
		return nil, f.fails
	case !ok || !hash.Is(&k.Hash) && !hash.Is(&k.Previous):
		return nil, leaderboard.ErrKeyNotFound
	case k.RevokedAt != 0:
		return nil, leaderboard.ErrKeyRevoked
	case k.ExpiresAt != 0 && k.ExpiresAt <= leaderboard.MicrosOf(now):
		return nil, leaderboard.ErrKeyExpired
	}
	return &k.Key, nil
}

// change changes a key that is not revoked.
func (f *fakeKeys) change(id string, do func(*leaderboard.HashedKey) error) (leaderboard.Key, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.keys[id]
	if !ok {
		return k.Key, leaderboard.ErrKeyNotFound
	}
	if k.RevokedAt != 0 {
		return k.Key, leaderboard.ErrKeyRevoked
	}
	err := do(&k)
	if err == nil {
		f.keys[id] = k
	}
	return k.Key, err
}

func (f *fakeKeys) CreateKey(_ context.Context, k leaderboard.Key, hash leaderboard.KeyHash) (leaderboard.Key, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k.CreatedTime, k.UpdatedTime = 1_700_000_000_000_000, 1_700_000_000_000_000
	if err := k.CheckExpiry(0); err != nil {
		return k, err
	}
	f.keys[k.ID] = leaderboard.HashedKey{Key: k, Hash: hash}
	return k, nil
}

func (f *fakeKeys) ChangeKey(_ context.Context, id string, change leaderboard.KeyChange) (leaderboard.Key, error) {
	return f.change(id, func(k *leaderboard.HashedKey) (err error) {
		was := k.ExpiresAt
		if k.Key, err = k.With(change); err != nil {
			return err
		}
		return k.CheckExpiry(was)
	})
}

func (f *fakeKeys) RotateKey(_ context.Context, id string, hash leaderboard.KeyHash, overlap time.Duration) (leaderboard.Key, error) {
	return f.change(id, func(k *leaderboard.HashedKey) error {
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
	if err == leaderboard.ErrKeyRevoked { //nolint:errorlint // it is the sentinel itself
		err = nil
	}
	return k, err
}

func (f *fakeKeys) Key(_ context.Context, id string) (leaderboard.Key, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.keys[id]
	if !ok {
		return k.Key, leaderboard.ErrKeyNotFound
	}
	return k.Key, nil
}

func (f *fakeKeys) Keys(_ context.Context, after string, limit int) ([]leaderboard.Key, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []leaderboard.Key
	for _, k := range f.keys {
		if k.ID > after {
			out = append(out, k.Key)
		}
	}
	slices.SortFunc(out, func(a, b leaderboard.Key) int { return strings.Compare(a.ID, b.ID) })
	return out[:min(limit, len(out))], nil
}

// key makes an API key past the API and returns its text.
func (e *env) key(scope leaderboard.Scope, change func(*leaderboard.Key)) string {
	k := leaderboard.Key{ID: leaderboard.NewKeyID(), Name: "test", Scope: scope}
	if change != nil {
		change(&k)
	}
	text, hash := leaderboard.NewKeySecret(k.ID)
	if _, err := e.fake.fakeKeys.CreateKey(context.Background(), k, hash); err != nil {
		e.t.Fatal(err)
	}
	return text
}
