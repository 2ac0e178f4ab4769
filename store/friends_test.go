package store_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// TestFriendsAtOnce: with many changes of a list at the same time it never grows too long, and every answer was true when
// it was given.
func TestFriendsAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		var refused atomic.Int64
		var writers sync.WaitGroup
		for w := range 8 {
			writers.Go(func() {
				for part := range 4 {
					var list []string
					for i := range 200 {
						list = append(list, fmt.Sprintf("w%d-%d-%d", w, part, i))
					}
					n, err := s.Friends.AddFriends(t.Context(), "me", list)
					if rule := new(leaderboard.RuleError); errors.As(err, &rule) && rule.Code == leaderboard.CodeTooManyFriends {
						refused.Add(1)
					} else if err != nil || n > leaderboard.MaxFriends {
						t.Errorf("%d friends, %v", n, err)
					}
				}
			})
		}
		writers.Wait()
		all, err := s.Friends.Friends(t.Context(), "me", "", 10_000)
		if want := leaderboard.MaxFriends; err != nil || len(all) != want || refused.Load() != 8*4-int64(want)/200 {
			t.Errorf("%d friends, %d refused, %v", len(all), refused.Load(), err)
		}
	})
}
