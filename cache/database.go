package cache

import (
	"context"
	"log/slog"
	"time"

	"leaderboard/cache/batch"
	"leaderboard/cache/feed"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

const (
	// databaseBatch bounds the questions of one batch to MySQL: more hardly make it cheaper, and each waits for all.
	databaseBatch = 64
	// retryFor is how long the database is asked again because a newer answer went out meanwhile, as happens between batches
	// that overtake each other.
	retryFor = 3 * time.Second
	// retryTimes is how often it is asked at least.
	retryTimes = 2
	// retryPause is the time between two attempts.
	retryPause = time.Millisecond
)

// Database answers every question, each at one state.
type Database interface {
	leaderboard.BatchRankings
	leaderboard.CombinedRankings
	leaderboard.Pasts
}

// database is the last layer: questions go there in batches, within a bound.
type database struct {
	*batch.Rankings
	of     Database
	opts   *ReaderOptions
	shared *calls[sharedKey, leaderboard.Answered]
}

func newDatabase(of Database, o *ReaderOptions, shared *calls[sharedKey, leaderboard.Answered]) *database {
	var loads func(int64) bool
	if o.Resident != nil {
		loads = o.Resident.Loads
	}
	return &database{of: of, opts: o, shared: shared, Rankings: batch.NewRankings(of, batch.Options{
		Slots: o.FallbackConcurrent, Size: databaseBatch, Wait: o.ReadWait, Timeout: o.CallTimeout, OnRefused: o.Observer.FallbackRefused,
	}, loads)}
}

// find implements layer.
func (d *database) find(ctx context.Context, q *pending) (leaderboard.Answered, error) {
	ask := func(ctx context.Context) (leaderboard.Answered, error) {
		ctx, span := trace.Start(ctx, "read mysql", trace.KindClient)
		a, err := q.query(ctx, d)
		if span.On() {
			span.Set(slog.String("db.system.name", "mysql"))
		}
		endRead(span, q.refs(), a != nil || isAnswer(err), failureOf(err))
		if err != nil {
			return nil, err
		}
		return a, nil
	}
	if q.isAlone() {
		return ask(ctx)
	}
	for called := time.Now(); ; {
		f := d.shared.start(ctx, q.shared(d), ask, nil)
		a, err := d.opts.wait(ctx, q, f)
		// An error has no state that could be judged, and one of a call that began earlier is older than this question.
		if !isAnswer(err) || !f.began.Before(called) {
			return a, err
		}
	}
}

// outdated implements layer.
func (*database) outdated(ctx context.Context, q *pending, _ leaderboard.Answered, _ feed.Verdict, times int) bool {
	if times == 1 {
		q.outdated = time.Now()
	}
	return (times < retryTimes || time.Since(q.outdated) < retryFor) && pause(ctx, retryPause)
}

// CombinedPage implements leaderboard.CombinedRankings. It takes a separate slot.
func (d *database) CombinedPage(ctx context.Context, p []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (page *leaderboard.CombinedPage, err error) {
	err = d.Alone(ctx, func(ctx context.Context) error {
		page, err = d.of.CombinedPage(ctx, p, q)
		return err
	})
	return page, err
}

// CombinedMember implements leaderboard.CombinedRankings. It takes a separate slot.
func (d *database) CombinedMember(ctx context.Context, p []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (s *leaderboard.CombinedStandings, err error) {
	err = d.Alone(ctx, func(ctx context.Context) error {
		s, err = d.of.CombinedMember(ctx, p, q)
		return err
	})
	return s, err
}

// Past implements leaderboard.Pasts. It takes a separate slot.
func (d *database) Past(ctx context.Context, p []leaderboard.PeriodRef, member string) (found []leaderboard.PastEntry, err error) {
	err = d.Alone(ctx, func(ctx context.Context) error {
		found, err = d.of.Past(ctx, p, member)
		return err
	})
	return found, err
}
