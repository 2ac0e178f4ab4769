package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"math"
	"time"

	"leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
)

// board is one filled board in a database of its own, and the stores that are opened on it in this process.
type board struct {
	dsn      string
	db       *sql.DB // for the yardsticks: plain SQL
	ref      leaderboard.PeriodRef
	members  int
	fillRate float64 // rows a second of the filling
	stores   []*store.Store
	store    *store.Store // the first of them: with a rank index, as the service has it
}

// openBoard opens the board of a database, and makes and fills both when they are not there in this size.
func openBoard(ctx context.Context, server, database string, members int, log io.Writer) (*board, error) {
	have, err := countOf(ctx, server, database)
	if err != nil {
		return nil, err
	}
	if have != members {
		if err := recreate(ctx, server, database); err != nil {
			return nil, err
		}
	}
	b, err := newBoard(ctx, server+database, members)
	if err != nil {
		return nil, err
	}
	if have != members {
		err = b.fill(ctx, log)
	} else {
		err = b.lastFill(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// countOf is the number of entries of the board in a database, -1 if there is none.
func countOf(ctx context.Context, server, database string) (int, error) {
	db, err := sql.Open("mysql", server+"?interpolateParams=true")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var tables, have int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ? AND table_name = '"+fillTable+"'", database).Scan(&tables); err != nil || tables == 0 {
		return -1, err
	}
	err = db.QueryRowContext(ctx, "SELECT COALESCE(MAX(entry_count), -1) FROM "+database+".periods").Scan(&have)
	return have, err
}

func recreate(ctx context.Context, server, database string) error {
	db, err := sql.Open("mysql", server)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, q := range []string{"DROP DATABASE IF EXISTS ", "CREATE DATABASE "} {
		if _, err := db.ExecContext(ctx, q+database); err != nil {
			return err
		}
	}
	return nil
}

// newBoard makes the schema and the board in an existing database.
func newBoard(ctx context.Context, dsn string, members int) (*board, error) {
	b := &board{dsn: dsn, members: members}
	var err error
	if b.db, err = sql.Open("mysql", dsn+"?interpolateParams=true&parseTime=true"); err != nil {
		return nil, err
	}
	b.db.SetMaxIdleConns(64)
	if _, err := migrations.Up(ctx, b.db); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if b.store, err = b.open(nil); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if b.ref, err = b.put(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *board) put(ctx context.Context) (leaderboard.PeriodRef, error) {
	made, _, err := b.store.PutBoard(ctx, benchBoard, leaderboard.Rules{Policy: leaderboard.PolicyLatest, TopN: 10_000})
	if err != nil {
		return leaderboard.PeriodRef{}, err
	}
	p, err := b.store.CurrentPeriod(ctx, made, leaderboard.WindowAllTime)
	if err != nil {
		return leaderboard.PeriodRef{}, err
	}
	return leaderboard.PeriodRef{ID: p.ID, BoardID: made.ID, Board: made.Name, Window: p.Window, Name: p.Name(), Rules: &made.Rules}, nil
}

// open opens one more store on the board.
func (b *board) open(change func(*store.Config)) (*store.Store, error) {
	cfg := store.Config{DSN: b.dsn}
	if change != nil {
		change(&cfg)
	}
	s, err := store.Open(context.Background(), cfg)
	if err != nil {
		return nil, err
	}
	b.stores = append(b.stores, s)
	return s, nil
}

// openScanning opens a store that keeps no rank index: it counts every entry that is better, however long it takes.
func (b *board) openScanning() (*store.Store, error) {
	return b.open(func(c *store.Config) {
		c.IndexMinEntries = math.MaxInt64
		c.StatementTimeout, c.ReadTimeout = 5*time.Minute, 6*time.Minute
	})
}

// buildIndex builds the rank index from scratch, saves it, and returns how long that took.
func (b *board) buildIndex(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	_, err := b.store.BuildIndex(ctx, b.ref, store.IndexBuild{Reason: leaderboard.RunReasonCommand, Actor: "bench"})
	return time.Since(start), err
}

func (b *board) closeStores() error {
	var errs []error
	for _, s := range b.stores {
		errs = append(errs, s.Close())
	}
	b.stores, b.store = nil, nil
	return errors.Join(errs...)
}

func (b *board) close() error { return errors.Join(b.closeStores(), b.db.Close()) }
