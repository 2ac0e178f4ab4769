package cache

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard"
	"leaderboard/store/storetest"
)

// TestReaderConformance runs the suite of the store on the whole of it: process, Redis with its write-through, truth.
func TestReaderConformance(t *testing.T) {
	t.Parallel()
	s, _ := layered(t)
	storetest.RunRankings(t, s)
}

// TestReaderProperty holds the layers against the model over random histories with random disturbances of the copy.
func TestReaderProperty(t *testing.T) {
	t.Parallel()
	s, _ := layered(t)
	storetest.Property(t, s)
}

// TestCopyConformance makes the copy in Redis answer wherever it can, not just where it happens to be up to date.
func TestCopyConformance(t *testing.T) {
	t.Parallel()
	s, copies := layered(t)
	s.Rankings = &copyFirst{t: t, copies: copies, truth: s.Truth}
	storetest.RunRankings(t, s)
}

// TestCopyProperty does the same over random histories.
func TestCopyProperty(t *testing.T) {
	t.Parallel()
	s, copies := layered(t)
	first := &copyFirst{t: t, copies: copies, truth: s.Truth}
	s.Rankings = first
	storetest.Property(t, s)
	if first.answers.Load() < 100 {
		t.Errorf("the copy gave %d answers, the test tests little", first.answers.Load())
	}
}

// layered is a reader over a copy in Redis over the model, with write-through, and what may happen to the copy.
func layered(t *testing.T) (storetest.Subject, *Copies) {
	t.Helper()
	model := storetest.NewModel()
	model.SetNow(1_900_000_000e6) // created times still differ: each is later than the last
	client := newClient(t)
	copies := NewCopies(client, model, CopyOptions{Slack: 2})
	follower := NewFollower(copies, FollowerOptions{})
	t.Cleanup(func() { _ = follower.Stop(context.Background()) })
	model.OnCommit = follower.Notify
	reader := NewReader(copies, model, ReaderOptions{
		LocalTTL: time.Microsecond, Demand: buildNow(copies),
		StaleWait: time.Minute, // a busy machine is no outage
	})
	return storetest.Subject{
		Truth: model, Rankings: reader,
		Disturb: map[string]func(context.Context, leaderboard.PeriodRef) error{
			"rebuild": func(ctx context.Context, p leaderboard.PeriodRef) error {
				_, err := copies.Build(ctx, p)
				return err
			},
			"flush": copies.Drop,
			"lose top": func(ctx context.Context, p leaderboard.PeriodRef) error {
				return client.Del(ctx, copies.keys(p)[0]).Err()
			},
			"lose hash": func(ctx context.Context, p leaderboard.PeriodRef) error {
				return client.Del(ctx, copies.keys(p)[1]).Err()
			},
			"catch up": func(ctx context.Context, p leaderboard.PeriodRef) error {
				if _, err := copies.CatchUp(ctx, p); !errors.Is(err, ErrNeedsBuild) {
					return err
				}
				return nil
			},
		},
	}, copies
}

// buildNow is a Demand without a refresher.
func buildNow(copies *Copies) func(leaderboard.PeriodRef) func(context.Context) error {
	return func(p leaderboard.PeriodRef) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := copies.Build(ctx, p)
			return err
		}
	}
}

// copyFirst brings the copy up to date before each question, and asks the truth only what the copy does not cover.
type copyFirst struct {
	t       *testing.T
	copies  *Copies
	truth   leaderboard.Rankings
	answers atomic.Int64
}

func current[V any](ctx context.Context, c *copyFirst, p leaderboard.PeriodRef, fromCopy, fromTruth func() (V, error)) (V, error) {
	_, err := c.copies.CatchUp(ctx, p)
	if errors.Is(err, ErrNeedsBuild) {
		_, err = c.copies.Build(ctx, p)
	}
	if err != nil { // such as a period that is gone
		return fromTruth()
	}
	v, err := fromCopy()
	switch {
	case errors.Is(err, ErrUncovered), errors.Is(err, ErrBehind):
		return fromTruth()
	case err != nil && !isAnswer(err):
		c.t.Errorf("copy of board %s: %s", p.Board, err)
	}
	c.answers.Add(1)
	return v, err
}

func (c *copyFirst) Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	return current(ctx, c, p,
		func() (*leaderboard.Page, error) { return c.copies.Page(ctx, p, q) },
		func() (*leaderboard.Page, error) { return c.truth.Page(ctx, p, q) })
}

func (c *copyFirst) Members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	return current(ctx, c, p,
		func() (*leaderboard.Standings, error) { return c.copies.Members(ctx, p, q) },
		func() (*leaderboard.Standings, error) { return c.truth.Members(ctx, p, q) })
}

func (c *copyFirst) ScoreRank(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	return current(ctx, c, p,
		func() (*leaderboard.ScoreRank, error) { return c.copies.ScoreRank(ctx, p, q) },
		func() (*leaderboard.ScoreRank, error) { return c.truth.ScoreRank(ctx, p, q) })
}

func (c *copyFirst) Distribution(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	return c.truth.Distribution(ctx, p, q)
}
