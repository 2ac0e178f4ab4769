package refresher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"time"

	"leaderboard"
)

var (
	errLeaseLost = errors.New("refresher: the lease was lost, another process may build")
	errPanic     = errors.New("refresher: panic")
)

// work is the life of one job.
func (r *Refresher) work(j *job, previous *job) {
	defer r.wg.Done()
	ctx, cancel := context.WithTimeout(r.ctx, r.cfg.Timeout)
	defer cancel()
	start := time.Now()
	r.announce(ctx, j)
	run := j.first
	out, state, err := r.guarded(ctx, j, previous)
	run.State, run.FromSeq, run.ToSeq, run.Rows, run.Took = state, out.FromSeq, out.ToSeq, out.Rows, time.Since(start)
	if err != nil {
		run.State, run.Error = leaderboard.RunStateFailed, reasonOf(err)
		level := slog.LevelError
		if errors.Is(err, leaderboard.ErrPeriodNotFound) { // deleted meanwhile, which somebody wanted
			level = slog.LevelInfo
		}
		r.cfg.Logger.Log(ctx, level, "refresh failed", "board", run.Board, "period", run.PeriodID, "kind", run.Kind, "reason", run.Reason, "error", err)
	} else {
		r.cfg.Logger.Info("refreshed", "board", run.Board, "period", run.PeriodID, "kind", run.Kind, "reason", run.Reason,
			"state", run.State, "from_seq", run.FromSeq, "to_seq", run.ToSeq, "rows", run.Rows, "took", run.Took)
	}
	r.record(ctx, run)
	r.cfg.OnRun(run)
	r.end(j, run, err)
}

// announce gives the run its place in the history and its sharers its id.
func (r *Refresher) announce(ctx context.Context, j *job) {
	defer close(j.announced)
	ref := j.req.Ref
	run := leaderboard.Run{
		BoardID: ref.BoardID, Board: ref.Board, PeriodID: ref.ID, Window: ref.Window, Period: ref.Name, Kind: j.req.Kind,
		Reason: j.req.Reason, Actor: j.req.Actor, State: leaderboard.RunStateRunning, StartedAt: leaderboard.MicrosOf(time.Now()),
	}
	ctx, cancel := context.WithTimeout(ctx, historyTimeout)
	defer cancel()
	started, err := r.cfg.Runs.StartRun(ctx, run)
	if err != nil {
		r.cfg.Logger.Warn("run is missing in the history", "board", run.Board, "error", err)
		j.first, j.startErr = run, fmt.Errorf("refresher: history: %w", err)
		return
	}
	run.ID, run.StartedAt = started.ID, started.StartedAt
	j.first = run
}

// record writes the end of a run, whatever became of it, and of ctx.
func (r *Refresher) record(ctx context.Context, run leaderboard.Run) {
	if run.ID == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), historyTimeout)
	defer cancel()
	if err := r.cfg.Runs.FinishRun(ctx, run); err != nil {
		r.cfg.Logger.Warn("end of a run is missing in the history", "run", run.ID, "error", err)
	}
}

// guarded turns a panic of the work into an error, so that the run ends, is recorded and lets its sharers go on.
func (r *Refresher) guarded(ctx context.Context, j *job, previous *job) (out Outcome, state leaderboard.RunState, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
	}()
	if previous != nil {
		select {
		case <-previous.done:
		case <-ctx.Done():
			return Outcome{}, "", ctx.Err()
		}
	}
	if j.req.Kind == leaderboard.RunKindIncremental {
		return r.catchUp(ctx, j)
	}
	return r.build(ctx, j)
}

// reasonOf is the cause of a failure in words that may be shown; the log has the rest.
func reasonOf(err error) string {
	var network net.Error
	switch {
	case errors.Is(err, errPanic):
		return "internal error, see the log"
	case errors.Is(err, errLeaseLost):
		return "the lease was lost, another process may have built"
	case errors.Is(err, leaderboard.ErrPeriodNotFound):
		return "the period no longer exists"
	case errors.Is(err, leaderboard.ErrUnavailable):
		return "MySQL is away"
	case errors.Is(err, context.Canceled):
		return "cancelled by shutdown"
	case errors.Is(err, context.DeadlineExceeded):
		return "took too long"
	case errors.As(err, &network):
		return "Redis or MySQL does not answer"
	default:
		return "failed, see the log"
	}
}
