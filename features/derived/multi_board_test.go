package derived

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestMultiBoardDerived: a request that names a derived board waits neither for the board's step under way nor for the lock
// of its row, and no request waits after it; the entries of the derived board are rejected, and a repetition gets the same
// answer. When another server makes the board an ordinary one, this is seen.
func TestMultiBoardDerived(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		telling, released := make(chan struct{}, 1), make(chan struct{})
		s, source := sourced(t, dsn, func(c *store.Config) {
			c.LockWait = time.Second
			c.OnCommit = func(ref leaderboard.PeriodRef, _ leaderboard.Commit) {
				if ref.Board == "sum" {
					telling <- struct{}{}
					<-released
				}
			}
		})
		tell := sync.OnceFunc(func() { close(released) })
		t.Cleanup(tell)
		other := newServer(t, dsn, func(c *store.Config) { c.LockWait = time.Second }) // which knows nothing of the boards
		submitMany(t, s, 1, 3)
		stepped := make(chan error, 1)
		go func() {
			_, err := s.Derived.FollowSources(context.Background(), "sum", true)
			stepped <- err
		}()
		dbtest.Await(t, "the step to be at the board", telling)
		release := dbtest.Hold(t, dsn, "SELECT id FROM boards WHERE name = 'sum' FOR UPDATE")
		req := multiBoard("key", "m0", 5, "sum", "runs")
		answers := make(chan leaderboard.MultiBoardReceipt, 1)
		var first leaderboard.MultiBoardReceipt
		for i, server := range []*server{s, other, s} {
			go func() {
				r, err := server.Writer.SubmitMultiBoard(context.Background(), req)
				if err != nil {
					t.Error(err)
				}
				answers <- r
			}()
			r := dbtest.Await(t, "the answer", answers)
			if r.Replayed != (i > 0) {
				t.Errorf("request %d: replayed %t", i, r.Replayed)
			}
			if r.Replayed = true; i == 0 {
				first = r
			}
			if !reflect.DeepEqual(r, first) {
				t.Errorf("request %d got %+v, the first %+v", i, r, first)
			}
		}
		if res := first.Results; res[0].Rule == nil || res[0].Rule.Code != leaderboard.CodeDerivedBoard || res[1].Status != leaderboard.StatusApplied {
			t.Errorf("results %+v", res)
		}
		if want := map[string]leaderboard.BoardSeqs{"runs": {Seq: 2}}; !reflect.DeepEqual(first.Boards, want) {
			t.Errorf("boards are at %+v, want %+v", first.Boards, want)
		}
		if _, err := other.Writer.SubmitMultiBoard(t.Context(), multiBoard("", "m0", 6, "sum")); err != nil {
			t.Errorf("the derived board alone: %v", err)
		}
		if got := dbtest.ScoreOf(t, s.Store, source, "m0"); got != 5 {
			t.Errorf("the score is %d, want 5", got)
		}
		release()
		tell()
		if err := dbtest.Await(t, "the step", stepped); err != nil {
			t.Error(err)
		}
		for _, server := range []*server{s, other} { // which learn from a lock that it is derived
			if _, err := server.Writer.Submit(t.Context(), dbtest.One("sum", "", "m0", 1)); err != nil {
				t.Error(err)
			}
		}
		if err := other.Boards.DeleteBoard(t.Context(), "sum"); err != nil {
			t.Fatal(err)
		}
		dbtest.MakeBoard(t, other.Store, "sum", leaderboard.Rules{})
		if r, err := s.Writer.SubmitMultiBoard(t.Context(), multiBoard("", "m0", 7, "sum")); err != nil || r.Results[0].Status != leaderboard.StatusApplied || r.Boards["sum"].Seq != 1 {
			t.Errorf("when it is an ordinary board: %+v, %v", r, err)
		}
	})
}

// TestMultiBoardFoundDerived: that a board has become derived, which this server does not know yet, is answered like any
// other derived board.
func TestMultiBoardFoundDerived(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	s, other := newServer(t, dsn, nil), newServer(t, dsn, nil)
	dbtest.MakeBoard(t, s.Store, "sum", leaderboard.Rules{})
	if _, err := s.Writer.Submit(t.Context(), dbtest.One("sum", "", "m", 1)); err != nil {
		t.Fatal(err)
	}
	if err := other.Boards.DeleteBoard(t.Context(), "sum"); err != nil {
		t.Fatal(err)
	}
	dbtest.MakeBoard(t, other.Store, "runs", leaderboard.Rules{})
	dbtest.MakeBoard(t, other.Store, "sum", leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}}}})
	for range 2 {
		r, err := s.Writer.SubmitMultiBoard(t.Context(), multiBoard("", "m", 1, "sum", "runs"))
		if err != nil || r.Results[0].Rule == nil || r.Results[0].Rule.Code != leaderboard.CodeDerivedBoard || r.Results[1].Rule != nil || len(r.Boards) != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
