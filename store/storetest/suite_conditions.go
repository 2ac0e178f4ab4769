package storetest

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"leaderboard/leaderboard"
)

func edited(member string, e leaderboard.Edit) leaderboard.Submission {
	e.NoScore = true
	return leaderboard.Submission{Member: member, Edit: &e}
}

func given(condition leaderboard.Condition, sub leaderboard.Submission) leaderboard.Submission {
	sub.If = &condition
	return sub
}

func value(v int64) *int64 { return &v }

// testConditions: a submission whose condition does not hold changes nothing, and its result has the present entry.
func testConditions(t *testing.T, s Database) {
	rules := leaderboard.Rules{Policy: leaderboard.PolicySum, Tiebreak: leaderboard.Tiebreak{Fields: gameFields()}}
	b := newBoard(t, Subject{Database: s, Rankings: s}, rules)
	yes, no := true, false
	unpaid, paid := map[string]int64{"paid": 0}, map[string]int64{"paid": 1}
	sell := given(leaderboard.Condition{Fields: unpaid}, edited("a", leaderboard.Edit{Set: paid}))
	got := b.submit(
		given(leaderboard.Condition{Absent: &no}, withFields("a", 5, 7, 0, 3)),
		sell,
		given(leaderboard.Condition{Absent: &yes}, withFields("a", 5, 7, 0, 3)),
		given(leaderboard.Condition{Absent: &yes}, withFields("a", 5, 7, 0, 3)),
		sell, sell,
		given(leaderboard.Condition{Score: value(5), Fields: map[string]int64{"paid": 1, "deaths": 3}}, leaderboard.Submission{Member: "a", Score: 2, Edit: &leaderboard.Edit{Add: map[string]int64{"level": 1, "deaths": -3}}}),
		given(leaderboard.Condition{Score: value(5)}, score("a", 100)),
		edited("a", leaderboard.Edit{Add: map[string]int64{"deaths": -1}}),
		given(leaderboard.Condition{Fields: map[string]int64{"coins": 1}}, score("a", 1)),
		leaderboard.Submission{Member: "b", Score: 1, Edit: &leaderboard.Edit{Add: map[string]int64{"level": 2}}},
	)
	const want = "a unmet -<- condition-unmet; a unmet -<- condition-unmet; a applied 5<-; a unmet 5<5 condition-unmet; a applied 5<5; " +
		"a unmet 5<5 condition-unmet; a applied 7<5; a unmet 7<7 condition-unmet; a rejected 7<7 invalid-fields; a rejected 7<7 invalid-fields; b applied 1<-"
	if short(got) != want {
		t.Errorf("results are %s\nwant       %s", short(got), want)
	}
	if f := got[5].Fields; !reflect.DeepEqual(f, []leaderboard.FieldValue{{Name: "level", Value: 7}, {Name: "paid", Value: 1}, {Name: "deaths", Value: 3}}) || got[5].Tiebreak == nil {
		t.Errorf("the entry as it is has %v, %v", f, got[5].Tiebreak)
	}
	if got[0].Tiebreak != nil || got[0].Fields != nil {
		t.Errorf("no entry has %v, %v", got[0].Fields, got[0].Tiebreak)
	}
	b.wantFields("a 7 map[deaths:0 level:8 paid:1]", "b 1 map[deaths:0 level:2 paid:0]")
	last := got[7].CreatedTime
	when := b.submit(given(leaderboard.Condition{CreatedTime: last}, score("a", 1)), given(leaderboard.Condition{CreatedTime: last}, score("a", 1)))
	if short(when) != "a applied 8<7; a unmet 8<8 condition-unmet" {
		t.Errorf("by the time: %s", short(when))
	}
	CheckLog(t, s, b.ref)
}

// testConditionWindows: a condition is about the entry of each window, and all of them take a submission or none.
func testConditionWindows(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{
		Policy: leaderboard.PolicySum, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowYear},
	})
	b.submit(score("a", 5))
	l, err := s.Current(t.Context(), b.ref.Board)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.ref.Board, Member: "a", PeriodID: l.Periods[1].ID}); err != nil {
		t.Fatal(err)
	}
	got := b.submit(given(leaderboard.Condition{Score: value(5)}, score("a", 1)))
	if short(got) != "a unmet 5<5 condition-unmet" || got[0].Rule.Detail != "in window year: the member has no entry" {
		t.Errorf("%s, %+v", short(got), got[0].Rule)
	}
	if got := short(b.submit(score("a", 1))); got != "a applied 6<5" {
		t.Errorf("without a condition: %s", got)
	}
}

