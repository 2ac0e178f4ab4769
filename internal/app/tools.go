package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"leaderboard/cache"
	"leaderboard/cache/topn"
	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/internal/app/installed"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/refresher"
	"leaderboard/store"
)

// Tools are for commands that use MySQL and Redis without a server.
type Tools struct {
	Store     *store.Store
	Copies    *topn.Copies // nil without Redis
	Refresher *refresher.Refresher

	catalog    *cache.Catalog
	engine     *features.Engine // with the offers of features
	redisReady func(context.Context) error
	close      func() error
}

// OpenTools opens MySQL, and with copies Redis, and fails unless MySQL answers and the schema is up to date. Redis is asked by
// RedisReady.
func OpenTools(ctx context.Context, cfg *Config, copies bool, log *slog.Logger) (*Tools, error) {
	s, err := store.Open(ctx, store.Config{DSN: cfg.MySQLDSN, MaxConns: cfg.MySQLMaxConns, Logger: log, Parts: installed.Parts()})
	if err != nil {
		return nil, err
	}
	t := &Tools{
		Store: s, catalog: cache.NewCatalog(s.Boards, cache.CatalogOptions{}), close: s.Close,
		redisReady: func(context.Context) error { return nil },
	}
	if copies {
		client, openErr := topn.Open(cfg.RedisURL)
		if openErr != nil {
			return nil, errors.Join(openErr, s.Close())
		}
		t.redisReady = func(ctx context.Context) error { return redisReady(ctx, client, cfg.RedisURL) }
		t.close = func() error { return errors.Join(topn.Close(client), s.Close()) }
		t.Copies = topn.New(client, copied{s.Entries, s.Boards}, topn.Options{HookPoint: cfg.Fault.hook(), Logger: log})
	}
	t.engine = features.On(s, installed.Features())
	t.Refresher = newRefresher(s, nil, t.Copies, func(ctx context.Context, board string) (leaderboard.Run, error) {
		return recompute(ctx, t.engine, board)
	}, log, nil, trace.Span{})
	if err := mysqlReady(ctx, s, cfg); err != nil {
		return nil, errors.Join(err, t.redisReady(ctx), t.close())
	}
	return t, nil
}

// RedisReady fails when the tools have copies and Redis does not answer, or is not fit to hold them.
func (t *Tools) RedisReady(ctx context.Context) error { return t.redisReady(ctx) }

// closeTimeout bounds the records of runs that are cut off.
const closeTimeout = 5 * time.Second

// Close ends the runs under way and closes the connections.
func (t *Tools) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return errors.Join(t.Refresher.Close(ctx), t.close())
}

// mysqlReady fails unless the database is safe to use, with a schema that is up to date and enough rights.
func mysqlReady(ctx context.Context, s *store.Store, cfg *Config) error {
	dsn := cfg.MySQLDSN
	l, err := faultsOfMySQL(ctx, s, cfg.Servers)
	if err := lookError(dsn, l, err); err != nil {
		return explained(dsn, err)
	}
	pending, err := migrations.Pending(ctx, s.DB())
	switch {
	case errors.Is(err, migrations.ErrOtherSchema):
		return fmt.Errorf("the schema in %s: %w", PlaceOfDSN(dsn), err)
	case err != nil:
		return explained(dsn, err)
	case pending:
		return fmt.Errorf("the schema in %s is not up to date: run `leaderboard migrate up`", PlaceOfDSN(dsn))
	}
	l, err = rightsToWork(ctx, s)
	if err := lookError(dsn, l, err); err != nil {
		return explained(dsn, err)
	}
	return nil
}

func redisReady(ctx context.Context, client topn.Client, address string) error {
	_, faults, err := topn.Faults(ctx, client)
	if err != nil {
		return fmt.Errorf("ask %s: %w", placeOfRedis(address), err)
	}
	return checkFaults(placeOfRedis(address), faults, nil)
}

// boardPage is how many boards are read at once.
const boardPage = 500

// Periods returns the current periods of a board, or with "" of all boards.
func (t *Tools) Periods(ctx context.Context, name string) ([]leaderboard.PeriodRef, error) {
	if name != "" {
		board, err := t.Store.Boards.Board(ctx, name)
		if err != nil {
			return nil, err
		}
		return t.periodsOf(ctx, &board)
	}
	var refs []leaderboard.PeriodRef
	for after := ""; ; {
		boards, err := t.Store.Boards.Boards(ctx, after, boardPage)
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

func (t *Tools) periodsOf(ctx context.Context, board *leaderboard.Board) ([]leaderboard.PeriodRef, error) {
	var refs []leaderboard.PeriodRef
	for _, w := range board.Rules.Windows {
		ref, _, err := t.catalog.Resolve(ctx, board.Name, string(w), "")
		if errors.Is(err, leaderboard.ErrBoardNotFound) || errors.Is(err, leaderboard.ErrPeriodNotFound) {
			continue // deleted in the meantime; before the first season
		}
		if err != nil {
			return nil, err
		}
		if !ref.HasRow() {
			continue // the last season, without entries
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// VerifySources compares a derived board with its sources. Errors: ErrNotDerived.
func (t *Tools) VerifySources(ctx context.Context, board string) (leaderboard.Verification, error) {
	if derived := features.Offered[httpapi.SourceVerifier](t.engine); derived != nil {
		return derived.VerifySources(ctx, board)
	}
	return leaderboard.Verification{}, leaderboard.ErrNotDerived
}
