package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// multiBoard returns a request that gives one member a score on each board.
func multiBoard(key, member string, score int64, boards ...string) leaderboard.MultiBoardRequest {
	r := leaderboard.MultiBoardRequest{Key: key}
	for _, b := range boards {
		r.Entries = append(r.Entries, leaderboard.BoardSubmission{Board: b, Submission: leaderboard.Submission{Member: member, Score: score}})
	}
	return r
}

// TestMultiBoardCommitLost is TestCommitLost for a request to two boards: both have it or none, and the same key returns
// the one true result.
func TestMultiBoardCommitLost(t *testing.T) {
	t.Parallel()
	dbtest.LoseCommits(t, open, func(t *testing.T, l *dbtest.LostCommit) {
		refs := []leaderboard.PeriodRef{
			dbtest.MakeBoard(t, l.Direct, "b", leaderboard.Rules{Policy: leaderboard.PolicySum}),
			dbtest.MakeBoard(t, l.Direct, "a", leaderboard.Rules{Policy: leaderboard.PolicySum}),
		}
		if _, err := l.Lossy.Writer.SubmitMultiBoard(t.Context(), multiBoard("", "m", 10, "a", "b")); err != nil {
			t.Fatal(err)
		}
		l.Lose()
		req := multiBoard("key", "m", 5, "b", "a")
		if r, err := l.Lossy.Writer.SubmitMultiBoard(t.Context(), req); !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
			t.Fatalf("%+v, %v; want an unknown outcome", r, err)
		}
		for _, ref := range refs {
			if got := dbtest.ScoreOf(t, l.Direct, ref, "m"); got != l.After {
				t.Fatalf("the score on %s is %d, want %d: the fault is not the one to test", ref.Board, got, l.After)
			}
		}
		first, err := l.Lossy.Writer.SubmitMultiBoard(t.Context(), req)
		if err != nil || *first.Results[1].Score != 15 || first.Boards["a"].Seq != 2 || first.Boards["b"].Seq != 2 {
			t.Errorf("retry: %+v, %v", first, err)
		}
		first.Replayed = true
		if again, err := l.Direct.Writer.SubmitMultiBoard(t.Context(), req); err != nil || !reflect.DeepEqual(again, first) {
			t.Errorf("retry on another server: %+v, %v; the one before got %+v", again, err, first)
		}
		for _, ref := range refs {
			if got := dbtest.ScoreOf(t, l.Direct, ref, "m"); got != 15 {
				t.Errorf("the score on %s is %d in the end, want 15", ref.Board, got)
			}
			storetest.CheckLog(t, storetest.Of(l.Direct, storetest.Added{}), ref)
		}
	})
}

// TestMultiBoardAndAlone: multi-board requests in any order of the boards and requests to each of them, through two
// servers, with removals between. Sums are exact, logs have no gap, each server reports its commits in order, and there was
// no deadlock.
func TestMultiBoardAndAlone(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const callers, requests, members = 24, 12, 10
		seen := make(chan string, 1000)
		var mu sync.Mutex
		last := map[int64]int64{} // of each server's periods
		server := func(sign int64) *store.Store {
			return open(t, dsn, func(c *store.Config) {
				c.Logger = slog.New(repeats{slog.DiscardHandler, seen})
				c.OnCommit = func(ref leaderboard.PeriodRef, commit leaderboard.Commit) {
					mu.Lock()
					defer mu.Unlock()
					if commit.FirstSeq <= last[sign*ref.ID] {
						t.Errorf("reported seq %d of %s after %d", commit.FirstSeq, ref.Board, last[sign*ref.ID])
					}
					last[sign*ref.ID] = commit.LastSeq
				}
			})
		}
		servers := []*store.Store{server(1), server(-1)}
		boards := []string{"c", "a", "d", "b"} // ids in another order than names
		refs := map[string]leaderboard.PeriodRef{}
		for _, b := range boards {
			refs[b] = dbtest.MakeBoard(t, servers[0], b, leaderboard.Rules{Policy: leaderboard.PolicySum})
		}
		want := map[string]int64{}
		var wg sync.WaitGroup
		for caller := range callers {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(2, uint64(caller)))
				for i := range requests {
					s := servers[(caller+i)%2]
					member, score := fmt.Sprint("m", random.IntN(members)), 1+random.Int64N(100)
					some := slices.Clone(boards)
					random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
					some = some[:1+random.IntN(len(some))]
					var err error
					if i%3 == 0 {
						some = some[:1]
						_, err = s.Writer.Submit(context.Background(), dbtest.One(some[0], "", member, score))
					} else {
						key := ""
						if i%2 == 0 {
							key = fmt.Sprint(caller, "-", i)
						}
						_, err = s.Writer.SubmitMultiBoard(context.Background(), multiBoard(key, member, score, some...))
					}
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					for _, b := range some {
						want[b+member] += score
					}
					mu.Unlock()
					if _, err := s.Writer.Remove(context.Background(), leaderboard.RemoveRequest{Board: some[0], Member: "nobody"}); !errors.Is(err, leaderboard.ErrNotRanked) {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		for b, ref := range refs {
			page, err := servers[0].Entries.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Entries {
				if e.Score != want[b+e.Member] {
					t.Errorf("the sum of %s on %s is %d, want %d", e.Member, b, e.Score, want[b+e.Member])
				}
			}
			checkTimes(t, storetest.CheckLog(t, storetest.Of(servers[0], storetest.Added{}), ref))
		}
		for len(seen) > 0 {
			t.Errorf("a batch was repeated: %s", <-seen)
		}
	})
}

