package cache

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// shelf is a table of boards.
type shelf struct {
	mu     sync.Mutex
	boards map[string]leaderboard.Board
	frozen map[string]leaderboard.Board // if not nil, the feed shows these
	err    error
	slow   time.Duration
	reads  int
}

func (s *shelf) PeriodsBefore(context.Context, int64, leaderboard.Window, leaderboard.Micros, int) ([]leaderboard.Period, error) {
	return nil, errors.ErrUnsupported
}

func (s *shelf) Current(ctx context.Context, name string) (leaderboard.Listing, error) {
	s.mu.Lock()
	s.reads++
	b, ok := s.boards[name]
	err, slow := s.err, s.slow
	s.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil && !ok {
		err = leaderboard.ErrBoardNotFound
	}
	l := leaderboard.Listing{Board: b}
	for _, w := range b.Rules.Windows {
		l.Periods = append(l.Periods, leaderboard.Period{ID: b.ID * 10, BoardID: b.ID, Window: w, EndsAt: leaderboard.Forever})
	}
	return l, err
}

func (s *shelf) PeriodNamed(context.Context, int64, leaderboard.Window, string) (leaderboard.Period, error) {
	return leaderboard.Period{}, leaderboard.ErrPeriodNotFound
}

func (s *shelf) FirstPeriod(context.Context, int64, leaderboard.Window) (leaderboard.Period, error) {
	return leaderboard.Period{}, leaderboard.ErrPeriodNotFound
}

func (s *shelf) BoardsLabelled(_ context.Context, labels leaderboard.Labels, _ string, limit int) ([]leaderboard.Board, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	var found []leaderboard.Board
	for _, name := range slices.Sorted(maps.Keys(s.boards)) {
		if b := s.boards[name]; b.Rules.Labels.Match(labels) && len(found) < limit {
			found = append(found, b)
		}
	}
	return found, s.err
}

// show adds the revisions of the boards among ids.
func (s *shelf) show(ids []int64, out map[int64]leaderboard.Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := s.boards
	if s.frozen != nil {
		shown = s.frozen
	}
	for _, b := range shown {
		if id := leaderboard.BoardPeriod(b.ID); slices.Contains(ids, id) {
			out[id] = b.Revision()
		}
	}
}

// freeze makes the feed show the present boards, also after later changes.
func (s *shelf) freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = s.boards
}

func (s *shelf) put(version int64, err error, slow time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boards = map[string]leaderboard.Board{"b": {ID: 3, Name: "b", Version: version, Rules: leaderboard.Rules{}.WithDefaults()}}
	s.err, s.slow = err, slow
}

func TestCatalogResolves(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	s.put(1, nil, 0)
	c := NewCatalog(s, CatalogOptions{})
	for _, names := range [][2]string{{"", ""}, {"all_time", ""}, {"all_time", "current"}, {"", "all_time"}} {
		ref, b, err := c.Resolve(t.Context(), "b", names[0], names[1])
		if err != nil || ref.ID != 30 || ref.BoardID != 3 || ref.Board != "b" || ref.Name != "all_time" || ref.Rules == nil || b.ID != 3 {
			t.Errorf("window %q period %q: %+v, %+v, %v", names[0], names[1], ref, b, err)
		}
	}
	for _, names := range [][2]string{{"day", ""}, {"", "previous"}, {"", "2026"}, {"all_time", "2026-W47"}} {
		if ref, _, err := c.Resolve(t.Context(), "b", names[0], names[1]); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("window %q period %q: %+v, %v", names[0], names[1], ref, err)
		}
	}
	if _, _, err := c.Resolve(t.Context(), "x", "", ""); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("no such board: %v", err)
	}
}

func TestCatalogAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.put(1, nil, 0)
		c := NewCatalog(s, CatalogOptions{})
		version := func() int64 {
			t.Helper()
			b, err := c.Board(t.Context(), "b")
			if err != nil {
				t.Fatal(err)
			}
			return b.Version
		}
		for range 100 {
			version()
		}
		s.put(2, nil, 0)
		if v := version(); v != 1 || s.reads != 1 {
			t.Errorf("version %d after %d reads, want 1 after 1", v, s.reads)
		}
		c.Forget("b")
		if v := version(); v != 2 {
			t.Errorf("version %d after Forget, want 2", v)
		}
		s.put(3, nil, 0)
		time.Sleep(1001 * time.Millisecond)
		if v := version(); v != 3 {
			t.Errorf("version %d a second later, want 3", v)
		}
		s.put(4, leaderboard.ErrUnavailable, 0)
		time.Sleep(9 * time.Minute)
		if v := version(); v != 3 {
			t.Errorf("version %d while MySQL is away, want the last known", v)
		}
		s.put(4, nil, time.Hour)
		time.Sleep(10 * time.Second)
		start := time.Now()
		if v := version(); v != 3 || time.Since(start) > 250*time.Millisecond {
			t.Errorf("version %d after %s while MySQL hangs", v, time.Since(start))
		}
		time.Sleep(5 * time.Minute)
		if _, err := c.Board(t.Context(), "b"); err == nil {
			t.Error("a board is known for ever without MySQL")
		}
	})
}

