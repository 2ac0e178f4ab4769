package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// batches is an Observer that records its calls.
type batches struct {
	mu     sync.Mutex
	rows   [][2]int // requests, entries
	waited []time.Duration
	errs   []error
}

// BatchEnded implements store.Observer.
func (b *batches) BatchEnded(requests, rows int, waited, _ time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows, b.waited, b.errs = append(b.rows, [2]int{requests, rows}), append(b.waited, waited), append(b.errs, err)
}

func (b *batches) all() [][2]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.rows)
}

// submitAll starts requests one after the other, each when the last one waits in the queue, and returns the channel of
// their errors. The first is taken at once, by the writer that then waits for the period.
func submitAll(t *testing.T, s *store.Store, reqs []leaderboard.SubmitRequest) chan error {
	t.Helper()
	errs := make(chan error, len(reqs))
	for i, r := range reqs {
		go func() {
			_, err := s.Writer.Submit(context.Background(), r)
			errs <- err
		}()
		if i == 0 {
			dbtest.Eventually(t, "a writer has taken the first request", func() bool { return s.Writing(r.Board) })
		} else {
			dbtest.Eventually(t, "the request waits", func() bool { n, _ := s.Waiting(r.Board); return n == i })
		}
	}
	return errs
}

func entriesOf(board string, n int) leaderboard.SubmitRequest {
	r := leaderboard.SubmitRequest{Board: board}
	for i := range n {
		r.Entries = append(r.Entries, leaderboard.Submission{Member: fmt.Sprint("m", i), Score: 1})
	}
	return r
}

// TestGroupCommit: all requests that wait while a batch is committed become the next batch.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	dsn, seen := testenv.MySQL(t), &batches{}
	s := open(t, dsn, func(c *store.Config) { c.Observer = seen })
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	release := dbtest.HoldPeriod(t, dsn, ref)
	reqs := make([]leaderboard.SubmitRequest, 41)
	for i := range reqs {
		reqs[i] = dbtest.One("b", "", "m", 1)
	}
	errs := submitAll(t, s, reqs)
	since := time.Now()
	release()
	held := time.Since(since)
	for range reqs {
		if err := dbtest.Await(t, "an answer", errs); err != nil {
			t.Error(err)
		}
	}
	if got, want := seen.all(), [][2]int{{1, 1}, {40, 40}}; !slices.Equal(got, want) {
		t.Errorf("batches %v, want %v", got, want)
	} else if seen.waited[1] < held {
		t.Errorf("the second has waited for %s, want at least %s", seen.waited[1], held)
	}
	commits, err := s.Entries.Changes(t.Context(), ref.ID, 0, 10)
	if err != nil || len(commits) != 2 || commits[1].FirstSeq != 2 || commits[1].LastSeq != 41 {
		t.Errorf("commits %+v, %v", commits, err)
	}
	if got := dbtest.ScoreOf(t, s, ref, "m"); got != 41 {
		t.Errorf("the sum is %d", got)
	}
}

// TestBatchRows: a batch takes whole requests up to its size, and a larger request alone. Small ones have their turn after
// large ones.
func TestBatchRows(t *testing.T) {
	t.Parallel()
	dsn, seen := testenv.MySQL(t), &batches{}
	s := open(t, dsn, func(c *store.Config) { c.Observer, c.BatchRows = seen, 10 })
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
	release := dbtest.HoldPeriod(t, dsn, ref)
	var reqs []leaderboard.SubmitRequest
	for _, n := range []int{1, 4, 4, 4, 1200, 1, 0, 8} {
		reqs = append(reqs, entriesOf("b", n))
	}
	errs := submitAll(t, s, reqs)
	release()
	for range reqs {
		if err := dbtest.Await(t, "an answer", errs); err != nil {
			t.Error(err)
		}
	}
	if got, want := seen.all(), [][2]int{{1, 1}, {2, 8}, {2, 2}, {1, 4}, {1, 1200}, {1, 8}}; !slices.Equal(got, want) {
		t.Errorf("batches %v, want %v", got, want)
	}
	p, err := s.Boards.Period(t.Context(), ref.ID)
	if err != nil || p.EntryCount != 1200 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestWriteWait: a request that cannot be sent in time is refused at once, with the time that it would have waited; other
// boards do not notice.
func TestWriteWait(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	s := open(t, dsn, func(c *store.Config) { c.WriteWait, c.BatchRows = 20*time.Second, 1 })
	ref := dbtest.MakeBoard(t, s, "full", leaderboard.Rules{})
	dbtest.MakeBoard(t, s, "free", leaderboard.Rules{})
	release := dbtest.HoldPeriod(t, dsn, ref)
	errs := submitAll(t, s, []leaderboard.SubmitRequest{
		entriesOf("full", 1), entriesOf("full", 1200), // nothing waited: taken in any size
	})
	_, err := s.Writer.Submit(t.Context(), entriesOf("full", 1))
	if over, _ := errors.AsType[*leaderboard.OverloadError](err); over == nil || !errors.Is(err, leaderboard.ErrOverloaded) || over.Wait < 20*time.Second {
		t.Errorf("behind 1,200 batches: %v", err)
	}
	if err := s.Writer.Admit("full", 100); !errors.Is(err, leaderboard.ErrOverloaded) {
		t.Errorf("before its body is read: %v", err)
	}
	if err := errors.Join(s.Writer.Admit("free", 100), s.Writer.Admit("", 100)); err != nil {
		t.Errorf("another board, and several: %v", err)
	}
	if _, err := s.Writer.Remove(t.Context(), leaderboard.RemoveRequest{Board: "full", Member: "m1"}); !errors.Is(err, leaderboard.ErrOverloaded) {
		t.Errorf("a removal beyond the limit: %v", err)
	}
	if _, err := s.Writer.Submit(t.Context(), entriesOf("free", 10)); err != nil {
		t.Errorf("another board: %v", err)
	}
	release()
	for range 2 {
		if err := dbtest.Await(t, "an answer", errs); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Writer.Submit(t.Context(), entriesOf("full", 1)); err != nil {
		t.Errorf("when the queue is empty again: %v", err)
	}
}

// TestCallerGone: of a caller that gives up while its batch waits for the locks nothing is done, which is certain; its
// neighbours' entries are committed.
func TestCallerGone(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	s := open(t, dsn, nil)
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
	release := dbtest.HoldPeriod(t, dsn, ref)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := s.Writer.Submit(ctx, dbtest.One("b", "", "impatient", 1))
		gone <- err
	}()
	dbtest.Eventually(t, "a writer has taken the request", func() bool { return s.Writing("b") })
	errs := make(chan error, 1)
	go func() {
		_, err := s.Writer.Submit(context.Background(), dbtest.One("b", "", "patient", 2))
		errs <- err
	}()
	cancel()
	if err := dbtest.Await(t, "the error", gone); errors.Is(err, leaderboard.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gave up got %v", err)
	}
	release()
	if err := dbtest.Await(t, "the neighbour's answer", errs); err != nil {
		t.Error(err)
	}
	if got := dbtest.ScoreOf(t, s, ref, "impatient"); got != -1 {
		t.Errorf("the score of the caller that gave up is %d", got)
	}
	if _, err := s.Writer.Submit(ctx, dbtest.One("b", "", "late", 1)); !errors.Is(err, context.Canceled) || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
		t.Errorf("a caller that is gone before it asks: %v", err)
	}
}

