package topn

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// TestCopyConformance makes the copy in Redis answer wherever it can, not just where it happens to be up to date.
func TestCopyConformance(t *testing.T) {
	t.Parallel()
	s, _ := overModel(t)
	storetest.RunRankings(t, s)
}

// TestCopyProperty does the same over random histories.
func TestCopyProperty(t *testing.T) {
	t.Parallel()
	s, first := overModel(t)
	storetest.Property(t, s)
	if first.answers.Load() < 100 {
		t.Errorf("the copy gave %d answers, the test tests little", first.answers.Load())
	}
}

// overModel makes a copy in Redis of the model, with write-through, and the disturbances of the copy.
func overModel(t *testing.T) (storetest.Subject, *copyFirst) {
	t.Helper()
	model := storetest.NewModel()
	model.SetNow(1_900_000_000e6) // created times still differ: each is later than the last
	client := newClient(t)
	copies := New(client, model, Options{Slack: 2})
	follower := NewWriteThrough(copies, WriteThroughOptions{})
	t.Cleanup(func() { _ = follower.Stop(context.Background()) })
	model.OnCommit = follower.Notify
	first := &copyFirst{t: t, copies: copies, database: model}
	return storetest.Subject{
		WithoutMetadata: true,
		Database:        model, Featured: model, Rankings: first,
		Disturb: cachetest.Disturbances(client, copies.Drop, func(ctx context.Context, p leaderboard.PeriodRef) error {
			_, err := copies.Build(ctx, p)
			return err
		}, func(ctx context.Context, p leaderboard.PeriodRef) error {
			_, err := copies.CatchUp(ctx, p)
			return err
		}),
	}, first
}

// copyFirst brings the copy up to date before each question, and asks the database only about entries that the copy
// does not cover.
type copyFirst struct {
	t        *testing.T
	copies   *Copies
	database leaderboard.Rankings
	answers  atomic.Int64
}

func current[V any](ctx context.Context, c *copyFirst, p leaderboard.PeriodRef,
	fromCopy func() (V, bool, error), fromDatabase func() (V, error),
) (V, error) {
	_, err := c.copies.CatchUp(ctx, p)
	if errors.Is(err, leaderboard.ErrNeedsBuild) {
		_, err = c.copies.Build(ctx, p)
	}
	if err != nil { // such as a period that is gone
		return fromDatabase()
	}
	v, _, err := fromCopy()
	switch {
	case errors.Is(err, ErrUncovered), errors.Is(err, ErrBehind):
		return fromDatabase()
	case err != nil && !errors.Is(err, leaderboard.ErrNotRanked):
		c.t.Errorf("copy of board %s: %s", p.Board, err)
	}
	c.answers.Add(1)
	return v, err
}

func (c *copyFirst) Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	return current(ctx, c, p,
		func() (*leaderboard.Page, bool, error) {
			page, short, err := c.copies.Page(ctx, p, q)
			if err != nil {
				page = nil // it has a state alone
			}
			return page, short, err
		},
		func() (*leaderboard.Page, error) { return c.database.Page(ctx, p, q) })
}

func (c *copyFirst) Members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	if len(q.Members) != 1 || q.Subset() {
		return c.database.Members(ctx, p, q)
	}
	return current(ctx, c, p,
		func() (*leaderboard.Standings, bool, error) {
			ranks, short, err := c.copies.MemberRanks(ctx, p, q.Mode, q.Members)
			if err != nil {
				return nil, short, err
			}
			s, err := ranks.Standings(0, q)
			return s, short, err
		},
		func() (*leaderboard.Standings, error) { return c.database.Members(ctx, p, q) })
}

func (c *copyFirst) ScoreRank(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	return c.database.ScoreRank(ctx, p, q)
}

func (c *copyFirst) Moves(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	return c.database.Moves(ctx, p, q)
}

func (c *copyFirst) Distribution(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	return c.database.Distribution(ctx, p, q)
}
