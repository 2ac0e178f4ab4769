package keys

import (
	"context"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// fakeKeys is the keys of the database, for handlers that change them.
type fakeKeys struct{ *apitest.Keyring }

// changeKey changes a key that is not revoked.
func (f *fakeKeys) changeKey(id string, do func(*leaderboard.HashedKey) error) (leaderboard.Key, error) {
	k, err := f.Change(id, func(k *leaderboard.HashedKey) error {
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
	f.Put(k.ID, leaderboard.HashedKey{Key: k, Hash: hash})
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
	k, err := f.Change(id, func(k *leaderboard.HashedKey) error { k.RevokedAt = 1_700_000_000_000_000; return nil })
	return k.Key, err
}

func (f *fakeKeys) Key(_ context.Context, id string) (leaderboard.Key, error) {
	k, err := f.Get(id)
	return k.Key, err
}

func (f *fakeKeys) Keys(_ context.Context, after string, limit int) (out []leaderboard.Key, _ error) {
	for _, k := range f.List(after, limit) {
		out = append(out, k.Key)
	}
	return out, nil
}
