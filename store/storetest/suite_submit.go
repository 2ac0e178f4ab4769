package storetest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// short returns a result as text: status, score, previous score, and the code of a broken rule.
func short(results []leaderboard.Result) string {
	var out []string
	number := func(v *int64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprint(*v)
	}
	for _, r := range results {
		s := fmt.Sprintf("%s %s %s<%s", r.Member, r.Status, number(r.Score), number(r.Previous))
		if r.Rule != nil {
			s += " " + r.Rule.Code
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func testPolicies(t *testing.T, s Database) {
	for _, c := range []struct {
		order  leaderboard.Order
		policy leaderboard.Policy
		want   string // after 5, 3, 5, 8
	}{
		{leaderboard.OrderDesc, leaderboard.PolicyBest, "m applied 5<-; m unchanged 5<5; m unchanged 5<5; m applied 8<5"},
		{leaderboard.OrderAsc, leaderboard.PolicyBest, "m applied 5<-; m applied 3<5; m unchanged 3<3; m unchanged 3<3"},
		{leaderboard.OrderDesc, leaderboard.PolicyLatest, "m applied 5<-; m applied 3<5; m applied 5<3; m applied 8<5"},
		{leaderboard.OrderAsc, leaderboard.PolicyLatest, "m applied 5<-; m applied 3<5; m applied 5<3; m applied 8<5"},
		{leaderboard.OrderDesc, leaderboard.PolicySum, "m applied 5<-; m applied 8<5; m applied 13<8; m applied 21<13"},
	} {
		t.Run(string(c.order)+" "+string(c.policy), func(t *testing.T) {
			rules := leaderboard.Rules{Order: c.order, Policy: c.policy}
			b := newBoard(t, Subject{Database: s, Rankings: s}, rules)
			var results []leaderboard.Result
			for _, v := range []int64{5, 3, 5, 8} {
				results = append(results, b.submit(score("m", v))...)
			}
			if got := short(results); got != c.want {
				t.Errorf("one by one: %s\nwant %s", got, c.want)
			}
			if got := short(b.submit(score("n", 5), score("n", 3), score("n", 5), score("n", 8))); got != strings.ReplaceAll(c.want, "m ", "n ") {
				t.Errorf("in one request: %s\nwant the same as one by one", got)
			}
		})
	}
}

// testNeighbours: a bad item is rejected alone; its neighbours and the order of arrival are not touched.
func testNeighbours(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	got := short(b.submit(score("a", 1), score("", 2), score(strings.Repeat("x", 65), 3), score("\xff", 4),
		score(strings.Repeat("é", 32), 5), score("b", 6)))
	long := strings.Repeat("x", 65)
	want := "a applied 1<-;  rejected -<- invalid-member; " + long + " rejected -<- invalid-member; \xff rejected -<- invalid-member; " +
		strings.Repeat("é", 32) + " applied 5<-; b applied 6<-"
	if got != want {
		t.Errorf("results %s\nwant    %s", got, want)
	}
	if b.last != 3 {
		t.Errorf("seq is %d after three changes", b.last)
	}
	if results := b.submit(); len(results) != 0 || b.last != 3 {
		t.Errorf("nothing submitted: %v, seq %d", results, b.last)
	}
}

func testLimits(t *testing.T, s Database) {
	low, high, delta := int64(-10), int64(100), int64(50)
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{
		Policy: leaderboard.PolicyLatest, Limits: leaderboard.Limits{MinScore: &low, MaxScore: &high, MaxDelta: &delta},
	})
	got := short(b.submit(score("a", -11), score("a", 101), score("a", 100), score("a", 49), score("a", 50)))
	want := "a rejected -<- score-out-of-range; a rejected -<- score-out-of-range; a applied 100<-; " +
		"a rejected 100<100 delta-out-of-range; a applied 50<100"
	if got != want {
		t.Errorf("results %s\nwant    %s", got, want)
	}
}

// testLimitOfBest: a score that is not taken over breaks no max_delta.
func testLimitOfBest(t *testing.T, s Database) {
	delta := int64(50)
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{Limits: leaderboard.Limits{MaxDelta: &delta}})
	got := short(b.submit(score("a", 100), score("a", 3), score("a", 151), score("a", 150)))
	if want := "a applied 100<-; a unchanged 100<100; a rejected 100<100 delta-out-of-range; a applied 150<100"; got != want {
		t.Errorf("results %s\nwant    %s", got, want)
	}
}

// testLimitOfSum: a sum beyond a max_score that was lowered later can be corrected.
func testLimitOfSum(t *testing.T, s Database) {
	rules := leaderboard.Rules{Policy: leaderboard.PolicySum}
	b := newBoard(t, Subject{Database: s, Rankings: s}, rules)
	b.submit(score("a", 1000))
	low, high := int64(0), int64(100)
	rules.Limits = leaderboard.Limits{MinScore: &low, MaxScore: &high}
	if _, _, err := s.PutBoard(t.Context(), b.ref.Board, rules); err != nil {
		t.Fatal(err)
	}
	got := short(b.submit(score("a", 1), score("a", 0), score("a", -1001), score("a", -500), score("a", -400), score("a", 1)))
	want := "a rejected 1000<1000 score-out-of-range; a unchanged 1000<1000; a rejected 1000<1000 score-out-of-range; " +
		"a applied 500<1000; a applied 100<500; a rejected 100<100 score-out-of-range"
	if got != want {
		t.Errorf("results %s\nwant    %s", got, want)
	}
}

// testStrictIDs: a board that wants printable ASCII rejects the entry of another id alone, in a request for several boards
// too. Entries that were there before stay and are read.
func testStrictIDs(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	b.submit(score("é", 5))
	if _, _, err := s.PutBoard(t.Context(), b.ref.Board, leaderboard.Rules{StrictIDs: true}); err != nil {
		t.Fatal(err)
	}
	got := short(b.submit(score("a b", 1), score("é", 9), score("\u0430", 9), score("a\u200b", 9), score("z", 2)))
	want := "a b applied 1<-; é rejected 5<5 invalid-member; \u0430 rejected -<- invalid-member; a\u200b rejected -<- invalid-member; z applied 2<-"
	if got != want {
		t.Errorf("results %s\nwant    %s", got, want)
	}
	r, err := s.SubmitMultiBoard(t.Context(), leaderboard.MultiBoardRequest{Entries: []leaderboard.BoardSubmission{on(b.ref.Board, score("ü", 1)), on(b.ref.Board, score("u", 3))}})
	if got := shortMultiBoard(r); err != nil || got != b.ref.Board+": ü rejected -<- invalid-member; "+b.ref.Board+": u applied 3<-" {
		t.Errorf("several boards: %s, %v", got, err)
	}
	found, err := s.Members(t.Context(), b.ref, leaderboard.MembersQuery{Members: []string{"é", "ü", "z"}, Query: leaderboard.Query{Mode: leaderboard.ModeStrict}})
	if err != nil || len(found.Entries) != 2 || found.Entries[0].Member != "é" || len(found.NotRanked) != 1 {
		t.Errorf("members are %+v, %v", found, err)
	}
}

func testTimes(t *testing.T, s Database) {
	now, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	past, future := now-1, now+3_600_000_000
	for name, c := range map[string]struct {
		rules leaderboard.Rules
		subs  []leaderboard.Submission
		want  string
	}{
		"ended":       {leaderboard.Rules{EndsAt: &past}, []leaderboard.Submission{score("a", 1)}, "a rejected -<- board-ended"},
		"not started": {leaderboard.Rules{StartsAt: &future}, []leaderboard.Submission{score("a", 1)}, "a rejected -<- board-not-started"},
		"running":     {leaderboard.Rules{StartsAt: &past, EndsAt: &future}, []leaderboard.Submission{score("a", 1)}, "a applied 1<-"},
		"created times": {
			leaderboard.Rules{},
			[]leaderboard.Submission{at("a", 1, future), at("a", 1, -1), at("a", 1, past), at("b", 1, 0), at("c", 1, leaderboard.MaxTime)},
			"a rejected -<- invalid-created-time; a rejected -<- invalid-created-time; a applied 1<-; b applied 1<-; " +
				"c rejected -<- invalid-created-time",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard(t, Subject{Database: s, Rankings: s}, c.rules)
			if got := short(b.submit(c.subs...)); got != c.want {
				t.Errorf("results %s\nwant    %s", got, c.want)
			}
		})
	}
}

