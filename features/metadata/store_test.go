package metadata_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/features/metadata"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// open opens a store with the feature.
func open(t testing.TB, dsn string, change func(*store.Config)) *store.Store {
	t.Helper()
	s, _ := opened(t, dsn, change)
	return s
}

// opened opens a store with the feature, and its reader of metadata.
func opened(t testing.TB, dsn string, change func(*store.Config)) (*store.Store, metadata.Reader) {
	t.Helper()
	s, e := featuretest.Store(t, dsn, []features.Feature{metadata.Feature()}, change)
	return s, features.Offered[metadata.Reader](e)
}

// carrying is a submission with metadata.
func carrying(board, key, member string, score int64, metadata string) leaderboard.SubmitRequest {
	r := dbtest.One(board, key, member, score)
	r.Entries[0].Metadata = metadata
	return r
}

func metadataRule(r leaderboard.Rules) leaderboard.Rules {
	r.Metadata = &leaderboard.Metadata{MaxBytes: leaderboard.MaxMetadata}
	return r
}

// bodies returns the metadata of all entries of a period as text, read at one state with them.
func bodies(t *testing.T, s *store.Store, ref leaderboard.PeriodRef) string {
	t.Helper()
	page, err := s.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Query: leaderboard.Query{Metadata: true}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range page.Entries {
		out = append(out, e.Member+" "+e.Metadata)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// checkMetadata checks that each body has its number of references, and that each row belongs to an entry.
func checkMetadata(t *testing.T, db *sql.DB) {
	t.Helper()
	for what, query := range map[string]string{
		"bodies that are counted wrongly":    "metadata_bodies b WHERE refs < 1 OR refs <> (SELECT COUNT(*) FROM entry_metadata m WHERE m.member = b.member AND m.body_id = b.id)",
		"rows without their body":            "entry_metadata m WHERE body_id <> 0 AND NOT EXISTS (SELECT 1 FROM metadata_bodies b WHERE b.member = m.member AND b.id = m.body_id)",
		"rows that are empty and do not say": "entry_metadata WHERE (body_id = 0) <> (emptied_at IS NOT NULL)",
		"rows of no entry": "entry_metadata m WHERE NOT EXISTS (SELECT 1 FROM entries e WHERE e.period_id IN (m.period_id, -m.period_id) AND e.member = m.member" +
			" AND e.score = m.score AND e.tiebreak = m.tiebreak AND e.created_time = m.created_time)",
	} {
		if n := dbtest.Count(t, db, query); n > 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}

// TestMetadataCostsNothingWithout: on a board without the rule no statement of a submit, a removal or an answer is about
// metadata. With it, a submit takes no further round trip, and an answer one statement when it is asked for.
func TestMetadataCostsNothingWithout(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		p, through := dbtest.NewProxy(t, dsn)
		s, look := opened(t, through, nil)
		refs := map[string]leaderboard.PeriodRef{"without": dbtest.MakeBoard(t, s, "without", leaderboard.Rules{}), "with": dbtest.MakeBoard(t, s, "with", metadataRule(leaderboard.Rules{}))}
		asked := func(do func() error) int { // about metadata
			var n atomic.Int64
			p.FaultBy(func(text string) dbtest.Fault {
				if strings.Contains(text, "metadata") {
					n.Add(1)
				}
				return dbtest.FaultPass
			})
			defer p.Heal()
			if err := do(); err != nil {
				t.Fatal(err)
			}
			return int(n.Load())
		}
		submits := map[string][]string{}
		for board, ref := range refs {
			if _, err := s.Writer.Submit(t.Context(), dbtest.One(board, "", "m", 1)); err != nil { // which learns of the board
				t.Fatal(err)
			}
			submits[board] = p.Committed(t, func() error { _, err := s.Writer.Submit(t.Context(), dbtest.One(board, "", "m", 2)); return err })
			for what, do := range map[string]func() error{
				"page": func() error { _, err := s.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 1}); return err },
				"members": func() error {
					_, err := s.Entries.Members(t.Context(), ref, leaderboard.MembersQuery{Members: []string{"m"}})
					return err
				},
				"past": func() error { _, err := s.Entries.Past(t.Context(), []leaderboard.PeriodRef{ref}, "m"); return err },
			} {
				if n := asked(do); n > 0 {
					t.Errorf("%s %s: %d packets are about metadata", board, what, n)
				}
			}
		}
		without, with := submits["without"], submits["with"]
		if len(without) != len(with) || len(without) < 2 || dbtest.About(without, "metadata") > 0 || dbtest.About(with, "metadata") == 0 {
			t.Errorf("a submit takes %q without the rule and %q with it", without, with)
		}
		e := leaderboard.Entry{Member: "m"}
		ref := refs["with"]
		alone := asked(func() error {
			_, err := look.Metadata(t.Context(), []leaderboard.MetadataQuery{{Period: &ref, Entries: []leaderboard.Entry{e}}})
			return err
		})
		beside := asked(func() error {
			_, err := s.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Query: leaderboard.Query{Metadata: true}, Limit: 1})
			return err
		})
		if alone != 1 || beside != 1 {
			t.Errorf("metadata takes %d statements, beside a page %d, want 1", alone, beside)
		}
	})
}

