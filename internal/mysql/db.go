// Package mysql connects to the database: connections and their settings, the dialect, the clock, limits on time,
// transactions, the meaning of the server's errors, and statements built by hand.
//
// The files read in layers; each uses only files above it and on its own line.
//
//	sql.go, errors.go, dialect.go  statements, the meaning of errors, how servers differ
//	sessions.go                    the settings of each connection
//	conn.go, server.go, outage.go  one connection; whether its server takes writes, and answers
//	locks.go                       named locks
//	db.go, hosts.go                the database, on one host or several
//	tx.go, faults.go               transactions; the faults of a server
package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"leaderboard/leaderboard"
)

// connMaxAge lets connections move when a proxy or DNS name does.
const connMaxAge = 30 * time.Minute

// Config is the database to use, with the limits of its use. store.Config describes its fields and has the defaults.
type Config struct {
	DSN                       string
	MaxConns                  int
	StatementTimeout          time.Duration
	LockWait                  time.Duration // whole seconds
	ReadTimeout, WriteTimeout time.Duration
	ProbeWait                 time.Duration
	Clock                     func(database string) string
	Random                    func() uint64 // bits of ids; nil: math/rand
	Logger                    *slog.Logger
}

// DB is the database: a pool for most statements, further pools for slow work that the others must not wait behind, and
// single connections for work that must never wait. All methods may be called concurrently.
type DB struct {
	Pool    *sqlx.DB // of readers, and of statements that write and commit alone
	Writers *sqlx.DB // of writers that lock boards, see Begin and Locking
	Waiters *sqlx.DB // of writers that wait for a board that another session keeps locked
	Others  *sqlx.DB // of writers that lock no board, see InTx
	Looks   *sql.DB  // of readers, see Look
	Long    *sql.DB  // of readers that take minutes, see LongSnapshot
	Watch   *sql.DB  // for the feed, which finds out how old answers are
	Health  *sql.DB  // to check whether the server works, and to which server the address leads now
	Locks   *Locks
	Config  Config
	Log     *slog.Logger
	server  *server
	hosts   *hosts
	commits sync.WaitGroup // the transactions that Commit ends
	stop    context.CancelFunc
	looks   sync.WaitGroup // the goroutine that runs look
}

// Open makes the pools. It fails for a bad DSN only: nothing is dialled yet.
func Open(cfg Config) (*DB, error) {
	if cfg.Random == nil {
		cfg.Random = rand.Uint64
	}
	hosts, err := newHosts(cfg)
	if err != nil {
		return nil, err
	}
	d := &DB{Config: cfg, Log: cfg.Logger, server: newServer(cfg.Logger, hosts.probe, cfg.ProbeWait), hosts: hosts}
	p := split(cfg.MaxConns)
	var reads, writers, waiters, others, locks *sql.DB
	for _, want := range []struct {
		to *(*sql.DB)
		pool
	}{
		{&reads, p.readers},
		{&writers, p.writers},
		{&waiters, p.waiters},
		{&others, p.others},
		{&d.Looks, p.lookers},
		{&d.Long, p.long},
		{&d.Watch, pool{conns: 1, session: sessionWatch}},
		{&d.Health, pool{conns: 1}},
		{&locks, pool{conns: 1, session: sessionLocks}},
	} {
		if *want.to, err = connect(cfg, want.pool, d.server, hosts); err != nil {
			return nil, err
		}
	}
	d.Pool, d.Others = sqlx.NewDb(reads, "mysql"), sqlx.NewDb(others, "mysql")
	d.Writers, d.Waiters = sqlx.NewDb(writers, "mysql"), sqlx.NewDb(waiters, "mysql")
	d.Locks = newLocks(locks, d.server)
	d.Health.SetConnMaxLifetime(lookEvery / 2)
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.looks.Go(func() { d.look(ctx) })
	return d, nil
}

// Close closes all connections.
func (d *DB) Close() error {
	d.stop()
	d.looks.Wait()
	d.commits.Wait()
	defer d.hosts.close()
	defer d.server.close()
	return errors.Join(d.Locks.Close(), d.Health.Close(), d.Watch.Close(), d.Long.Close(), d.Looks.Close(),
		d.Others.Close(), d.Waiters.Close(), d.Writers.Close(), d.Pool.Close())
}

// Silent reports whether MySQL did not answer the last statement, does not answer now, or did not answer a moment ago.
func (d *DB) Silent() bool { return d.server.silentOfLate() }

// Away returns the error with which a statement would fail now because MySQL is away; nil when it answers.
func (d *DB) Away() error {
	if d.server.isAway() {
		return ErrAway
	}
	return nil
}

// OnAway sets the function that is called whenever MySQL is found not to answer, with the error of the statements that wait
// to be sent. It must not block for long.
func (d *DB) OnAway(tell func(error)) { d.server.notifyAway(tell) }

// Committed notes that a transaction that wrote was committed.
func (d *DB) Committed() { d.server.wrote() }

// Blocked notes that a batch, begun at the time given, could not be committed though MySQL answers: another session holds
// locks that it needs, or the disk is full.
func (d *DB) Blocked(began time.Time) { d.server.wroteNot(began) }

