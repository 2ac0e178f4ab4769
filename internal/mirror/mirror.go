// Package mirror holds small tables of the database whole in memory, so that a request that needs them costs no round trip.
// The rows are from one revision of the table; when the feed shows another revision all are read again, so a change counts
// within a second of its commit on every server that can ask the database. While the database is away, the rows stay valid
// for Options.Grace.
package mirror

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/leaderboard"
)

// Feed reads the revision of the table under its id, while Table.InUse reports true, and passes it to Table.Shown.
type Feed interface {
	// Query returns when a statement that was sent after the call has been answered, and Shown was called; ok is false when
	// the database does not answer.
	Query(ctx context.Context, id int64) (r leaderboard.Revision, ok bool)
}

// Options adjust a Table; the zero value is fit for production.
type Options struct {
	// Fresh is how long what the feed showed is good for; it asks several times in it. 500 ms.
	Fresh time.Duration
	Grace time.Duration // how long the rows stay valid while the database is away, 10 min
	Idle  time.Duration // how long after it was needed the table is watched, 10 s
	Log   *slog.Logger
}

const (
	// AskFor bounds a statement, and the wait for an answer.
	AskFor = time.Second
	// confirmations is the number of checks per Options.Grace while nobody uses the table: when the database goes away
	// then, most of the grace is left.
	confirmations = 20
)

// Table is a table of the database in memory, as a T that nothing writes to. All methods may be called concurrently; nothing
// is read unless Run runs.
type Table[T any] struct {
	name string // in errors and messages
	id   int64  // for the feed
	read func(ctx context.Context) (T, error)
	feed Feed
	opts Options

	current   atomic.Pointer[snapshot[T]] // nil until the table was read once
	began     time.Time                   // when the Table was made
	confirmed atomic.Int64                // when the feed last sent what showed the revision of current, ns since began; at first never
	used      atomic.Int64                // when the table was last needed, ns since began; at first never

	mu    sync.Mutex
	shown shown  // the last state that the feed showed
	next  *check // the next check, for which callers wait; nil without waiters
	wake  chan struct{}
}

// snapshot is the table at one of its revisions.
type snapshot[T any] struct {
	revision leaderboard.Revision
	value    T
}

// shown is the result of a statement of the feed.
type shown struct {
	revision leaderboard.Revision
	sent     time.Time
}

// check is the result of one check of the table, for the callers that wait.
type check struct {
	done chan struct{} // closed then
	err  error         // then
}

// never is long before any Table was made.
const never = math.MinInt64 / 2

// New returns a Table that has read nothing yet: read reads all of it, in statements of AskFor at most, and is called by
// one goroutine. id is the feed's id of the table, name its name in messages.
func New[T any](name string, id int64, read func(context.Context) (T, error), feed Feed, opts Options) *Table[T] {
	opts.Fresh = cmp.Or(opts.Fresh, 500*time.Millisecond)
	opts.Grace = cmp.Or(opts.Grace, 10*time.Minute)
	opts.Idle = cmp.Or(opts.Idle, 10*time.Second)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	t := &Table[T]{name: name, id: id, read: read, feed: feed, opts: opts, wake: make(chan struct{}, 1), began: time.Now()}
	t.confirmed.Store(never)
	t.used.Store(never)
	return t
}

// ID returns the feed's id of the table.
func (t *Table[T]) ID() int64 { return t.id }

// InUse reports whether the table was needed recently, so that it must be watched.
func (t *Table[T]) InUse(now time.Time) bool {
	return t.since(now)-t.used.Load() <= int64(t.opts.Idle)
}

