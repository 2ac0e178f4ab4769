package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

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
	Equal      *bool              `json:"equal"` // null: it could not be compared
	Seq        int64              `json:"seq"`
	Checked    int64              `json:"checked"` // entries compared, 0 when there is no copy
	Total      int64              `json:"total"`   // entries of the period
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
	return p.toolLeaf("verify", "compare Redis copies with MySQL, or derived boards with their sources; status 1 on a difference, 4 when none was found and not everything could be compared",
		&o, func(ctx context.Context) error { return notADifference(p.verify(ctx, &o, against == "sources")) }, flags...)
}

// differenceError is what verify is there to find.
type differenceError string

func (d differenceError) Error() string { return string(d) }

// notADifference keeps every failure of verify apart from what it is there to find.
func notADifference(err error) error {
	if _, found := errors.AsType[differenceError](err); found || err == nil {
		return err
	}
	return &uncomparedError{err}
}

// verify compares copies with MySQL, or derived boards with their sources. It goes on after a difference or an error, and
// fails at the end.
func (p *program) verify(ctx context.Context, o *toolOptions, sources bool) error {
	views, different, uncompared := []verificationView{}, 0, 0
	with := needsCopies
	if sources {
		with = needsMySQL
	}
	err := p.eachPeriod(ctx, o, with, func(t *app.Tools, ref leaderboard.PeriodRef) error {
		if sources && ref.Rules.Derive == nil {
			return notDerived(o, ref)
		}
		v, err := verifyPeriod(ctx, t, ref, sources)
		if errors.Is(err, leaderboard.ErrPeriodNotFound) {
			return nil // deleted in the meantime
		}
		view := viewVerification(ref, v)
		switch {
		case err != nil:
			view.Equal, view.Error = nil, err.Error()
			uncompared++
		case !v.Equal:
			different++
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
	return verdictOf(len(views), different, uncompared, sources)
}

// verdictOf says what became of so many comparisons.
func verdictOf(all, different, uncompared int, sources bool) error {
	what, remedy := "copies are not what MySQL says", "`leaderboard refresh` builds them anew"
	if sources {
		what, remedy = "boards are not what their sources make", "`leaderboard refresh --kind recompute` computes them anew"
	}
	rest := ""
	if uncompared > 0 {
		rest = fmt.Sprintf("%d of %d could not be compared", uncompared, all)
	}
	if different == 0 {
		if rest == "" {
			return nil
		}
		return errors.New(rest)
	}
	found := fmt.Sprintf("%d of %d %s: %s", different, all, what, remedy)
	if rest != "" {
		found += "; " + rest
	}
	return differenceError(found)
}

func verifyPeriod(ctx context.Context, t *app.Tools, ref leaderboard.PeriodRef, sources bool) (leaderboard.Verification, error) {
	if sources {
		return t.Store.VerifySources(ctx, ref.Board)
	}
	return t.Copies.Verify(ctx, ref)
}

func viewVerification(ref leaderboard.PeriodRef, v leaderboard.Verification) verificationView {
	view := verificationView{
		Board: ref.Board, Window: ref.Window, Period: ref.Name, Equal: &v.Equal, Seq: v.Seq, Checked: v.Checked, Total: v.Total, Detail: v.Detail,
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
	t := terminal.NewTable(p.out, "BOARD", "PERIOD", "EQUAL", "SEQ", "CHECKED", "OF", "NOTE")
	for _, v := range views {
		equal := "unknown"
		if v.Equal != nil {
			equal = strconv.FormatBool(*v.Equal)
		}
		t.Row(v.Board, v.Period, equal, v.Seq, v.Checked, v.Total, v.note())
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
