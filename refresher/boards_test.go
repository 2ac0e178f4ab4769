package refresher

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

// shownBoards is a database that shows a revision of the table of boards.
type shownBoards func() (leaderboard.Revision, error)

// Revisions implements feed.Source.
func (shown shownBoards) Revisions(context.Context, []int64) (map[int64]leaderboard.Revision, error) {
	r, err := shown()
	return map[int64]leaderboard.Revision{leaderboard.BoardsPeriod: r}, err
}

// feedOf returns a feed that runs until the test, or ctx, ends.
func feedOf(ctx context.Context, shown shownBoards) *feed.Feed {
	f := feed.New(shown, feed.Options{})
	go f.Run(ctx)
	return f
}

// TestNewDerivedBoardIsFound: a derived board that is made while others idle is followed with the next round.
func TestNewDerivedBoardIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, seq := &fakeDerived{lead: true, boards: []leaderboard.DerivedBoard{derivedBoard(1, "sum", "runs")}}, int64(1)
		ctx, cancel := context.WithCancel(t.Context())
		r := New(Config{Derived: f, Runs: f, Feed: feedOf(ctx, func() (r leaderboard.Revision, err error) {
			return r, f.do(func() error { r.Seq = seq; return nil })
		})})
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
