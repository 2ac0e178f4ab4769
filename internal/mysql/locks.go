package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync"
	"time"
)

// Locks are the named locks of the server that this process holds. All of them belong to one session, on a connection that
// is opened for the first of them and is pinged as long as a lock is held: the server releases them with the session, which
// it ends when the session is silent for a while. They only save work, and correctness never depends on them: a holder may
// find out late that it has lost a lock. All methods may be called concurrently.
type Locks struct {
	pool   *sql.DB
	server *server
	stop   context.CancelFunc
	ping   sync.WaitGroup // the goroutine that pings
	sem    chan struct{}  // holds a value while a goroutine uses the fields below, and while the server answers

	conn *sql.Conn // nil without locks
	held map[Lock]bool
	used bool // since the last ping
}

// Lock names a lock: its purpose, in a word, and its object.
type Lock struct {
	Kind string
	ID   int64
}

// lockName is the name of a lock at the server, from its kind and its id. Names belong to the server, not to the
// database, and have 64 bytes at most.
const lockName = "CONCAT('leaderboard-', ?, '-', LEFT(SHA2(DATABASE(), 256), 20), '-', ?)"

func newLocks(pool *sql.DB, s *server) *Locks {
	ctx, stop := context.WithCancel(context.Background())
	l := &Locks{pool: pool, server: s, stop: stop, sem: make(chan struct{}, 1), held: map[Lock]bool{}}
	l.ping.Go(func() { l.keep(ctx) })
	return l
}

// Acquire takes a lock unless a process has it, this one included, and reports whether it has taken it. It does not wait.
func (l *Locks) Acquire(ctx context.Context, k Lock) (bool, error) {
	taken := false
	err := l.useIf(ctx, k, false, func(ctx context.Context) error {
		got, err := l.query(ctx, "GET_LOCK("+lockName+", 0)", k)
		taken = err == nil && (got.Bool || !got.Valid) // NULL: the server cannot lock; then two may do the same work
		l.held[k] = taken
		return err
	})
	return taken, err
}

// Keeps reports whether this process still has a lock that it took.
func (l *Locks) Keeps(ctx context.Context, k Lock) (bool, error) {
	var mine sql.NullBool
	err := l.useIf(ctx, k, true, func(ctx context.Context) (err error) {
		mine, err = l.query(ctx, "IS_USED_LOCK("+lockName+") = CONNECTION_ID()", k)
		l.held[k] = mine.Bool
		return err
	})
	return mine.Bool, err
}

// Hold takes the free ones among the locks, in one statement, and reports for each whether this process has it then. It
// does not wait.
func (l *Locks) Hold(ctx context.Context, ks []Lock) ([]bool, error) {
	have := make([]bool, len(ks))
	err := l.use(ctx, func() bool { return true }, func(ctx context.Context) error {
		var settings string
		dest, answers, args := []any{&settings}, make([]sql.NullBool, len(ks)), []any{}
		query := "SELECT " + ServerSettings
		for i, k := range ks {
			if l.held[k] {
				query += ", IS_USED_LOCK(" + lockName + ") = CONNECTION_ID()"
			} else {
				query += ", GET_LOCK(" + lockName + ", 0)"
			}
			dest, args = append(dest, &answers[i]), append(args, k.Kind, k.ID)
		}
		if err := l.conn.QueryRowContext(ctx, query, args...).Scan(dest...); err != nil {
			return err
		}
		if err := l.server.refuse(settings); err != nil {
			return err
		}
		for i, k := range ks {
			have[i] = answers[i].Bool || (!l.held[k] && !answers[i].Valid) // NULL: as in Acquire
			if l.held[k] = have[i]; !have[i] {
				delete(l.held, k)
			}
		}
		return nil
	})
	if err != nil {
		clear(have)
	}
	return have, err
}

