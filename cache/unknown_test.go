package cache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

// versions is a database that only shows how often its boards have changed, and the versions of the boards on a shelf.
type versions struct {
	shelf  *shelf // may be nil
	boards atomic.Int64
}

// Revisions implements feed.Source.
func (v *versions) Revisions(_ context.Context, ids []int64) (map[int64]leaderboard.Revision, error) {
	out := map[int64]leaderboard.Revision{}
	for _, id := range ids {
		if id == leaderboard.BoardsPeriod {
			out[id] = leaderboard.Revision{Seq: v.boards.Load()}
		}
	}
	if v.shelf != nil {
		v.shelf.show(ids, out)
	}
	return out, nil
}

// TestBoardMadeDuringALookUp: a look-up that began before a board was made does not answer a later question.
func TestBoardMadeDuringALookUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{boards: map[string]leaderboard.Board{}, slow: 1500 * time.Millisecond}
		v := &versions{shelf: s}
		w := feed.New(v, feed.Options{})
		go w.Run(t.Context())
		c := NewCatalog(s, CatalogOptions{Feed: w})
		first := make(chan error, 1)
		go func() {
			_, err := c.Board(t.Context(), "b")
			first <- err
		}()
		time.Sleep(500 * time.Millisecond)
		s.mu.Lock()
		s.boards["b"] = leaderboard.Board{ID: 1, Name: "b", Rules: leaderboard.Rules{}.WithDefaults()}
		s.mu.Unlock()
		v.boards.Add(1)
		time.Sleep(500 * time.Millisecond)
		if _, err := c.Board(t.Context(), "b"); err != nil {
			t.Error(err)
		}
		if err := <-first; !errors.Is(err, leaderboard.ErrBoardNotFound) {
			t.Error(err)
		}
	})
}

// TestChangedDuringALookUp: a look-up after a change by this process does not join an earlier look-up.
func TestChangedDuringALookUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		v := &versions{shelf: s}
		s.put(1, nil, 500*time.Millisecond)
		w := feed.New(v, feed.Options{})
		go w.Run(t.Context())
		c := NewCatalog(s, CatalogOptions{Feed: w, LastKnown: func(context.Context, string) (l leaderboard.Listing, age, left time.Duration, ok bool, err error) {
			return l, 0, 0, false, nil
		}})
		read := func() int64 {
			b, err := c.Board(t.Context(), "b")
			if err != nil {
				t.Error(err)
			}
			return b.Version
		}
		first := make(chan int64, 1)
		go func() { first <- read() }()
		time.Sleep(100 * time.Millisecond)
		s.put(2, nil, 0)
		v.boards.Add(1)
		c.Forget("b")
		if got := read(); got != 2 {
			t.Errorf("version %d after a change to 2", got)
		}
		if got := <-first; got != 1 {
			t.Errorf("version %d of a question before the change", got)
		}
		if got := read(); got != 2 {
			t.Errorf("version %d in the end", got)
		}
	})
}

// TestUnknownBoards: a board that there is not is asked for once, until some server makes a board; and then it is
// there as soon as the feed shows that, at the latest.
func TestUnknownBoards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := &shelf{boards: map[string]leaderboard.Board{}}
		v := &versions{shelf: s}
		w := feed.New(v, feed.Options{})
		go w.Run(ctx)
		inGate := 0
		c := NewCatalog(s, CatalogOptions{Feed: w, Gate: func(ctx context.Context, work func(context.Context) error) error {
			inGate++
			return work(ctx)
		}})
		absent := func(name string) bool {
			_, err := c.Board(ctx, name)
			if err != nil && !errors.Is(err, leaderboard.ErrBoardNotFound) {
				t.Fatal(err)
			}
			return err != nil
		}
		absent("b") // the feed has not been asked yet
		synctest.Wait()
		absent("b")
		before := s.reads
		for range 10_000 {
			if !absent("b") {
				t.Fatal("it is there")
			}
			time.Sleep(time.Millisecond)
		}
		if s.reads != before {
			t.Errorf("%d questions for a board that there is not", s.reads-before)
		}
		time.Sleep(time.Minute) // without reads the feed forgets
		if before = s.reads; !absent("b") || s.reads > before+1 {
			t.Errorf("%d questions after a while", s.reads-before)
		}
		if inGate != s.reads {
			t.Errorf("%d of %d questions went through the gate", inGate, s.reads)
		}
		make := func(name string, version int64) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.boards[name] = leaderboard.Board{ID: 1, Name: name, Version: version, Rules: leaderboard.Rules{}.WithDefaults()}
			v.boards.Add(1)
		}
		make("b", 0) // on another server
		time.Sleep(250 * time.Millisecond)
		if absent("b") {
			t.Error("a board made elsewhere is not seen")
		}
		before = s.reads
		for range 10_000 {
			if absent("b") {
				t.Fatal("it is gone")
			}
			time.Sleep(time.Millisecond)
		}
		if s.reads != before {
			t.Errorf("%d questions for a board that does not change", s.reads-before)
		}
		for range 2 { // the first finds that it was read long ago
			if err := c.Renew(ctx, "b"); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			if err := c.Renew(ctx, "b"); err != nil {
				t.Fatal(err)
			}
		}
		if s.reads != before+1 {
			t.Errorf("%d questions for a board that has not changed", s.reads-before-1)
		}
		v.boards.Add(1) // another board
		if err := c.Renew(ctx, "b"); err != nil || s.reads != before+1 {
			t.Errorf("%v: %d questions though only another board has changed", err, s.reads-before-1)
		}
		make("b", 1)
		if err := c.Renew(ctx, "b"); err != nil || s.reads != before+2 {
			t.Errorf("%v: %d questions for a board that has changed", err, s.reads-before-1)
		}
		absent("c")
		make("c", 0) // on this one
		c.Forget("c")
		if absent("c") {
			t.Error("a board made here is not seen")
		}
		for i := range 3 * catalogBoards {
			absent(fmt.Sprint("n", i))
		}
		if n, _ := c.listings.none.Size(); n > catalogBoards {
			t.Errorf("%d names are kept", n)
		}
	})
}