// TestMetadataRows: one body is stored for all windows and goes with the last row that has it: when it is replaced in some of
// them, with removed entries, with periods that are given up, with the board (promise A8).
func TestMetadataRows(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		s, db := open(t, dsn, dbtest.ClockBy(&offset)), dbtest.Connect(t, dsn)
		rules := metadataRule(leaderboard.Rules{
			Policy: leaderboard.PolicyBest, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowHour, leaderboard.WindowDay},
			Keep: map[leaderboard.Window]int{leaderboard.WindowHour: 1}, Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "paid", Bits: 8}}},
		})
		ref := dbtest.MakeBoard(t, s, "b", rules)
		if _, err := s.Writer.Submit(t.Context(), fieldless(carrying("b", "", "m", 5, `{"n":1}`))); err != nil {
			t.Fatal(err)
		}
		if rows, texts := dbtest.Count(t, db, "entry_metadata"), dbtest.Count(t, db, "metadata_bodies WHERE refs = 3"); rows != 3 || texts != 1 {
			t.Errorf("%d rows have metadata, %d bodies are in three of them", rows, texts)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 30 {
			var entries []leaderboard.Submission
			for range 1 + random.IntN(8) {
				sub := leaderboard.Submission{Member: fmt.Sprint("m", random.IntN(6)), Score: random.Int64N(5), Fields: map[string]int64{"paid": random.Int64N(3)}}
				switch random.IntN(4) {
				case 0:
					sub.Edit, sub.Fields, sub.Score = &leaderboard.Edit{NoScore: true, Add: map[string]int64{"paid": 1}}, nil, 0
				case 1, 2:
					sub.Metadata = fmt.Sprintf(`{"n":%d}`, random.IntN(1000))
				}
				entries = append(entries, sub)
			}
			if _, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: "b", Entries: entries, Atomic: random.IntN(3) == 0}); err != nil {
				t.Fatal(err)
			}
			if random.IntN(4) == 0 {
				_, err := s.Writer.Remove(t.Context(), leaderboard.RemoveRequest{Board: "b", Member: fmt.Sprint("m", random.IntN(6))})
				if err != nil && !errors.Is(err, leaderboard.ErrNotRanked) {
					t.Fatal(err)
				}
			}
			if checkMetadata(t, db); random.IntN(3) == 0 {
				offset.Add(int64(25 * time.Minute))
				if err := s.Housekeeping.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				checkMetadata(t, db)
			}
		}
		if n := dbtest.Count(t, db, "periods WHERE window_name = 'hour'"); n > 3 || dbtest.Count(t, db, "entry_metadata") == 0 {
			t.Errorf("%d hours are kept", n)
		}
		if n := dbtest.Count(t, db, "entry_metadata WHERE emptied_at < NOW(6) - INTERVAL 1 YEAR"); n > 0 {
			t.Errorf("%d rows", n)
		}
		if err := s.Boards.DeleteBoard(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "entry_metadata") + dbtest.Count(t, db, "metadata_bodies"); n > 0 {
			t.Errorf("%d rows are left of a board that was deleted, %+v", n, ref)
		}
	})
}

// fieldless gives the entries of a request the field of TestMetadataRows.
func fieldless(r leaderboard.SubmitRequest) leaderboard.SubmitRequest {
	for i := range r.Entries {
		r.Entries[i].Fields = map[string]int64{"paid": 0}
	}
	return r
}

