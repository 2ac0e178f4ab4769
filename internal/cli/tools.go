package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"leaderboard/api"
	"leaderboard/client"
	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
	"leaderboard/refresher"
	"leaderboard/store"
)

// toolOptions are the options of commands that work on one board or on all, directly on MySQL and Redis or through a server.
type toolOptions struct {
	app.Config
	remote
	board  string
	all    bool
	server *client.Client // nil: MySQL and Redis directly
}

func (p *program) toolOptions() *toolOptions {
	return &toolOptions{Config: app.Defaults(), remote: p.remote()}
}

// needs is the servers that a command uses: MySQL alone, or also Redis with its copies.
type needs bool

const (
	needsMySQL  needs = false
	needsCopies needs = true
)

// eachPeriod calls do for the current periods of the boards that o names, one after another, until one fails. It opens MySQL and
// Redis for that, unless a server does the work: then the tools are nil.
func (p *program) eachPeriod(ctx context.Context, o *toolOptions, n needs, do func(*app.Tools, leaderboard.PeriodRef) error) (err error) {
	var t *app.Tools
	var refs []leaderboard.PeriodRef
	if o.server != nil {
		refs, err = periodsOfServer(ctx, o.server, o.board)
	} else {
		if t, err = p.openTools(ctx, o, n); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, t.Close()) }()
		if refs, err = t.Periods(ctx, o.board); errors.Is(err, leaderboard.ErrBoardNotFound) {
			err = fmt.Errorf("%w: %s", leaderboard.ErrBoardNotFound, terminal.Printable(o.board))
		} else if err == nil {
			err = t.RedisReady(ctx) // after MySQL, which alone knows the board
		}
	}
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if err := do(t, ref); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) openTools(ctx context.Context, o *toolOptions, n needs) (*app.Tools, error) {
	if err := needMySQL(&o.Config); err != nil {
		return nil, err
	}
	if n == needsCopies && o.RedisURL == "" {
		return nil, usagef("no Redis given: set --redis-url or LEADERBOARD_REDIS_URL, as in redis://127.0.0.1:6379/0")
	}
	return app.OpenTools(ctx, &o.Config, n == needsCopies, app.NewLogger(p.err, &o.Config))
}

// choose connects to the server that does the work, unless it is done on the database of --mysql-dsn.
func (o *toolOptions) choose() error {
	byURL, err := o.isMeant("mysql-dsn")
	if err == nil && (byURL || o.MySQLDSN == "") {
		o.server, err = o.connect(client.WithMaxWait(o.timeout))
	}
	return err
}

// periodsOfServer returns the current periods of a board, or with "" of all boards that the key covers. The names of the periods
// come later, with the server's answers.
func periodsOfServer(ctx context.Context, c *client.Client, name string) (refs []leaderboard.PeriodRef, err error) {
	own, err := c.OwnKey(ctx)
	if err != nil {
		return nil, err
	}
	boards := c.Boards(ctx, nil)
	if name != "" {
		boards = func(yield func(client.Board, error) bool) { yield(c.Board(ctx, name)) }
	}
	for b, err := range boards {
		if err != nil {
			return nil, err
		}
		if name == "" && !(&leaderboard.Key{Boards: own.Boards}).Covers(b.Name) {
			continue // a public board that the key does not cover
		}
		for _, w := range b.Windows {
			refs = append(refs, leaderboard.PeriodRef{Board: b.Name, Window: w, Name: "current", Rules: &b.Rules})
		}
	}
	return refs, nil
}

// noPeriod reports whether a server found no period: the board was deleted in the meantime, or its season has not begun.
func (o *toolOptions) noPeriod(err error) bool {
	return o.server != nil && (errors.Is(err, leaderboard.ErrPeriodNotFound) || o.all && errors.Is(err, leaderboard.ErrBoardNotFound))
}

// isServers reports whether an error is about the server, the connection or the key, and not about one board.
func (o *toolOptions) isServers(err error) bool {
	if o.server == nil || err == nil {
		return false
	}
	p, answered := errors.AsType[*client.Problem](err)
	return !answered || p.Answer != nil || p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden
}

// hostName returns the name of this machine, the actor in the records of runs.
func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return host
}

// oneOrAll is the positional argument of commands that work on a board, or on all of them.
const oneOrAll = "(BOARD | --all)"

