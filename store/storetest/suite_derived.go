package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// RunDerived runs the part of the suite that is about derived boards. It sets the clock of the subject, so its tests
// run one after another. The subject has the parts of features.
func RunDerived(t *testing.T, s Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"union": testDerivedUnion, "rolling": testDerivedRolling, "intersect": testDerivedIntersect, "late source": testDerivedLate,
		"weights": testDerivedWeights, "rules": testDerivedRules, "states": testDerivedStates, "hidden": testDerivedHidden, "lost source": testDerivedLost,
		"as of": testDerivedAsOf, "windows": testDerivedWindows,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// derived is a derived board of one test with sources that are named after it.
type derived struct {
	*timed
}

// newDerived makes a derived board; its sources are made by the test.
func newDerived(t *testing.T, s Subject, now string, d leaderboard.Derive, sources ...string) *derived {
	t.Helper()
	b := &derived{timed: &timed{Subject: s, t: t, name: boardName(t)}}
	b.at(now)
	for i := range d.From {
		d.From[i].Board = b.source(d.From[i].Board)
	}
	for _, name := range sources {
		b.putSource(name, leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}})
	}
	b.put(leaderboard.Rules{Derive: &d})
	return b
}

func (b *derived) source(name string) string {
	return b.name[max(0, len(b.name)-50):] + "." + name
}

func (b *derived) putSource(name string, rules leaderboard.Rules) {
	b.t.Helper()
	if _, _, err := b.Database.PutBoard(b.t.Context(), b.source(name), rules); err != nil {
		b.t.Fatal(err)
	}
}

func (b *derived) submitTo(name string, entries ...leaderboard.Submission) {
	b.t.Helper()
	if _, err := b.Database.Submit(b.t.Context(), leaderboard.SubmitRequest{Board: b.source(name), Entries: entries}); err != nil {
		b.t.Fatal(err)
	}
}

// follow takes a step, and holds what the board has then against the entries wanted: "member score", best first.
func (b *derived) follow(want ...string) leaderboard.DeriveStep {
	b.t.Helper()
	step, err := b.Featured.FollowSources(b.t.Context(), b.name, true)
	if err != nil {
		b.t.Fatal(err)
	}
	l, err := b.Database.Current(b.t.Context(), b.name)
	if err != nil {
		b.t.Fatal(err)
	}
	page, err := b.Rankings.Page(b.t.Context(), l.Periods[0].Ref(&l.Board), leaderboard.PageQuery{Limit: 100, Query: leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: step.ToSeq}})
	if err != nil {
		b.t.Fatal(err)
	}
	checkAsOf(b.t, page)
	var got []string
	for _, e := range page.Entries {
		got = append(got, fmt.Sprint(e.Member, " ", e.Score))
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		b.t.Errorf("entries are %q, want %q", got, want)
	}
	if v, err := b.Featured.VerifySources(b.t.Context(), b.name); err != nil || !v.Equal {
		b.t.Errorf("verify: %+v, %v", v, err)
	}
	return step
}

// testDerivedUnion: a union adds up what members have in any of the sources, and a removal takes it away again.
func testDerivedUnion(t *testing.T, s Subject) {
	b := newDerived(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}, {Board: "rides"}}}, "runs", "rides")
	b.follow()
	b.submitTo("runs", score("ada", 5), score("bob", 7))
	b.submitTo("rides", score("ada", 10), score("eve", 1))
	if step := b.follow("ada 15", "bob 7", "eve 1"); step.Behind != 4 || step.Rows != 3 || step.ToSeq != step.FromSeq+3 {
		t.Errorf("step is %+v", step)
	}
	if step := b.follow("ada 15", "bob 7", "eve 1"); step.Behind != 0 || step.Rows != 0 || step.ToSeq != step.FromSeq {
		t.Errorf("step is %+v though nothing has changed", step)
	}
	if _, err := b.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.source("rides"), Member: "ada"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.source("runs"), Member: "bob"}); err != nil {
		t.Fatal(err)
	}
	b.follow("ada 5", "eve 1")
	step, err := b.Featured.Recompute(t.Context(), b.name)
	if err != nil || step.Rows != 0 {
		t.Errorf("computing anew changes %+v, %v", step, err)
	}
}

