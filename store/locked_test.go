package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestLockedBoardsStarveNobody: while another session holds the rows of more boards than there are connections for writes,
// other boards are written to, few connections wait, and requests for several boards leave out the locked ones. Erasures,
// new boards, new periods and hides of other boards continue; on a locked board they are refused at once.
func TestLockedBoardsStarveNobody(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, func(c *store.Config) {
			c.WriteWait, c.ProbeWait, c.LockWait = dbtest.MaxWait, dbtest.MaxWait, 9*time.Second
		})
		dbtest.MakeBoard(t, s, "free", leaderboard.Rules{})
		dbtest.MakeBoard(t, s, "also-free", leaderboard.Rules{})
		daily := []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}
		toBegin := dbtest.MakeBoard(t, s, "free-daily", leaderboard.Rules{Windows: daily})
		const locked = 10
		var releases []func()
		watch := dbtest.Connect(t, dsn)
		dbtest.MustExec(t, watch, "DELETE FROM periods WHERE board_id = ? AND window_name = 'day'", toBegin.BoardID)
		for i := range locked {
			ref := dbtest.MakeBoard(t, s, fmt.Sprint("locked", i), leaderboard.Rules{Policy: leaderboard.PolicySum, Windows: daily})
			dbtest.MustExec(t, watch, "DELETE FROM periods WHERE board_id = ? AND window_name = 'day'", ref.BoardID) // to be begun
			releases = append(releases, dbtest.Hold(t, dsn, "SELECT id FROM boards WHERE id = ? FOR UPDATE", ref.BoardID))
		}
		errs := make(chan error, locked)
		for i := range locked {
			go func() {
				_, err := s.Writer.Submit(context.Background(), dbtest.One(fmt.Sprint("locked", i), "", "m", 1))
				errs <- err
			}()
			dbtest.Eventually(t, "a writer has taken the request", func() bool { return s.Writing(fmt.Sprint("locked", i)) })
		}
		dbtest.Eventually(t, "few connections wait for locks", func() bool {
			waits, tries := waiting(t, watch, "FOR UPDATE"), 0
			for i := range locked {
				if s.Blocked(fmt.Sprint("locked", i)) {
					tries++
				}
			}
			return waits <= 2 && tries == locked
		})
		for range 20 {
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("free", "", "m", 1)); err != nil {
				t.Errorf("another board: %v", err)
			}
		}
		othersGoOn(t, s)
		several := func(boards ...string) error {
			var r leaderboard.MultiBoardRequest
			for _, b := range boards {
				r.Entries = append(r.Entries, leaderboard.BoardSubmission{Board: b, Submission: leaderboard.Submission{Member: "m", Score: 1}})
			}
			_, err := s.Writer.SubmitMultiBoard(t.Context(), r)
			return err
		}
		if err := several("free", "locked3", "also-free"); !errors.Is(err, leaderboard.ErrUnavailable) || !strings.Contains(err.Error(), "locked3") {
			t.Errorf("several boards, one of them locked: %v", err)
		}
		if err := several("free", "also-free"); err != nil {
			t.Errorf("several boards: %v", err)
		}
		for _, release := range releases {
			release()
		}
		for range locked {
			if err := dbtest.Await(t, "an answer", errs); err != nil {
				t.Errorf("when the lock is free: %v", err)
			}
		}
	})
}

// TestRetriesDoNotAmplify: while the connection is lost in half of the transactions there are few more of them than
// requests, and the counted submissions are the acknowledged ones.
func TestRetriesDoNotAmplify(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	p, through := dbtest.NewProxy(t, dsn)
	s := open(t, through, nil)
	const boards, requests = 4, 400
	refs := make([]leaderboard.PeriodRef, boards)
	for i := range refs {
		refs[i] = dbtest.MakeBoard(t, s, fmt.Sprint("b", i), leaderboard.Rules{Policy: leaderboard.PolicySum})
	}
	begun := 0
	p.FaultBy(func(statement string) dbtest.Fault {
		if strings.Contains(statement, "START TRANSACTION") {
			if begun++; begun%2 == 0 {
				return dbtest.FaultCutBefore
			}
		}
		return dbtest.FaultPass
	})
	var done [boards]int64
	var clients sync.WaitGroup
	for i := range boards {
		clients.Go(func() {
			for range requests / boards {
				switch _, err := s.Writer.Submit(t.Context(), dbtest.One(fmt.Sprint("b", i), "", "m", 1)); {
				case err == nil:
					done[i]++
				case !errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOutcomeUnknown):
					t.Error(err)
				}
			}
		})
	}
	clients.Wait()
	p.Heal()
	n := begun
	if n > requests*11/10 || n < requests {
		t.Errorf("%d transactions for %d requests", n, requests)
	}
	served := int64(0)
	for i, ref := range refs {
		served += done[i]
		if got := dbtest.ScoreOf(t, s, ref, "m"); got != done[i] {
			t.Errorf("board %d: the sum is %d, acknowledged %d", i, got, done[i])
		}
	}
	if served < requests*2/5 {
		t.Errorf("%d of %d requests were served", served, requests)
	}
}

// TestTriesAreFew: a lock that is not given up is waited for three times, then the request fails and nothing was done.
func TestTriesAreFew(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	p, through := dbtest.NewProxy(t, dsn)
	s := open(t, through, func(c *store.Config) { c.LockWait = time.Second })
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	release := dbtest.HoldPeriod(t, dsn, ref)
	seen := make(chan struct{}, 100)
	p.Watch("FOR UPDATE", seen)
	if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); !errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
		t.Errorf("a locked board: %v", err)
	}
	if n := len(seen); n != 3 {
		t.Errorf("tried %d times, want 3", n)
	}
	release()
	dbtest.Eventually(t, "the batch has ended", func() bool { return !s.Writing("b") })
	if r, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); err != nil || *r.Results[0].Score != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// othersGoOn makes all kinds of writes except submissions, on boards other than locked0 to locked9, which are blocked.
// It must not wait for any of them: with the two connections for that it would take longer than the requests have time.
func othersGoOn(t *testing.T, s *store.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), dbtest.MaxWait/3)
	var asking, inVain sync.WaitGroup
	defer func() { asking.Wait(); cancel(); inVain.Wait() }()
	for i := range 10 {
		name := fmt.Sprint("locked", i)
		asking.Go(func() {
			for range 3 {
				if _, err := s.Boards.Current(ctx, name); !errors.Is(err, leaderboard.ErrUnavailable) {
					t.Errorf("the new period of a locked board: %v", err)
				}
			}
		})
		inVain.Go(func() { // and blocks no other write
			_, _ = s.Hidden.Hide(ctx, leaderboard.HideRequest{Board: name, Member: "x", Reason: "bot"})
		})
	}
	for i := range 20 {
		if _, err := s.Erasures.Forget(ctx, fmt.Sprint("nobody", i), "admin"); err != nil {
			t.Errorf("an erasure: %v", err)
		}
		if _, _, err := s.Boards.PutBoard(ctx, fmt.Sprint("new", i), leaderboard.Rules{}); err != nil {
			t.Errorf("a new board: %v", err)
		}
	}
	if l, err := s.Boards.Current(ctx, "free-daily"); err != nil || len(l.Periods) != 2 || l.Periods[1].ID == 0 {
		t.Errorf("a new period of another board: %+v, %v", l, err)
	}
	if _, err := s.Hidden.Hide(ctx, leaderboard.HideRequest{Board: "free", Member: "m", Reason: "bot"}); err != nil {
		t.Errorf("a hide on another board: %v", err)
	}
}