// testConditionHidden: a hidden member's entry meets conditions as if it were not hidden.
func testConditionHidden(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{Policy: leaderboard.PolicySum, Tiebreak: leaderboard.Tiebreak{Fields: gameFields()}})
	b.submit(withFields("m", 5, 1, 0, 0))
	b.hide("m")
	yes := true
	sell := given(leaderboard.Condition{Fields: map[string]int64{"paid": 0}}, edited("m", leaderboard.Edit{Set: map[string]int64{"paid": 1}}))
	got := short(b.submit(given(leaderboard.Condition{Absent: &yes}, score("m", 1)), sell, sell))
	if got != "m unmet 5<5 condition-unmet; m applied 5<5; m unmet 5<5 condition-unmet" {
		t.Errorf("%s", got)
	}
	atomic := b.atomic("", score("m", 1), given(leaderboard.Condition{Score: value(5)}, score("m", 1)))
	if got := short(atomic.Results); got != "m aborted 5<5 aborted; m unmet 5<5 condition-unmet" {
		t.Errorf("%s", got)
	}
	b.restore("m")
	b.wantFields("m 5 map[deaths:0 level:1 paid:1]")
}

func (b *board) atomic(key string, entries ...leaderboard.Submission) leaderboard.Receipt {
	b.t.Helper()
	r, err := b.Database.Submit(b.t.Context(), leaderboard.SubmitRequest{Board: b.ref.Board, Key: key, Entries: entries, Atomic: true})
	if err != nil {
		b.t.Fatal(err)
	}
	b.last = r.Seq
	return r
}

// testAtomic: of an atomic request all entries are applied or none, each entry is decided on the result of the entries
// before it, and a repetition gets the same answer.
func testAtomic(t *testing.T, s Database) {
	b := newBoard(t, Subject{Database: s, Rankings: s}, leaderboard.Rules{Policy: leaderboard.PolicySum})
	is := func(v int64) leaderboard.Condition { return leaderboard.Condition{Score: &v} }
	b.submit(score("a", 10), score("b", 10))
	move := []leaderboard.Submission{given(is(10), score("a", -3)), given(is(10), score("b", 3))}
	for range 2 {
		r := b.atomic("move", move...)
		if got := short(r.Results); got != "a applied 7<10; b applied 13<10" || r.Seq != 4 {
			t.Errorf("moved: %s, seq %d", got, r.Seq)
		}
	}
	for range 2 {
		r := b.atomic("late", given(is(7), score("a", -3)), score("c", 1), score("a", 1), given(is(5), score("a", 1)), given(is(10), score("b", 3)), score("", 1), score("c", 0))
		if got := short(r.Results); got != "a aborted 7<7 aborted; c aborted -<- aborted; a aborted 7<7 aborted; a aborted 7<7 aborted; b unmet 13<13 condition-unmet;  rejected -<- invalid-member; c aborted -<- aborted" || r.Seq != 4 {
			t.Errorf("aborted: %s, seq %d", got, r.Seq)
		}
		if got := r.Results[0].Rule.Detail; got != "nothing of the request was applied, because entry 4 of it is unmet" {
			t.Errorf("the reason is %q", got)
		}
	}
	r := b.atomic("", given(is(7), score("a", 1)), given(is(8), score("a", 1)), score("a", 0))
	if got := short(r.Results); got != "a applied 8<7; a applied 9<8; a unchanged 9<9" || r.Seq != 6 {
		t.Errorf("the same member twice: %s, seq %d", got, r.Seq)
	}
	plain := leaderboard.SubmitRequest{Board: b.ref.Board, Key: "move", Entries: move}
	if _, err := s.Submit(t.Context(), plain); !errors.Is(err, leaderboard.ErrKeyReused) {
		t.Errorf("the key of an atomic request, not atomic: %v", err)
	}
	if got := b.page(leaderboard.PageQuery{Limit: 10}); !reflect.DeepEqual(got, []string{"1 b 13", "2 a 9"}) {
		t.Errorf("in the end: %q", got)
	}
	CheckLog(t, s, b.ref)
}