// testDerivedRolling: the last days: a member that played on some of them only, and a day without play.
func testDerivedRolling(t *testing.T, s Subject) {
	b := newDerived(t, s, "2026-11-18T12:00:00Z", leaderboard.Derive{Last: "3d", From: []leaderboard.DeriveFrom{{Board: "runs"}}}, "runs")
	b.submitTo("runs", score("ada", 1), score("bob", 20))
	b.follow("bob 20", "ada 1")
	b.at("2026-11-19T00:00:01Z")
	b.follow("bob 20", "ada 1")
	b.submitTo("runs", score("ada", 300))
	b.follow("ada 301", "bob 20")
	b.at("2026-11-20T23:59:59Z")
	b.follow("ada 301", "bob 20")
	b.at("2026-11-21T00:00:00Z")
	if step := b.follow("ada 300"); step.State != leaderboard.DerivationStateRolling || step.Rows != 2 {
		t.Errorf("the roll was %+v", step)
	}
	b.submitTo("runs", score("bob", 4000))
	b.follow("bob 4000", "ada 300")
	b.at("2026-11-22T00:00:00Z")
	b.follow("bob 4000")
	b.at("2027-01-01T00:00:00Z")
	b.follow()
}

// testDerivedIntersect: an intersection has the members of every source, each day.
func testDerivedIntersect(t *testing.T, s Subject) {
	b := newDerived(t, s, "2026-11-18T12:00:00Z",
		leaderboard.Derive{Last: "2d", Op: leaderboard.DeriveOpIntersect, From: []leaderboard.DeriveFrom{{Board: "runs"}}}, "runs")
	b.submitTo("runs", score("ada", 1), score("bob", 20))
	b.follow()
	b.at("2026-11-19T12:00:00Z")
	b.submitTo("runs", score("ada", 300))
	b.follow("ada 301")
	b.submitTo("runs", score("bob", 4000))
	b.follow("bob 4020", "ada 301")
	b.at("2026-11-20T12:00:00Z")
	b.submitTo("runs", score("bob", 50000))
	b.follow("bob 54000")
	b.at("2026-11-22T12:00:00Z")
	b.follow()
}

// testDerivedLate: a source that is made after the board is followed from then on.
func testDerivedLate(t *testing.T, s Subject) {
	b := newDerived(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{
		{Board: "runs"}, {Board: "late", Window: leaderboard.WindowAllTime}, {Board: "runs", Period: "2026-11-21"},
	}}, "runs")
	b.submitTo("runs", score("ada", 1))
	b.follow("ada 1")
	b.putSource("late", leaderboard.Rules{})
	b.submitTo("late", score("bob", 2), score("ada", 20))
	b.follow("ada 21", "bob 2")
	b.at("2026-11-21T12:00:00Z")
	b.follow("ada 20", "bob 2")
	b.submitTo("runs", score("ada", 300)) // it counts as the current day, and as the one named
	b.follow("ada 620", "bob 2")
	b.at("2026-11-22T12:00:00Z")
	b.follow("ada 320", "bob 2")
}

