package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// watchedCatalog is a catalog of one board, as servers have it.
type watchedCatalog struct {
	*Catalog
	t     *testing.T
	shelf *shelf
	model *storetest.Model // the questions of the feed
	told  int
}

func newWatchedCatalog(t *testing.T) *watchedCatalog {
	c := &watchedCatalog{t: t, shelf: &shelf{}, model: storetest.NewModel()}
	w := feed.New(c, feed.Options{})
	go w.Run(t.Context())
	c.shelf.put(1, nil, 0)
	c.Catalog = NewCatalog(c.shelf, CatalogOptions{Feed: w, OnRead: func(leaderboard.Listing, leaderboard.Micros) { c.told++ }})
	c.version(1) // from now on the feed knows the revision of the boards
	time.Sleep(2 * time.Second)
	c.version(1)
	return c
}

// Revisions implements feed.Source: the board is on the shelf, the table of boards in the model.
func (c *watchedCatalog) Revisions(ctx context.Context, ids []int64) (map[int64]leaderboard.Revision, error) {
	out, err := c.model.Revisions(ctx, ids)
	if err == nil {
		c.shelf.show(ids, out)
	}
	return out, err
}

// change lets another server change the board, or another one.
func (c *watchedCatalog) change(version int64) {
	c.t.Helper()
	c.shelf.put(version, nil, 0)
	if _, _, err := c.model.PutBoard(c.t.Context(), fmt.Sprint("b", time.Now().UnixNano()), leaderboard.Rules{}); err != nil {
		c.t.Fatal(err)
	}
}

// version reads the board, and returns how many look-ups there were so far.
func (c *watchedCatalog) version(want int64) int {
	c.t.Helper()
	b, err := c.Board(c.t.Context(), "b")
	if err != nil || b.Version != want {
		c.t.Errorf("version %d, %v; want %d", b.Version, err, want)
	}
	c.shelf.mu.Lock()
	defer c.shelf.mu.Unlock()
	return c.shelf.reads
}

// TestCatalogFollowsTheWatch: a board is read again when it has changed, and not for its age, nor because another board has
// changed; OnRead is called for boards that are read once a second.
func TestCatalogFollowsTheWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newWatchedCatalog(t)
		before, told := c.version(1), c.told
		for range 6000 {
			time.Sleep(10 * time.Millisecond)
			c.version(1)
		}
		if n := c.version(1); n != before {
			t.Errorf("%d look-ups in a minute without changes", n-before)
		}
		if n := c.told - told; n < 55 || n > 60 {
			t.Errorf("told %d times in a minute", n)
		}
		time.Sleep(time.Hour) // without reads the feed forgets
		if n := c.version(1); n != before {
			t.Errorf("%d look-ups after a pause", n-before)
		}
		c.change(2)
		time.Sleep(260 * time.Millisecond) // of the feed: an interval, and the age that is fresh
		c.version(2)
		c.change(3)
		time.Sleep(260 * time.Millisecond)
		c.version(3)
		time.Sleep(time.Hour)
		c.change(4)
		before = c.version(4)
		for range 1000 { // boards are made all the time
			c.change(4)
			time.Sleep(10 * time.Millisecond)
			c.version(4)
		}
		if n := c.version(4) - before; n != 0 {
			t.Errorf("%d look-ups in ten seconds in which other boards were made", n)
		}
		for v := range int64(1000) { // it changes all the time
			c.change(5 + v)
			if b, err := c.Board(t.Context(), "b"); err != nil || b.Version < 5+v-25 {
				t.Errorf("version %d, %v; it is at %d", b.Version, err, 5+v)
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := c.shelf.reads - before; n < 40 || n > 60 {
			t.Errorf("%d look-ups in ten seconds of changes, want one in 200 ms", n)
		}
	})
}

// TestCatalogWhileTheWatchIsAway: known boards are served while the database does not answer, without a look-up, marked stale
// after a moment, for ten minutes; no board is said not to exist.
func TestCatalogWhileTheWatchIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newWatchedCatalog(t)
		if _, err := c.Board(t.Context(), "none"); !errors.Is(err, leaderboard.ErrBoardNotFound) {
			t.Fatal(err)
		}
		c.model.Fail(leaderboard.ErrUnavailable)
		c.shelf.put(2, leaderboard.ErrUnavailable, 0)
		began, before := time.Now(), c.version(1)
		for time.Since(began) < catalogLimit-2*time.Second {
			ref, _, err := c.Resolve(t.Context(), "b", "", "")
			if age := time.Since(began); err != nil || age > catalogStale && !ref.Stale || age < catalogApart && ref.Stale {
				t.Fatalf("after %v: stale %t, %v", age, ref.Stale, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := c.version(1) - before; n > 1 {
			t.Errorf("%d look-ups while the feed knows that the database is away", n)
		}
		if _, err := c.Board(t.Context(), "none"); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("a name that no board had: %v", err)
		}
		time.Sleep(3 * time.Second)
		if _, err := c.Board(t.Context(), "b"); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("after ten minutes: %v", err)
		}
		c.model.Fail(nil)
		c.change(2)
		time.Sleep(time.Second)
		c.version(2)
	})
}

