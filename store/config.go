package store

import (
	"cmp"
	"log/slog"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// Config is the configuration of a Store. Only DSN has no default.
type Config struct {
	// DSN names the server and the database in the form of go-sql-driver/mysql. Settings that the store depends on (time
	// zone, isolation, sql_mode, timeouts below) override its settings.
	DSN string
	// MaxConns bounds the connections, five sixteenths of them for writes. Default 32; with less than 16 there are a few more.
	MaxConns int
	// StatementTimeout is how long the server may work on one reading statement. Default 5s.
	StatementTimeout time.Duration
	// LockWait is how long a write waits for a row lock, in whole seconds. Default 5s.
	LockWait time.Duration
	// ReadTimeout and WriteTimeout bound each wait on the socket. Default 10s; ReadTimeout must exceed LockWait.
	ReadTimeout, WriteTimeout time.Duration
	// ProbeWait is how long MySQL may take to answer a new connection, after a second without an answer, until it counts as away.
	// Default 300ms.
	ProbeWait time.Duration
	// WriteWait is how long a request to write may wait until it is sent; when it takes, or would take, longer the error is a
	// *leaderboard.OverloadError. When nothing waits for a board, a request for it may always wait. Default 7s.
	WriteWait time.Duration
	// WriteMemory is how many bytes the requests that wait may take, roughly, over all boards. Default 64 MiB.
	WriteMemory int64
	// BatchRows is how many entries one transaction takes at most, unless a single request has more. Default 500.
	BatchRows int
	// KeyTTL is how long idempotency keys are remembered. Default 24h.
	KeyTTL time.Duration
	// AuditTTL is how long records of changes are kept. Default 400 days.
	AuditTTL time.Duration
	// ChangeTTL is how long the change log reaches back at least. Default 1h.
	ChangeTTL time.Duration
	// IndexMinEntries is the size of a period at which it gets a rank index. Default 2000: below that, counting takes at
	// most 0.15 ms more than with an index.
	IndexMinEntries int64
	// IndexTarget is the number of entries per bucket of a rank index. Default 256.
	IndexTarget int
	// IndexSaveEvery is after how many changes a rank index is saved; it is also saved when it is new or twice as large,
	// before a quarter of ChangeTTL has passed (by Sweep), before another index replaces it, and by Close. Default 200,000.
	IndexSaveEvery int64
	// IndexMemory bounds the memory of the rank indexes in bytes, roughly; the last used index is always kept. Default 256
	// MiB, enough for a billion entries.
	IndexMemory int64
	// Clock changes the SQL expression of the database clock (NOW(6) or SYSDATE(6)) that all statements use for the
	// present. It is for tests with other times; nil does not change it.
	Clock func(database string) string
	// Logger receives what an operator should know. Default: nothing is logged.
	Logger *slog.Logger
	// Parts are the features' parts in the transaction of submissions, in the order in which they read, decide and write.
	Parts []commit.Part

	// OnCommit is called after each commit, in seq order per period, and must not block. The commit is not changed
	// afterwards. Commits of other processes, and commits with an unknown outcome, are not reported: follow Changes.
	OnCommit func(leaderboard.PeriodRef, leaderboard.Commit)
	// Random returns the bits of the ids that writers make, for tests; nil: bits of math/rand.
	Random func() uint64
	// Observer receives batches, for metrics; may be nil.
	Observer Observer
	// OnIndexes is called when a rank index has come into memory, with the bytes that all take there, roughly. It must not block.
	OnIndexes func(bytes int64)

	buildSlice int           // of index.Config
	buildSave  time.Duration // as well
}

func (c Config) withDefaults() Config {
	c.MaxConns = cmp.Or(c.MaxConns, 32)
	c.StatementTimeout = cmp.Or(c.StatementTimeout, 5*time.Second)
	c.LockWait = cmp.Or(c.LockWait, 5*time.Second)
	c.LockWait = max(time.Second, c.LockWait.Truncate(time.Second))
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 10*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 10*time.Second)
	c.ProbeWait = cmp.Or(c.ProbeWait, 300*time.Millisecond)
	c.WriteWait = cmp.Or(c.WriteWait, 7*time.Second)
	c.WriteMemory = cmp.Or(c.WriteMemory, 64<<20)
	c.BatchRows = cmp.Or(c.BatchRows, 500)
	c.KeyTTL = cmp.Or(c.KeyTTL, 24*time.Hour)
	c.AuditTTL = cmp.Or(c.AuditTTL, 400*24*time.Hour)
	c.ChangeTTL = cmp.Or(c.ChangeTTL, time.Hour)
	c.IndexMinEntries = cmp.Or(c.IndexMinEntries, 2000)
	c.IndexTarget = cmp.Or(c.IndexTarget, 256)
	c.IndexSaveEvery = cmp.Or(c.IndexSaveEvery, 200_000)
	c.IndexMemory = cmp.Or(c.IndexMemory, 256<<20)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Clock == nil {
		c.Clock = func(database string) string { return database }
	}
	if c.OnCommit == nil {
		c.OnCommit = func(leaderboard.PeriodRef, leaderboard.Commit) {}
	}
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
	if c.OnIndexes == nil {
		c.OnIndexes = func(int64) {}
	}
	return c
}

// database returns the part of the configuration that the connections need.
func (c Config) database() mysql.Config {
	return mysql.Config{
		DSN: c.DSN, MaxConns: c.MaxConns, StatementTimeout: c.StatementTimeout, LockWait: c.LockWait,
		ReadTimeout: c.ReadTimeout, WriteTimeout: c.WriteTimeout, ProbeWait: c.ProbeWait, Clock: c.Clock, Random: c.Random, Logger: c.Logger,
	}
}
