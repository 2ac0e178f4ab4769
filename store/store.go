package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard"
)

// Store is the truth: boards, periods, entries, the change log and the history of runs in MySQL. All methods may be
// called concurrently.
type Store struct {
	cfg     Config
	db      *sqlx.DB // everything but the batches
	batches *sql.DB  // connections that take several statements at once, for text built by hand only
	flavour *flavour
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
	readers, writers := pools(cfg.MaxConns)
	db, flavour, err := connect(cfg, readers)
	if err != nil {
		return nil, err
	}
	batches, _, err := connect(cfg, writers)
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, db: sqlx.NewDb(db, "mysql"), batches: batches, flavour: flavour, queues: map[string]*queue{}}
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
	return errors.Join(s.derivers.close(), s.batches.Close(), s.db.Close())
}

// Ping says whether MySQL answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.db.PingContext(ctx); err != nil {
		return translate(ctx, "ping", err)
	}
	return nil
}

// DB is the pool, for migrations.Version and statistics. Nothing else may use it.
func (s *Store) DB() *sql.DB { return s.db.DB }

// Now is the database clock.
func (s *Store) Now(ctx context.Context) (leaderboard.Micros, error) {
	var now time.Time
	if err := s.db.QueryRowContext(ctx, "SELECT "+s.sysdate()).Scan(&now); err != nil {
		return 0, translate(ctx, "clock", err)
	}
	return micros(now), nil
}

// now returns the SQL expression of the moment at which a statement began, by the database clock.
func (s *Store) now() string { return s.cfg.Clock("NOW(6)") }

// sysdate returns the SQL expression of the present by the database clock, also after a wait for a lock.
func (s *Store) sysdate() string { return s.cfg.Clock("SYSDATE(6)") }

// limited is a reading statement with the time limit of the server on it.
func (s *Store) limited(query string) string { return s.flavour.limited(query, s.cfg.StatementTimeout) }

// wrap adds what was being done to an error that is translated already.
func wrap(doing string, err error) error { return fmt.Errorf("store: %s: %w", doing, err) }