// BlockedSince returns when the present failures to commit writes began; false if there are no failures, or no write was tried
// recently.
func (d *DB) BlockedSince() (time.Time, bool) { return d.server.blockedSince() }

// Refuse returns an error when ServerSettings show a server that must not be used, and drops all connections: those dialled
// from now on reach the server that has the address by then. Errors: ErrReadOnly, ErrOtherServer.
func (d *DB) Refuse(settings string) error { return d.server.refuse(settings) }

// CheckServer asks whether the server may be used, on a separate connection that is hardly older than the call. Errors:
// ErrReadOnly, ErrOtherServer.
func (d *DB) CheckServer(ctx context.Context) error {
	var settings string
	if err := d.Health.QueryRowContext(ctx, "SELECT "+ServerSettings).Scan(&settings); err != nil {
		return err
	}
	return d.Refuse(settings)
}

const (
	// lookEvery is how often the address is dialled while connections are used: when the address moves, existing
	// connections stay with the old server.
	lookEvery = time.Second
	// lookAgain is how often it is dialled while it is not certain which server it leads to.
	lookAgain = 50 * time.Millisecond
)

// look dials the address until ctx ends.
func (d *DB) look(ctx context.Context) {
	for ctx.Err() == nil {
		pause := lookEvery
		if d.server.moves() {
			pause = lookAgain
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		if !d.server.used.Swap(false) && !d.server.moves() {
			continue
		}
		asked, cancel := context.WithTimeout(ctx, probeLimit) // servers count connections that end before they have begun
		_ = d.CheckServer(asked)                              // a dialled connection reports its server
		cancel()
	}
}

// Connect opens a pool with the discipline of the store but without limits on time, for migrations and tools. It
// returns an error for a bad DSN only; nothing is dialled yet.
func Connect(cfg Config) (*sql.DB, error) {
	cfg.ReadTimeout, cfg.WriteTimeout = 0, 0
	hosts, err := newHosts(cfg)
	if err != nil {
		return nil, err
	}
	return connect(cfg, pool{conns: cfg.MaxConns}, newServer(cfg.Logger, nil, 0), hosts)
}

// Limited returns a reading statement with the time limit of the server on it.
func (d *DB) Limited(query string) string {
	return d.server.dialect.limited(query, d.Config.StatementTimeout)
}

// Now returns the SQL expression of the moment at which a statement began, by the database clock.
func (d *DB) Now() string { return d.Config.Clock("NOW(6)") }

// Sysdate returns the SQL expression of the present by the database clock, also after a wait for a lock.
func (d *DB) Sysdate() string { return d.Config.Clock("SYSDATE(6)") }

// Clock reads the database clock.
func (d *DB) Clock(ctx context.Context) (leaderboard.Micros, error) {
	var now time.Time
	if err := d.Pool.QueryRowContext(ctx, "SELECT "+d.Sysdate()).Scan(&now); err != nil {
		return 0, Translate(ctx, "clock", err)
	}
	return leaderboard.MicrosOf(now), nil
}

// Snapshot begins a REPEATABLE READ, READ ONLY transaction. Its first statement takes the snapshot.
func (d *DB) Snapshot(ctx context.Context) (*sql.Tx, error) {
	return d.Pool.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
}

// LongSnapshot is Snapshot for reads that may take minutes. Few run at once, and nothing else waits for their connections.
func (d *DB) LongSnapshot(ctx context.Context) (*sql.Tx, error) {
	return d.Long.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
}

// pool is the settings in which the pools of a store differ.
type pool struct {
	conns int
	// several statements may go into one packet, separated by semicolons
	several bool
	session session
}

// minConns is how many connections are enough for all pools.
const minConns = 16

// pools are the pools of a store, except the pools of one connection.
type pools struct{ readers, lookers, writers, waiters, others, long pool }

// split divides MaxConns among the pools so that no pool starves. Writers that lock boards have three sixteenths: each of
// them commits for a whole board. Writers that wait for a board that another session keeps locked have a sixteenth, and
// writers that lock no board have another sixteenth. Batches of questions have three sixteenths, and reads that take
// minutes an eighth. The watch, health and locks have one connection each, all other reads the rest. Below minConns every
// pool still has one connection, and readers two, because migrations need two at once.
func split(maxConns int) pools {
	const singles = 3
	part := func(sixteenths int) int { return max(1, maxConns*sixteenths/16) }
	p := pools{
		writers: pool{conns: part(3), several: true, session: sessionWriter},
		waiters: pool{conns: part(1), several: true, session: sessionLongWait},
		others:  pool{conns: part(1), session: sessionWriter},
		lookers: pool{conns: part(3), several: true},
		long:    pool{conns: part(2)},
	}
	taken := p.writers.conns + p.waiters.conns + p.others.conns + p.lookers.conns + p.long.conns + singles
	p.readers.conns = max(2, maxConns-taken)
	return p
}

// parseDSN returns the settings that all connections to each host share. Each connection stops waiting for the socket in
// time.
func parseDSN(cfg Config) (each []*gomysql.Config, err error) {
	for _, dsn := range DSNs(cfg.DSN) {
		mc, err := gomysql.ParseDSN(dsn)
		if err != nil {
			return nil, fmt.Errorf("store: DSN: %w", err)
		}
		if mc.DBName == "" {
			return nil, errors.New("store: DSN: it names no database, as in user:password@tcp(host:3306)/leaderboard")
		}
		mc.ReadTimeout, mc.WriteTimeout = cfg.ReadTimeout, cfg.WriteTimeout
		if mc.Timeout == 0 {
			mc.Timeout = TidyTimeout
		}
		mc.Logger = driverLog{cfg.Logger}
		each = append(each, mc)
	}
	return each, nil
}

// connect returns a pool of connections. Each of them is strict about stored values, speaks UTC, reads committed rows
// without gap locks, gives up waiting for locks soon, interpolates arguments (one round trip per statement), leads neither
// to a read-only server nor to a different server than the others, and ends with its era.
func connect(cfg Config, p pool, s *server, h *hosts) (*sql.DB, error) {
	configs, err := parseDSN(cfg)
	if err != nil {
		return nil, err
	}
	c := &connector{session: p.session, server: s, hosts: h}
	for _, mc := range configs {
		addSettings(mc, cfg, p)
		to, err := gomysql.NewConnector(mc)
		if err != nil {
			return nil, fmt.Errorf("store: DSN: %w", err)
		}
		c.to = append(c.to, to)
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(p.conns)
	db.SetMaxIdleConns(p.conns)
	db.SetConnMaxIdleTime(p.session.rest())
	db.SetConnMaxLifetime(connMaxAge)
	return db, nil
}

// addSettings adds the settings of a pool's connections that the driver makes.
func addSettings(mc *gomysql.Config, cfg Config, p pool) {
	mc.DialFunc = dialRaw
	mc.Loc, mc.ParseTime, mc.InterpolateParams, mc.CheckConnLiveness = time.UTC, true, true, true
	// Found rows instead of changed ones would change what the code here means.
	mc.ClientFoundRows, mc.MultiStatements, mc.ColumnsWithAlias = false, p.several, false
	mc.RejectReadOnly = false // it would hide what the server answered to COMMIT
	mc.Collation = "utf8mb4_bin"
	params := maps.Clone(mc.Params)
	if params == nil {
		params = map[string]string{}
	}
	params["autocommit"] = "1"
	params["time_zone"] = "'+00:00'"
	params["sql_mode"] = "'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION'"
	params["innodb_lock_wait_timeout"] = strconv.Itoa(int(cfg.LockWait / time.Second))
	params["lock_wait_timeout"] = metadataWait
	p.session.addTo(params)
	mc.Params = params
}

// connector makes the settings that the variables of a DSN cannot: the dialects name some of them differently.
type connector struct {
	to      []driver.Connector // of each host
	session session
	server  *server // of all pools
	hosts   *hosts
}

// Driver implements driver.Connector.
func (c *connector) Driver() driver.Driver { return c.to[0].Driver() }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	made := &conn{server: c.server, era: c.server.era.Load()}
	if err := made.dial(ctx, c.open); err != nil {
		return nil, err
	}
	return made, nil
}

// open returns a connection of the driver with the settings of the session.
func (c *connector) open(ctx context.Context) (driverConn, error) {
	to, err := c.hosts.primary(ctx)
	if err != nil {
		return nil, err
	}
	made, err := c.openTo(ctx, c.to[to])
	if err != nil {
		c.hosts.lost(to)
	}
	return made, err
}

func (c *connector) openTo(ctx context.Context, to driver.Connector) (driverConn, error) {
	opened, err := to.Connect(ctx)
	if err != nil {
		return nil, err
	}
	able, ok := opened.(driverConn)
	if !ok {
		return nil, errors.Join(errors.New("store: the MySQL driver lacks a method"), opened.Close())
	}
	if err := c.prepare(ctx, able); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return able, nil
}

func (c *connector) prepare(ctx context.Context, made driverConn) error {
	if _, err := made.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", nil); err != nil {
		return err
	}
	if !c.server.dialect.known() {
		version, err := oneText(ctx, made, askServer)
		if err != nil {
			return err
		}
		if err := c.server.dialect.set(version); err != nil {
			return err
		}
	}
	if set := c.session.transactions(c.server.dialect.v.Load()); set != "" {
		if _, err := made.ExecContext(ctx, set, nil); err != nil {
			return err
		}
	}
	if c.session == sessionWatch && c.server.dialect.v.Load() == dialectMariaDB {
		// The data of a Galera node are fresh when no other node can have committed more.
		if _, err := made.ExecContext(ctx, "SET SESSION wsrep_sync_wait = 1", nil); err != nil && number(err) != errUnknownVariable {
			return err
		}
	}
	settings, err := settingsOf(ctx, made)
	if err != nil {
		return err
	}
	return c.server.admit(settings)
}

// driverLog passes on the messages that the driver would print to standard error.
type driverLog struct{ log *slog.Logger }

func (d driverLog) Print(v ...any) { d.log.Debug("mysql driver", "message", fmt.Sprint(v...)) }
