// Package read answers questions about the entries of periods, each exact at the state that it reports: pages, members,
// scores, distributions, combined rankings, and the export of a period. Under READ COMMITTED one SELECT sees one state,
// so short answers read the row of the period and the entries in one statement; longer ones use a REPEATABLE READ, READ
// ONLY transaction.
package read

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
	"leaderboard/store/internal/index"
)

// Reader answers questions about the entries of periods. All methods may be called concurrently.
type Reader struct {
	db      *db.DB
	indexes *index.Indexes
	target  int           // entries that a bucket of an index is meant to have
	scans   chan struct{} // holds a value for each answer that is counted by scanning
	reads   reads
}

// reads counts what answers took.
type reads struct {
	single   atomic.Int64 // put together from single statements
	snapshot atomic.Int64 // in a transaction
	scanned  atomic.Int64 // of these, by scanning a period that is to have an index
	moved    atomic.Int64 // attempts in vain
}

// New returns a Reader. target is the number of entries per bucket of an index.
func New(d *db.DB, x *index.Indexes, target int) *Reader {
	return &Reader{db: d, indexes: x, target: target, scans: make(chan struct{}, max(1, d.Config.MaxConns/4))}
}

// Counts returns how many answers were put together from single statements, how many took a transaction, how many of
// these were counted by scanning a period that is to have an index, and how many attempts were in vain. It is for
// tests, and no method so that Store does not get it.
func Counts(s *Reader) (single, snapshot, scanned, moved int64) {
	return s.reads.single.Load(), s.reads.snapshot.Load(), s.reads.scanned.Load(), s.reads.moved.Load()
}

// TakeScans takes all permits to scan until release is called, for tests.
func TakeScans(s *Reader) (release func()) {
	for range cap(s.scans) {
		s.scans <- struct{}{}
	}
	return func() {
		for range cap(s.scans) {
			<-s.scans
		}
	}
}

// maxScanWait is how long a reader waits for its permit to scan.
const maxScanWait = 250 * time.Millisecond

