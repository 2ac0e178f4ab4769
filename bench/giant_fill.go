package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	giantRange = 1_000_000 // rows of one LOAD DATA: what its transaction has to remember stays small
	giantTimes = 100_000_000

	// giantFull is how full, in percent, the pages of the ordered index are made. MySQL makes them full when it sorts one:
	// then nearly each of the first submits splits a page, which is not what a board is like that grew by submits.
	giantFull = 80
)

// bulk is a setting of MySQL while a giant board is filled: SQL that sets it, and that sets it back.
type bulk struct{ set, reset string }

// bulkSettings give up safety for speed, and leave room in the ordered index. A server that dies meanwhile does not start
// again: its folder has to be deleted.
func bulkSettings() []bulk {
	return []bulk{
		{"SET GLOBAL local_infile = ON", "SET GLOBAL local_infile = OFF"},
		{"SET GLOBAL innodb_flush_log_at_trx_commit = 0", "SET GLOBAL innodb_flush_log_at_trx_commit = 1"},
		{"SET GLOBAL innodb_fill_factor = " + strconv.Itoa(giantFull), "SET GLOBAL innodb_fill_factor = DEFAULT"},
		{"SET GLOBAL innodb_io_capacity_max = 20000", "SET GLOBAL innodb_io_capacity_max = DEFAULT"},
		{"SET GLOBAL innodb_io_capacity = 10000", "SET GLOBAL innodb_io_capacity = DEFAULT"},
		// No redo log: no doublewrite either. The reset waits until all pages are on disk.
		{"ALTER INSTANCE DISABLE INNODB REDO_LOG", "ALTER INSTANCE ENABLE INNODB REDO_LOG"},
	}
}

// bulkSession sets what a connection needs that fills.
func bulkSession() []string {
	return []string{
		"SET sql_log_bin = 0", "SET unique_checks = 0", "SET innodb_ddl_threads = 2", "SET innodb_parallel_read_threads = 2",
		"SET innodb_ddl_buffer_size = " + strconv.Itoa(giantSort),
	}
}

// giantSort is the memory that the ordered index is sorted in, in bytes.
const giantSort = 1 << 30

// bulkFill fills an empty board as fill does, by LOAD DATA on several connections and with a server that keeps no redo
// log meanwhile. The board counts as filled once the server is as safe as before.
func (b *board) bulkFill(ctx context.Context, log io.Writer) (err error) {
	var set []bulk
	restore := func(ctx context.Context) error {
		var errs []error
		for _, s := range set {
			errs = append(errs, b.exec(ctx, s.reset))
		}
		set = nil
		return errors.Join(errs...)
	}
	defer func() { err = errors.Join(err, restore(context.WithoutCancel(ctx))) }()
	for _, s := range bulkSettings() {
		if err := b.exec(ctx, s.set); err != nil {
			return fmt.Errorf("%s: %w", s.set, err)
		}
		set = append(set, s)
	}
	return b.fillWith(ctx, log, b.loadAll, func(ctx context.Context, key string) error {
		return errors.Join(b.sortKey(ctx, key), restore(ctx))
	})
}

// sortKey adds the ordered index.
func (b *board) sortKey(ctx context.Context, key string) error {
	conn, err := b.bulkConn(ctx)
	if err != nil {
		return err
	}
	defer endConn(conn)
	_, err = conn.ExecContext(ctx, "ALTER TABLE entries ADD "+key)
	return err
}

// bulkConn returns a connection that must be ended, because it is good for nothing else.
func (b *board) bulkConn(ctx context.Context) (*sql.Conn, error) {
	conn, err := b.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for _, q := range bulkSession() {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			endConn(conn)
			return nil, fmt.Errorf("%s: %w", q, err)
		}
	}
	return conn, nil
}

// endConn closes a connection, so that nobody gets it from the pool with what was set for it.
func endConn(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = conn.Close()
}

// loadAll shares the members out in runs of consecutive numbers.
func (b *board) loadAll(ctx context.Context, bar *progress) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	const loaders = 2
	for i := range loaders {
		wg.Go(func() {
			if err := b.loadRun(ctx, i, b.members*i/loaders, b.members*(i+1)/loaders, bar); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (b *board) loadRun(ctx context.Context, loader, from, to int, bar *progress) error {
	conn, err := b.bulkConn(ctx)
	if err != nil {
		return err
	}
	defer endConn(conn)
	var rows atomic.Pointer[giantRows]
	name := fmt.Sprintf("giant-%p-%d", b, loader)
	mysql.RegisterReaderHandler(name, func() io.Reader { return rows.Load() })
	defer mysql.DeregisterReaderHandler(name)
	for from < to {
		n := min(giantRange, to-from)
		rows.Store(&giantRows{period: strconv.FormatInt(b.ref.ID, 10), next: from, end: from + n, bar: bar})
		if _, err := conn.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+name+"' INTO TABLE entries FIELDS TERMINATED BY ',' "+entryRow); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// giantRows is the text of the rows from next to before end, one a line.
type giantRows struct {
	period    string
	next, end int
	bar       *progress
	left      []byte // of a line that did not fit
}

// Read fills p with lines.
func (r *giantRows) Read(p []byte) (n int, _ error) {
	const longest = 128
	from := r.next
	for n < len(p) {
		if len(r.left) > 0 {
			copied := copy(p[n:], r.left)
			n, r.left = n+copied, r.left[copied:]
			continue
		}
		if r.next == r.end {
			break
		}
		if len(p)-n >= longest {
			n += len(r.appendRow(p[n:n], r.next))
		} else {
			r.left = r.appendRow(nil, r.next)
		}
		r.next++
	}
	r.bar.add(r.next - from)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *giantRows) appendRow(to []byte, n int) []byte {
	to = append(append(to, r.period...), ',')
	to = append(appendGiant(to, n), ',')
	to = strconv.AppendInt(to, randomScore(), 10)
	to = append(to, ",0,"...)
	return append(appendGiantTime(to, n), '\n')
}

// appendGiantTime appends what createdTime is for smaller boards.
func appendGiantTime(to []byte, n int) []byte {
	const prime = 2_654_435_761
	micros := n * prime % giantTimes * 37
	seconds := micros / int(time.Second/time.Microsecond)
	to = append(to, "2026-01-01 "...)
	to = append(appendDigits(to, seconds/3600, 2), ':')
	to = append(appendDigits(to, seconds/60%60, 2), ':')
	to = append(appendDigits(to, seconds%60, 2), '.')
	return appendDigits(to, micros%1_000_000, 6)
}
