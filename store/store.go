package store

import (
	"context"
	"database/sql"
	"time"

	"leaderboard/internal/boards"
	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
	"leaderboard/store/internal/index"
	"leaderboard/store/internal/read"
	"leaderboard/store/internal/sweep"
)

// DenseDepth is the number of entries up to which an entry's dense rank is computed.
const DenseDepth = read.DenseDepth

// Store is the database: its parts, one for each kind of question, and the connections that they share. All methods may be
// called concurrently, like the methods of its parts.
type Store struct {
	Boards   *Boards
	Writer   *Writer
	Entries  *Entries
	Indexes  *Indexes
	Runs     *Runs
	Hidden   *HiddenMembers
	Members  *Members
	Erasures *Erasures

	Housekeeping *Housekeeping

	cfg Config
	db  *mysql.DB
}

// Open makes a Store. It fails for a bad DSN only: MySQL may be away and come back. It does not migrate.
func Open(_ context.Context, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	database, err := mysql.Open(cfg.database())
	if err != nil {
		return nil, err
	}
	s := &Store{
		cfg: cfg, db: database,
		Runs: &Runs{database, newRunsHere()},
	}
	memory, kept := boards.NewCache(), keptBy(cfg.Parts)
	sweeper := sweep.New(database, sweep.Config{KeyTTL: cfg.KeyTTL, ChangeTTL: cfg.ChangeTTL, AuditTTL: cfg.AuditTTL, Kept: kept})
	s.Indexes = index.New(index.Config{
		MinEntries: cfg.IndexMinEntries, Target: cfg.IndexTarget, SaveEvery: cfg.IndexSaveEvery, Memory: cfg.IndexMemory, ChangeTTL: cfg.ChangeTTL,
		OnIndexes: cfg.OnIndexes, BuildSlice: cfg.buildSlice, BuildSave: cfg.buildSave,
	}, database, s.Runs)
	s.Entries = read.New(database, s.Indexes, cfg.IndexTarget, kept)
	s.Writer = commit.New(database, memory, commit.Limits{Wait: cfg.WriteWait, Memory: cfg.WriteMemory, Batch: cfg.BatchRows}, commit.Events{
		Batch: cfg.Observer.BatchEnded,
		Committed: func(e commit.Event) {
			s.Indexes.Committed(e.Ref, e.Commit)
			cfg.OnCommit(e.Ref, *e.Commit)
		},
	}, cfg.Parts...)
	s.Boards = &Boards{database, memory, boards.Lookup{DB: database, Memory: memory, Lock: s.Writer.TryAlone}, s.Writer, sweeper, nil}
	s.Hidden = &HiddenMembers{db: database, writer: s.Writer, boards: s.Boards}
	s.Members = &Members{db: database}
	s.Erasures = &Erasures{db: database, writer: s.Writer, sweeper: sweeper, kept: kept}
	s.Housekeeping = &Housekeeping{
		db: database, writer: s.Writer, sweeper: sweeper, indexes: s.Indexes, boards: s.Boards, hidden: s.Hidden,
		erasures: s.Erasures, changeTTL: cfg.ChangeTTL,
	}
	s.addForgets()
	s.addData()
	return s, nil
}

// keptBy returns the part that keeps something with entries, or nil.
func keptBy(parts []commit.Part) entries.Kept {
	for _, p := range parts {
		if kept, ok := p.(entries.Kept); ok {
			return kept
		}
	}
	return nil
}

// addForgets adds the Forgets of the store's own tables.
func (s *Store) addForgets() {
	s.Erasures.AddAfter("hidden", s.Hidden.forget)
	s.Erasures.AddAfter("audit", forgetAudit)
	s.Erasures.AddAfter("events", func(ctx context.Context, member, _ []byte, _ Steps) error {
		return outbox.RemoveMember(ctx, s.db, member)
	})
}

// addData adds the kinds of data that are kept here.
func (s *Store) addData() {
	s.Members.AddData(DataOf("entries", s.Members.entryData), DataOf("hidden", s.Hidden.data))
}

// Close waits for the batches under way and saves the rank indexes, 3 s each at most, then closes the connections. Writes that
// wait, and later ones, fail with ErrUnavailable and change nothing.
func (s *Store) Close() error {
	s.Writer.Close()
	s.Indexes.Close()
	s.Runs.here.close()
	return s.db.Close()
}

// ErrReadOnly means that the server takes no writes; it is not read from either. It is an ErrUnavailable.
var ErrReadOnly = mysql.ErrReadOnly

// ErrOtherServer means that the address leads to several servers, or recently to another one. It is an ErrUnavailable.
var ErrOtherServer = mysql.ErrOtherServer

// ErrTwoPrimaries means that more than one of the hosts of a DSN takes writes. It is an ErrUnavailable.
var ErrTwoPrimaries = mysql.ErrTwoPrimaries

// ErrAway means that MySQL does not answer. It is an ErrUnavailable.
var ErrAway = mysql.ErrAway

// ErrUnsupported means that the service does not work on an engine. The text names the supported engines. It is an
// ErrUnavailable, but a retry does not help.
var ErrUnsupported = mysql.ErrUnsupported

// MigrationRights are the rights that an account needs on the database for migrations, in the words of GRANT.
const MigrationRights = mysql.MigrationRights

// IsDenied reports whether an error means that the account may not connect, lacks a right, or that the database does not
// exist.
func IsDenied(err error) bool { return mysql.IsDenied(err) }

// LacksDatabase reports whether there is no database of the name that the DSN has.
func LacksDatabase(err error) bool { return mysql.LacksDatabase(err) }

// Probe returns the connection of Ping, for health alone.
func (s *Store) Probe() *sql.DB { return s.db.Health }

// Ping reports whether MySQL answers. Errors: ErrUnavailable, ErrReadOnly, ErrOtherServer, ErrUnsupported.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.db.CheckServer(ctx); err != nil {
		return mysql.Translate(ctx, "ping", err)
	}
	return nil
}

// Silent reports whether MySQL did not answer the last statement, does not answer now, or did not answer a moment ago.
func (s *Store) Silent() bool { return s.db.Silent() }

// BlockedSince returns when the present failures to commit writes began, although MySQL answers; false if there are no such
// failures, or no write was tried recently.
func (s *Store) BlockedSince() (time.Time, bool) { return s.db.BlockedSince() }

// Database returns the connections, for the statements of features.
func (s *Store) Database() *mysql.DB { return s.db }

// DB returns the pool, for migrations.Version and statistics. It has no other users.
func (s *Store) DB() *sql.DB { return s.db.Pool.DB }

// Connect opens a pool with the discipline of the store but without limits on time, for migrations and tools. It
// returns an error for a bad DSN only; nothing is dialled yet.
func Connect(dsn string) (*sql.DB, error) {
	return mysql.Connect(Config{DSN: dsn}.withDefaults().database())
}

// Translate gives an error of the pool its meaning, such as ErrUnavailable, for code that uses it outside of the store.
func Translate(ctx context.Context, doing string, err error) error {
	return mysql.Translate(ctx, doing, err)
}

// Now reads the database clock.
func (s *Store) Now(ctx context.Context) (leaderboard.Micros, error) { return s.db.Clock(ctx) }

// DSNs returns a DSN for each host of a DSN that names several, as in user:password@tcp(db1:3306,db2:3306)/leaderboard: the
// primary, which the store finds, and its possible replacements.
func DSNs(dsn string) []string { return mysql.DSNs(dsn) }
