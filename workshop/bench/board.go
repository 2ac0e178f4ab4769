package main

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
)

const (
	maxMembers = 1_000_000_000 // whose times differ, and whose names have nine digits

	benchBoard = "bench"
	benchTopN  = 10_000
	orderKey   = "entries_order"
	entryRow   = "(period_id, member, score, tiebreak, created_time)"

	// fillTable remembers how quick the filling was, for runs that find the board full. It is made last.
	fillTable = "bench_fill"
	fillers   = 2         // connections that fill a board
	fillRange = 1_000_000 // rows of one LOAD DATA: its transaction stays small
	fillSort  = 1 << 30   // bytes of memory that the ordered index is sorted in
	// fillFactor is how full, in percent, the pages of the ordered index are made. MySQL makes them full when it sorts one:
	// then nearly each of the first submits splits a page, which is not what a board is like that grew by submits.
	fillFactor = 80
)

// board is a filled board in a separate database, with the stores that are opened on it in this process.
type board struct {
	dsn      string
	db       *sql.DB // for the yardsticks: plain SQL
	ref      leaderboard.PeriodRef
	members  int
	fillRate float64 // rows a second of the filling
	stores   []*store.Store
	store    *store.Store // the first of them
}

// databaseOf returns the database of the board of a size.
func databaseOf(members int) string { return "board_" + strconv.Itoa(members) }