// TestMultiBoardKeyRace: one key that comes for other boards at the same time through another server, which no lock keeps
// apart: the second finds the receipt of the first.
func TestMultiBoardKeyRace(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		seen := make(chan string, 10)
		p, through := dbtest.NewProxy(t, dsn)
		s := open(t, through, func(c *store.Config) { c.Logger = slog.New(repeats{slog.DiscardHandler, seen}) })
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		first, err := dbtest.Connect(t, dsn).BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer first.Rollback()
		const insert = "INSERT INTO idempotency_keys (board_id, idempotency_key, request_hash, created_at, receipt)" +
			" VALUES (0, 'key', REPEAT('x', 32), NOW(6), '{\"v\":1,\"results\":[],\"boards\":{}}')"
		if _, err := first.ExecContext(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
		adds := make(chan struct{}, 10) // gets a value when the store adds the key, so it has found none
		p.Watch("INSERT INTO idempotency_keys", adds)
		errs := make(chan error, 1)
		go func() {
			_, err := s.Writer.SubmitMultiBoard(context.Background(), multiBoard("key", "m", 1, "b"))
			errs <- err
		}()
		dbtest.Await(t, "the writer to add the key", adds)
		if err := first.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := dbtest.Await(t, "the answer", errs); !errors.Is(err, leaderboard.ErrKeyReused) {
			t.Errorf("the second: %v", err)
		}
		if cause := dbtest.Await(t, "the first attempt to fail", seen); !strings.Contains(cause, "1062") {
			t.Errorf("the first attempt failed with %s, want 1062", cause)
		}
		if got := dbtest.ScoreOf(t, s, ref, "m"); got != -1 {
			t.Errorf("the second counted: %d", got)
		}
	})
}

// TestMultiBoardAllOrNothing: a board whose lock is not to be had takes the whole request down, and nothing of it remains.
func TestMultiBoardAllOrNothing(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	s := open(t, dsn, func(c *store.Config) { c.LockWait = time.Second })
	free, held := dbtest.MakeBoard(t, s, "free", leaderboard.Rules{Policy: leaderboard.PolicySum}), dbtest.MakeBoard(t, s, "held", leaderboard.Rules{Policy: leaderboard.PolicySum})
	release := dbtest.HoldPeriod(t, dsn, held)
	req := multiBoard("key", "m", 1, "free", "held")
	if r, err := s.Writer.SubmitMultiBoard(t.Context(), req); !errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
		t.Errorf("while one is held: %+v, %v", r, err)
	}
	if got := dbtest.ScoreOf(t, s, free, "m"); got != -1 {
		t.Errorf("the other has %d", got)
	}
	release()
	dbtest.Eventually(t, "the board is tried again", func() bool { return !s.Blocked("held") })
	for range 2 {
		if r, err := s.Writer.SubmitMultiBoard(t.Context(), req); err != nil || *r.Results[0].Score != 1 || *r.Results[1].Score != 1 {
			t.Errorf("when it is free: %+v, %v", r, err)
		}
	}
	if _, err := s.Writer.SubmitMultiBoard(t.Context(), multiBoard(strings.Repeat("k", 161), "m", 1, "free")); err == nil {
		t.Error("a key of 161 bytes was taken: 128 of the client, and whose it is")
	}
}

