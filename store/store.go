package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// Store is the truth: boards, periods, entries, the change log and the history of runs in MySQL. All methods may be
// called concurrently.
type Store struct {
	cfg     Config
	db      *db.DB
	indexes *indexes

	derivers  derivers
	gates     gates
	rules     sync.Map    // board name → *boardRules, checked under the lock of each batch
	verifying atomic.Bool // a derived board is compared with its sources
	nested    sync.Map    // nestedSource: logged already, as often as rules change

	mu      sync.Mutex // guards the fields below
	queues  map[string]*queue
	closed  bool
	writers sync.WaitGroup // one per queue
}

// Open makes a Store. It fails for a bad DSN only: MySQL may be away and come back. It does not migrate.
func Open(_ context.Context, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	database, err := db.Open(cfg.database())
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, db: database, queues: map[string]*queue{}}
	s.indexes = newIndexes(s)
	return s, nil
}

// Close waits for the writes that were accepted, saves the rank indexes, then closes the connections. Submit fails with
// ErrUnavailable from now on.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.writers.Wait()
	s.indexes.close()
	return errors.Join(s.derivers.close(), s.db.Close())
}

// Ping says whether MySQL answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.db.PingContext(ctx); err != nil {
		return db.Translate(ctx, "ping", err)
	}
	return nil
}

// DB is the pool, for migrations.Version and statistics. Nothing else may use it.
func (s *Store) DB() *sql.DB { return s.db.DB.DB }

// Connect opens a pool with the discipline of the store but without limits on time, for migrations and tools. It
// returns an error for a bad DSN only; nothing is dialled yet.
func Connect(dsn string) (*sql.DB, error) {
	return db.Connect(Config{DSN: dsn}.withDefaults().database())
}

// Now reads the database clock.
func (s *Store) Now(ctx context.Context) (leaderboard.Micros, error) { return s.db.Clock(ctx) }
