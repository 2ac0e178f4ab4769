package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store"
	"leaderboard/store/internal/index"
	"leaderboard/store/internal/read"
	"leaderboard/store/storetest/dbtest"
)

// insertEntries fills a board behind the store's back, which takes a second for a hundred thousand, and returns the
// entries in order.
func insertEntries(t testing.TB, dsn string, ref leaderboard.PeriodRef, n int, entry func(i int) leaderboard.Entry) []leaderboard.Entry {
	t.Helper()
	db := dbtest.Connect(t, dsn)
	all := make([]leaderboard.Entry, n)
	for i := range all {
		all[i] = entry(i)
	}
	for chunk := range slices.Chunk(all, 2000) {
		var q strings.Builder
		q.WriteString("INSERT INTO entries (period_id, member, score, tiebreak, created_time) VALUES ")
		for i, e := range chunk {
			if i > 0 {
				q.WriteByte(',')
			}
			score, tiebreak := rank.CodecOf(ref.Rules).Stored(e.Score, e.Tiebreak)
			fmt.Fprintf(&q, "(%d,x'%x',%d,%d,'%s')", ref.ID, e.Member, score, tiebreak, e.CreatedTime.Time().Format("2006-01-02 15:04:05.000000"))
		}
		if _, err := db.ExecContext(t.Context(), q.String()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE periods SET entry_count = ?, last_seq = ? WHERE id = ?", n, n, ref.ID); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, ref.Rules.Compare)
	return all
}

// TestIndexEqualScores: a hundred thousand entries with one and the same score split evenly, by time
// and member.
func TestIndexEqualScores(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const n = 100_000
		s := open(t, dsn, nil)
		ref := dbtest.MakeBoard(t, s, "equal", leaderboard.Rules{})
		all := insertEntries(t, dsn, ref, n, func(i int) leaderboard.Entry {
			return leaderboard.Entry{Member: fmt.Sprintf("m%06d", i), Score: 1000, CreatedTime: leaderboard.Micros(1_750_000_000_000_000 + i/3)}
		})
		if _, err := s.Indexes.Build(t.Context(), ref, index.BuildRequest{Reason: leaderboard.RunReasonCommand}); err != nil {
			t.Fatal(err)
		}
		if _, buckets, ok := s.IndexMark(ref); !ok || buckets < n/512 {
			t.Fatalf("%d buckets", buckets)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for range 50 {
			at := rng.IntN(n)
			got, err := s.Entries.Members(t.Context(), ref, leaderboard.MembersQuery{Members: []string{all[at].Member}})
			if err != nil || got.Entries[0].Strict != int64(at+1) || got.Entries[0].Tied != 1 || got.Entries[0].Entry != all[at] {
				t.Fatalf("%+v, %v, want rank %d", got, err, at+1)
			}
			page, err := s.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Offset: int64(at), Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range page.Entries {
				if e.Entry != all[at+i] || e.Strict != int64(at+i+1) {
					t.Fatalf("%d: %+v, want %+v", at+i, e, all[at+i])
				}
			}
		}
		if r := s.Entries.Reads(); r.Scans+r.Repeats > 0 {
			t.Errorf("an index that is up to date was not enough: %+v", r)
		}
	})
}

// TestDenseDepth: a dense rank below the bound is refused with the reason, or left out of an answer with all ranks, and
// one above it is right.
func TestDenseDepth(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		ref := dbtest.MakeBoard(t, s, "deep", leaderboard.Rules{Mode: leaderboard.ModeDense})
		all := insertEntries(t, dsn, ref, read.DenseDepth+2, func(i int) leaderboard.Entry {
			return leaderboard.Entry{Member: fmt.Sprintf("m%06d", i), Score: int64(i / 2), CreatedTime: leaderboard.Micros(1_750_000_000_000_000 + i)}
		})
		if _, err := s.Indexes.Build(t.Context(), ref, index.BuildRequest{Reason: leaderboard.RunReasonCommand}); err != nil {
			t.Fatal(err)
		}
		dense := leaderboard.Query{Mode: leaderboard.ModeDense}
		last := all[read.DenseDepth-1]
		got, err := s.Entries.Members(t.Context(), ref, leaderboard.MembersQuery{Query: dense, Members: []string{last.Member}})
		if err != nil || got.Entries[0].Dense != read.DenseDepth/2 {
			t.Errorf("%+v, %v", got, err)
		}
		for name, ask := range map[string]func() error{
			"members": func() error {
				_, err := s.Entries.Members(t.Context(), ref, leaderboard.MembersQuery{Query: dense, Members: []string{all[len(all)-1].Member}})
				return err
			},
			"page": func() error {
				_, err := s.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Query: dense, Offset: read.DenseDepth + 1, Limit: 1})
				return err
			},
		} {
			// The group of the last two has DenseDepth entries ahead of it, which is allowed; one more is not.
			if err := ask(); err != nil {
				t.Errorf("%s at the bound: %v", name, err)
			}
		}
		insertEntries(t, dsn, ref, 1, func(int) leaderboard.Entry {
			return leaderboard.Entry{Member: "best", Score: 1 << 40, CreatedTime: 1}
		})
		dbtest.MustExec(t, dbtest.Connect(t, dsn), "UPDATE periods SET entry_count = ?, last_seq = ?", len(all)+1, len(all)+1)
		other := open(t, dsn, func(cfg *store.Config) { cfg.IndexMinEntries = 1 << 40 })
		var rule *leaderboard.RuleError
		_, err = other.Entries.Members(t.Context(), ref, leaderboard.MembersQuery{Query: dense, Members: []string{all[len(all)-1].Member}})
		if !errors.As(err, &rule) || rule.Code != leaderboard.CodeModeNotAvailable {
			t.Errorf("below the bound: %v", err)
		}
		every := leaderboard.Query{Mode: leaderboard.ModeAll}
		both, err := other.Entries.Members(t.Context(), ref, leaderboard.MembersQuery{Query: every, Members: []string{"best", last.Member, all[len(all)-1].Member}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []leaderboard.Ranks{{Strict: 1, Tied: 1, Dense: 1}, {Strict: read.DenseDepth + 1, Tied: read.DenseDepth, Dense: read.DenseDepth/2 + 1}, {Strict: read.DenseDepth + 3, Tied: read.DenseDepth + 2}} {
			if got := both.Entries[i].Ranks; got != want {
				t.Errorf("all ranks of %s: %+v, want %+v", both.Entries[i].Member, got, want)
			}
		}
		page, err := other.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Query: every, Offset: read.DenseDepth + 1, Limit: 2})
		if err != nil || page.Entries[1].Ranks != (leaderboard.Ranks{Strict: read.DenseDepth + 3, Tied: read.DenseDepth + 2}) {
			t.Errorf("a page below the bound with all ranks: %+v, %v", page, err)
		}
	})
}
