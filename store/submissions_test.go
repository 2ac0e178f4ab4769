package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// recorded returns what is recorded of a member, newest first, as text.
func recorded(t *testing.T, s *store.Store, boardID int64, member string) []leaderboard.SubmissionRecord {
	t.Helper()
	out, err := s.Records.Submissions(t.Context(), leaderboard.SubmissionsQuery{BoardID: boardID, Member: member, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// recordText is records as text.
func recordText(records []leaderboard.SubmissionRecord) string {
	var out []string
	for i := range records {
		r := &records[i]
		text := fmt.Sprintf("%s %d at %d by %s %s", r.Status, r.Score, r.Seq, r.Actor, r.RequestID)
		for _, v := range []*int64{r.Tiebreak, r.Previous, r.NewScore} {
			if v == nil {
				text += " -"
			} else {
				text += fmt.Sprint(" ", *v)
			}
		}
		out = append(out, strings.TrimSpace(text+" "+r.Code))
	}
	return strings.Join(out, "; ")
}

// TestSubmissionsAreRecorded: what was submitted, by whom, and what became of it, as far as the board says; repetitions
// with an idempotency key not again.
func TestSubmissionsAreRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		limit := int64(100)
		rules := func(record leaderboard.Record) leaderboard.Rules {
			return leaderboard.Rules{
				Record: record, Limits: leaderboard.Limits{MaxScore: &limit}, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay},
			}
		}
		refs := map[string]leaderboard.PeriodRef{}
		for name, record := range map[string]leaderboard.Record{"all": leaderboard.RecordAll, "applied": leaderboard.RecordApplied, "none": leaderboard.RecordNone} {
			refs[name] = dbtest.MakeBoard(t, s, name, rules(record))
		}
		tie := int64(7)
		entries := []leaderboard.Submission{
			{Member: "a", Score: 5, Tiebreak: &tie},
			{Member: "b", Score: 9},
			{Member: "a", Score: 4},
			{Member: "a", Score: 101},
			{Member: "", Score: 1},
			{Member: strings.Repeat("x", 65), Score: 1},
		}
		ctx := leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "k1", RequestID: "r1"})
		for range 2 { // the second time is a repetition
			for name := range refs {
				if _, err := s.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: name, Key: "once", Entries: entries}); err != nil {
					t.Fatal(err)
				}
			}
		}
		ctx = leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "k2"})
		several := leaderboard.MultiBoardRequest{Entries: []leaderboard.BoardSubmission{
			{Board: "all", Submission: leaderboard.Submission{Member: "a", Score: 8}},
			{Board: "applied", Submission: leaderboard.Submission{Member: "a", Score: 8}},
			{Board: "nothing", Submission: leaderboard.Submission{Member: "a", Score: 8}},
		}}
		if _, err := s.Writer.SubmitMultiBoard(ctx, several); err != nil {
			t.Fatal(err)
		}
		const last, first = "applied 8 at 3 by k2  - 5 8; ", "applied 5 at 1 by k1 r1 7 - 5"
		for name, want := range map[string]string{
			"all": last + "rejected 101 at 2 by k1 r1 - 5 5 score-out-of-range; unchanged 4 at 2 by k1 r1 - 5 5; " + first, "applied": last + first, "none": "",
		} {
			if got := recordText(recorded(t, s, refs[name].BoardID, "a")); got != want {
				t.Errorf("%s: %s\nwant %s", name, got, want)
			}
		}
		if got := recorded(t, s, refs["all"].BoardID, "a"); !strings.Contains(got[1].Detail, "100") || got[0].At < got[3].At || got[3].At != got[1].At {
			t.Errorf("%+v", got)
		}
		testRecordPages(t, s, refs["all"].BoardID)
		testRecordsUnchanged(t, s, refs["all"].BoardID)
		testRecordsGo(t, s, dsn, refs)
	})
}

// testRecordPages reads records one at a time.
func testRecordPages(t *testing.T, s *store.Store, board int64) {
	t.Helper()
	var all []leaderboard.SubmissionRecord
	q := leaderboard.SubmissionsQuery{BoardID: board, Member: "a", Limit: 1}
	for {
		page, err := s.Records.Submissions(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
		q.Before, q.BeforeID = page[0].At, page[0].ID
	}
	if got, want := recordText(all), recordText(recorded(t, s, board, "a")); got != want {
		t.Errorf("page by page: %s\nwant %s", got, want)
	}
}

// testRecordsUnchanged: a batch that changes nothing is recorded too, and many callers in one batch each by their key.
func testRecordsUnchanged(t *testing.T, s *store.Store, board int64) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			ctx := leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: fmt.Sprint("key", i)})
			if _, err := s.Writer.Submit(ctx, dbtest.One("all", "", "b", int64(i-100))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, r := range recorded(t, s, board, "b") {
		if seen[r.Actor] = true; r.Status == leaderboard.StatusUnchanged && r.Actor != fmt.Sprint("key", r.Score+100) {
			t.Errorf("%+v is not of this key", r)
		}
	}
	if len(seen) != 51 {
		t.Errorf("recorded of %d keys, want 51", len(seen))
	}
}

// testRecordsGo: records age out by the rules of their board, and go with it; those of an erased member stay without the
// name.
func testRecordsGo(t *testing.T, s *store.Store, dsn string, refs map[string]leaderboard.PeriodRef) {
	t.Helper()
	db := dbtest.Connect(t, dsn)
	if done, err := s.Erasures.Forget(t.Context(), "b", "boss"); err != nil || !done.Done {
		t.Fatalf("%+v, %v", done, err)
	}
	if n, rest := dbtest.Count(t, db, "submissions WHERE member = 'b'"), dbtest.Count(t, db, "submissions"); n != 0 || rest != 4+51+2+1 {
		t.Errorf("erased: %d records have the name, %d are there", n, rest)
	}
	dbtest.MustExec(t, db, "UPDATE submissions SET recorded_at = recorded_at - INTERVAL 2 HOUR WHERE actor = 'k1'")
	sweep := func(want ...int) {
		t.Helper()
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"all", "applied"} {
			if n := len(recorded(t, s, refs[name].BoardID, "a")); n != want[i] {
				t.Errorf("%d records of %s, want %d", n, name, want[i])
			}
		}
	}
	sweep(4, 2)
	board, err := s.Boards.Board(t.Context(), "applied")
	if err != nil {
		t.Fatal(err)
	}
	board.Rules.RecordTTL, board.Rules.Record = "1h", leaderboard.RecordNone // what was recorded still ages out
	if _, _, err := s.Boards.PutBoard(t.Context(), "applied", board.Rules); err != nil {
		t.Fatal(err)
	}
	sweep(4, 1)
	if err := s.Boards.DeleteBoard(t.Context(), "all"); err != nil {
		t.Fatal(err)
	}
	sweep(0, 1)
}