// testAtomicBoards: an atomic request to several boards is applied on all of them or on none.
func testAtomicBoards(t *testing.T, s Database) {
	sum, best, over := multiBoardBoards(t, s)
	ask := func(key string, entries ...leaderboard.BoardSubmission) leaderboard.MultiBoardReceipt {
		t.Helper()
		r, err := s.SubmitMultiBoard(t.Context(), leaderboard.MultiBoardRequest{Key: key, Entries: entries, Atomic: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	key := boardName(t)
	for range 2 {
		r := ask(key, on(sum, score("m", 5)), on(best, score("m", 5)), on(over, score("m", 1)))
		want := sum + ": m aborted -<- aborted; " + best + ": m aborted -<- aborted; " + over + ": m rejected -<- board-ended"
		if got := shortMultiBoard(r); got != want || r.Boards[sum].Seq != 0 || r.Boards[best].Seq != 0 {
			t.Errorf("%s, %+v\nwant %s", got, r.Boards, want)
		}
	}
	if got, want := shortMultiBoard(ask("", on(sum, score("m", 5)), on("no-such-board", score("m", 1)))), sum+": m aborted -<- aborted; no-such-board: m rejected -<- board-not-found"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	r := ask("", on(sum, score("m", 5)), on(best, score("m", 5)), on(sum, given(leaderboard.Condition{Score: value(5)}, score("m", 2))))
	want := sum + ": m applied 5<-; " + best + ": m applied 5<-; " + sum + ": m applied 7<5"
	if got := shortMultiBoard(r); got != want || r.Boards[sum].Seq != 2 || r.Boards[best].Seq != 1 {
		t.Errorf("%s, %+v\nwant %s", got, r.Boards, want)
	}
}

// testOverrides: op and keep_time are for keys that the board allows them.
func testOverrides(t *testing.T, s Database) {
	rules := leaderboard.Rules{
		Tiebreak:  leaderboard.Tiebreak{Fields: gameFields()},
		Overrides: &leaderboard.Overrides{Keys: []string{overrider}, Ops: []leaderboard.Policy{leaderboard.PolicyLatest, leaderboard.PolicySum}, KeepTime: true},
	}
	b := newBoard(t, Subject{Database: s, Rankings: s}, rules)
	by := func(c leaderboard.Caller, entries ...leaderboard.Submission) []leaderboard.Result {
		t.Helper()
		r, err := s.Submit(leaderboard.WithCaller(context.WithoutCancel(t.Context()), c), leaderboard.SubmitRequest{Board: b.ref.Board, Entries: entries})
		if err != nil {
			t.Fatal(err)
		}
		b.last = r.Seq
		return r.Results
	}
	op := func(op leaderboard.Policy, sub leaderboard.Submission) leaderboard.Submission {
		sub.Edit = &leaderboard.Edit{Op: op}
		return sub
	}
	named, admin := leaderboard.Caller{Key: overrider}, leaderboard.Caller{Key: "kadminadmina", Admin: true}
	first := b.submit(withFields("a", 10, 1, 0, 0))
	other := by(leaderboard.Caller{Key: "kotherotherk"}, op(leaderboard.PolicyLatest, withFields("a", 5, 1, 0, 0)), op(leaderboard.PolicyBest, withFields("a", 11, 1, 0, 0)),
		edited("a", leaderboard.Edit{Set: map[string]int64{"paid": 1}, KeepTime: true}))
	if got := short(other); got != "a rejected 10<10 override-not-allowed; a applied 11<10; a rejected 11<11 override-not-allowed" {
		t.Errorf("another key: %s", got)
	}
	got := by(named, op(leaderboard.PolicyLatest, withFields("a", 5, 1, 0, 0)), op(leaderboard.PolicySum, score("a", 2)),
		edited("a", leaderboard.Edit{Set: map[string]int64{"paid": 1}, KeepTime: true}))
	if short(got) != "a applied 5<11; a applied 7<5; a applied 7<7" || *got[2].CreatedTime != *got[1].CreatedTime || *got[1].CreatedTime <= *first[0].CreatedTime {
		t.Errorf("the key that is named: %s at %s, %s", short(got), got[1].CreatedTime, got[2].CreatedTime)
	}
	b.wantFields("a 7 map[deaths:0 level:1 paid:1]")
	if got := short(by(admin, op(leaderboard.PolicyLatest, withFields("a", 3, 1, 0, 0)))); got != "a applied 3<7" {
		t.Errorf("an admin: %s", got)
	}
	later := by(admin, edited("a", leaderboard.Edit{Set: map[string]int64{"paid": 0}}))
	if *later[0].CreatedTime <= *got[2].CreatedTime {
		t.Errorf("without keep_time the time is %s", later[0].CreatedTime)
	}
	CheckLog(t, s, b.ref)
}
