package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// fill writes n entries to a board, in requests of a size, by two writers, in no order of scores, and returns the entries in order.
func fill(t *testing.T, s *store.Store, ref leaderboard.PeriodRef, n, size int) []string {
	t.Helper()
	scores := rand.New(rand.NewPCG(31, 31)).Perm(n)
	members := make([]string, n)
	var writing sync.WaitGroup
	for half := range slices.Chunk(scores, (n+1)/2) {
		writing.Go(func() {
			for chunk := range slices.Chunk(half, size) {
				r := leaderboard.SubmitRequest{Board: ref.Board}
				for _, score := range chunk {
					member := fmt.Sprintf("m%d", score)
					members[n-1-score] = member
					r.Entries = append(r.Entries, leaderboard.Submission{Member: member, Score: int64(score)})
				}
				if _, err := s.Writer.Submit(t.Context(), r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	return members
}

// following waits until the index of a period in memory is at a number of entries, with buckets to fit.
func following(t *testing.T, s *store.Store, ref leaderboard.PeriodRef, n, target int) {
	t.Helper()
	var at rank.State
	var buckets int
	dbtest.Eventually(t, "the index of what was written is in memory", func() bool {
		var ok bool
		at, buckets, ok = s.IndexMark(ref)
		return ok && at.Total == int64(n) && buckets >= n/(2*target)
	})
}

// neverCounted checks ranks of a period, and that no index was built for them.
func neverCounted(t *testing.T, s *store.Store, ref leaderboard.PeriodRef, members []string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(32, 32))
	for range 50 {
		at := rng.IntN(len(members))
		got, err := s.Entries.Members(t.Context(), ref, leaderboard.MembersQuery{Members: []string{members[at]}})
		if err != nil || len(got.Entries) != 1 || got.Entries[0].Strict != int64(at+1) {
			t.Fatalf("%+v, %v, want rank %d", got, err, at+1)
		}
	}
	if runs, err := s.Runs.Runs(t.Context(), ref.BoardID, 0, 10); err != nil || len(runs) > 0 {
		t.Errorf("an index was built: %+v, %v", runs, err)
	}
}

// TestIndexFromBirth: a board that grew through this server has an index before the first reader comes. Another server, and
// a server that starts later, load the saved index, also when the first server did not end in order.
func TestIndexFromBirth(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"single batches": 1000, "small batches": 70} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Dialects(t, func(t *testing.T, dsn string) {
				const n = 20_000
				s := open(t, dsn, dbtest.Patient)
				ref := dbtest.MakeBoard(t, s, "grown", leaderboard.Rules{})
				members := fill(t, s, ref, n, size)
				following(t, s, ref, n, 256)
				neverCounted(t, s, ref, members)
				if r := s.Entries.Reads(); r.Scans > 0 {
					t.Errorf("%d answers were counted by scanning", r.Scans)
				}
				dbtest.Eventually(t, "an index is saved", func() bool {
					st, err := s.Indexes.Status(t.Context(), ref)
					return err == nil && st.Saved && !st.Building
				})
				neverCounted(t, open(t, dsn, dbtest.Patient), ref, members)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				neverCounted(t, open(t, dsn, dbtest.Patient), ref, members)
			})
		})
	}
}

// TestIndexOfSmallBoard: a board below the minimum size has no index, and nothing is saved for it.
func TestIndexOfSmallBoard(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, func(cfg *store.Config) { dbtest.Patient(cfg); cfg.IndexMinEntries = 100 })
		ref := dbtest.MakeBoard(t, s, "small", leaderboard.Rules{})
		fill(t, s, ref, 99, 10)
		if _, _, ok := s.IndexMark(ref); ok {
			t.Error("a board of 99 entries has an index")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var saved int
		if err := dbtest.Connect(t, dsn).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM rank_indexes").Scan(&saved); err != nil || saved > 0 {
			t.Errorf("%d rows are saved, %v", saved, err)
		}
	})
}

// TestIndexGrowsAfterRestart: a server that starts while a board grows follows it from the saved index, before a reader
// comes.
func TestIndexGrowsAfterRestart(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const n = 10_000
		s := open(t, dsn, dbtest.Patient)
		ref := dbtest.MakeBoard(t, s, "grown", leaderboard.Rules{})
		fill(t, s, ref, n, 500)
		following(t, s, ref, n, 256)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		other := open(t, dsn, dbtest.Patient)
		members := fill(t, other, ref, 2*n, 500) // the first half does not change
		following(t, other, ref, 2*n, 256)
		neverCounted(t, other, ref, members)
	})
}

// TestIndexOfTwoWriters: the index that one server keeps of a board follows what another one writes, before a reader comes.
func TestIndexOfTwoWriters(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const n = 20_000
		s, other := open(t, dsn, dbtest.Patient), open(t, dsn, dbtest.Patient)
		ref := dbtest.MakeBoard(t, s, "grown", leaderboard.Rules{})
		fill(t, s, ref, n/4, 500)
		fill(t, other, ref, n, 500)
		if _, err := s.Writer.Submit(t.Context(), dbtest.One(ref.Board, "", "last", -1)); err != nil {
			t.Fatal(err)
		}
		following(t, s, ref, n+1, 256)
	})
}

// TestIndexSavedBeforeDropped: indexes that nobody has read yet give way to others when memory is short, and are saved then.
func TestIndexSavedBeforeDropped(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const n = 200
		s := open(t, dsn, func(cfg *store.Config) { patientEverywhere(cfg); cfg.IndexMinEntries, cfg.IndexMemory = 50, 1 })
		members := map[leaderboard.PeriodRef][]string{}
		for i := range 3 {
			ref := dbtest.MakeBoard(t, s, fmt.Sprintf("b%d", i), leaderboard.Rules{})
			members[ref] = fill(t, s, ref, n, 20)
			following(t, s, ref, n, 4)
		}
		dbtest.Eventually(t, "one index is left in memory", func() bool {
			loaded := 0
			for ref := range members {
				if _, _, ok := s.IndexMark(ref); ok {
					loaded++
				}
			}
			return loaded == 1
		})
		for ref, members := range members {
			neverCounted(t, s, ref, members)
		}
	})
}