// testDerivedWeights: weights of 0 and below it, each aggregate, and when a total was reached.
func testDerivedWeights(t *testing.T, s Subject) {
	for _, c := range []struct {
		op        leaderboard.DeriveOp
		aggregate leaderboard.Aggregate
		weights   [2]int64
		want      string
	}{
		{leaderboard.DeriveOpUnion, leaderboard.AggregateSum, [2]int64{1, 0}, "eve 9, ada 5, bob 0"},
		{leaderboard.DeriveOpUnion, leaderboard.AggregateSum, [2]int64{1, -2}, "eve 9, ada 3, bob -8"},
		{leaderboard.DeriveOpUnion, leaderboard.AggregateMax, [2]int64{1, -2}, "eve 9, ada 5, bob -8"},
		{leaderboard.DeriveOpUnion, leaderboard.AggregateMin, [2]int64{1, -2}, "eve 9, ada -2, bob -8"},
		{leaderboard.DeriveOpIntersect, leaderboard.AggregateSum, [2]int64{0, 3}, "ada 3"},
		{leaderboard.DeriveOpIntersect, leaderboard.AggregateMax, [2]int64{0, -1}, "ada 0"},
	} {
		t.Run(fmt.Sprintf("%s %s %v", c.op, c.aggregate, c.weights), func(t *testing.T) {
			b := newDerived(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{
				Op: c.op, Aggregate: c.aggregate, From: []leaderboard.DeriveFrom{{Board: "runs", Weight: &c.weights[0]}, {Board: "rides", Weight: &c.weights[1]}},
			}, "runs", "rides")
			b.submitTo("runs", score("ada", 5), score("eve", 9))
			b.submitTo("rides", score("ada", 1), score("bob", 4))
			b.follow(strings.Split(c.want, ", ")...)
		})
	}
}

// testDerivedRules: the rules that a derived board cannot have, and the boards that cannot become one.
func testDerivedRules(t *testing.T, s Subject) {
	b := newDerived(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}}}, "runs")
	r := b.submit(score("ada", 1))
	if len(r.Results) != 1 || r.Results[0].Rule == nil || r.Results[0].Rule.Code != leaderboard.CodeDerivedBoard {
		t.Errorf("a submission to a derived board: %+v", r.Results)
	}
	var broken *leaderboard.RuleError
	of := func(name string) leaderboard.Rules {
		return leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: name}}}}
	}
	if _, _, err := b.Database.PutBoard(t.Context(), b.source("second"), of(b.name)); !errors.As(err, &broken) || broken.Code != leaderboard.CodeInvalidBoard {
		t.Errorf("a derived board as a source: %v", err)
	}
	if _, _, err := b.Database.PutBoard(t.Context(), b.name, of(b.name)); !errors.As(err, &broken) {
		t.Errorf("a board as its own source: %v", err)
	}
	b.put(leaderboard.Rules{}) // without entries both ways are open
	if _, err := b.Featured.FollowSources(t.Context(), b.name, true); !errors.Is(err, leaderboard.ErrNotDerived) {
		t.Errorf("following of a plain board: %v", err)
	}
	b.submit(score("ada", 1))
	_, _, err := b.Database.PutBoard(t.Context(), b.name, of(b.source("runs")))
	wantConflict(t, err, "/derive", "derive cannot be added, because the board has entries")
	if _, err := b.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, Member: "ada"}); err != nil {
		t.Fatal(err)
	}
	b.put(of(b.source("runs")))
	b.submitTo("runs", score("bob", 2))
	b.follow("bob 2")
	_, _, err = b.Database.PutBoard(t.Context(), b.name, leaderboard.Rules{})
	wantConflict(t, err, "/derive", "derive cannot be taken away, because the board has entries")
	// A source that becomes derived later is no longer a source.
	b.putSource("other", leaderboard.Rules{})
	both := of(b.source("runs"))
	both.Derive.From = append(both.Derive.From, leaderboard.DeriveFrom{Board: b.source("other")})
	b.put(both)
	b.follow("bob 2")
	b.putSource("other", of(b.source("runs")))
	if _, err := b.Featured.FollowSources(t.Context(), b.source("other"), true); err != nil {
		t.Fatal(err)
	}
	b.follow("bob 2")
	if _, err := b.Featured.Derivation(t.Context(), "no-such-board"); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("derivation of nothing: %v", err)
	}
}