// TestEmptiedMetadata: the row of an entry that no longer has metadata is deleted after a while, and the row of an entry
// with metadata is not.
func TestEmptiedMetadata(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		at := func(ahead time.Duration) *store.Store { // a store that has seen no other time
			return open(t, dsn, func(c *store.Config) { c.Clock = dbtest.ClockAhead(func() time.Duration { return ahead }) })
		}
		s, db := at(0), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", metadataRule(leaderboard.Rules{}))
		for _, r := range []leaderboard.SubmitRequest{carrying("b", "", "a", 1, `{"n":1}`), carrying("b", "", "b", 1, `{"n":2}`), dbtest.One("b", "", "a", 2)} {
			if _, err := s.Writer.Submit(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			after time.Duration
			rows  int
		}{{5 * time.Minute, 2}, {15 * time.Minute, 1}} {
			if err := at(c.after).Housekeeping.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := dbtest.Count(t, db, "entry_metadata"); n != c.rows {
				t.Errorf("after %s there are %d rows, want %d", c.after, n, c.rows)
			}
		}
		if got := bodies(t, s, ref); got != `a ; b {"n":2}` {
			t.Errorf("entries have %s", got)
		}
	})
}

// TestAbortedMetadata: an aborted atomic request leaves no metadata, and the old metadata stays (promise A8).
func TestAbortedMetadata(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", metadataRule(leaderboard.Rules{}))
		other := dbtest.MakeBoard(t, s, "c", metadataRule(leaderboard.Rules{}))
		if _, err := s.Writer.Submit(t.Context(), carrying("b", "", "a", 1, `{"n":1}`)); err != nil {
			t.Fatal(err)
		}
		absent := true
		failing := leaderboard.Submission{Member: "a", Score: 9, If: &leaderboard.Condition{Absent: &absent}, Metadata: `{"n":2}`}
		entries := []leaderboard.Submission{
			{Member: "a", Score: 5, Metadata: `{"n":3}`}, {Member: "new", Score: 5, Metadata: `{"n":4}`}, {Member: "a", Score: 6}, failing,
		}
		r, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: "b", Entries: entries, Atomic: true})
		if err != nil || r.Results[0].Status != leaderboard.StatusAborted {
			t.Fatalf("%+v, %v", r, err)
		}
		several := leaderboard.MultiBoardRequest{Atomic: true, Entries: []leaderboard.BoardSubmission{
			{Board: "c", Submission: entries[0]}, {Board: "b", Submission: entries[1]}, {Board: "b", Submission: failing},
		}}
		if r, err := s.Writer.SubmitMultiBoard(t.Context(), several); err != nil || r.Results[0].Status != leaderboard.StatusAborted {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := bodies(t, s, ref) + "|" + bodies(t, s, other); got != `a {"n":1}|` {
			t.Errorf("entries have %s", got)
		}
		if n := dbtest.Count(t, db, "metadata_bodies"); n != 1 {
			t.Errorf("%d bodies are stored, want 1", n)
		}
		checkMetadata(t, db)
	})
}

// TestMetadataCommitLost: the answer to COMMIT is lost, or COMMIT is. The repetition with the key leads to the entry with
// its metadata once, and a repetition without metadata writes nothing (promise A8).
func TestMetadataCommitLost(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		for what, f := range map[string]dbtest.Fault{"before": dbtest.FaultCutBefore, "after": dbtest.FaultCutAfter} {
			p, through := dbtest.NewProxy(t, dsn)
			s, db := open(t, through, nil), dbtest.Connect(t, dsn)
			board := "b-" + what
			ref := dbtest.MakeBoard(t, s, board, metadataRule(leaderboard.Rules{Policy: leaderboard.PolicySum}))
			if _, err := s.Writer.Submit(t.Context(), carrying(board, "", "a", 1, `{"n":1}`)); err != nil {
				t.Fatal(err)
			}
			p.OnBeginning("COMMIT", f)
			ctx, cancel := context.WithTimeout(t.Context(), dbtest.MaxWait)
			_, err := s.Writer.Submit(ctx, carrying(board, "key", "a", 1, `{"n":2}`))
			cancel()
			if !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Fatalf("%s: %v", what, err)
			}
			p.Heal()
			for range 2 {
				if r, err := s.Writer.Submit(t.Context(), carrying(board, "key", "a", 1, `{"n":2}`)); err != nil || *r.Results[0].Score != 2 {
					t.Fatalf("%s: %+v, %v", what, r, err)
				}
			}
			if _, err := s.Writer.Submit(t.Context(), carrying(board, "key", "a", 1, `{"n":3}`)); !errors.Is(err, leaderboard.ErrKeyReused) {
				t.Errorf("%s: the key with other metadata: %v", what, err)
			}
			if got := bodies(t, s, ref); got != `a {"n":2}` {
				t.Errorf("%s: entries have %s", what, got)
			}
			checkMetadata(t, db)
		}
	})
}