// TestMultiBoardGroupCommit: requests for several boards that wait become one batch, as long as it locks no more than 50
// boards.
func TestMultiBoardGroupCommit(t *testing.T) {
	t.Parallel()
	dsn, seen := testenv.MySQL(t), &batches{}
	s := open(t, dsn, func(c *store.Config) { c.Observer = seen })
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	names := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprint("none-", n, "-", i))
		}
		return names
	}
	release := dbtest.HoldPeriod(t, dsn, ref)
	reqs := []leaderboard.MultiBoardRequest{
		multiBoard("", "m", 1, "b"), multiBoard("", "m", 1, "b"), multiBoard("", "m", 1, "b"), multiBoard("", "m", 1, append(names(40), "b")...),
		multiBoard("", "m", 1, append(names(20), "b")...), multiBoard("", "m", 1, "b"),
	}
	errs := make(chan error, len(reqs))
	for i, r := range reqs {
		go func() {
			_, err := s.Writer.SubmitMultiBoard(context.Background(), r)
			errs <- err
		}()
		dbtest.Eventually(t, "the request waits", func() bool {
			n, writing := s.WaitingForSeveral()
			return n == i && (i > 0 || writing)
		})
	}
	release()
	for range reqs {
		if err := dbtest.Await(t, "an answer", errs); err != nil {
			t.Error(err)
		}
	}
	if got, want := seen.all(), [][2]int{{1, 1}, {3, 43}, {2, 22}}; !slices.Equal(got, want) {
		t.Errorf("batches %v, want %v", got, want)
	}
	if got := dbtest.ScoreOf(t, s, ref, "m"); got != int64(len(reqs)) {
		t.Errorf("the sum is %d, want %d", got, len(reqs))
	}
}

