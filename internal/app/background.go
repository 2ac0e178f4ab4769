package app

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"leaderboard"
	"leaderboard/cache/topn"
	"leaderboard/derive"
	"leaderboard/refresher"
	"leaderboard/store"
)

const (
	// sweepEvery is the time between two rounds of housekeeping, give or take sweepJitter: several processes share the work.
	sweepEvery   = time.Minute
	sweepJitter  = 10 * time.Second
	sweepTimeout = 45 * time.Second
)

// wireRedis makes what works on the copies.
func (a *App) wireRedis() error {
	client, err := topn.Open(a.cfg.RedisURL)
	if err != nil {
		return err
	}
	a.redis = client
	a.copies = topn.New(client, a.store, topn.Options{HookPoint: a.cfg.Fault.hook(), OnBuild: a.metrics.build, Logger: a.log})
	a.refresher = newRefresher(a.store, a.copies, a.log, a.metrics.run)
	a.follower = topn.NewFollower(a.copies, topn.FollowerOptions{
		Demand: func(ref leaderboard.PeriodRef) { a.refresher.Demand(ref) }, Logger: a.log,
	})
	a.metrics.watchLag(a.follower.Lag)
	return nil
}

func newRefresher(s *store.Store, copies *topn.Copies, log *slog.Logger, onRun func(leaderboard.Run)) *refresher.Refresher {
	return refresher.New(refresher.Config{Copies: refreshed{copies}, Runs: s, Boards: s, Logger: log, OnRun: onRun})
}

// demand is how a reader asks for a copy that is missing, nil without Redis.
func (a *App) demand() func(leaderboard.PeriodRef) func(context.Context) error {
	if a.refresher == nil {
		return nil
	}
	return a.refresher.Demand
}

// checkRules finds what only the refresher can: cron expressions.
func checkRules(r leaderboard.Rules) []leaderboard.FieldError { return refresher.CheckRules(r) }

// startBackground begins what works without being asked, once the schema is ready. All of it ends with ctx.
func (a *App) startBackground(ctx context.Context) {
	a.background.Go(func() {
		if err := a.prepareSchema(ctx); err != nil {
			if ctx.Err() == nil {
				a.failed <- err
			}
			return
		}
		a.background.Go(func() { a.sweep(ctx) })
		a.background.Go(func() { a.deriver.Run(ctx) })
		if a.refresher == nil {
			return
		}
		if err := a.refresher.Run(ctx); err != nil && ctx.Err() == nil {
			a.failed <- err
		}
	})
}

// prepareSchema returns when the tables are there to be worked on.
func (a *App) prepareSchema(ctx context.Context) error {
	if a.cfg.Migrate {
		if err := MigrateUntilDone(ctx, a.cfg.MySQLDSN, a.log); err != nil {
			return err
		}
	}
	return awaitSchema(ctx, a.store, a.log)
}

// sweep does the store's housekeeping once a minute.
func (a *App) sweep(ctx context.Context) {
	every(ctx, sweepEvery, sweepJitter, func() {
		bounded, cancel := context.WithTimeout(ctx, sweepTimeout)
		defer cancel()
		if err := a.store.Sweep(bounded); err != nil && ctx.Err() == nil {
			a.log.Warn("housekeeping is put off", "error", err)
		}
	})
}

// every calls work again and again until ctx ends, with period, give or take jitter, between an end and the next start.
func every(ctx context.Context, period, jitter time.Duration, work func()) {
	for {
		pause(ctx, period-jitter+rand.N(2*jitter))
		if ctx.Err() != nil {
			return
		}
		work()
	}
}

// stopRedisWork ends the refreshes and lets the last commits through to the copies.
func (a *App) stopRedisWork(ctx context.Context) error {
	if a.redis == nil {
		return nil
	}
	err := a.refresher.Close(ctx)
	if stopped := a.follower.Stop(ctx); stopped != nil {
		a.log.Warn("copies are left behind, the next refresh catches up", "error", stopped)
	}
	return err
}

// refreshed is the copies as the refresher sees them: a copy that only a rebuild can help is an outcome there.
type refreshed struct{ copies *topn.Copies }

func (c refreshed) Build(ctx context.Context, p leaderboard.PeriodRef) (refresher.Outcome, error) {
	out, err := c.copies.Build(ctx, p)
	return outcome(out), err
}

func (c refreshed) CatchUp(ctx context.Context, p leaderboard.PeriodRef) (refresher.Outcome, error) {
	caught, err := c.copies.CatchUp(ctx, p)
	out := outcome(caught)
	if errors.Is(err, topn.ErrNeedsBuild) {
		out.NeedsBuild, err = true, nil
	}
	return out, err
}

func outcome(o topn.Outcome) refresher.Outcome {
	return refresher.Outcome{FromSeq: o.FromSeq, ToSeq: o.ToSeq, Rows: o.Rows, Refused: o.Refused}
}

func (c refreshed) Info(ctx context.Context, p leaderboard.PeriodRef) (refresher.Info, error) {
	i, err := c.copies.Info(ctx, p)
	return refresher.Info{
		Exists: i.Exists, Damaged: i.Damaged, Short: i.Short, Seq: i.Seq, AsOf: i.AsOf,
		BuildStarted: i.BuildStarted, RedisNow: i.RedisNow,
	}, err
}

func (c refreshed) Lease(ctx context.Context, p leaderboard.PeriodRef, ttl time.Duration) (refresher.Lease, error) {
	lease, got, err := c.copies.Lease(ctx, strconv.FormatInt(p.ID, 10), ttl)
	if err != nil || !got {
		return nil, err // a nil *topn.Lease in the interface would not be nil
	}
	return lease, nil
}

// rebuilds is the refresher and the history of its runs as the API sees them.
type rebuilds struct {
	*store.Store                      // Run and Runs
	refresher    *refresher.Refresher // nil without Redis
	deriver      *derive.Runner
}

func (r rebuilds) Start(
	ctx context.Context, ref leaderboard.PeriodRef, kind leaderboard.RunKind, reason leaderboard.RunReason, actor string,
) (leaderboard.Run, func(context.Context) (leaderboard.Run, error), error) {
	if kind == leaderboard.RunKindRecompute {
		return r.deriver.Start(ctx, ref, reason, actor)
	}
	if r.refresher == nil {
		return r.refuse(ctx, ref, kind, reason, actor)
	}
	return r.refresher.Start(ctx, refresher.Request{Ref: ref, Kind: kind, Reason: reason, Actor: actor})
}

// refuse records a run that failed because there is no Redis to build a copy in.
func (r rebuilds) refuse(
	ctx context.Context, ref leaderboard.PeriodRef, kind leaderboard.RunKind, reason leaderboard.RunReason, actor string,
) (leaderboard.Run, func(context.Context) (leaderboard.Run, error), error) {
	run, err := r.StartRun(ctx, leaderboard.Run{
		BoardID: ref.BoardID, Board: ref.Board, PeriodID: ref.ID, Window: ref.Window, Period: ref.Name, Kind: kind,
		Reason: reason, Actor: actor, State: leaderboard.RunStateRunning,
	})
	if err != nil {
		return run, nil, err
	}
	run.Board, run.Window, run.Period = ref.Board, ref.Window, ref.Name
	run.State, run.Error = leaderboard.RunStateFailed, "this server runs without Redis"
	err = r.FinishRun(ctx, run)
	return run, func(context.Context) (leaderboard.Run, error) { return run, nil }, err
}
