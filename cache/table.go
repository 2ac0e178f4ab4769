package cache

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

// TableOptions adjust a Table; the zero value is fit for production.
type TableOptions struct {
	Grace time.Duration // how long the rows stay valid while the database is away, 10 min
	Log   *slog.Logger
}

const (
	// TableWait bounds a statement to a table, and the wait for the rows.
	TableWait = time.Second
	// tableSoon bounds the wait for the rows while older ones are fresh.
	tableSoon = 50 * time.Millisecond
	// tableTimeout bounds the reading of a whole table.
	tableTimeout = time.Minute
	// tablePause is the time before a table that could not be read is read again.
	tablePause = 50 * time.Millisecond
	// confirmations is the number of checks per TableOptions.Grace while nobody uses a table: when the database goes away
	// then, most of the grace is left.
	confirmations = 20
)

// Table is a small table of the database whole in memory, as a T that nothing writes to, so that a request that needs it
// costs no round trip. The feed judges the rows as it judges answers; when it shows another revision of the table, all rows
// are read again. While the database is away, the rows stay valid for TableOptions.Grace. All methods may be called
// concurrently.
type Table[T any] struct {
	name string // in errors and messages
	id   int64  // for the feed
	read func(ctx context.Context) (T, error)
	feed *feed.Feed
	opts TableOptions

	known   atomic.Pointer[rows[T]]
	calls   calls[struct{}, *rows[T]]
	failing bool // the last reading failed; calls reads and writes it in order
}

// rows are a table at a revision, or later.
type rows[T any] struct {
	confirmation
	revision leaderboard.Revision
	value    T
}

// isRead is false before the table was read for the first time.
func (r *rows[T]) isRead() bool { return !r.read.IsZero() }

// isAt reports whether the rows were read at a revision.
func (r *rows[T]) isAt(shown leaderboard.Revision) bool { return r.revision == shown && r.isRead() }

// NewTable returns a Table that has read nothing yet. read reads all rows, in statements of TableWait at most, and is not
// called concurrently. The feed knows the table by its id, messages by its name.
func NewTable[T any](name string, id int64, read func(context.Context) (T, error), f *feed.Feed, opts TableOptions) *Table[T] {
	opts.Grace = cmp.Or(opts.Grace, 10*time.Minute)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	t := &Table[T]{name: name, id: id, read: read, feed: f, opts: opts, calls: calls[struct{}, *rows[T]]{timeout: tableTimeout}}
	t.known.Store(&rows[T]{})
	return t
}

// Value returns the rows, of any age, or the zero value when nothing was read yet.
func (t *Table[T]) Value() T { return t.known.Load().value }

// Get returns the rows at the revision that the feed showed last. If the table was not needed recently,
// Get waits for a statement of the feed. While rows are read that the feed finds fresh, Get waits only briefly. When
// found reports false for the rows, Get waits for the next statement, because the missing row may just have been made. While
// the database is away, the rows are valid for TableOptions.Grace if found reports true. Errors: ErrUnavailable, the error of
// ctx.
func (t *Table[T]) Get(ctx context.Context, now time.Time, found func(T) bool) (value T, err error) {
	k := t.known.Load()
	verdict := t.feed.Check(ctx, t.id, k.revision)
	shown, sent, ok := t.feed.Latest(t.id)
	isCurrent, isFound := ok && k.isAt(shown), found(k.value)
	if isCurrent {
		k.confirm(sent)
	}
	switch {
	case !ok || verdict == feed.VerdictUnknown:
		if ok && !isCurrent {
			t.start(ctx, shown)
		}
		err = t.unavailable(ctx)
	case isCurrent && isFound:
		return k.value, nil
	case isCurrent:
		if err = t.feed.Next(ctx, t.id); err == nil {
			value, err = t.latest(ctx)
		}
	case isFound && verdict == feed.VerdictFresh:
		value, err = t.at(ctx, shown, tableSoon)
	default:
		value, err = t.at(ctx, shown, TableWait)
	}
	if err != nil && isFound && k.age(now) <= t.opts.Grace {
		return k.value, nil
	}
	return value, err
}

// Renew returns when all commits before the call are known here. Without a feed it reads the rows each time.
func (t *Table[T]) Renew(ctx context.Context) error {
	if t.feed == nil {
		_, err := t.start(ctx, leaderboard.Revision{}).wait(ctx)
		return err
	}
	sent := time.Now()
	shown, ok := t.feed.Query(ctx, t.id)
	if !ok {
		return t.unavailable(ctx)
	}
	if k := t.known.Load(); k.isAt(shown) {
		k.confirm(sent)
	}
	_, err := t.at(ctx, shown, TableWait)
	return err
}

func (t *Table[T]) unavailable(ctx context.Context) error {
	return cmp.Or(ctx.Err(), fmt.Errorf("%w: the %s cannot be confirmed", leaderboard.ErrUnavailable, t.name))
}

// latest returns the rows at the revision that the feed showed last, or later.
func (t *Table[T]) latest(ctx context.Context) (value T, err error) {
	shown, _, ok := t.feed.Latest(t.id)
	if !ok {
		return value, t.unavailable(ctx)
	}
	return t.at(ctx, shown, TableWait)
}

// at returns the rows at a revision that was shown, or later, and has them read if need be.
func (t *Table[T]) at(ctx context.Context, shown leaderboard.Revision, wait time.Duration) (value T, err error) {
	called := time.Now()
	bounded, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		k := t.known.Load()
		if k.isAt(shown) {
			return k.value, nil
		}
		f := t.start(ctx, shown)
		k, err := f.wait(bounded)
		switch {
		case bounded.Err() != nil:
			return value, t.unavailable(ctx)
		case err != nil:
			return value, fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
		case !f.began.Before(called): // otherwise it may have read before the revision was reached
			return k.value, nil
		}
	}
}

// start reads the rows, unless they are being read.
func (t *Table[T]) start(ctx context.Context, shown leaderboard.Revision) *future[*rows[T]] {
	return t.calls.start(ctx, struct{}{}, func(ctx context.Context) (k *rows[T], err error) {
		if t.failing {
			pause(ctx, tablePause)
		}
		k = &rows[T]{confirmation: confirmation{read: time.Now()}, revision: shown}
		k.value, err = t.read(ctx)
		return k, err
	}, func(k *rows[T], err error) {
		if err == nil {
			t.known.Store(k)
		}
		if err != nil && !t.failing {
			t.opts.Log.Warn("changes of the "+t.name+" are not known yet", "error", err)
		}
		t.failing = err != nil
	})
}

// Run has the rows confirmed now and then, also when nobody needs them, until ctx ends.
func (t *Table[T]) Run(ctx context.Context) {
	ticker := time.NewTicker(t.opts.Grace / confirmations)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if t.known.Load().isRead() {
				_ = t.Renew(ctx) // the next time, while the database is away
			}
		}
	}
}

// PageRows is a size of pages for ReadPages.
const PageRows = 500

// ReadPages reads a table in pages of a number of rows, each in one statement of TableWait at most: page returns the rows after
// a row, each gets every row and returns its place.
func ReadPages[P, V any](ctx context.Context, size int, page func(ctx context.Context, after P, limit int) ([]V, error), each func(*V) P) error {
	read := func(after P) ([]V, error) {
		ctx, cancel := context.WithTimeout(ctx, TableWait)
		defer cancel()
		return page(ctx, after, size)
	}
	var after P
	for {
		rows, err := read(after)
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
