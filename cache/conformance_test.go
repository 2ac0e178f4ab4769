package cache

import (
	"context"
	"testing"
	"time"

	"leaderboard/cache/cachetest"
	"leaderboard/cache/topn"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// TestReaderConformance runs the suite of the store on the whole of it: process, Redis with its write-through, model.
func TestReaderConformance(t *testing.T) {
	t.Parallel()
	storetest.RunRankings(t, layered(t))
}

// TestReaderProperty holds the layers against the model over random histories with random disturbances of the copy.
func TestReaderProperty(t *testing.T) {
	t.Parallel()
	storetest.Property(t, layered(t))
}

// layered makes a reader over a copy in Redis over the model, with write-through, and the disturbances of the copy.
func layered(t *testing.T) storetest.Subject {
	t.Helper()
	model := storetest.NewModel()
	model.SetNow(1_900_000_000e6) // created times still differ: each is later than the last
	client := newClient(t)
	copies := topn.New(client, model, topn.Options{Slack: 2})
	follower := topn.NewWriteThrough(copies, topn.WriteThroughOptions{})
	t.Cleanup(func() { _ = follower.Stop(context.Background()) })
	model.OnCommit = follower.Notify
	reader := NewReader(copies, model, ReaderOptions{
		FreshFor: time.Microsecond, Demand: buildNow(copies),
		StaleWait: time.Minute, // a busy machine is no outage
	})
	return storetest.Subject{
		Database: model, Featured: model, Rankings: reader, Pasts: reader,
		Disturb: cachetest.Disturbances(client, copies.Drop, func(ctx context.Context, p leaderboard.PeriodRef) error {
			_, err := copies.Build(ctx, p)
			return err
		}, func(ctx context.Context, p leaderboard.PeriodRef) error {
			_, err := copies.CatchUp(ctx, p)
			return err
		}),
	}
}