// TestMetadataWithoutRule: while the board has no rule its entries change without their metadata, which is no longer shown
// when the rule is back; metadata of unchanged entries is (promise A8).
func TestMetadataWithoutRule(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		with := metadataRule(leaderboard.Rules{Policy: leaderboard.PolicyLatest, Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "paid", Bits: 8}}}})
		without := with
		without.Metadata = nil
		ref := dbtest.MakeBoard(t, s, "b", with)
		submit := func(r leaderboard.SubmitRequest) {
			t.Helper()
			if receipt, err := s.Writer.Submit(t.Context(), fieldless(r)); err != nil || receipt.Results[0].Status != leaderboard.StatusApplied {
				t.Fatalf("%+v, %v", receipt, err)
			}
		}
		for _, m := range []string{"a", "b", "c"} {
			submit(carrying("b", "", m, 1, `{"of":"`+m+`"}`))
		}
		if _, _, err := s.Boards.PutBoard(t.Context(), "b", without); err != nil {
			t.Fatal(err)
		}
		submit(dbtest.One("b", "", "a", 2))
		submit(dbtest.One("b", "", "c", 2))
		if _, _, err := s.Boards.PutBoard(t.Context(), "b", with); err != nil {
			t.Fatal(err)
		}
		edit := leaderboard.Submission{Member: "c", Edit: &leaderboard.Edit{NoScore: true, Add: map[string]int64{"paid": 1}}}
		if _, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: "b", Entries: []leaderboard.Submission{edit}}); err != nil {
			t.Fatal(err)
		}
		if got := bodies(t, s, ref); got != `a ; b {"of":"b"}; c ` {
			t.Errorf("entries have %s", got)
		}
	})
}

// TestMetadataBesideWriters: readers during writes, with members that are hidden and restored, never see the metadata of
// another entry: the result of a look-up is the entry's own, or reports that the entry was replaced (promise A8).
func TestMetadataBesideWriters(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, look := opened(t, dsn, nil)
		ref := dbtest.MakeBoard(t, s, "b", metadataRule(leaderboard.Rules{Policy: leaderboard.PolicyLatest}))
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		var working sync.WaitGroup
		var reads, moved, failed atomic.Int64
		for w := range 4 {
			working.Go(func() {
				random := rand.New(rand.NewPCG(uint64(w), 1))
				for ctx.Err() == nil {
					var entries []leaderboard.Submission
					for range 20 {
						sub := leaderboard.Submission{Member: fmt.Sprint("m", random.IntN(30)), Score: random.Int64N(1_000_000) * 2}
						if random.IntN(4) > 0 {
							sub.Score++ // odd: it has metadata
							sub.Metadata = fmt.Sprintf(`{"score":%d}`, sub.Score)
						}
						entries = append(entries, sub)
					}
					_, _ = s.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: "b", Entries: entries})
				}
			})
		}
		working.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				r := leaderboard.HideRequest{Board: "b", Member: fmt.Sprint("m", i%5), Reason: "test"}
				_, _ = s.Hidden.Hide(ctx, r)
				_ = s.Hidden.Restore(ctx, r)
			}
		})
		right := func(e *leaderboard.Entry, body string) bool {
			return e.Score%2 == 0 && body == "" || e.Score%2 == 1 && body == fmt.Sprintf(`{"score":%d}`, e.Score)
		}
		for range 2 {
			working.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					page, err := s.Entries.Page(ctx, ref, leaderboard.PageQuery{Query: leaderboard.Query{Metadata: i%2 == 0}, Limit: 30})
					if err != nil {
						continue
					}
					q := leaderboard.MetadataQuery{Period: &ref}
					for j := range page.Entries {
						q.Entries = append(q.Entries, page.Entries[j].Entry)
						if i%2 == 0 && !right(&page.Entries[j].Entry, page.Entries[j].Metadata) {
							failed.Add(1)
						}
					}
					found, err := look.Metadata(ctx, []leaderboard.MetadataQuery{q})
					if err != nil {
						continue
					}
					reads.Add(int64(len(q.Entries)))
					for j := range q.Entries {
						if found[0][j].Moved {
							moved.Add(1)
						} else if !right(&q.Entries[j], found[0][j].Body) {
							failed.Add(1)
						}
					}
				}
			})
		}
		working.Wait()
		if failed.Load() > 0 || reads.Load() == 0 || moved.Load() == 0 {
			t.Errorf("of %d entries read %d had moved on, and %d had metadata of another one", reads.Load(), moved.Load(), failed.Load())
		}
		checkMetadata(t, dbtest.Connect(t, dsn))
	})
}