// TestCloseDrains: the batch under way is committed and answered before Close returns; waiting requests are not done and
// fail at once with an error that says so, and no further write is accepted.
func TestCloseDrains(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	open(t, dsn, nil)
	s, err := store.Open(t.Context(), store.Config{DSN: dsn, BatchRows: 3})
	if err != nil {
		t.Fatal(err)
	}
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	release := dbtest.HoldPeriod(t, dsn, ref)
	reqs := make([]leaderboard.SubmitRequest, 11)
	for i := range reqs {
		reqs[i] = dbtest.One("b", "", "m", 1)
	}
	errs := submitAll(t, s, reqs)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	dbtest.Eventually(t, "the store takes nothing more", func() bool {
		_, err := s.Writer.Submit(t.Context(), dbtest.One("other", "", "m", 1))
		return errors.Is(err, leaderboard.ErrUnavailable)
	})
	select {
	case err := <-closed:
		t.Fatalf("closed with requests waiting: %v", err)
	default:
	}
	for range len(reqs) - 1 {
		if err := dbtest.Await(t, "an answer", errs); !errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
			t.Error(err)
		}
	}
	release()
	if err := dbtest.Await(t, "the answer of what was sent", errs); err != nil {
		t.Error(err)
	}
	if err := dbtest.Await(t, "the end", closed); err != nil {
		t.Error(err)
	}
	if got := dbtest.ScoreOf(t, open(t, dsn, nil), ref, "m"); got != 1 {
		t.Errorf("the sum is %d, want 1", got)
	}
}

// TestBoardChangesMeanwhile: the lock shows each batch the present board, after any change by another server.
func TestBoardChangesMeanwhile(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, other := open(t, dsn, nil), open(t, dsn, nil)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		submit := func(want int64) {
			t.Helper()
			if r, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 5)); err != nil || *r.Results[0].Score != want {
				t.Errorf("%+v, %v; want score %d", r, err, want)
			}
		}
		submit(5)
		dbtest.MakeBoard(t, other, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		submit(10)
		if err := other.Boards.DeleteBoard(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 5)); !errors.Is(err, leaderboard.ErrBoardNotFound) {
			t.Errorf("a deleted board: %v", err)
		}
		again := dbtest.MakeBoard(t, other, "b", leaderboard.Rules{Policy: leaderboard.PolicyLatest, Order: leaderboard.OrderAsc})
		if again.ID == ref.ID {
			t.Fatal("the new board has the old period")
		}
		submit(5)
		submit(5)
		if got := dbtest.ScoreOf(t, s, again, "m"); got != 5 {
			t.Errorf("the score on the new board is %d", got)
		}
		// Deleted and made again between two batches, which the cached rules must not survive.
		if err := other.Boards.DeleteBoard(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		dbtest.MakeBoard(t, other, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		submit(5)
		submit(10)
	})
}

// TestDeletedWhileWaiting: a batch that waits for the lock of a board that another server then deletes finds no board.
func TestDeletedWhileWaiting(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	s, other := open(t, dsn, nil), open(t, dsn, nil)
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
	release := dbtest.HoldPeriod(t, dsn, ref)
	deleted := make(chan error, 1)
	go func() { deleted <- other.Boards.DeleteBoard(context.Background(), "b") }()
	watch := dbtest.Connect(t, dsn)
	dbtest.Eventually(t, "the deletion holds the board", func() bool {
		_, err := watch.ExecContext(t.Context(), "SELECT id FROM boards WHERE name = 'b' FOR UPDATE NOWAIT")
		return err != nil
	})
	errs := make(chan error, 1)
	go func() {
		_, err := s.Writer.Submit(context.Background(), dbtest.One("b", "", "m", 1))
		errs <- err
	}()
	dbtest.Eventually(t, "a writer has taken the request", func() bool { return s.Writing("b") })
	release()
	if err := dbtest.Await(t, "the deletion", deleted); err != nil {
		t.Error(err)
	}
	if err := dbtest.Await(t, "an answer", errs); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("submit: %v", err)
	}
}
