package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
)

const (
	benchBoard = "bench"
	benchTopN  = 10_000

	fillers  = 3    // connections that insert
	fillRows = 1000 // of one INSERT
	orderKey = "entries_order"

	giantDigits = 9 // of a member's number on a giant board
	// fillTable remembers how quick the filling was, for runs that find the board full. It is made last.
	fillTable = "bench_fill"
	entryRow  = "(period_id, member, score, tiebreak, created_time)"
)

// board is one filled board in a database of its own, and the stores that are opened on it in this process.
type board struct {
	dsn      string
	db       *sql.DB // for the yardsticks: plain SQL
	ref      leaderboard.PeriodRef
	members  int
	giant    bool    // filled in bulk, with names that are wide enough for it
	fillRate float64 // rows a second of the filling
	stores   []*store.Store
	store    *store.Store // the first of them: with a rank index, as the service has it
}

// openBoard opens the board of a database, and makes and fills both when they are not there in this size.
func openBoard(ctx context.Context, server, database string, members int, log io.Writer) (*board, error) {
	return openWith(ctx, server, database, members, func(b *board) error { return b.fill(ctx, log) })
}

// openWith opens the board of a database, and makes both and has the board filled when they are not there in this size.
func openWith(ctx context.Context, server, database string, members int, fill func(*board) error) (*board, error) {
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
		err = fill(b)
	} else {
		err = b.lastFill(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// countOf returns the number of entries of the board in a database, -1 if there is none.
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

// benchRules are those of the board: every submit changes an entry, and the copy in Redis holds the best topN.
func benchRules(topN int) leaderboard.Rules {
	return leaderboard.Rules{Policy: leaderboard.PolicyLatest, TopN: topN}
}

func (b *board) put(ctx context.Context) (leaderboard.PeriodRef, error) {
	made, _, err := b.store.PutBoard(ctx, benchBoard, benchRules(benchTopN))
	if err != nil {
		return leaderboard.PeriodRef{}, err
	}
	p, err := b.store.CurrentPeriod(ctx, made, leaderboard.WindowAllTime)
	if err != nil {
		return leaderboard.PeriodRef{}, err
	}
	return p.Ref(&made), nil
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

func (b *board) size() string { return thousands(b.members) + " members" }

// fill puts the entries into an empty board without the service, as a restored backup would: one commit, of which the
// log knows nothing. The ordered index is made at the end, which takes half of the time that keeping it does.
func (b *board) fill(ctx context.Context, log io.Writer) error {
	return b.fillWith(ctx, log, b.insertAll, func(ctx context.Context, key string) error {
		return b.exec(ctx, "ALTER TABLE entries ADD "+key)
	})
}

// fillWith fills the board with what inserts all rows and what adds the ordered index, given its definition.
func (b *board) fillWith(ctx context.Context, log io.Writer, rows func(context.Context, *progress) error, addKey func(context.Context, string) error) error {
	start := time.Now()
	key, err := b.keyDefinition(ctx)
	if err != nil {
		return err
	}
	if err := b.exec(ctx, "ALTER TABLE entries DROP KEY "+orderKey); err != nil {
		return err
	}
	bar := newProgress(log, fmt.Sprintf("filling %s members", thousands(b.members)), b.members)
	if err := rows(ctx, bar); err != nil {
		return err
	}
	bar.end("now its index")
	if err := addKey(ctx, key); err != nil {
		return err
	}
	err = b.exec(ctx, "UPDATE periods SET entry_count = ?, last_seq = ?, committed_at = NOW(6), last_created_time = ? WHERE id = ?",
		b.members, b.members, createdTime(0).AddDate(0, 0, 1), b.ref.ID)
	if err != nil {
		return err
	}
	b.fillRate = float64(b.members) / time.Since(start).Seconds()
	fmt.Fprintf(log, "%s members ready, %s rows/s\n", thousands(b.members), thousands(b.fillRate))
	return b.exec(ctx, "CREATE TABLE "+fillTable+" AS SELECT ? AS rate", b.fillRate)
}

// lastFill reads the rate of the filling from where fill left it.
func (b *board) lastFill(ctx context.Context) error {
	return b.db.QueryRowContext(ctx, "SELECT rate FROM "+fillTable).Scan(&b.fillRate)
}

func (b *board) exec(ctx context.Context, query string, args ...any) error {
	_, err := b.db.ExecContext(ctx, query, args...)
	return err
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

// insertAll shares the members out in runs of consecutive numbers, so that each connection appends to pages of its own.
func (b *board) insertAll(ctx context.Context, bar *progress) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range fillers {
		from, to := b.members*i/fillers, b.members*(i+1)/fillers
		wg.Go(func() {
			if err := b.insertRun(ctx, from, to, bar); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (b *board) insertRun(ctx context.Context, from, to int, bar *progress) error {
	conn, err := b.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var query []byte
	for from < to {
		n := min(fillRows, to-from)
		query = b.appendInsert(query[:0], from, n)
		if err := insert(ctx, conn, string(query)); err != nil {
			return err
		}
		from += n
		bar.add(n)
	}
	return nil
}

func insert(ctx context.Context, conn *sql.Conn, query string) error {
	_, err := conn.ExecContext(ctx, query)
	return err
}

// appendInsert appends the statement that inserts n members from the given number on.
func (b *board) appendInsert(query []byte, from, n int) []byte {
	query = append(query, "INSERT INTO entries "+entryRow+" VALUES "...)
	for i := range n {
		if i > 0 {
			query = append(query, ',')
		}
		query = append(query, '(')
		query = strconv.AppendInt(query, b.ref.ID, 10)
		query = append(query, ",'"...)
		query = appendMember(query, from+i)
		query = append(query, "',"...)
		query = strconv.AppendInt(query, randomScore(), 10)
		query = append(query, ",0,'"...)
		query = createdTime(from+i).AppendFormat(query, "2006-01-02 15:04:05.000000")
		query = append(query, "')"...)
	}
	return query
}

// appendMember appends the name of member number n: "m" and seven digits.
func appendMember(to []byte, n int) []byte {
	to = append(to, 'm')
	for unit := maxMembers / 10; unit > 0; unit /= 10 {
		to = append(to, byte('0'+n/unit%10))
	}
	return to
}

// appendGiant appends the name of member number n of a giant board: "m" and nine digits.
func appendGiant(to []byte, n int) []byte { return appendDigits(append(to, 'm'), n, giantDigits) }

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

// randomMember returns the name of any member of the board.
func (b *board) randomMember() string {
	if b.giant {
		return string(appendGiant(nil, rand.IntN(b.members)))
	}
	return randomMember(b.members)
}

// randomEntries returns n entries to submit, of any of the members.
func randomEntries(members, n int) []leaderboard.Submission {
	return entriesOf(n, func() string { return randomMember(members) })
}

func entriesOf(n int, member func() string) []leaderboard.Submission {
	entries := make([]leaderboard.Submission, n)
	for i := range entries {
		entries[i] = leaderboard.Submission{Member: member(), Score: randomScore()}
	}
	return entries
}

// randomScore returns a score, skewed towards small ones and with many ties.
func randomScore() int64 {
	f := rand.ExpFloat64()
	return int64(f * 100_000)
}

// createdTime differs for all members, in an order that has nothing to do with their names.
func createdTime(n int) time.Time {
	const prime = 2_654_435_761 // shares no divisor with maxMembers, so n*prime mod maxMembers is a permutation
	micros := n * prime % maxMembers
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(micros) * 37 * time.Microsecond)
}
