package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"leaderboard"
	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
)

// verificationView is what became of comparing one copy with MySQL.
type verificationView struct {
	Board      string             `json:"board"`
	Window     leaderboard.Window `json:"window"`
	Period     string             `json:"period"`
	Equal      bool               `json:"equal"`
	Seq        int64              `json:"seq"`
	Checked    int64              `json:"checked"` // entries compared, 0 when there is no copy
	Difference *differenceView    `json:"difference,omitempty"`
	Detail     string             `json:"detail,omitempty"` // what is wrong with the copy, or that there is none
	Error      string             `json:"error,omitempty"`  // why it could not be compared
}

type differenceView struct {
	Rank     int64      `json:"rank,omitzero"` // strict; none against sources
	Copy     *placeView `json:"copy"`          // null: the copy ends before it
	Database *placeView `json:"truth"`         // null: MySQL ends before it
}

type placeView struct {
	Member      string             `json:"member"`
	Score       int64              `json:"score"`
	Tiebreak    int64              `json:"tiebreak"`
	CreatedTime leaderboard.Micros `json:"created_time"`
}

func (p *program) verifyCommand() *cli.Command {
	o, against := newToolOptions(), "copy"
	flags := append(p.mysqlFlags(&o.Config), p.redisFlag(&o.Config))
	flags = append(append(flags, p.loggingFlags(&o.Config)...),
		choice(p.option("against", "what verify compares MySQL with: copy, the copies in Redis; sources, derived boards with their sources"),
			&against, "copy", "sources"))
	return p.leaf("verify", "compare Redis copies with MySQL, or derived boards with their sources; status 1 on a difference", "",
		func(ctx context.Context, _ []string) error { return p.verify(ctx, &o, against == "sources") },
		append(flags, p.boardFlags(&o)...)...)
}

// verify compares copies with MySQL, or derived boards with their sources. It goes on after a difference, and fails at
// the end.
func (p *program) verify(ctx context.Context, o *toolOptions, sources bool) error {
	views, wrong, with := []verificationView{}, 0, needsCopies
	if sources {
		with = needsMySQL
	}
	err := p.eachPeriod(ctx, o, with, func(t *app.Tools, ref leaderboard.PeriodRef) error {
		if sources && ref.Rules.Derive == nil {
			return notDerived(o, ref)
		}
		v, err := verifyPeriod(ctx, t, ref, sources)
		view := viewVerification(ref, v)
		if err != nil {
			view.Equal, view.Error = false, err.Error()
		}
		if !view.Equal {
			wrong++
		}
		views = append(views, view)
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.showVerifications(o, views); err != nil {
		return err
	}
	if wrong > 0 && sources {
		return fmt.Errorf("%d of %d boards are not what their sources make: `leaderboard refresh --kind recompute` computes them anew", wrong, len(views))
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d copies are not what MySQL says: `leaderboard refresh` builds them anew", wrong, len(views))
	}
	return nil
}

func verifyPeriod(ctx context.Context, t *app.Tools, ref leaderboard.PeriodRef, sources bool) (leaderboard.Verification, error) {
	if sources {
		return t.Store.VerifySources(ctx, ref.Board)
	}
	return t.Copies.Verify(ctx, ref)
}

func viewVerification(ref leaderboard.PeriodRef, v leaderboard.Verification) verificationView {
	view := verificationView{
		Board: ref.Board, Window: ref.Window, Period: ref.Name, Equal: v.Equal, Seq: v.Seq, Checked: v.Checked, Detail: v.Detail,
	}
	if d := v.Difference; d != nil {
		view.Difference = &differenceView{Rank: d.Rank, Copy: viewPlace(d.Copy), Database: viewPlace(d.Database)}
	}
	return view
}

func viewPlace(e *leaderboard.Entry) *placeView {
	if e == nil {
		return nil
	}
	return &placeView{Member: e.Member, Score: e.Score, Tiebreak: e.Tiebreak, CreatedTime: e.CreatedTime}
}

func (p *program) showVerifications(o *toolOptions, views []verificationView) error {
	if o.json {
		return terminal.PrintJSON(p.out, views)
	}
	t := terminal.NewTable(p.out, "BOARD", "PERIOD", "EQUAL", "SEQ", "CHECKED", "NOTE")
	for _, v := range views {
		t.Row(v.Board, v.Period, v.Equal, v.Seq, v.Checked, v.note())
	}
	return t.Flush()
}

func (v *verificationView) note() string {
	switch {
	case v.Difference != nil && v.Difference.Rank == 0:
		return fmt.Sprintf("the board has %s, its sources make %s", v.Difference.Copy.text(), v.Difference.Database.text())
	case v.Difference != nil:
		return fmt.Sprintf("rank %d: Redis has %s, MySQL has %s", v.Difference.Rank, v.Difference.Copy.text(), v.Difference.Database.text())
	case v.Error != "":
		return v.Error
	case v.Detail != "":
		return v.Detail
	default:
		return "-"
	}
}

func (e *placeView) text() string {
	if e == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s=%d (%s)", terminal.Printable(e.Member), e.Score, e.CreatedTime)
}
