package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"

	"leaderboard"
	"leaderboard/cache"
	"leaderboard/migrations"
	"leaderboard/refresher"
	"leaderboard/store"
)

// boardPage is how many boards are read at once.
const boardPage = 500

// copyTools are what refresh and verify work with, straight on MySQL and Redis; no server is needed.
type copyTools struct {
	store     *store.Store
	copies    *cache.Copies
	catalog   *cache.Catalog
	refresher *refresher.Refresher
	close     func() error
}

func (p *program) openCopies(ctx context.Context, cfg *config) (*copyTools, error) {
	if err := oneOrAll(cfg); err != nil {
		return nil, err
	}
	if err := cfg.needMySQL(); err != nil {
		return nil, err
	}
	if cfg.redisURL == "" {
		return nil, usagef("no Redis given: set --redis-url or LEADERBOARD_REDIS_URL, as in redis://127.0.0.1:6379/0")
	}
	log := newLogger(p.err, cfg)
	s, err := store.Open(ctx, store.Config{DSN: cfg.mysqlDSN, MaxConns: cfg.mysqlMaxConns, Logger: log})
	if err != nil {
		return nil, err
	}
	client, err := cache.OpenRedis(cfg.redisURL)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	tools := &copyTools{store: s, catalog: cache.NewCatalog(s), close: func() error { return errors.Join(client.Close(), s.Close()) }}
	if err := errors.Join(mysqlReady(ctx, s, cfg.mysqlDSN), redisReady(ctx, client, cfg.redisURL)); err != nil {
		return nil, errors.Join(err, tools.close())
	}
	tools.copies = cache.NewCopies(client, s, cache.CopyOptions{HookPoint: cfg.fault.hook(), Logger: log})
	tools.refresher = newRefresher(s, tools.copies, log, func(leaderboard.Run) {})
	return tools, nil
}

// oneOrAll checks that it was said which boards are meant.
func oneOrAll(cfg *config) error {
	switch {
	case cfg.board == "" && !cfg.all:
		return usagef("say which boards: --board NAME or --all")
	case cfg.board != "" && cfg.all:
		return usagef("--board and --all exclude each other")
	}
	return nil
}

// mysqlReady says what is in the way of working on the database.
func mysqlReady(ctx context.Context, s *store.Store, dsn string) error {
	pending, err := migrations.Pending(ctx, s.DB())
	switch {
	case err != nil:
		return fmt.Errorf("ask MySQL at %s: %w", placeOfDSN(dsn), err)
	case pending:
		return fmt.Errorf("the schema in %s is not up to date: run `leaderboard migrate up`", placeOfDSN(dsn))
	}
	return nil
}

func redisReady(ctx context.Context, client redis.UniversalClient, address string) error {
	if err := client.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("ask Redis at %s: %w", placeOfURL(address), err)
	}
	return nil
}

// periods are the current periods of the boards asked for.
func (t *copyTools) periods(ctx context.Context, cfg *config) ([]leaderboard.PeriodRef, error) {
	if cfg.board != "" {
		_, board, err := t.catalog.Resolve(ctx, cfg.board, "", "")
		if err != nil {
			return nil, fmt.Errorf("board %s: %w", printable(cfg.board), err)
		}
		return t.periodsOf(ctx, &board)
	}
	var refs []leaderboard.PeriodRef
	for after := ""; ; {
		boards, err := t.store.Boards(ctx, after, boardPage)
		if err != nil {
			return nil, err
		}
		for i := range boards {
			of, err := t.periodsOf(ctx, &boards[i])
			if err != nil {
				return nil, err
			}
			refs = append(refs, of...)
			after = boards[i].Name
		}
		if len(boards) < boardPage {
			return refs, nil
		}
	}
}

func (t *copyTools) periodsOf(ctx context.Context, board *leaderboard.Board) ([]leaderboard.PeriodRef, error) {
	var refs []leaderboard.PeriodRef
	for _, w := range board.Rules.Windows {
		ref, _, err := t.catalog.Resolve(ctx, board.Name, string(w), "")
		if errors.Is(err, leaderboard.ErrBoardNotFound) || errors.Is(err, leaderboard.ErrPeriodNotFound) {
			continue // deleted in the meantime; before the first season
		}
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

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
func (p *program) refresh(ctx context.Context, cfg config, _ []string) (err error) {
	tools, err := p.openCopies(ctx, &cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tools.close()) }()
	refs, err := tools.periods(ctx, &cfg)
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	views, failed := []runView{}, 0
	for _, ref := range refs {
		run, err := tools.refresher.RunOnce(ctx, refresher.Request{
			Ref: ref, Kind: leaderboard.RunKind(cfg.kind), Reason: leaderboard.ReasonCommand, Actor: host,
		})
		v := viewRun(ref, run)
		if err != nil {
			v.State, v.Error = leaderboard.RunFailed, cmp.Or(v.Error, err.Error())
		}
		if v.State == leaderboard.RunFailed {
			failed++
		}
		views = append(views, v)
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