// scan waits for a permit to count by scanning, which costs the database O(rank).
func (s *Reader) scan(ctx context.Context) (done func(), err error) {
	timer := time.NewTimer(maxScanWait)
	defer timer.Stop()
	select {
	case s.scans <- struct{}{}:
		return func() { <-s.scans }, nil
	case <-timer.C:
		return nil, leaderboard.ErrOverloaded
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// view is one state of one period, read in several statements: in a transaction that sees nothing else, or one by one,
// which saves four round trips; then numbers are rebased to the state of the view, see index.Indexes.
type view struct {
	reader   *Reader
	q        db.Querier
	ref      leaderboard.PeriodRef
	codec    rank.Codec
	minSeq   int64
	snapshot bool // q is a transaction

	state    leaderboard.State
	hasState bool           // state is known
	index    *index.Tracker // nil: count by scanning
	prepared bool           // index is chosen
	scanned  func()         // gives the permit to scan back, nil without one
}

// errMoved: the statements of one answer saw states that cannot be brought together. Asking again helps.
var errMoved = errors.New("store: the period moved on while it was read")

// errNeedsSnapshot: what was asked cannot be rebased from state to state.
var errNeedsSnapshot = errors.New("store: this takes a transaction")

// Attempts of read: with single statements, then in a transaction.
const (
	lightAttempts    = 2
	snapshotAttempts = 3
)

// read runs fn on one state of the period, at least minSeq. fn may run several times; it looks at the view only. A
// period that moves on faster than it can be read is ErrOverloaded.
func (s *Reader) read(ctx context.Context, ref leaderboard.PeriodRef, minSeq int64, fn func(*view) error) error {
	v := view{reader: s, ref: ref, codec: rank.CodecOf(ref.Rules), minSeq: minSeq}
	var err error
	for range lightAttempts {
		light := v
		light.q = s.db
		if err = light.done(fn(&light)); err == nil {
			s.reads.single.Add(1)
		}
		if errors.Is(err, errNeedsSnapshot) {
			break
		}
		if !errors.Is(err, errMoved) {
			return err
		}
		s.reads.moved.Add(1)
	}
	for range snapshotAttempts {
		s.reads.snapshot.Add(1)
		if err = s.view(ctx, v, fn); !errors.Is(err, errMoved) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", leaderboard.ErrOverloaded, err)
}

// view runs fn on a REPEATABLE READ, READ ONLY transaction, whose snapshot its first statement takes.
func (s *Reader) view(ctx context.Context, v view, fn func(*view) error) error {
	tx, err := s.db.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	v.q, v.snapshot = tx, true
	if _, err := v.query(ctx, entries.Query{}); err != nil {
		return err
	}
	return v.done(fn(&v))
}

// done ends the view. An index that turned out useless is dropped, and the answer put together without it.
func (v *view) done(err error) error {
	if v.scanned != nil {
		v.scanned()
		v.scanned = nil
	}
	if err == nil || v.index == nil {
		return err
	}
	switch {
	case errors.Is(err, leaderboard.ErrPeriodNotFound), index.IsUseless(err):
		v.reader.indexes.Drop(v.index, err)
	case errors.Is(err, index.ErrTooOld), errors.Is(err, index.ErrBehind):
	default:
		return err
	}
	if errors.Is(err, leaderboard.ErrPeriodNotFound) {
		return err
	}
	return fmt.Errorf("%w: %w", errMoved, err)
}

// query runs a query on the state of the view. The first one decides the state of the view, the others must find the
// same.
func (v *view) query(ctx context.Context, qu entries.Query) (entries.Result, error) {
	r, err := v.ask(ctx, qu)
	if err != nil {
		return r, err
	}
	if v.hasState {
		if r.State != v.state {
			return r, errMoved
		}
		return r, nil
	}
	return r, v.setState(r.State)
}

// ask runs a query whatever the state. Errors: ErrPeriodNotFound, for a period that has had the id since a restore, too.
func (v *view) ask(ctx context.Context, qu entries.Query) (entries.Result, error) {
	r, err := qu.Run(ctx, v.reader.db, v.q, v.ref.ID)
	if err == nil && r.State.History != v.ref.History {
		err = leaderboard.ErrPeriodNotFound
	}
	return r, err
}

func (v *view) setState(state leaderboard.State) error {
	v.state, v.hasState = state, true
	if state.Seq < v.minSeq {
		return fmt.Errorf("%w: it is at %d, not at %d", leaderboard.ErrSeqAhead, state.Seq, v.minSeq)
	}
	return nil
}

// prepare chooses how to count: with the index of the period, if it has one. An index that is in memory is taken
// without knowing how large the period is, which saves a round trip.
func (v *view) prepare(ctx context.Context) error {
	if v.prepared {
		return nil
	}
	if v.index = v.reader.indexes.Ready(v.ref); v.index == nil {
		if !v.hasState {
			if _, err := v.query(ctx, entries.Query{}); err != nil {
				return err
			}
		}
		v.index = v.reader.indexes.Use(ctx, v.ref, v.state.Total)
	}
	v.prepared = true
	return nil
}

// admitScan waits for the permit to count by scanning, for a period that is large enough to have an index and has none.
func (v *view) admitScan(ctx context.Context) (err error) {
	if v.index != nil || v.scanned != nil || !v.reader.indexes.Wanted(v.state.Total) {
		return nil
	}
	if !v.snapshot {
		return errNeedsSnapshot // the scan takes long, and numbers can be rebased with an index only
	}
	v.reader.reads.scanned.Add(1)
	v.scanned, err = v.reader.scan(ctx)
	return err
}

// member returns the key of a member's entry; ErrNotRanked when there is none.
func (v *view) member(ctx context.Context, member string) (rank.Key, error) {
	keys, err := v.members(ctx, []string{member})
	if err == nil && len(keys) == 0 {
		err = leaderboard.ErrNotRanked
	}
	if err != nil {
		return "", err
	}
	return keys[0], nil
}

// members returns the keys of the members that have an entry, in order.
func (v *view) members(ctx context.Context, members []string) ([]rank.Key, error) {
	var possible []string
	for _, m := range members {
		if leaderboard.CheckMember(m) == nil {
			possible = append(possible, m)
		}
	}
	r, err := v.query(ctx, entries.Query{Members: possible})
	if err != nil {
		return nil, err
	}
	return r.Keys[0], nil
}
