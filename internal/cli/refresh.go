package cli

import (
	"cmp"
	"context"
	"fmt"

	"leaderboard"
	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
	"leaderboard/refresher"
)

// runView is a finished run, as the API shows it.
type runView struct {
	ID        int64                `json:"id"`
	Board     string               `json:"board"`
	Window    leaderboard.Window   `json:"window"`
	Period    string               `json:"period"`
	Kind      leaderboard.RunKind  `json:"kind"`
	State     leaderboard.RunState `json:"state"`
	FromSeq   int64                `json:"from_seq"`
	ToSeq     int64                `json:"to_seq"`
	Rows      int64                `json:"rows"`
	StartedAt leaderboard.Micros   `json:"started_at"`
	Took      string               `json:"took"`
	Error     string               `json:"error,omitempty"`
}

// refresh renews copies, one after another, under the same lease as the servers do. It goes on after a failure.
func (p *program) refresh(ctx context.Context, cfg config, _ []string) error {
	views := []runView{}
	kind, with := leaderboard.RunKind(cfg.kind), needsCopies
	if kind == leaderboard.RunKindRecompute {
		with = needsMySQL
	}
	err := p.eachPeriod(ctx, &cfg, with, func(t *app.Tools, ref leaderboard.PeriodRef) error {
		if kind == leaderboard.RunKindRecompute && ref.Rules.Derive == nil {
			return notDerived(&cfg, ref)
		}
		run, err := t.Refresher.RunOnce(ctx, refresher.Request{Ref: ref, Kind: kind, Reason: leaderboard.RunReasonCommand, Actor: hostName()})
		v := viewRun(ref, run)
		if err != nil {
			v.State, v.Error = leaderboard.RunStateFailed, cmp.Or(v.Error, err.Error())
		}
		views = append(views, v)
		return nil
	})
	if err != nil {
		return err
	}
	return p.reportRuns(&cfg, views, "refreshes")
}

// reportRuns shows runs, and is an error when one of them failed.
func (p *program) reportRuns(cfg *config, views []runView, what string) error {
	if err := p.showRuns(cfg, views); err != nil {
		return err
	}
	failed := 0
	for i := range views {
		if views[i].State == leaderboard.RunStateFailed {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d %s failed", failed, len(views), what)
	}
	return nil
}

// notDerived is what a board without sources is to a command about sources: an error if it was named, else nothing.
func notDerived(cfg *config, ref leaderboard.PeriodRef) error {
	if cfg.all {
		return nil
	}
	return fmt.Errorf("%w: %s", leaderboard.ErrNotDerived, terminal.Printable(ref.Board))
}

func viewRun(ref leaderboard.PeriodRef, r leaderboard.Run) runView {
	return runView{
		ID: r.ID, Board: ref.Board, Window: ref.Window, Period: ref.Name, Kind: r.Kind, State: r.State, FromSeq: r.FromSeq,
		ToSeq: r.ToSeq, Rows: r.Rows, StartedAt: r.StartedAt, Took: r.Took.String(), Error: r.Error,
	}
}

func (p *program) showRuns(cfg *config, views []runView) error {
	if cfg.json {
		return terminal.PrintJSON(p.out, views)
	}
	t := terminal.NewTable(p.out, "BOARD", "PERIOD", "KIND", "STATE", "FROM SEQ", "TO SEQ", "ROWS", "TOOK", "ERROR")
	for _, v := range views {
		t.Row(v.Board, v.Period, v.Kind, v.State, v.FromSeq, v.ToSeq, v.Rows, v.Took, cmp.Or(v.Error, "-"))
	}
	return t.Flush()
}
