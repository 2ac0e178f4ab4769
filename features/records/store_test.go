package records

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// serve returns a migrated store that has the feature.
func serve(t testing.TB, dsn string, change func(*store.Config)) *store.Store {
	t.Helper()
	s, _ := featuretest.Store(t, dsn, []features.Feature{Feature()}, change)
	return s
}

// kept returns the recorded submissions of a store.
func kept(s *store.Store) *Store {
	return NewStore(s.Database(), s.Boards, func(ctx context.Context, ask func(context.Context) error) error { return ask(ctx) })
}

// recorded returns the records of a member, newest first, as text.
func recorded(t *testing.T, s *store.Store, boardID int64, member string) []SubmissionRecord {
	t.Helper()
	out, err := kept(s).Submissions(t.Context(), SubmissionsQuery{BoardID: boardID, Member: member, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// recordText is records as text.
func recordText(records []SubmissionRecord) string {
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

// TestSubmissionsAreRecorded: submissions, their callers and their outcomes, as the board's rule says; repetitions with an
// idempotency key are not recorded again.
func TestSubmissionsAreRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := serve(t, dsn, nil)
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
		testRecordsTold(t, s)
		testRecordsUnchanged(t, s, refs["all"].BoardID)
		testRecordsGo(t, s, dsn, refs)
	})
}

// testRecordPages reads records one at a time.
func testRecordPages(t *testing.T, s *store.Store, board int64) {
	t.Helper()
	var all []SubmissionRecord
	q := SubmissionsQuery{BoardID: board, Member: "a", Limit: 1}
	for {
		page, err := kept(s).Submissions(t.Context(), q)
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

// testRecordsTold: the data of a member has the records with their boards.
func testRecordsTold(t *testing.T, s *store.Store) {
	t.Helper()
	var told []string
	err := s.Members.MemberData(t.Context(), "a", func(r leaderboard.MemberRecord) error {
		if r.List != "submissions" {
			return nil
		}
		text, err := json.Marshal(r.Record)
		told = append(told, string(text))
		return err
	})
	if err != nil || len(told) != 6 || !strings.Contains(strings.Join(told, ""), `,"status":"applied","score":8,"tiebreak":null,"previous_score":5,"new_score":8,"seq":3,"actor":"k2","request_id":""}`) {
		t.Errorf("%v: %s", err, told)
	}
	for _, text := range told {
		if !strings.HasPrefix(text, `{"board":"all","time":"2`) && !strings.HasPrefix(text, `{"board":"applied","time":"2`) {
			t.Errorf("told %s", text)
		}
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

// testRecordsGo: records age out by the rules of their board, and go with it; the records of an erased member stay without
// the name.
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
	board.Rules.RecordTTL, board.Rules.Record = "1h", leaderboard.RecordNone // old records still age out
	if _, _, err := s.Boards.PutBoard(t.Context(), "applied", board.Rules); err != nil {
		t.Fatal(err)
	}
	sweep(4, 1)
	if err := s.Boards.DeleteBoard(t.Context(), "all"); err != nil {
		t.Fatal(err)
	}
	sweep(0, 1)
}

// TestTermsAreRecorded: the record of a submission has its terms in addition to the score, and its outcome.
func TestTermsAreRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := serve(t, dsn, nil)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{
			Record: leaderboard.RecordAll, Overrides: &leaderboard.Overrides{Ops: []leaderboard.Policy{leaderboard.PolicyLatest}},
			Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "paid", Bits: 1}}},
		})
		ctx := leaderboard.WithCaller(t.Context(), leaderboard.Caller{Key: "k", Admin: true})
		paid, five := map[string]int64{"paid": 1}, int64(5)
		entries := []leaderboard.Submission{
			{Member: "a", Score: 9, Fields: paid},
			{Member: "a", Score: 5, Edit: &leaderboard.Edit{Op: leaderboard.PolicyLatest, Set: map[string]int64{"paid": 0}}},
			{Member: "a", Edit: &leaderboard.Edit{NoScore: true, Set: paid}},
			{Member: "a", Score: 7, If: &leaderboard.Condition{Absent: new(bool), Score: &five, Fields: map[string]int64{"paid": 0}}},
		}
		if _, err := s.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: "b", Entries: entries}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: "b", Atomic: true, Entries: []leaderboard.Submission{{Member: "a", Score: 99, Fields: paid}, {Member: "a", Score: 1}}}); err != nil {
			t.Fatal(err)
		}
		got := recorded(t, s, ref.BoardID, "a")
		const want = "rejected 1 at 3 by k  - 5 5 invalid-fields; aborted 99 at 3 by k  1 5 5 aborted; unmet 7 at 3 by k  - 5 5 condition-unmet; " +
			"applied 0 at 3 by k  - 5 5; applied 5 at 2 by k  - 9 5; applied 9 at 1 by k  1 - 9"
		if text := recordText(got); text != want {
			t.Fatalf("%s\nwant %s", text, want)
		}
		if e := got[3].Edit; e == nil || !e.NoScore || e.Set["paid"] != 1 {
			t.Errorf("a field that was set: %+v", e)
		}
		if e := got[4].Edit; e == nil || e.Op != leaderboard.PolicyLatest || e.Set["paid"] != 0 || got[5].Edit != nil {
			t.Errorf("an override: %+v", e)
		}
	})
}