// Shown takes the revision of the table that the feed showed. It does not block.
func (t *Table[T]) Shown(revision leaderboard.Revision, sent time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sent.Before(t.shown.sent) {
		return
	}
	t.shown = shown{revision, sent}
	if k := t.current.Load(); k != nil && k.revision == revision {
		t.confirmed.Store(t.since(sent))
		t.notify(nil)
		return
	}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// notify lets the waiting callers continue. The caller holds the lock.
func (t *Table[T]) notify(err error) {
	if t.next != nil {
		t.next.err = err
		close(t.next.done)
		t.next = nil
	}
}

// Value returns the rows, of any age; the zero value when nothing was read yet.
func (t *Table[T]) Value() (value T) {
	if k := t.current.Load(); k != nil {
		value = k.value
	}
	return value
}

// Get returns the rows once they are as new as Options.Fresh. They are at once, unless the table was not needed recently:
// then Get waits for the feed. When found reports false for the rows, Get waits for the next statement of the feed, because
// the missing row may just have been made. While the database is away, the rows are valid for Options.Grace if found
// reports true. Errors: ErrUnavailable, the error of ctx.
func (t *Table[T]) Get(ctx context.Context, now time.Time, found func(T) bool) (value T, err error) {
	watched := t.InUse(now)
	t.touch(now)
	if !watched || t.age(now) > t.opts.Fresh { // the feed may rest, and begins with this question
		err = t.Renew(ctx)
	} else if !found(t.Value()) {
		err = t.await(ctx, now)
	}
	held := t.Value()
	if err != nil && (!found(held) || t.age(now) > t.opts.Grace) {
		return value, err
	}
	return held, nil
}

// age returns the time since the database last confirmed the rows.
func (t *Table[T]) age(now time.Time) time.Duration {
	return time.Duration(t.since(now) - t.confirmed.Load())
}

// since returns a moment in nanoseconds since the Table was made, whatever the machine's clock says.
func (t *Table[T]) since(now time.Time) int64 { return int64(now.Sub(t.began)) }

// touch notes that the table is needed. Requests do not fight over the cache line.
func (t *Table[T]) touch(now time.Time) {
	if at := t.since(now); at-t.used.Load() > int64(100*time.Millisecond) {
		t.used.Store(at)
	}
}

// Renew returns when all commits before the call are known here.
func (t *Table[T]) Renew(ctx context.Context) error {
	began := time.Now()
	if _, ok := t.feed.Query(ctx, t.id); !ok {
		return cmp.Or(ctx.Err(), fmt.Errorf("%w: the %s cannot be confirmed", leaderboard.ErrUnavailable, t.name))
	}
	return t.await(ctx, began)
}

// await returns when the rows are as new as a statement of the feed that was sent after a time. It does not make the watch
// ask.
func (t *Table[T]) await(ctx context.Context, since time.Time) error {
	timer := time.NewTimer(AskFor)
	defer timer.Stop()
	for {
		t.mu.Lock()
		if t.confirmed.Load() > t.since(since) {
			t.mu.Unlock()
			return nil
		}
		t.next = cmp.Or(t.next, &check{done: make(chan struct{})})
		next := t.next
		t.mu.Unlock()
		select {
		case <-next.done:
			if next.err != nil {
				return next.err
			}
		case <-timer.C:
			return fmt.Errorf("%w: the %s were not confirmed in %v", leaderboard.ErrUnavailable, t.name, AskFor)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Run reads the table when it has changed, one statement at a time, until ctx ends. Now and then it has the rows confirmed
// while they are not needed.
func (t *Table[T]) Run(ctx context.Context) {
	var confirming sync.WaitGroup
	confirming.Go(func() { t.confirmIdle(ctx) })
	defer confirming.Wait()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
			err := t.follow(ctx)
			if err != nil && !failing {
				t.opts.Log.Warn("changes of the "+t.name+" are not known yet", "error", err)
			}
			failing = err != nil
		}
	}
}

// confirmIdle asks the feed about the table when it was not needed for a while, until ctx ends.
func (t *Table[T]) confirmIdle(ctx context.Context) {
	ticker := time.NewTicker(t.opts.Grace / confirmations)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if t.current.Load() != nil && t.age(now) > t.opts.Fresh {
				_ = t.Renew(ctx) // the next time, while the database is away
			}
		}
	}
}

// follow brings the rows up to the shown revision. One goroutine calls it, so rows from before a change do not replace rows
// from after it. When it fails, the next statement of the feed wakes Run again.
func (t *Table[T]) follow(ctx context.Context) error {
	t.mu.Lock()
	want := t.shown
	t.mu.Unlock()
	k, err := t.current.Load(), error(nil)
	if k == nil || k.revision != want.revision {
		k = &snapshot[T]{revision: want.revision} // or newer: it is read after that was shown
		if k.value, err = t.read(ctx); err != nil {
			err = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.current.Store(k)
		t.confirmed.Store(max(t.confirmed.Load(), t.since(want.sent)))
	}
	t.notify(err)
	return err
}

// Pages reads a table in pages of 500 rows, each in one statement of AskFor at most: page returns the rows after a row,
// each gets every row and returns its place.
func Pages[P, V any](ctx context.Context, page func(ctx context.Context, after P, limit int) ([]V, error), each func(*V) P) error {
	const size = 500
	var after P
	for {
		rows, err := onePage(ctx, after, size, page)
		if err != nil {
			return err
		}
		for i := range rows {
			after = each(&rows[i])
		}
		if len(rows) < size {
			return nil
		}
	}
}

func onePage[P, V any](ctx context.Context, after P, size int, page func(context.Context, P, int) ([]V, error)) ([]V, error) {
	ctx, cancel := context.WithTimeout(ctx, AskFor)
	defer cancel()
	return page(ctx, after, size)
}