// testDerivedStates: the status shows what the entries reflect.
func testDerivedStates(t *testing.T, s Subject) {
	five := int64(5)
	b := newDerived(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{
		Last: "2d", From: []leaderboard.DeriveFrom{{Board: "runs"}, {Board: "rides", Weight: &five}},
	}, "runs")
	status := func() string {
		t.Helper()
		d, err := b.Featured.Derivation(t.Context(), b.name)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, source := range d.Sources[:4] {
			list = append(list, fmt.Sprintf("%s×%d %d/%d", source.Period, source.Weight, source.Seq, source.LastSeq))
		}
		return fmt.Sprintf("%s %d: %s", d.State, d.Lag, strings.Join(list, ", "))
	}
	b.submitTo("runs", score("ada", 1), score("bob", 2))
	check := func(want string) {
		t.Helper()
		if got := status(); got != want {
			t.Errorf("status is %q\nwant %q", got, want)
		}
	}
	check("computing 0: 2026-11-20×1 0/2, 2026-11-19×1 0/0, ×5 0/0, ×5 0/0")
	b.follow("bob 2", "ada 1")
	check("incomplete 0: 2026-11-20×1 2/2, 2026-11-19×1 0/0, ×5 0/0, ×5 0/0")
	b.submitTo("runs", score("ada", 9))
	check("incomplete 1: 2026-11-20×1 2/3, 2026-11-19×1 0/0, ×5 0/0, ×5 0/0")
	b.follow("ada 9", "bob 2")
	b.at("2026-11-21T12:00:00Z")
	check("incomplete 0: 2026-11-21×1 0/0, 2026-11-20×1 3/3, ×5 0/0, ×5 0/0")
	b.submitTo("runs", score("ada", 2))
	check("rolling 0: 2026-11-21×1 0/1, 2026-11-20×1 3/3, ×5 0/0, ×5 0/0")
	b.follow("ada 11", "bob 2")
	check("incomplete 0: 2026-11-21×1 1/1, 2026-11-20×1 3/3, ×5 0/0, ×5 0/0")
	rules := leaderboard.Rules{Derive: &leaderboard.Derive{
		Aggregate: leaderboard.AggregateMax, Last: "2d", From: []leaderboard.DeriveFrom{{Board: b.source("runs")}, {Board: b.source("rides")}},
	}}
	b.put(rules)
	check("computing 0: 2026-11-21×1 0/1, 2026-11-20×1 0/3, ×1 0/0, ×1 0/0")
	b.follow("ada 9", "bob 2")
	check("incomplete 0: 2026-11-21×1 1/1, 2026-11-20×1 3/3, ×1 0/0, ×1 0/0")
}

// testDerivedLost: a source that is deleted takes its part away, also when another board gets its name.
func testDerivedLost(t *testing.T, s Subject) {
	b := newDerived(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}, {Board: "rides"}}}, "runs", "rides")
	b.submitTo("runs", score("ada", 1))
	b.submitTo("rides", score("ada", 20), score("bob", 4000))
	b.follow("bob 4000", "ada 21")
	if err := b.Database.DeleteBoard(t.Context(), b.source("rides")); err != nil {
		t.Fatal(err)
	}
	b.follow("ada 1")
	b.putSource("rides", leaderboard.Rules{Order: leaderboard.OrderAsc})
	b.submitTo("rides", score("eve", 300))
	b.follow("eve 300", "ada 1")
	if err := b.Database.DeleteBoard(t.Context(), b.name); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Featured.FollowSources(t.Context(), b.name, true); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("following of a deleted board: %v", err)
	}
}