// TestCatalogAfterARestore: a database that was restored to where fewer boards had changed is read again.
func TestCatalogAfterARestore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.put(5, nil, 0)
		v := &versions{shelf: s}
		v.boards.Store(7)
		w := feed.New(v, feed.Options{})
		go w.Run(t.Context())
		c := NewCatalog(s, CatalogOptions{Feed: w})
		version := func(want int64) {
			t.Helper()
			if b, err := c.Board(t.Context(), "b"); err != nil || b.Version != want {
				t.Errorf("version %d, %v; want %d", b.Version, err, want)
			}
		}
		for range 20 {
			version(5)
			time.Sleep(100 * time.Millisecond)
		}
		s.put(3, nil, 0)
		v.boards.Store(6)
		time.Sleep(100 * time.Millisecond)
		version(3)
		s.freeze()
		s.put(4, nil, 0) // a period that was read is gone, though no board has changed: the reader that finds that renews
		time.Sleep(2 * time.Second)
		version(3)
		if err := c.Renew(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		version(4)
	})
}

// BenchmarkResolve is the way of every request.
func BenchmarkResolve(b *testing.B) {
	s := &shelf{}
	s.put(1, nil, 0)
	w := feed.New(&versions{shelf: s}, feed.Options{})
	go w.Run(b.Context())
	c := NewCatalog(s, CatalogOptions{Feed: w})
	var failed atomic.Int64
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, _, err := c.Resolve(b.Context(), "b", "", ""); err != nil {
				failed.Add(1)
			}
		}
	})
	if n := failed.Load(); n > 0 {
		b.Errorf("%d failed", n)
	}
}

// countedModel counts the statements of a feed, and the look-ups of boards.
type countedModel struct {
	*storetest.Model
	statements, lookUps atomic.Int64
}

func (m *countedModel) Current(ctx context.Context, name string) (leaderboard.Listing, error) {
	m.lookUps.Add(1)
	return m.Model.Current(ctx, name)
}

func (m *countedModel) Revisions(ctx context.Context, ids []int64) (map[int64]leaderboard.Revision, error) {
	m.statements.Add(1)
	time.Sleep(time.Millisecond)
	return m.Model.Revisions(ctx, ids)
}

// TestFuturePeriodsCostFewStatements: all who ask for periods that have not begun share readings of the clock.
func TestFuturePeriodsCostFewStatements(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &countedModel{Model: storetest.NewModel()}
		w := feed.New(m, feed.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		go w.Run(ctx)
		m.SetNow(leaderboard.MicrosOf(time.Now()))
		if _, _, err := m.PutBoard(ctx, "b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}}); err != nil {
			t.Fatal(err)
		}
		c := NewCatalog(m, CatalogOptions{Feed: w})
		end, clients := time.Now().Add(10*time.Second), sync.WaitGroup{}
		for range 50 {
			clients.Go(func() {
				for time.Now().Before(end) {
					if _, _, err := c.Resolve(ctx, "b", "day", "2031-01-01"); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
						t.Error(err)
					}
				}
			})
		}
		clients.Wait()
		if n := m.statements.Load(); n > 600 { // one in 50 ms for them, and one for the feed
			t.Errorf("%d statements in 10 s", n)
		}
		cancel()
		time.Sleep(time.Second)
	})
}

// TestBoardsMadeAllTheTime: while other boards are made, only a changed board is looked up.
func TestBoardsMadeAllTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &countedModel{Model: storetest.NewModel()}
		w := feed.New(m, feed.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		go w.Run(ctx)
		const boards = 200
		for i := range boards {
			if _, _, err := m.PutBoard(ctx, fmt.Sprint("b", i), leaderboard.Rules{}); err != nil {
				t.Fatal(err)
			}
		}
		c := NewCatalog(m, CatalogOptions{Feed: w})
		read := func(i int) *leaderboard.Board {
			_, b, err := c.Resolve(ctx, fmt.Sprint("b", i), "", "")
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for i := range boards {
			read(i)
		}
		time.Sleep(2 * time.Second)
		for i := range boards {
			read(i)
		}
		lookUps, statements := m.lookUps.Load(), m.statements.Load()
		for n := range 50 { // 10 s
			if _, _, err := m.PutBoard(ctx, fmt.Sprint("n", n), leaderboard.Rules{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
			for i := range boards {
				read(i)
			}
		}
		if n := m.lookUps.Load() - lookUps; n != 0 {
			t.Errorf("%d look-ups in 10 s", n)
		}
		if n := m.statements.Load() - statements; n > 600 {
			t.Errorf("%d statements of the feed in 10 s", n)
		}
		if _, _, err := m.PutBoard(ctx, "b7", leaderboard.Rules{Mode: leaderboard.ModeTied}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(260 * time.Millisecond)
		if b := read(7); b.Rules.Mode != leaderboard.ModeTied {
			t.Errorf("a board that has changed is as it was: %+v", b)
		}
		cancel()
		time.Sleep(time.Second)
	})
}
