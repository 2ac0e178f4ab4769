package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/urfave/cli/v3"

	"leaderboard/api"
	"leaderboard/client"
	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

// comparison is the result of comparing one copy with MySQL.
type comparison struct {
	api.Verification
	Equal *bool  `json:"equal"`           // replaces Verification.Equal; null: it could not be compared
	Error string `json:"error,omitempty"` // why it could not be compared
}

func (p *program) verifyCommand() *cli.Command {
	o, against := p.toolOptions(), "copy"
	flags := append(slices.Concat(p.serverFlags(&o.Config, "mysql-dsn", "mysql-max-conns", "redis-url", "log", "log-level"), o.flags()),
		choice(p.option("against", "what verify compares MySQL with: copy, the copies in Redis; sources, derived boards with their sources"),
			&against, "copy", "sources"))
	return p.toolLeaf("verify", "compare Redis copies with MySQL, or derived boards with their sources: on the database of --mysql-dsn, else by the server of --url; "+
		"status 1 on a difference, 4 when none was found and not everything could be compared",
		o, func(ctx context.Context) error { return notADifference(p.verify(ctx, o, against == "sources")) }, flags...)
}

// differenceError means that verify has found differences.
type differenceError string

func (d differenceError) Error() string { return string(d) }

// notADifference makes every error an uncomparedError, for the exit status, except a differenceError and ErrBoardNotFound.
func notADifference(err error) error {
	if _, found := errors.AsType[differenceError](err); found || err == nil || errors.Is(err, leaderboard.ErrBoardNotFound) {
		return err
	}
	return &uncomparedError{err}
}

// verify compares copies with MySQL, or derived boards with their sources. It continues after a difference or an error, and fails
// at the end.
func (p *program) verify(ctx context.Context, o *toolOptions, sources bool) error {
	if err := o.choose(); err != nil {
		return err
	}
	views, different, uncompared := []comparison{}, 0, 0
	with := needsCopies
	if sources {
		with = needsMySQL
	}
	err := p.eachPeriod(ctx, o, with, func(t *app.Tools, ref leaderboard.PeriodRef) error {
		if sources && ref.Rules.Derive == nil {
			return notDerived(o, ref)
		}
		view, err := o.verifyPeriod(ctx, t, ref, sources)
		switch {
		case o.noPeriod(err), errors.Is(err, leaderboard.ErrPeriodNotFound):
			return nil // deleted in the meantime
		case o.isServers(err):
			return err
		case err != nil:
			view.Equal, view.Error = nil, err.Error()
			uncompared++
		case !*view.Equal:
			different++
		}
		views = append(views, view)
		return nil
	})
	if err != nil {
		return err
	}
	if err := showVerifications(o, views); err != nil {
		return err
	}
	return verdictOf(len(views), different, uncompared, sources)
}

// verdictOf returns the error for the results of all comparisons, nil if all were equal.
func verdictOf(all, different, uncompared int, sources bool) error {
	what, remedy := "copies are not what MySQL says", "`leaderboard refresh` builds them again"
	if sources {
		what, remedy = "boards are not what their sources make", "`leaderboard refresh --kind recompute` computes them again"
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

// verifyPeriod compares a period, here or through a server, and returns the result.
func (o *toolOptions) verifyPeriod(ctx context.Context, t *app.Tools, ref leaderboard.PeriodRef, sources bool) (comparison, error) {
	var v leaderboard.Verification
	var err error
	switch {
	case o.server != nil:
		view := comparison{Verification: api.Verification{Board: ref.Board, Window: ref.Window, Period: ref.Name}}
		if _, err = o.server.Verify(ctx, ref.Board, client.VerifyQuery{Window: ref.Window, Sources: sources}); err == nil {
			err = o.answer.Decode(&view)
		}
		if err == nil && view.Equal == nil {
			err = errors.New("this is no answer of a leaderboard server")
		}
		return view, err
	case sources:
		v, err = t.VerifySources(ctx, ref.Board)
	default:
		v, err = t.Copies.Verify(ctx, ref)
	}
	return comparison{Verification: api.VerificationOf(&ref, &v), Equal: &v.Equal}, err
}

func showVerifications(o *toolOptions, views []comparison) error {
	return showViews(o, views, []string{"BOARD", "PERIOD", "EQUAL", "SEQ", "CHECKED", "OF", "NOTE"}, func(v *comparison) []any {
		equal := "unknown"
		if v.Equal != nil {
			equal = strconv.FormatBool(*v.Equal)
		}
		return []any{v.Board, v.Period, equal, v.Seq, v.Checked, v.Total, v.note()}
	})
}

func (v *comparison) note() string {
	switch {
	case v.Difference != nil && v.Difference.Rank == 0:
		return fmt.Sprintf("the board has %s, its sources make %s", entryText(v.Difference.Copy), entryText(v.Difference.Database))
	case v.Difference != nil:
		return fmt.Sprintf("rank %d: Redis has %s, MySQL has %s", v.Difference.Rank, entryText(v.Difference.Copy), entryText(v.Difference.Database))
	case v.Error != "":
		return v.Error
	case v.Detail != "":
		return v.Detail
	default:
		return "-"
	}
}

func entryText(e *api.ComparedEntry) string {
	if e == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s=%d (%s)", terminal.Printable(e.Member), e.Score, leaderboard.MicrosOf(e.CreatedTime))
}