// testDerivedHidden: a member hidden on a source or on the board itself is absent, and after the restoration is back with
// its present entries.
func testDerivedHidden(t *testing.T, s Subject) {
	b := newDerived(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}, {Board: "rides"}}}, "runs", "rides")
	b.submitTo("runs", score("ada", 5), score("bob", 7))
	b.submitTo("rides", score("ada", 10))
	b.follow("ada 15", "bob 7")
	hide := func(board, member string) {
		t.Helper()
		if _, err := s.Database.Hide(t.Context(), hiding(board, member)); err != nil {
			t.Fatal(err)
		}
	}
	hide(b.source("rides"), "ada")
	b.follow("bob 7", "ada 5")
	hide(b.name, "ada")
	b.follow("bob 7")
	hide(b.name, "eve")
	b.submitTo("runs", score("ada", 20), score("eve", 1))
	b.follow("bob 7")
	if err := s.Database.Restore(t.Context(), hiding(b.name, "ada")); err != nil {
		t.Fatal(err)
	}
	b.follow("ada 20", "bob 7")
	if err := s.Database.Restore(t.Context(), hiding(b.name, "eve")); err != nil {
		t.Fatal(err)
	}
	b.follow("ada 20", "bob 7", "eve 1")
}

// testDerivedAsOf: the times of a batch run ahead of the clock; entries derived from it at once are not reported as older
// (follow checks that).
func testDerivedAsOf(t *testing.T, s Subject) {
	b := newDerived(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}}}, "runs")
	b.submitTo("runs", score("a", 4), score("b", 3), score("c", 2), score("d", 1))
	b.follow("a 4", "b 3", "c 2", "d 1")
}

// testDerivedWindows: a window that a source does not have is refused when the rule is made, and reported when the source
// appears or changes later.
func testDerivedWindows(t *testing.T, s Subject) {
	b := newDerived(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{Last: "2d", From: []leaderboard.DeriveFrom{{Board: "runs"}}}, "runs")
	ever := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime}}
	b.putSource("ever", ever)
	for pointer, d := range map[string]leaderboard.Derive{
		"/derive/last":          {Last: "2d", From: []leaderboard.DeriveFrom{{Board: b.source("ever")}}},
		"/derive/from/0/window": {From: []leaderboard.DeriveFrom{{Board: b.source("ever"), Window: leaderboard.WindowDay}}},
		"/derive/from/0/period": {From: []leaderboard.DeriveFrom{{Board: b.source("runs"), Period: "2026-11-19"}}},
		"/derive/from/1":        {From: []leaderboard.DeriveFrom{{Board: b.source("runs")}, {Board: b.source("runs"), Window: leaderboard.WindowDay}}},
	} {
		_, _, err := s.Database.PutBoard(t.Context(), b.name+".2", leaderboard.Rules{Derive: &d})
		if rule := leaderboard.AsRule(err); rule == nil || rule.Code != leaderboard.CodeInvalidBoard || len(rule.Fields) != 1 || rule.Fields[0].Pointer != pointer {
			t.Errorf("%+v: %v, want a fault at %s", d, err, pointer)
		}
	}
	check := func(want string) {
		t.Helper()
		d, err := s.Featured.Derivation(t.Context(), b.name)
		if err != nil {
			t.Fatal(err)
		}
		got := string(d.State)
		for _, source := range d.Sources {
			got += " " + string(source.Condition)
		}
		if got != want {
			t.Errorf("the sources are %q, want %q", got, want)
		}
	}
	b.submitTo("runs", score("ada", 5))
	b.follow("ada 5")
	check("following present empty")
	b.putSource("runs", ever)
	b.follow("ada 5")
	check("incomplete no_window no_window")
	b.at("2026-11-21T12:00:00Z")
	b.follow("ada 5")
	check("incomplete no_window present")
	rules := leaderboard.Rules{Title: "kept", Derive: &leaderboard.Derive{Last: "2d", From: []leaderboard.DeriveFrom{{Board: b.source("runs")}}}}
	b.put(rules) // the rule is not blamed for changes of its source
	check("incomplete no_window present")
	b.putSource("runs", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}})
	b.follow("ada 5")
	check("following empty present")

	rules.Derive.From = append(rules.Derive.From, leaderboard.DeriveFrom{Board: b.source("late")})
	b.put(rules)
	b.follow("ada 5")
	check("incomplete empty present no_board no_board")
	b.putSource("late", ever)
	check("incomplete empty present no_window no_window")
	b.putSource("late", leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: b.source("runs")}}}})
	check("incomplete empty present derived derived")
}
