package refresher

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// TestListsAreReadAfterAChange: the lists of derived boards and of boards with a cron expression are read again when
// the revision of the boards has changed, and each time while the revision is unknown or the database cannot be read.
func TestListsAreReadAfterAChange(t *testing.T) {
	t.Parallel()
	revision, ok, fails, read := leaderboard.Revision{Seq: 3}, true, error(nil), 0
	l := boardList{revision: func(context.Context) (leaderboard.Revision, bool) { return revision, ok }}
	for i, c := range []struct {
		change func()
		reads  int // of two tries
	}{
		{func() {}, 1},
		{func() { revision.Seq++ }, 1},
		{func() { revision.Seq -= 2 }, 1}, // a restored backup
		{func() { ok = false }, 2},
		{func() { ok = true }, 1},
		{func() { revision.AsOf, fails = 5, leaderboard.ErrUnavailable }, 2},
		{func() { fails = nil }, 1},
		{func() {}, 0},
	} {
		c.change()
		before := read
		for range 2 {
			if err := l.read(t.Context(), func() error { read++; return fails }); fails != nil && err == nil {
				t.Errorf("change %d: no error", i)
			}
		}
		if n := read - before; n != c.reads {
			t.Errorf("change %d: read %d times, want %d", i, n, c.reads)
		}
	}
}

// TestNewDerivedBoardIsFound: a derived board that is made while others idle is followed with the next round.
func TestNewDerivedBoardIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, seq := &fakeDerived{lead: true, boards: []leaderboard.DerivedBoard{derivedBoard(1, "sum", "runs")}}, int64(1)
		r := New(Config{Derived: f, Runs: f, BoardsRevision: func(context.Context) (r leaderboard.Revision, ok bool) {
			return r, f.do(func() error { r.Seq = seq; return nil }) == nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { r.Run(ctx); close(ended) }()
		defer func() { cancel(); <-ended }()
		stepped := func() (boards []string) {
			_ = f.do(func() error {
				for board := range f.stepped {
					boards = append(boards, board)
				}
				f.stepped = nil
				return nil
			})
			slices.Sort(boards)
			return boards
		}
		time.Sleep(time.Minute)
		if got := stepped(); !slices.Equal(got, []string{"sum"}) {
			t.Errorf("%v", got)
		}
		_ = f.do(func() error { f.boards, seq = append(f.boards, derivedBoard(2, "total", "runs")), 2; return nil })
		time.Sleep(1100 * time.Millisecond)
		if got := stepped(); !slices.Equal(got, []string{"sum", "total"}) {
			t.Errorf("%v", got)
		}
		_ = f.do(func() error { f.boards, seq = f.boards[1:], 3; return nil })
		time.Sleep(1100 * time.Millisecond)
		stepped()
		time.Sleep(time.Minute)
		if got := stepped(); !slices.Equal(got, []string{"total"}) {
			t.Errorf("%v", got)
		}
	})
}
