package store

import (
	"context"
	"database/sql"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
	"leaderboard/store/internal/boards"
	"leaderboard/store/internal/derived"
	"leaderboard/store/internal/index"
	"leaderboard/store/internal/notices"
	"leaderboard/store/internal/outbox"
	"leaderboard/store/internal/read"
	"leaderboard/store/internal/sweep"
)

// Types of the packages below that callers use.
type (
	// IndexBuild is a request to build an index.
	IndexBuild = index.BuildRequest
	// IndexStatus is what is known about the rank index of a period.
	IndexStatus = index.Status

	reader   = read.Reader
	follower = derived.Follower
	outboxes = outbox.Outbox
	folder   = notices.Folder
)

// DenseDepth is how many entries may be ahead of one whose dense rank is wanted.
const DenseDepth = read.DenseDepth

// Store is the database: boards, periods, entries, the change log and the history of runs in MySQL. All methods may be
// called concurrently.
type Store struct {
	cfg       Config
	db        *mysql.DB
	memory    *boards.Memory
	lookup    boards.Lookup
	indexes   *index.Indexes
	writer    *commit.Writer
	*reader   // answers about entries
	*follower // derived boards
	*outboxes // events and where they are sent
	*folder   // notices of who was passed
	sweeper   *sweep.Sweeper
	sweeps    sweeps
	runs      *runsHere
}

// sweeps is where the jobs of the housekeeping that need the writer stopped. It belongs to the round under way.
type sweeps struct {
	closing  sweep.Turns[int64]  // by period
	hides    sweep.Turns[string] // by board and member
	erasures sweep.Turns[string] // by member
	retained sweep.Pass[string, leaderboard.Board]
}

// Open makes a Store. It fails for a bad DSN only: MySQL may be away and come back. It does not migrate.
func Open(_ context.Context, cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	database, err := mysql.Open(cfg.database())
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, db: database, memory: boards.NewMemory(), runs: newRunsHere()}
	s.sweeper = sweep.New(database, sweep.Config{KeyTTL: cfg.KeyTTL, ChangeTTL: cfg.ChangeTTL, AuditTTL: cfg.AuditTTL})
	s.indexes = index.New(index.Config{
		MinEntries: cfg.IndexMinEntries, Target: cfg.IndexTarget, SaveEvery: cfg.IndexSaveEvery, Memory: cfg.IndexMemory, ChangeTTL: cfg.ChangeTTL,
		OnIndexes: cfg.OnIndexes, BuildSlice: cfg.buildSlice, BuildSave: cfg.buildSave,
	}, database, s)
	s.reader = read.New(database, s.indexes, cfg.IndexTarget)
	s.writer = commit.New(database, s.memory, commit.Limits{Wait: cfg.WriteWait, Memory: cfg.WriteMemory, Batch: cfg.BatchRows}, commit.Events{
		Batch: cfg.OnBatch,
		Committed: func(e commit.Event) {
			s.indexes.Committed(e.Ref, e.Commit)
			cfg.OnCommit(e.Ref, *e.Commit)
		},
	}, cfg.Parts...)
	s.lookup = boards.Lookup{DB: database, Memory: s.memory, Lock: s.writer.TryAlone}
	s.outboxes = outbox.New(database, cfg.EventPoint)
	s.folder = notices.New(database, cfg.EventPoint)
	s.follower = derived.New(database, s.memory, s.writer, cfg.DeriveRows)
	return s, nil
}

// Close waits for the batches under way and saves the rank indexes, 3 s each at most, then closes the connections. Writes that
// wait, and later ones, fail with ErrUnavailable and change nothing.
func (s *Store) Close() error {
	s.writer.Close()
	s.indexes.Close()
	s.runs.close()
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

// ErrUnsupported means that the service does not work on an engine. The text names those that it works on. It is an
// ErrUnavailable, but a retry does not help.
var ErrUnsupported = mysql.ErrUnsupported

// MigrationRights are what an account needs on the database for migrations, as GRANT wants them.
const MigrationRights = mysql.MigrationRights

// IsDenied reports whether an error means that the account may not connect, lacks a right, or that the database does not
// exist.
func IsDenied(err error) bool { return mysql.IsDenied(err) }

// Probe returns the connection of Ping, which nothing else uses. Only health may use it.
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

// BlockedSince returns the time since which no write could be committed though MySQL answers and some were tried; false when there is none.
func (s *Store) BlockedSince() (time.Time, bool) { return s.db.BlockedSince() }

// DB returns the pool, for migrations.Version and statistics. Nothing else may use it.
func (s *Store) DB() *sql.DB { return s.db.DB.DB }

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

// BuildIndex builds the rank index of a period of any size from scratch, puts it into service and saves it. It is a run like
// a refresh. It blocks until the index is saved or ctx ends; the next build continues one that was interrupted. Errors:
// ErrPeriodNotFound, ErrUnavailable.
func (s *Store) BuildIndex(ctx context.Context, ref leaderboard.PeriodRef, b IndexBuild) (leaderboard.Run, error) {
	return s.indexes.Build(ctx, ref, b)
}

// IndexStatus reports on the rank index of a period. Errors: ErrPeriodNotFound, ErrUnavailable.
func (s *Store) IndexStatus(ctx context.Context, ref leaderboard.PeriodRef) (IndexStatus, error) {
	return s.indexes.Status(ctx, ref)
}

// Submit applies the entries to all current periods of the board and returns when the transaction is committed. A
// second request of the same caller with the same key and the same entries gets the receipt of the first. When ctx ends before the request
// is sent nothing is done: the error is ErrOverloaded when its time was up, and that of ctx when it was cancelled. When
// ctx ends later the error is ErrOutcomeUnknown, and the work goes on. Other errors: ErrBoardNotFound, ErrKeyReused,
// ErrOverloaded, ErrUnavailable, ErrOutcomeUnknown. Entries that break a rule are results, not errors.
func (s *Store) Submit(ctx context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error) {
	return s.writer.Submit(ctx, r)
}

// SubmitMultiBoard applies the entries to all current periods of their boards and returns when the transaction is
// committed: all of them are, or none. Entries of boards that do not exist are rejected, like those that break a rule,
// and so are those of derived boards, which it does not wait for. Otherwise it is Submit, with idempotency keys of its
// own. Errors: ErrKeyReused, ErrOverloaded, ErrUnavailable, ErrOutcomeUnknown.
func (s *Store) SubmitMultiBoard(ctx context.Context, r leaderboard.MultiBoardRequest) (leaderboard.MultiBoardReceipt, error) {
	return s.writer.SubmitMultiBoard(ctx, r)
}

// Remove deletes the entry of a member in one period of the board, or in all current ones. It goes through the same queue
// as the submissions. Errors: those of Submit, ErrNotRanked when there is no such entry, ErrPeriodNotFound when the board
// has no such period, ErrPeriodClosed when it is over and the request does not reopen it.
func (s *Store) Remove(ctx context.Context, r leaderboard.RemoveRequest) (leaderboard.Receipt, error) {
	return s.writer.Remove(ctx, r)
}

// Admit reports whether a submission of about so many bytes for a board would be refused now, "" for one for several
// boards: nil, or the error, an ErrOverloaded or ErrUnavailable. It reserves nothing and does not block.
func (s *Store) Admit(board string, bytes int64) error { return s.writer.Admit(board, bytes) }

// DSNs returns a DSN for each host of one that names several, as in user:password@tcp(db1:3306,db2:3306)/leaderboard: the primary, which
// the store finds, and servers that may take its place.
func DSNs(dsn string) []string { return mysql.DSNs(dsn) }