// Release releases the locks that this process has.
func (l *Locks) Release(ctx context.Context, ks ...Lock) error {
	held := func() (held []Lock) {
		for _, k := range ks {
			if l.held[k] {
				held = append(held, k)
			}
		}
		return held
	}
	return l.use(ctx, func() bool { return len(held()) > 0 }, func(ctx context.Context) error {
		query, dest, args := "SELECT ", []any{}, []any{}
		for i, k := range held() {
			if i > 0 {
				query += ", "
			}
			query += "RELEASE_LOCK(" + lockName + ")"
			dest, args = append(dest, new(sql.NullBool)), append(args, k.Kind, k.ID)
			delete(l.held, k)
		}
		return l.conn.QueryRowContext(ctx, query, args...).Scan(dest...)
	})
}

// useIf runs fn with the session if this process has the lock (held) or does not have it (not held), and gives the session up
// when fn fails.
func (l *Locks) useIf(ctx context.Context, k Lock, held bool, fn func(context.Context) error) error {
	return l.use(ctx, func() bool { return l.held[k] == held }, func(ctx context.Context) error {
		err := fn(ctx)
		if err == nil && !l.held[k] {
			delete(l.held, k)
		}
		return err
	})
}

// use runs fn with the session if ofUse reports true, and gives the session up when fn fails.
func (l *Locks) use(ctx context.Context, ofUse func() bool, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, TidyTimeout)
	defer cancel()
	select {
	case l.sem <- struct{}{}:
		defer func() { <-l.sem }()
	case <-ctx.Done():
		return ctx.Err()
	}
	// The session has locks for other callers too, so it does not end when this caller gives up.
	ctx, cancelWork := context.WithTimeout(context.WithoutCancel(ctx), TidyTimeout)
	defer cancelWork()
	if l.conn != nil && l.outdated() {
		l.drop()
	}
	if !ofUse() {
		return nil
	}
	if l.conn == nil {
		conn, err := l.pool.Conn(ctx)
		if err != nil {
			return err
		}
		l.conn = conn
	}
	l.used = true
	err := fn(ctx)
	if err != nil {
		l.drop()
	}
	return err
}

// query asks about a lock. A session on a server that must not be used is closed: another server has the locks now.
func (l *Locks) query(ctx context.Context, what string, k Lock) (answer sql.NullBool, err error) {
	var settings string
	err = l.conn.QueryRowContext(ctx, "SELECT "+ServerSettings+", "+what, k.Kind, k.ID).Scan(&settings, &answer)
	if err == nil {
		err = l.server.refuse(settings)
	}
	if err != nil {
		return sql.NullBool{}, err
	}
	return answer, nil
}

// outdated reports whether the session is at a server that was given up.
func (l *Locks) outdated() (outdated bool) {
	err := l.conn.Raw(func(c any) error {
		one, ok := c.(*conn)
		outdated = ok && one.over()
		return nil
	})
	return outdated || err != nil
}

// drop gives the session up, and all locks with it.
func (l *Locks) drop() {
	_ = l.conn.Raw(func(any) error { return driver.ErrBadConn }) // a connection that may have locks is not used again
	_ = l.conn.Close()
	l.conn = nil
	clear(l.held)
}

// keep pings the session until ctx ends, and gives it up when it is of no use.
func (l *Locks) keep(ctx context.Context) {
	Every(ctx, locksPing, func() {
		select {
		case l.sem <- struct{}{}:
			l.pingOnce(ctx)
			<-l.sem
		case <-ctx.Done():
		}
	})
}

// Every calls work after each period until ctx ends.
func Every(ctx context.Context, period time.Duration, work func()) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			work()
		}
	}
}

func (l *Locks) pingOnce(ctx context.Context) {
	used := l.used
	l.used = false
	switch {
	case l.conn == nil:
	case len(l.held) == 0 && !used:
		l.drop()
	default:
		ctx, cancel := context.WithTimeout(ctx, locksPing)
		defer cancel()
		if l.outdated() || l.conn.PingContext(ctx) != nil {
			l.drop()
		}
	}
}

// Close releases all locks.
func (l *Locks) Close() error {
	l.stop()
	l.ping.Wait()
	l.sem <- struct{}{}
	defer func() { <-l.sem }()
	if l.conn != nil {
		l.drop()
	}
	return l.pool.Close()
}

// Pool returns the connection, for tests.
func (l *Locks) Pool() *sql.DB { return l.pool }