// TestMultiBoardBoardMadeAgain: ids of boards that another server deletes and makes again are not trusted.
func TestMultiBoardBoardMadeAgain(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, other := open(t, dsn, nil), open(t, dsn, nil)
		submit := func(want ...string) {
			t.Helper()
			r, err := s.Writer.SubmitMultiBoard(t.Context(), multiBoard("", "m", 1, "a", "b"))
			var got []string
			for _, res := range r.Results {
				if res.Rule != nil {
					got = append(got, res.Rule.Code)
				} else {
					got = append(got, fmt.Sprint(*res.Score))
				}
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		}
		for _, b := range []string{"a", "b"} {
			dbtest.MakeBoard(t, s, b, leaderboard.Rules{Policy: leaderboard.PolicySum})
		}
		submit("1", "1")
		if err := other.Boards.DeleteBoard(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		submit(leaderboard.CodeBoardNotFound, "2")
		submit(leaderboard.CodeBoardNotFound, "3")
		dbtest.MakeBoard(t, other, "a", leaderboard.Rules{Policy: leaderboard.PolicySum})
		submit("1", "4")
		if err := other.Boards.DeleteBoard(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		dbtest.MakeBoard(t, other, "a", leaderboard.Rules{Policy: leaderboard.PolicySum})
		submit("1", "5")
		submit("2", "6")
	})
}

// TestMultiBoardTellsInOrder: while a multi-board commit is reported to the followers, no writer of this process commits to one
// of the boards.
func TestMultiBoardTellsInOrder(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	var mu sync.Mutex
	var heard []int64
	telling, released := make(chan struct{}, 1), make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	s := open(t, dsn, func(c *store.Config) {
		c.OnCommit = func(ref leaderboard.PeriodRef, commit leaderboard.Commit) {
			if ref.Board == "first" { // reported before the other board of the request
				telling <- struct{}{}
				<-released
				return
			}
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, commit.FirstSeq)
		}
	})
	t.Cleanup(release)
	dbtest.MakeBoard(t, s, "first", leaderboard.Rules{})
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	errs := make(chan error, 2)
	go func() {
		_, err := s.Writer.SubmitMultiBoard(context.Background(), multiBoard("", "m", 1, "b", "first"))
		errs <- err
	}()
	dbtest.Await(t, "the followers to be told", telling)
	go func() {
		_, err := s.Writer.Submit(context.Background(), dbtest.One("b", "", "m", 1))
		errs <- err
	}()
	dbtest.Eventually(t, "the board's own writer waits", func() bool { return s.AtMutex("b") == 2 })
	if got := dbtest.ScoreOf(t, s, ref, "m"); got != 1 {
		t.Errorf("the score is %d while the first commit is reported, want 1", got)
	}
	release()
	for range 2 {
		if err := dbtest.Await(t, "an answer", errs); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(heard, []int64{1, 2}) {
		t.Errorf("heard of seq %v, want 1 and 2", heard)
	}
}

// TestMultiBoardTurn: a request that changes no entry begins the periods that are due all the same.
func TestMultiBoardTurn(t *testing.T) {
	t.Parallel()
	s := clocked(t, testenv.MySQL(t))
	s.SetNow(1_700_000_000_000_000)
	b, _, err := s.Database.PutBoard(t.Context(), "b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}})
	if err != nil {
		t.Fatal(err)
	}
	s.SetNow(1_700_100_000_000_000)
	if r, err := s.Database.SubmitMultiBoard(t.Context(), multiBoard("", "", 1, "b")); err != nil || r.Results[0].Status != leaderboard.StatusRejected {
		t.Errorf("%+v, %v", r, err)
	}
	if periods, err := s.Database.Periods(t.Context(), b.ID, "", 0, 10); err != nil || len(periods) != 2 || periods[1].State != leaderboard.PeriodStateClosed {
		t.Errorf("periods %+v, %v", periods, err)
	}
}

// TestLockedBoardIsLeftOut: when a board turns out to be locked while a batch for several boards is under way, its requests
// that name the board fail, and the others are done.
func TestLockedBoardIsLeftOut(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		refs := map[string]leaderboard.PeriodRef{}
		for _, name := range []string{"first", "a", "b", "locked"} {
			refs[name] = dbtest.MakeBoard(t, s, name, leaderboard.Rules{Policy: leaderboard.PolicySum})
		}
		several := func(boards ...string) chan error {
			var r leaderboard.MultiBoardRequest
			for _, b := range boards {
				r.Entries = append(r.Entries, leaderboard.BoardSubmission{Board: b, Submission: leaderboard.Submission{Member: "m", Score: 1}})
			}
			done := make(chan error, 1)
			go func() {
				_, err := s.Writer.SubmitMultiBoard(context.Background(), r)
				done <- err
			}()
			return done
		}
		dbtest.HoldPeriod(t, dsn, refs["locked"])
		release := dbtest.HoldPeriod(t, dsn, refs["first"])
		first := several("first", "a") // the others wait for it, and so for each other
		dbtest.Eventually(t, "the first batch is under way", func() bool { _, writing := s.WaitingForSeveral(); return writing })
		with, without, alone := several("a", "locked"), several("a", "b"), several("b")
		dbtest.Eventually(t, "the others wait", func() bool { n, _ := s.WaitingForSeveral(); return n == 3 || len(first) > 0 })
		release()
		_ = dbtest.Await(t, "the first", first)
		if err := dbtest.Await(t, "the one that names it", with); !errors.Is(err, leaderboard.ErrUnavailable) || !strings.Contains(err.Error(), `"locked"`) {
			t.Errorf("a request that names the locked board: %v", err)
		}
		for _, done := range []chan error{without, alone} {
			if err := dbtest.Await(t, "the others", done); err != nil {
				t.Errorf("a request that does not: %v", err)
			}
		}
		if n := dbtest.ScoreOf(t, s, refs["b"], "m"); n != 2 {
			t.Errorf("%d requests came through, want 2", n)
		}
	})
}