// toolLeaf makes a leaf that works on the board that is its argument, or on all boards. Errors of a server are explained.
func (p *program) toolLeaf(name, usage string, o *toolOptions, do func(context.Context) error, flags ...cli.Flag) *cli.Command {
	return p.leaf(name, usage, oneOrAll, func(ctx context.Context, args []string) error {
		switch {
		case len(args) > 1:
			return usagef("want one board, as in: leaderboard %s demo; or --all", name)
		case len(args) == 0 && !o.all:
			return usagef("say which board, as in: leaderboard %s demo; or --all", name)
		case len(args) == 1 && o.all:
			return usagef("give a board or --all, not both")
		case len(args) == 1:
			o.board = args[0]
		}
		err := do(ctx)
		if o.server != nil {
			err = explain(ctx, err, o.url, o.board)
		}
		return err
	}, append(flags, allFlag(&o.all))...)
}

func (p *program) refreshCommand() *cli.Command {
	o, kind := p.toolOptions(), string(leaderboard.RunKindFull)
	flags := append(slices.Concat(p.serverFlags(&o.Config, "mysql-dsn", "mysql-max-conns", "redis-url", "fault", "log", "log-level"), o.flags()),
		choice(p.option("kind", "full rebuilds the copy, incremental catches up by the change log, recompute computes derived boards from scratch"),
			&kind, "full", "incremental", "recompute"))
	return p.toolLeaf("refresh", "renew Redis copies now, as a cron job does: on the database of --mysql-dsn, else by the server of --url; status 1 when one fails", o,
		func(ctx context.Context) error { return p.refresh(ctx, o, leaderboard.RunKind(kind)) }, flags...)
}

// refresh renews copies, one after another, under the same lease as the servers do. It continues after a failure.
func (p *program) refresh(ctx context.Context, o *toolOptions, kind leaderboard.RunKind) error {
	if err := o.choose(); err != nil {
		return err
	}
	views, with := []api.Run{}, needsCopies
	if kind == leaderboard.RunKindRecompute {
		with = needsMySQL
	}
	err := p.eachPeriod(ctx, o, with, func(t *app.Tools, ref leaderboard.PeriodRef) error {
		if kind == leaderboard.RunKindRecompute && ref.Rules.Derive == nil {
			return notDerived(o, ref)
		}
		v, err := o.refreshPeriod(ctx, t, ref, kind)
		switch {
		case o.noPeriod(err):
			return nil
		case o.isServers(err):
			return err
		case err != nil:
			v.State, v.Error = leaderboard.RunStateFailed, cmp.Or(v.Error, err.Error())
		}
		views = append(views, v)
		return nil
	})
	if err != nil {
		return err
	}
	return reportRuns(o, views, "refreshes")
}

// refreshPeriod makes a run, here or through a server.
func (o *toolOptions) refreshPeriod(ctx context.Context, t *app.Tools, ref leaderboard.PeriodRef, kind leaderboard.RunKind) (api.Run, error) {
	if o.server == nil {
		run, err := t.Refresher.RunOnce(ctx, refresher.Request{Ref: ref, Kind: kind, Reason: leaderboard.RunReasonCommand, Actor: hostName()})
		return runOf(ref, run), err
	}
	r, err := rebuild(ctx, o.server, ref, kind)
	r.Board, r.Window, r.Period, r.Kind = ref.Board, ref.Window, cmp.Or(r.Period, ref.Name), kind // also of a run that did not begin
	return r, err
}

const (
	rebuildWait = 5 * time.Minute // how long a request waits for the end of a run at most
	rebuildPoll = time.Second     // between two questions about a run that takes longer
)

// rebuild has a server make a run, and waits for its end.
func rebuild(ctx context.Context, server *client.Client, ref leaderboard.PeriodRef, kind leaderboard.RunKind) (client.Run, error) {
	run, finished, err := server.Rebuild(ctx, ref.Board, client.RebuildOptions{Kind: kind, Window: ref.Window, Wait: rebuildWait})
	for err == nil && !finished {
		select {
		case <-ctx.Done():
			return run, ctx.Err()
		case <-time.After(rebuildPoll):
		}
		run, err = server.Run(ctx, run.ID)
		finished = run.State != leaderboard.RunStateRunning
	}
	return run, err
}

