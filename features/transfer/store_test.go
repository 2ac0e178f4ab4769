package transfer

import (
	"context"
	"errors"
	"sync"
	"testing"

	"leaderboard/features/featuretest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestSlowExportsLeaveConnections: exports whose callers do not read use the connections for long work; with the fewest
// allowed connections, everything else continues.
func TestSlowExportsLeaveConnections(t *testing.T) {
	t.Parallel()
	s, _ := featuretest.Store(t, testenv.MySQL(t), nil, func(c *store.Config) { c.MaxConns = 16 })
	periods := &Store{db: s.Database()}
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
	if _, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: "b", Entries: many(10)}); err != nil {
		t.Fatal(err)
	}
	const exports = 6
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	taken, release := make(chan struct{}, exports), make(chan struct{})
	defer close(release)
	for range exports {
		all.Go(func() {
			err := periods.Export(ctx, ref, false, func(leaderboard.State) error { return nil }, func([]leaderboard.Entry, []string) error {
				taken <- struct{}{}
				<-release
				return nil
			})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	for range 2 {
		dbtest.Await(t, "an export has begun", taken)
	}
	for range 20 {
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m1", 5)); err != nil {
			t.Error(err)
		}
		if _, err := s.Entries.Members(t.Context(), ref, leaderboard.MembersQuery{Members: []string{"m1"}}); err != nil {
			t.Error(err)
		}
		if err := s.Entries.Snapshot(t.Context(), ref, 10, func(leaderboard.State) error { return nil }, func([]rank.Key) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	if n := len(taken); n != 0 {
		t.Errorf("%d more exports have begun", n)
	}
	cancel()
}