// openBoard opens the board of a size on a server; it makes and fills the board if it is missing.
func openBoard(ctx context.Context, server *sql.DB, dsn string, members int, log io.Writer) (*board, error) {
	database := databaseOf(members)
	filled, err := isFilled(ctx, server, members)
	if err != nil {
		return nil, err
	}
	if !filled {
		for _, q := range []string{"DROP DATABASE IF EXISTS ", "CREATE DATABASE "} {
			if _, err := server.ExecContext(ctx, q+database); err != nil {
				return nil, err
			}
		}
	}
	b, err := newBoard(ctx, dsn+database, members)
	if err != nil {
		return nil, err
	}
	if !filled {
		err = b.fill(ctx, log)
	} else {
		err = b.db.QueryRowContext(ctx, "SELECT rate FROM "+fillTable).Scan(&b.fillRate)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// isFilled reports whether the board of a size was filled to its end.
func isFilled(ctx context.Context, server *sql.DB, members int) (bool, error) {
	var tables int
	err := server.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", databaseOf(members), fillTable).Scan(&tables)
	return tables > 0, err
}

// newBoard makes the schema and the board in an existing database.
func newBoard(ctx context.Context, dsn string, members int) (*board, error) {
	b := &board{dsn: dsn, members: members}
	var err error
	if b.db, err = sql.Open("mysql", dsn+"?interpolateParams=true&parseTime=true"); err != nil {
		return nil, err
	}
	b.db.SetMaxIdleConns(64)
	if _, err = migrations.Up(ctx, b.db); err == nil {
		b.store, err = b.open(ctx)
	}
	if err == nil {
		b.ref, err = b.put(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// benchRules are the rules of the board: every submit changes an entry, and the copy in Redis holds the best topN.
func benchRules(topN int) leaderboard.Rules {
	return leaderboard.Rules{Policy: leaderboard.PolicyLatest, TopN: topN}
}

func (b *board) put(ctx context.Context) (leaderboard.PeriodRef, error) {
	made, _, err := b.store.Boards.PutBoard(ctx, benchBoard, benchRules(benchTopN))
	if err != nil {
		return leaderboard.PeriodRef{}, err
	}
	p, err := b.store.Boards.CurrentPeriod(ctx, made, leaderboard.WindowAllTime)
	if err != nil {
		return leaderboard.PeriodRef{}, err
	}
	return p.Ref(&made), nil
}

// patience is how long the store waits for a slow machine: that is to be seen in the numbers, not to end the measurement.
const patience = time.Minute

// open opens one more store on the board.
func (b *board) open(ctx context.Context) (*store.Store, error) {
	s, err := store.Open(ctx, store.Config{DSN: b.dsn, StatementTimeout: patience, ReadTimeout: patience, WriteTimeout: patience, WriteWait: patience})
	if err != nil {
		return nil, err
	}
	b.stores = append(b.stores, s)
	return s, nil
}

// buildIndex builds the rank index from scratch, saves it, and returns how long that took.
func (b *board) buildIndex(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	_, err := b.store.Indexes.Build(ctx, b.ref, store.IndexBuild{Reason: leaderboard.RunReasonCommand, Actor: "bench"})
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

func (b *board) size() string { return thousands(b.members) + " members" }

func (b *board) exec(ctx context.Context, query string, args ...any) error {
	_, err := b.db.ExecContext(ctx, query, args...)
	return err
}

// fill puts the entries into an empty board without the service, as a restored backup would: one commit, which the log does
// not have. The ordered index is made at the end, which takes half of the time of maintaining it.
func (b *board) fill(ctx context.Context, log io.Writer) error {
	fmt.Fprintf(log, "filling %s\n", b.size())
	start := time.Now()
	key, err := b.keyDefinition(ctx)
	if err != nil {
		return err
	}
	for _, q := range []string{
		"SET GLOBAL local_infile = ON", "SET GLOBAL innodb_fill_factor = " + strconv.Itoa(fillFactor), "ALTER TABLE entries DROP KEY " + orderKey,
	} {
		if err := b.exec(ctx, q); err != nil {
			return err
		}
	}
	if err := b.loadAll(ctx); err != nil {
		return err
	}
	if err := b.execUnlogged(ctx, "ALTER TABLE entries ADD "+key); err != nil {
		return err
	}
	err = b.exec(ctx, "UPDATE periods SET entry_count = ?, last_seq = ?, committed_at = NOW(6), last_created_time = '2026-01-02' WHERE id = ?", b.members, b.members, b.ref.ID)
	if err != nil {
		return err
	}
	b.fillRate = float64(b.members) / time.Since(start).Seconds()
	fmt.Fprintf(log, "%s ready, %s rows/s\n", b.size(), thousands(b.fillRate))
	return b.exec(ctx, "CREATE TABLE "+fillTable+" AS SELECT ? AS rate", b.fillRate)
}

// keyDefinition returns the line of the table's definition that makes the ordered index.
func (b *board) keyDefinition(ctx context.Context) (string, error) {
	var table, create string
	if err := b.db.QueryRowContext(ctx, "SHOW CREATE TABLE entries").Scan(&table, &create); err != nil {
		return "", err
	}
	return keyLine(create, orderKey)
}

// keyLine returns the definition of a key in the answer of SHOW CREATE TABLE.
func keyLine(create, name string) (string, error) {
	for line := range strings.Lines(create) {
		line = strings.TrimSuffix(strings.TrimSpace(line), ",")
		if strings.HasPrefix(line, "KEY `"+name+"` ") {
			return line, nil
		}
	}
	return "", fmt.Errorf("the table has no key %s", name)
}

// loadAll shares the members out in runs of consecutive numbers, so that each connection appends to separate pages.
func (b *board) loadAll(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range fillers {
		wg.Go(func() {
			if err := b.loadRun(ctx, b.members*i/fillers, b.members*(i+1)/fillers); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (b *board) loadRun(ctx context.Context, from, to int) error {
	name := fmt.Sprintf("%p-%d", b, from)
	defer mysql.DeregisterReaderHandler(name)
	for ; from < to; from += fillRange {
		mysql.RegisterReaderHandler(name, func() io.Reader { return b.rows(from, min(from+fillRange, to)) })
		err := b.execUnlogged(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+name+"' INTO TABLE entries FIELDS TERMINATED BY ',' "+entryRow)
		if err != nil {
			return err
		}
	}
	return nil
}

// execUnlogged runs a statement that goes into no binary log, on a connection that is closed after it.
func (b *board) execUnlogged(ctx context.Context, query string) error {
	conn, err := b.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) }() // the pool must not keep it
	for _, q := range []string{"SET sql_log_bin = 0", "SET unique_checks = 0", "SET innodb_ddl_buffer_size = " + strconv.Itoa(fillSort), query} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the text of the members from one number to before another, one a line. Its reader closes it.
func (b *board) rows(from, to int) io.Reader {
	read, write := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(write, 64<<10)
		var line []byte
		for n := from; n < to; n++ {
			line = append(strconv.AppendInt(line[:0], b.ref.ID, 10), ',')
			line = append(appendMember(line, n), ',')
			line = strconv.AppendInt(line, randomScore(), 10)
			line = append(line, ",0,"...)
			line = append(appendTime(line, n), '\n')
			if _, err := out.Write(line); err != nil {
				break
			}
		}
		_ = write.CloseWithError(out.Flush())
	}()
	return read
}

// appendMember appends the name of member number n: "m" and nine digits.
func appendMember(to []byte, n int) []byte { return appendDigits(append(to, 'm'), n, 9) }

func appendDigits(to []byte, n, digits int) []byte {
	unit := 1
	for range digits - 1 {
		unit *= 10
	}
	for ; unit > 0; unit /= 10 {
		to = append(to, byte('0'+n/unit%10))
	}
	return to
}

// randomMember returns the name of any of n members.
func randomMember(n int) string { return string(appendMember(nil, rand.IntN(n))) }

// randomScore returns a score, skewed towards small ones and with many ties.
func randomScore() int64 {
	f := rand.ExpFloat64()
	return int64(f * 100_000)
}

// appendTime appends a time of 2026-01-01 that differs for all members, in an order that has nothing to do with their
// names.
func appendTime(to []byte, n int) []byte {
	const times = maxMembers
	const prime = 2_654_435_761 // shares no divisor with times, so n*prime mod times is a permutation
	micros := n * prime % times * 80
	seconds := micros / int(time.Second/time.Microsecond)
	to = append(to, "2026-01-01 "...)
	to = append(appendDigits(to, seconds/3600, 2), ':')
	to = append(appendDigits(to, seconds/60%60, 2), ':')
	to = append(appendDigits(to, seconds%60, 2), '.')
	return appendDigits(to, micros%1_000_000, 6)
}