func testSumRange(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{Policy: leaderboard.PolicySum})
	got := short(b.submit(score("a", math.MaxInt64), score("a", 1), score("a", -1), score("a", 1),
		score("b", math.MinInt64), score("b", -1), score("b", math.MaxInt64), score("c", 0), score("c", 0)))
	want := fmt.Sprintf("a applied %[1]d<-; a rejected %[1]d<%[1]d score-overflow; a applied %[3]d<%[1]d; a applied %[1]d<%[3]d; "+
		"b applied %[2]d<-; b rejected %[2]d<%[2]d score-overflow; b applied -1<%[2]d; c applied 0<-; c unchanged 0<0",
		int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64-1))
	if got != want {
		t.Errorf("results %s\nwant    %s", got, want)
	}
}

// testRepeatedMembers: several submissions of one member in one request are separate changes.
func testRepeatedMembers(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{Policy: leaderboard.PolicySum})
	var subs []leaderboard.Submission
	for i := range 1000 {
		subs = append(subs, score(fmt.Sprint("m", i%7), int64(i)))
	}
	b.submit(subs...)
	if b.last != 1000 {
		t.Errorf("seq is %d after 1000 changes", b.last)
	}
	total := int64(0)
	page, err := b.Rankings.Page(t.Context(), b.ref, leaderboard.PageQuery{Query: b.query(leaderboard.ModeStrict), Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Entries {
		total += e.Score
	}
	if len(page.Entries) != 7 || total != 999*1000/2 {
		t.Errorf("%d entries add up to %d, want 7 and %d", len(page.Entries), total, 999*1000/2)
	}
}

// testCreatedTimes: assigned times grow strictly with seq; a submission that changes nothing keeps the time, like a worse
// score.
func testCreatedTimes(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	before, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := before - 1
	for range 20 {
		for _, r := range b.submit(score("a", b.last), score("b", b.last), score("c", b.last)) {
			if r.Status != leaderboard.StatusApplied || *r.CreatedTime <= last {
				t.Fatalf("%+v at %s, the one before at %s", r, r.CreatedTime, last)
			}
			last = *r.CreatedTime
		}
	}
	reached := last
	if r := b.submit(score("c", 0))[0]; r.Status != leaderboard.StatusUnchanged || *r.CreatedTime != reached {
		t.Errorf("a worse score: %+v at %s, want %s kept", r, r.CreatedTime, reached)
	}
	// A time that is given does not move the clock of the period.
	given := before - 1_000_000
	if r := b.submit(at("d", 5, given))[0]; *r.CreatedTime != given {
		t.Errorf("given %s, stored %s", given, r.CreatedTime)
	}
	if r := b.submit(at("c", 57, given))[0]; r.Status != leaderboard.StatusApplied || *r.CreatedTime != given {
		t.Errorf("the same score at an earlier time: %+v", r)
	}
	if r := b.submit(score("e", 1))[0]; *r.CreatedTime <= last {
		t.Errorf("assigned %s after %s", r.CreatedTime, last)
	}
}

func testRemove(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{})
	b.submit(score("a", 1), score("b", 2), score("c", 3))
	for _, period := range []int64{0, b.ref.ID} {
		r, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, PeriodID: period, Member: "b"})
		if err != nil || short(r.Results) != "b applied -<2" || r.Seq != b.last+1 || r.Results[0].CreatedTime != nil {
			t.Fatalf("removed: %s, seq %d after %d, %v", short(r.Results), r.Seq, b.last, err)
		}
		b.last = r.Seq
		if got := b.page(leaderboard.PageQuery{Limit: 5}); !reflect.DeepEqual(got, []string{"1 c 3", "2 a 1"}) {
			t.Errorf("the ranks below do not close up: %q", got)
		}
		if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, PeriodID: period, Member: "b"}); !errors.Is(err, leaderboard.ErrNotRanked) {
			t.Errorf("removed twice: %v", err)
		}
		if got := short(b.submit(score("b", 2))); got != "b applied 2<-" {
			t.Errorf("back again: %s", got)
		}
	}
	for member, want := range map[string]error{"": leaderboard.ErrNotRanked, strings.Repeat("x", 99): leaderboard.ErrNotRanked} {
		if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, Member: member}); !errors.Is(err, want) {
			t.Errorf("remove %q: %v", member, err)
		}
	}
	if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, PeriodID: b.ref.ID + 1_000_000, Member: "a"}); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("remove from a period of another board: %v", err)
	}
}

func testMissingBoard(t *testing.T, s Database) {
	if _, err := s.Submit(t.Context(), leaderboard.SubmitRequest{Board: "no-such", Entries: []leaderboard.Submission{score("a", 1)}}); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("submit: %v", err)
	}
	if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: "no-such", Member: "a"}); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("remove: %v", err)
	}
	if err := s.DeleteBoard(t.Context(), "no-such"); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("delete: %v", err)
	}
	if _, err := s.Submit(t.Context(), leaderboard.SubmitRequest{Board: "'; DROP TABLE boards; --\x00"}); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("a name that no board can have: %v", err)
	}
}
