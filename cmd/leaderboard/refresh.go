package main

import (
	"cmp"
	"context"
	"fmt"

	"leaderboard"
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
	views, failed := []runView{}, 0
	err := p.eachPeriod(ctx, &cfg, withCopies, func(t *tools, ref leaderboard.PeriodRef) error {
		run, err := t.refresher.RunOnce(ctx, refresher.Request{
			Ref: ref, Kind: leaderboard.RunKind(cfg.kind), Reason: leaderboard.ReasonCommand, Actor: hostName(),
		})
		v := viewRun(ref, run)
		if err != nil {
			v.State, v.Error = leaderboard.RunFailed, cmp.Or(v.Error, err.Error())
		}
		if v.State == leaderboard.RunFailed {
			failed++
		}
		views = append(views, v)
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.showRuns(&cfg, views); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d refreshes failed", failed, len(views))
	}
	return nil
}

func viewRun(ref leaderboard.PeriodRef, r leaderboard.Run) runView {
	return runView{
		ID: r.ID, Board: ref.Board, Window: ref.Window, Period: ref.Name, Kind: r.Kind, State: r.State, FromSeq: r.FromSeq,
		ToSeq: r.ToSeq, Rows: r.Rows, StartedAt: r.StartedAt, Took: r.Took.String(), Error: r.Error,
	}
}

func (p *program) showRuns(cfg *config, views []runView) error {
	if cfg.json {
		return printJSON(p.out, views)
	}
	t := newTable(p.out, "BOARD", "PERIOD", "KIND", "STATE", "FROM SEQ", "TO SEQ", "ROWS", "TOOK", "ERROR")
	for _, v := range views {
		t.row(v.Board, v.Period, v.Kind, v.State, v.FromSeq, v.ToSeq, v.Rows, v.Took, cmp.Or(v.Error, "-"))
	}
	return t.flush()
}