// reportRuns shows runs, and fails when one of them failed.
func reportRuns(o *toolOptions, views []api.Run, what string) error {
	if err := showRuns(o, views); err != nil {
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

// notDerived is for a board without sources in a command about sources: it returns an error if the board was named, nil with --all.
func notDerived(o *toolOptions, ref leaderboard.PeriodRef) error {
	if o.all {
		return nil
	}
	return fmt.Errorf("%w: %s", leaderboard.ErrNotDerived, terminal.Printable(ref.Board))
}

// runOf returns the document of a run of a period.
func runOf(ref leaderboard.PeriodRef, r leaderboard.Run) api.Run {
	r.Board, r.Window, r.Period = ref.Board, ref.Window, ref.Name
	return api.RunOf(&r)
}

func showRuns(o *toolOptions, views []api.Run) error {
	return showViews(o, views, []string{"BOARD", "PERIOD", "KIND", "STATE", "FROM SEQ", "TO SEQ", "ROWS", "TOOK", "ERROR"}, func(v *api.Run) []any {
		return []any{v.Board, v.Period, v.Kind, v.State, v.FromSeq, v.ToSeq, v.Rows, v.Took, cmp.Or(v.Error, "-")}
	})
}

// showViews shows a view for each period: as a JSON array, or in a table.
func showViews[T any](o *toolOptions, views []T, head []string, cells func(*T) []any) error {
	if o.json {
		return terminal.PrintJSON(o.out, views)
	}
	t := terminal.NewTable(o.out, head...)
	for i := range views {
		t.Row(cells(&views[i])...)
	}
	return t.Flush()
}

func (p *program) indexCommand() *cli.Command {
	leaf := func(name, usage string, do func(context.Context, *toolOptions) error, flags ...cli.Flag) *cli.Command {
		o := p.toolOptions()
		return p.toolLeaf(name, usage, o, func(ctx context.Context) error { return do(ctx, o) },
			slices.Concat(p.serverFlags(&o.Config, "mysql-dsn", "mysql-max-conns", "log", "log-level"), []cli.Flag{jsonFlag(&o.json)}, flags)...)
	}
	return group(
		"index", "the rank indexes, which find any rank at any depth",
		leaf("index build", "build rank indexes again; servers build a missing index themselves", p.indexBuild),
		leaf("index status", "show the rank indexes that are saved", p.indexStatus, p.utcFlag()),
	)
}

// indexBuild builds the indexes one after another. It continues after a failure.
func (p *program) indexBuild(ctx context.Context, o *toolOptions) error {
	views := []api.Run{}
	err := p.eachPeriod(ctx, o, needsMySQL, func(t *app.Tools, ref leaderboard.PeriodRef) error {
		bar := terminal.NewProgress(p.err, -1, "index of "+terminal.Printable(ref.Board)+" "+ref.Name, progressbar.OptionShowCount())
		run, err := t.Store.Indexes.Build(ctx, ref, store.IndexBuild{
			Reason: leaderboard.RunReasonCommand, Actor: hostName(),
			Progress: func(counted, total int64) {
				bar.SetTotal(total)
				bar.Set(counted)
			},
		})
		bar.End()
		v := runOf(ref, run)
		if err != nil {
			v.State, v.Error = leaderboard.RunStateFailed, cmp.Or(v.Error, err.Error())
		}
		views = append(views, v)
		return nil
	})
	if err != nil {
		return err
	}
	return reportRuns(o, views, "builds")
}

// indexView is the saved index of one period.
type indexView struct {
	Board   string              `json:"board"`
	Window  leaderboard.Window  `json:"window"`
	Period  string              `json:"period"`
	State   string              `json:"state"` // ready, building, damaged, none
	Buckets int                 `json:"buckets"`
	Target  int64               `json:"target"`   // entries per bucket, about
	Entries int64               `json:"entries"`  // that it counts
	Seq     int64               `json:"seq"`      // at which its counts are exact
	Lag     int64               `json:"lag"`      // changes of the period since, which come from the log
	Bytes   int64               `json:"bytes"`    // as saved
	SavedAt *leaderboard.Micros `json:"saved_at"` // null: it is not saved
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

// indexStatus shows the saved indexes. Indexes in the memory of servers may be newer.
func (p *program) indexStatus(ctx context.Context, o *toolOptions) error {
	views := []indexView{}
	err := p.eachPeriod(ctx, o, needsMySQL, func(t *app.Tools, ref leaderboard.PeriodRef) error {
		st, err := t.Store.Indexes.Status(ctx, ref)
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
	return showViews(o, views, []string{"BOARD", "PERIOD", "STATE", "BUCKETS", "ENTRIES", "SEQ", "LAG", "BYTES", "SAVED AT", "ERROR"}, func(v *indexView) []any {
		saved := any("-")
		if v.SavedAt != nil {
			saved = v.SavedAt.Time()
		}
		return []any{v.Board, v.Period, v.State, v.Buckets, v.Entries, v.Seq, v.Lag, v.Bytes, saved, cmp.Or(v.Error, "-")}
	})
}