// TestCatalogDeletedBoard: a board that has been deleted is gone at the next look-up, not served as if MySQL were away.
func TestCatalogDeletedBoard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.put(1, nil, 0)
		c := NewCatalog(s, CatalogOptions{})
		if _, err := c.Board(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		s.boards = nil
		time.Sleep(2 * time.Second)
		if _, err := c.Board(t.Context(), "b"); !errors.Is(err, leaderboard.ErrBoardNotFound) {
			t.Errorf("a deleted board: %v", err)
		}
	})
}

// TestCatalogLearnsFromCommits: a commit of this process by rules that the catalog does not know: another process has
// changed the board.
func TestCatalogLearnsFromCommits(t *testing.T) {
	t.Parallel()
	s := &shelf{}
	s.put(1, nil, 0)
	at := time.Now()
	c := NewCatalog(s, CatalogOptions{Now: func() time.Time { return at }}) // nothing is looked up because it is old
	ref, b, err := c.Resolve(t.Context(), "b", "", "")
	if err != nil {
		t.Fatal(err)
	}
	look := func(what string, reads int) {
		t.Helper()
		s.reads = 0
		if _, err := c.Board(t.Context(), "b"); err != nil || s.reads != reads {
			t.Errorf("%s: %d look-ups, want %d; %v", what, s.reads, reads, err)
		}
	}
	same, past, again, changed := ref, ref, ref, ref
	same.Rules = new(leaderboard.Rules{}.WithDefaults())
	past.ID, past.Name = 7, "another period"
	again.BoardID++
	changed.Rules = new(b.Rules)
	changed.Version, changed.Rules.Visibility = b.Version+1, leaderboard.VisibilityPrivate
	c.Committed(same)
	c.Committed(past)
	c.Committed(leaderboard.PeriodRef{ID: 9, BoardID: 9, Board: "unknown", Version: 1, Rules: ref.Rules})
	look("commits to the board as it is known", 0)
	c.Committed(again)
	look("a commit to a board of that name made again", 1)
	c.Committed(changed)
	look("a commit under other rules", 1)
	look("nothing more", 0)
}

// TestCatalogKeepsBesideCommits: a board is kept though this process commits to it all the time, and a look-up that began before the first of
// these commits is not: another process may have changed the board meanwhile.
func TestCatalogKeepsBesideCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.put(1, nil, 10*time.Millisecond)
		ref, _, err := NewCatalog(s, CatalogOptions{}).Resolve(t.Context(), "b", "", "")
		if err != nil {
			t.Fatal(err)
		}
		c, s0 := NewCatalog(s, CatalogOptions{}), s.reads
		end := make(chan struct{})
		var commits sync.WaitGroup
		commits.Go(func() {
			for {
				select {
				case <-end:
					return
				case <-time.After(time.Millisecond):
					c.Committed(ref)
				}
			}
		})
		for range 5 {
			if _, err := c.Board(t.Context(), "b"); err != nil {
				t.Error(err)
			}
		}
		close(end)
		commits.Wait()
		if reads := s.reads - s0; reads != 2 {
			t.Errorf("the board was read %d times, want 2", reads)
		}
	})
}

// TestCatalogRenew: callers that found the same out of date share one look-up.
func TestCatalogRenew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		s.put(1, nil, 0)
		c := NewCatalog(s, CatalogOptions{})
		if _, err := c.Board(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		s.put(2, nil, 10*time.Millisecond)
		s.reads = 0
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := c.Renew(t.Context(), "b"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if b, err := c.Board(t.Context(), "b"); err != nil || b.Version != 2 || s.reads != 1 {
			t.Errorf("version %d after %d look-ups, want 2 after 1; %v", b.Version, s.reads, err)
		}
		s.mu.Lock()
		s.boards = nil
		s.mu.Unlock()
		if err := c.Renew(t.Context(), "b"); !errors.Is(err, leaderboard.ErrBoardNotFound) {
			t.Errorf("a deleted board: %v", err)
		}
	})
}

// TestPeriodOfANewerServer: a current period that has no row is looked up each time: a newer server, which knows all rules of
// its board, may have begun it.
func TestPeriodOfANewerServer(t *testing.T) {
	t.Parallel()
	l := &boardListing{Listing: leaderboard.Listing{
		Board:   leaderboard.Board{Rules: leaderboard.Rules{}.WithDefaults()},
		Periods: []leaderboard.Period{{Window: leaderboard.WindowAllTime, EndsAt: leaderboard.Forever}},
	}}
	if !l.over(leaderboard.WindowAllTime, 1) {
		t.Error("a period without a row is taken for the current one until the boards change")
	}
	if l.Periods[0].ID = 7; l.over(leaderboard.WindowAllTime, 1) {
		t.Error("a period with a row is looked up again")
	}
}
