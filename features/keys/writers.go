package keys

import (
	"context"

	"leaderboard/leaderboard"
)

// writersPage is the number of keys that are read at once in search of a key that can write, and writersPages the number of
// reads. Among more keys, one is assumed to be able to write.
const (
	writersPage  = 500
	writersPages = 20
)

// AnyWriter reports whether a key in the database can write.
func (s *Store) AnyWriter(ctx context.Context) (bool, error) {
	now, err := s.db.Clock(ctx)
	if err != nil {
		return false, err
	}
	after := ""
	for range writersPages {
		page, err := s.Keys(ctx, after, writersPage)
		if err != nil {
			return false, err
		}
		for i := range page {
			if writes(&page[i], now) {
				return true, nil
			}
			after = page[i].ID
		}
		if len(page) < writersPage {
			return false, nil
		}
	}
	return true, nil
}

func writes(k *leaderboard.Key, now leaderboard.Micros) bool {
	return (k.Scope == leaderboard.ScopeWrite || k.Scope == leaderboard.ScopeAdmin) && k.RevokedAt == 0 && (k.ExpiresAt == 0 || k.ExpiresAt > now)
}
