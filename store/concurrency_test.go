package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// TestConcurrentSums: 64 writers through two servers add to overlapping members. The totals are exact, seq has no gap,
// assigned times grow strictly in seq order, and no error is seen.
func TestConcurrentSums(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const writers = 64
		// At full size 64 x 1,000 requests of up to 100 entries.
		requests, most, members := testenv.Size(15, 1000), testenv.Size(6, 100), testenv.Size(40, 300)
		var heard followers
		servers := []*store.Store{
			open(t, dsn, func(c *store.Config) { c.OnCommit = heard.hear(0) }),
			open(t, dsn, func(c *store.Config) { c.OnCommit = heard.hear(1) }),
		}
		ref := dbtest.MakeBoard(t, servers[0], "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		var mu sync.Mutex
		want, changes := map[string]int64{}, int64(0)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(w)))
				for i := range requests {
					r := leaderboard.SubmitRequest{Board: "b"}
					for range 1 + random.IntN(most) {
						r.Entries = append(r.Entries, leaderboard.Submission{Member: fmt.Sprint("m", random.IntN(members)), Score: 1 + random.Int64N(1000)})
					}
					if i%3 == 0 {
						r.Key = fmt.Sprint(w, "-", i)
					}
					for range 1 + i%2 { // entries with a key, sometimes twice
						if _, err := servers[(w+i)%2].Writer.Submit(context.Background(), r); err != nil {
							t.Error(err)
						}
						if r.Key == "" {
							break
						}
					}
					mu.Lock()
					for _, e := range r.Entries {
						want[e.Member] += e.Score
						changes++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		page, err := servers[0].Entries.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 1000})
		if err != nil || len(page.Entries) != len(want) || page.Seq != changes {
			t.Errorf("%d entries at %d, %v; want %d at %d", len(page.Entries), page.Seq, err, len(want), changes)
		}
		for _, e := range page.Entries {
			if e.Score != want[e.Member] {
				t.Errorf("the sum of %s is %d, want %d", e.Member, e.Score, want[e.Member])
			}
		}
		commits := storetest.CheckLog(t, storetest.Of(servers[0], storetest.Added{}), ref)
		checkTimes(t, commits)
		heard.check(t, commits)
	})
}

// checkTimes checks that created times grow strictly with seq.
func checkTimes(t *testing.T, commits []leaderboard.Commit) {
	t.Helper()
	last := leaderboard.Micros(0)
	for _, c := range commits {
		for _, change := range c.Changes {
			if change.New.CreatedTime <= last {
				t.Fatalf("change %d is of %s, the one before of %s", change.Seq, change.New.CreatedTime, last)
			}
			last = change.New.CreatedTime
		}
		if last < c.CommittedAt {
			t.Fatalf("commit %d is of %s, its last change of %s", c.LastSeq, c.CommittedAt, last)
		}
	}
}

// followers record the calls of OnCommit of two servers.
type followers struct {
	mu      sync.Mutex
	commits [2][]leaderboard.Commit
}

func (f *followers) hear(i int) func(leaderboard.PeriodRef, leaderboard.Commit) {
	return func(ref leaderboard.PeriodRef, c leaderboard.Commit) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if ref.ID == c.PeriodID && ref.Board == "b" && ref.Rules.Policy == leaderboard.PolicySum {
			f.commits[i] = append(f.commits[i], c)
		}
	}
}

// check: each server reported its own commits in order, and together they reported all.
func (f *followers) check(t *testing.T, want []leaderboard.Commit) {
	t.Helper()
	var all []leaderboard.Commit
	for i, commits := range f.commits {
		bySeq := func(a, b leaderboard.Commit) int { return int(a.FirstSeq - b.FirstSeq) }
		if !slices.IsSortedFunc(commits, bySeq) {
			t.Errorf("server %d reported its commits out of order", i)
		}
		all = append(all, commits...)
	}
	slices.SortFunc(all, func(a, b leaderboard.Commit) int { return int(a.FirstSeq - b.FirstSeq) })
	if len(all) != len(want) {
		t.Fatalf("heard of %d commits, there are %d", len(all), len(want))
	}
	for i := range all {
		if got, want := fmt.Sprintf("%+v", flat(all[i])), fmt.Sprintf("%+v", flat(want[i])); got != want {
			t.Errorf("heard of %s\nthe log says %s", got, want)
		}
	}
}

// flat returns a commit without pointers.
func flat(c leaderboard.Commit) []any {
	out := []any{c.PeriodID, c.FirstSeq, c.LastSeq, c.PrevCommittedAt, c.CommittedAt, c.EntryCount}
	for _, change := range c.Changes {
		for _, e := range []*leaderboard.Entry{change.Old, change.New} {
			if e != nil {
				out = append(out, *e)
			} else {
				out = append(out, "-")
			}
		}
	}
	return out
}

// TestManyBoards: writers of different boards do not wait for each other's connections for ever, and do not mix.
func TestManyBoards(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, func(c *store.Config) { c.MaxConns = 4 }) // one connection for writes
		var wg sync.WaitGroup
		for i := range 12 {
			ref := dbtest.MakeBoard(t, s, fmt.Sprint("b", i), leaderboard.Rules{Policy: leaderboard.PolicySum})
			for range 4 {
				wg.Go(func() {
					for range 5 {
						if _, err := s.Writer.Submit(context.Background(), dbtest.One(ref.Board, "", "m", int64(i))); err != nil {
							t.Error(err)
						}
						if _, err := s.Entries.Page(context.Background(), ref, leaderboard.PageQuery{Limit: 3, Offset: 1, Query: leaderboard.Query{Mode: leaderboard.ModeTied}}); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		wg.Wait()
		for i := range 12 {
			if got := dbtest.ScoreOf(t, s, dbtest.MakeBoard(t, s, fmt.Sprint("b", i), leaderboard.Rules{Policy: leaderboard.PolicySum}), "m"); got != int64(i*20) {
				t.Errorf("the sum of board %d is %d, want %d", i, got, i*20)
			}
		}
	})
}

// TestCommitNamesTheBoard: a commit names the version of the board under whose lock it was made, also when another server has changed
// the rules, or made the board again, since this one looked.
func TestCommitNamesTheBoard(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var heard leaderboard.PeriodRef
		s := open(t, dsn, func(c *store.Config) {
			c.OnCommit = func(ref leaderboard.PeriodRef, _ leaderboard.Commit) { heard = ref }
		})
		other := open(t, dsn, nil)
		for i, change := range []func() error{
			func() error { return nil },
			func() error { return nil },
			func() error { return other.Boards.DeleteBoard(t.Context(), "b") },
		} {
			if err := change(); err != nil {
				t.Fatal(err)
			}
			b, _, err := other.Boards.PutBoard(t.Context(), "b", leaderboard.Rules{Title: fmt.Sprint("Title ", i)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", int64(i+1))); err != nil {
				t.Fatal(err)
			}
			if heard.BoardID != b.ID || heard.Version != b.Version || heard.Rules.Title != b.Rules.Title || b.Version == 0 {
				t.Errorf("change %d: the commit is of board %d at version %d, %q, want board %d at version %d", i, heard.BoardID, heard.Version, heard.Rules.Title, b.ID, b.Version)
			}
		}
	})
}
