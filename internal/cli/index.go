package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"leaderboard"
	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
	"leaderboard/store"
)

func (p *program) indexCommand() *cli.Command {
	flags := []string{"mysql-dsn", "mysql-max-conns", "log", "log-level", "board", "all", "json"}
	return p.group(
		"index", "the rank indexes, which find any rank at any depth",
		p.leaf("index build", "build rank indexes anew; servers do it by themselves when one is missing", "", p.indexBuild, flags...),
		p.leaf("index status", "show the rank indexes that are saved", "", p.indexStatus, flags...),
	)
}

// indexBuild builds the indexes one after another. It goes on after a failure.
func (p *program) indexBuild(ctx context.Context, cfg config, _ []string) error {
	views := []runView{}
	err := p.eachPeriod(ctx, &cfg, needsMySQL, func(t *app.Tools, ref leaderboard.PeriodRef) error {
		bar := terminal.NewProgress(p.err, -1, "index of "+terminal.Printable(ref.Board)+" "+ref.Name, progressbar.OptionShowCount())
		run, err := t.Store.BuildIndex(ctx, ref, store.IndexBuild{
			Reason: leaderboard.RunReasonCommand, Actor: hostName(),
			Progress: func(counted, total int64) {
				bar.SetTotal(total)
				bar.Set(counted)
			},
		})
		bar.End()
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
	return p.reportRuns(&cfg, views, "builds")
}

// indexView is the saved index of one period.
type indexView struct {
	Board   string              `json:"board"`
	Window  leaderboard.Window  `json:"window"`
	Period  string              `json:"period"`
	State   string              `json:"state"` // ready, building, damaged, none
	Buckets int                 `json:"buckets"`
	Target  int64               `json:"target"`   // entries that a bucket is meant to have
	Entries int64               `json:"entries"`  // counted in it
	Seq     int64               `json:"seq"`      // the state that it is true at
	Lag     int64               `json:"lag"`      // changes of the period since, which the log brings
	Bytes   int64               `json:"bytes"`    // as saved
	SavedAt *leaderboard.Micros `json:"saved_at"` // null: nothing is saved
	Error   string              `json:"error,omitempty"`
}

func viewIndex(ref leaderboard.PeriodRef, st store.IndexStatus) indexView {
	v := indexView{
		Board: ref.Board, Window: ref.Window, Period: ref.Name, State: "none", Buckets: st.Buckets, Target: st.Target,
		Entries: st.Counted, Seq: st.Seq, Bytes: st.Bytes, Error: st.Damaged,
	}
	if st.Bytes > 0 {
		v.SavedAt = &st.SavedAt
	}
	switch {
	case st.Damaged != "":
		v.State = "damaged"
	case st.Building:
		v.State = "building"
	case st.Saved:
		v.State, v.Lag = "ready", st.PeriodSeq-st.Seq
	}
	return v
}

// indexStatus shows what is saved; what servers have in memory is newer.
func (p *program) indexStatus(ctx context.Context, cfg config, _ []string) error {
	views := []indexView{}
	err := p.eachPeriod(ctx, &cfg, needsMySQL, func(t *app.Tools, ref leaderboard.PeriodRef) error {
		st, err := t.Store.IndexStatus(ctx, ref)
		if errors.Is(err, leaderboard.ErrPeriodNotFound) {
			return nil // deleted in the meantime
		}
		if err != nil {
			return err
		}
		views = append(views, viewIndex(ref, st))
		return nil
	})
	if err != nil {
		return err
	}
	return p.showIndexes(&cfg, views)
}

func (p *program) showIndexes(cfg *config, views []indexView) error {
	if cfg.json {
		return terminal.PrintJSON(p.out, views)
	}
	t := terminal.NewTable(p.out, "BOARD", "PERIOD", "STATE", "BUCKETS", "ENTRIES", "SEQ", "LAG", "BYTES", "SAVED AT", "ERROR")
	for _, v := range views {
		saved := "-"
		if v.SavedAt != nil {
			saved = v.SavedAt.String()
		}
		t.Row(v.Board, v.Period, v.State, v.Buckets, v.Entries, v.Seq, v.Lag, v.Bytes, saved, cmp.Or(v.Error, "-"))
	}
	return t.Flush()
}
