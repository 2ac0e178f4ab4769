package main

import (
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

// tools are what the commands work with that go straight to MySQL and Redis; no server is needed.
type tools struct {
	store     *store.Store
	catalog   *cache.Catalog
	copies    *cache.Copies        // nil without Redis
	refresher *refresher.Refresher // nil without Redis
	close     func() error
}

// needs says what a command works with besides MySQL.
type needs bool

const (
	needsMySQL  needs = false
	needsCopies needs = true
)

// eachPeriod opens what cfg names and calls do for the current periods of the boards that it asks for, one after another,
// until one fails.
func (p *program) eachPeriod(ctx context.Context, cfg *config, n needs, do func(*tools, leaderboard.PeriodRef) error) (err error) {
	if err := oneOrAll(cfg); err != nil {
		return err
	}
	t, err := p.openTools(ctx, cfg, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	refs, err := t.periods(ctx, cfg)
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

func (p *program) openTools(ctx context.Context, cfg *config, n needs) (*tools, error) {
	if err := cfg.needMySQL(); err != nil {
		return nil, err
	}
	if n == needsCopies && cfg.redisURL == "" {
		return nil, usagef("no Redis given: set --redis-url or LEADERBOARD_REDIS_URL, as in redis://127.0.0.1:6379/0")
	}
	log := newLogger(p.err, cfg)
	s, err := store.Open(ctx, store.Config{DSN: cfg.mysqlDSN, MaxConns: cfg.mysqlMaxConns, Logger: log})
	if err != nil {
		return nil, err
	}
	t := &tools{store: s, catalog: cache.NewCatalog(s), close: s.Close}
	err = mysqlReady(ctx, s, cfg.mysqlDSN)
	if n == needsCopies {
		client, openErr := cache.OpenRedis(cfg.redisURL)
		if openErr != nil {
			return nil, errors.Join(openErr, s.Close())
		}
		err = errors.Join(err, redisReady(ctx, client, cfg.redisURL))
		t.close = func() error { return errors.Join(client.Close(), s.Close()) }
		t.copies = cache.NewCopies(client, s, cache.CopyOptions{HookPoint: cfg.fault.hook(), Logger: log})
		t.refresher = newRefresher(s, t.copies, log, func(leaderboard.Run) {})
	}
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// hostName is who asks, in the records of runs.
func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return host
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

// boardPage is how many boards are read at once.
const boardPage = 500

// periods are the current periods of the boards asked for.
func (t *tools) periods(ctx context.Context, cfg *config) ([]leaderboard.PeriodRef, error) {
	if cfg.board != "" {
		board, err := t.store.Board(ctx, cfg.board)
		if errors.Is(err, leaderboard.ErrBoardNotFound) {
			return nil, fmt.Errorf("%w: %s", leaderboard.ErrBoardNotFound, printable(cfg.board))
		}
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

func (t *tools) periodsOf(ctx context.Context, board *leaderboard.Board) ([]leaderboard.PeriodRef, error) {
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
