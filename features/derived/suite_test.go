package derived

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// sums keeps derived boards up to date with their sources.
type sums interface {
	FollowSources(ctx context.Context, board string, long bool) (Step, error)
	Recompute(ctx context.Context, board string) (Step, error)
	Derivation(ctx context.Context, board string) (api.Derivation, error)
	VerifySources(ctx context.Context, board string) (leaderboard.Verification, error)
}

// subject is a store with derived boards, whose clock can be set.
type subject struct {
	storetest.Database
	sums
	setNow func(leaderboard.Micros)
}

// runSuite runs the cases that every store passes. They set the clock, so they run one after another.
func runSuite(t *testing.T, s subject) {
	for name, test := range map[string]func(*testing.T, subject){
		"union": testUnion, "rolling": testRolling, "intersect": testIntersect, "late source": testLate,
		"weights": testWeights, "rules": testRules, "states": testStates, "hidden": testHidden, "lost source": testLost,
		"as of": testAsOf, "windows": testWindows,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// sumBoard is a derived board of one test. The names of its sources begin with its name.
type sumBoard struct {
	subject
	t    *testing.T
	name string
}

// newSum makes a derived board; its sources are made by the test.
func newSum(t *testing.T, s subject, now string, d leaderboard.Derive, sources ...string) *sumBoard {
	t.Helper()
	b := &sumBoard{s, t, fmt.Sprintf("sum%08x", crc32.ChecksumIEEE([]byte(t.Name())))}
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

// at sets the clock.
func (b *sumBoard) at(now string) {
	b.t.Helper()
	at, err := time.Parse(time.RFC3339, now)
	if err != nil {
		b.t.Fatal(err)
	}
	b.setNow(leaderboard.MicrosOf(at))
}

func (b *sumBoard) source(name string) string { return b.name + "." + name }

func (b *sumBoard) put(rules leaderboard.Rules) { b.putNamed(b.name, rules) }

func (b *sumBoard) putSource(name string, rules leaderboard.Rules) { b.putNamed(b.source(name), rules) }

func (b *sumBoard) putNamed(name string, rules leaderboard.Rules) {
	b.t.Helper()
	if _, _, err := b.PutBoard(b.t.Context(), name, rules); err != nil {
		b.t.Fatal(err)
	}
}

func (b *sumBoard) submitTo(name string, entries ...leaderboard.Submission) {
	b.t.Helper()
	if _, err := b.Submit(b.t.Context(), leaderboard.SubmitRequest{Board: b.source(name), Entries: entries}); err != nil {
		b.t.Fatal(err)
	}
}

func score(member string, score int64) leaderboard.Submission {
	return leaderboard.Submission{Member: member, Score: score}
}

func hiding(board, member string) leaderboard.HideRequest {
	return leaderboard.HideRequest{Board: board, Member: member, Reason: "aimbot", Actor: "boss"}
}

// follow takes a step, and holds the entries of the board then against the entries wanted: "member score", best first.
func (b *sumBoard) follow(want ...string) Step {
	b.t.Helper()
	step, err := b.FollowSources(b.t.Context(), b.name, true)
	if err != nil {
		b.t.Fatal(err)
	}
	l, err := b.Current(b.t.Context(), b.name)
	if err != nil {
		b.t.Fatal(err)
	}
	page, err := b.Page(b.t.Context(), l.Periods[0].Ref(&l.Board), leaderboard.PageQuery{Limit: 100, Query: leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: step.ToSeq}})
	if err != nil {
		b.t.Fatal(err)
	}
	var got []string
	for _, e := range page.Entries {
		got = append(got, fmt.Sprint(e.Member, " ", e.Score))
		if e.CreatedTime > page.AsOf {
			b.t.Errorf("as of %s %s has an entry of %s", page.AsOf, e.Member, e.CreatedTime)
		}
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		b.t.Errorf("entries are %q, want %q", got, want)
	}
	if v, err := b.VerifySources(b.t.Context(), b.name); err != nil || !v.Equal {
		b.t.Errorf("verify: %+v, %v", v, err)
	}
	return step
}

// testUnion: a union adds up what members have in any of the sources, and a removal takes it away again.
func testUnion(t *testing.T, s subject) {
	b := newSum(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}, {Board: "rides"}}}, "runs", "rides")
	b.follow()
	b.submitTo("runs", score("ada", 5), score("bob", 7))
	b.submitTo("rides", score("ada", 10), score("eve", 1))
	if step := b.follow("ada 15", "bob 7", "eve 1"); step.Behind != 4 || step.Rows != 3 || step.ToSeq != step.FromSeq+3 {
		t.Errorf("step is %+v", step)
	}
	if step := b.follow("ada 15", "bob 7", "eve 1"); step.Behind != 0 || step.Rows != 0 || step.ToSeq != step.FromSeq {
		t.Errorf("step is %+v though nothing has changed", step)
	}
	if _, err := b.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.source("rides"), Member: "ada"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.source("runs"), Member: "bob"}); err != nil {
		t.Fatal(err)
	}
	b.follow("ada 5", "eve 1")
	step, err := b.Recompute(t.Context(), b.name)
	if err != nil || step.Rows != 0 {
		t.Errorf("computing anew changes %+v, %v", step, err)
	}
}

// testRolling: the last days: a member that played on some of them only, and a day without play.
func testRolling(t *testing.T, s subject) {
	b := newSum(t, s, "2026-11-18T12:00:00Z", leaderboard.Derive{Last: "3d", From: []leaderboard.DeriveFrom{{Board: "runs"}}}, "runs")
	b.submitTo("runs", score("ada", 1), score("bob", 20))
	b.follow("bob 20", "ada 1")
	b.at("2026-11-19T00:00:01Z")
	b.follow("bob 20", "ada 1")
	b.submitTo("runs", score("ada", 300))
	b.follow("ada 301", "bob 20")
	b.at("2026-11-20T23:59:59Z")
	b.follow("ada 301", "bob 20")
	b.at("2026-11-21T00:00:00Z")
	if step := b.follow("ada 300"); step.State != api.DerivationStateRolling || step.Rows != 2 {
		t.Errorf("the roll was %+v", step)
	}
	b.submitTo("runs", score("bob", 4000))
	b.follow("bob 4000", "ada 300")
	b.at("2026-11-22T00:00:00Z")
	b.follow("bob 4000")
	b.at("2027-01-01T00:00:00Z")
	b.follow()
}

// testIntersect: an intersection has the members of every source, each day.
func testIntersect(t *testing.T, s subject) {
	b := newSum(t, s, "2026-11-18T12:00:00Z",
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

// testLate: a source that is made after the board is followed from then on.
func testLate(t *testing.T, s subject) {
	b := newSum(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{
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

// testWeights: weights of 0 and below it, each aggregate, and when a total was reached.
func testWeights(t *testing.T, s subject) {
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
			b := newSum(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{
				Op: c.op, Aggregate: c.aggregate, From: []leaderboard.DeriveFrom{{Board: "runs", Weight: &c.weights[0]}, {Board: "rides", Weight: &c.weights[1]}},
			}, "runs", "rides")
			b.submitTo("runs", score("ada", 5), score("eve", 9))
			b.submitTo("rides", score("ada", 1), score("bob", 4))
			b.follow(strings.Split(c.want, ", ")...)
		})
	}
}

// testRules: the rules that a derived board cannot have, and the boards that cannot become one.
func testRules(t *testing.T, s subject) {
	b := newSum(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}}}, "runs")
	submit := leaderboard.SubmitRequest{Board: b.name, Entries: []leaderboard.Submission{score("ada", 1)}}
	r, err := b.Submit(t.Context(), submit)
	if err != nil || len(r.Results) != 1 || r.Results[0].Rule == nil || r.Results[0].Rule.Code != leaderboard.CodeDerivedBoard {
		t.Errorf("a submission to a derived board: %+v, %v", r.Results, err)
	}
	var broken *leaderboard.RuleError
	of := func(name string) leaderboard.Rules {
		return leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: name}}}}
	}
	if _, _, err := b.PutBoard(t.Context(), b.source("second"), of(b.name)); !errors.As(err, &broken) || broken.Code != leaderboard.CodeInvalidBoard {
		t.Errorf("a derived board as a source: %v", err)
	}
	if _, _, err := b.PutBoard(t.Context(), b.name, of(b.name)); !errors.As(err, &broken) {
		t.Errorf("a board as its own source: %v", err)
	}
	b.put(leaderboard.Rules{}) // without entries both ways are open
	if _, err := b.FollowSources(t.Context(), b.name, true); !errors.Is(err, leaderboard.ErrNotDerived) {
		t.Errorf("following of a plain board: %v", err)
	}
	if _, err := b.Submit(t.Context(), submit); err != nil {
		t.Fatal(err)
	}
	_, _, err = b.PutBoard(t.Context(), b.name, of(b.source("runs")))
	wantConflict(t, err, "derive cannot be added, because the board has entries")
	if _, err := b.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, Member: "ada"}); err != nil {
		t.Fatal(err)
	}
	b.put(of(b.source("runs")))
	b.submitTo("runs", score("bob", 2))
	b.follow("bob 2")
	_, _, err = b.PutBoard(t.Context(), b.name, leaderboard.Rules{})
	wantConflict(t, err, "derive cannot be taken away, because the board has entries")
	// A source that becomes derived later is no longer a source.
	b.putSource("other", leaderboard.Rules{})
	both := of(b.source("runs"))
	both.Derive.From = append(both.Derive.From, leaderboard.DeriveFrom{Board: b.source("other")})
	b.put(both)
	b.follow("bob 2")
	b.putSource("other", of(b.source("runs")))
	if _, err := b.FollowSources(t.Context(), b.source("other"), true); err != nil {
		t.Fatal(err)
	}
	b.follow("bob 2")
	if _, err := b.Derivation(t.Context(), "no-such-board"); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("derivation of nothing: %v", err)
	}
}

// wantConflict checks that an error is a conflict over the rule, and says why.
func wantConflict(t *testing.T, err error, detail string) {
	t.Helper()
	conflict, ok := errors.AsType[*leaderboard.ConflictError](err)
	if !ok || len(conflict.Fields) != 1 || conflict.Fields[0].Pointer != "/derive" || conflict.Detail() != detail {
		t.Errorf("%+v, want a conflict: %s", err, detail)
	}
}

// testStates: the status shows what the entries reflect.
func testStates(t *testing.T, s subject) {
	five := int64(5)
	b := newSum(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{
		Last: "2d", From: []leaderboard.DeriveFrom{{Board: "runs"}, {Board: "rides", Weight: &five}},
	}, "runs")
	status := func() string {
		t.Helper()
		d, err := b.Derivation(t.Context(), b.name)
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

// testLost: a source that is deleted takes its part away, also when another board gets its name.
func testLost(t *testing.T, s subject) {
	b := newSum(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}, {Board: "rides"}}}, "runs", "rides")
	b.submitTo("runs", score("ada", 1))
	b.submitTo("rides", score("ada", 20), score("bob", 4000))
	b.follow("bob 4000", "ada 21")
	if err := b.DeleteBoard(t.Context(), b.source("rides")); err != nil {
		t.Fatal(err)
	}
	b.follow("ada 1")
	b.putSource("rides", leaderboard.Rules{Order: leaderboard.OrderAsc})
	b.submitTo("rides", score("eve", 300))
	b.follow("eve 300", "ada 1")
	if err := b.DeleteBoard(t.Context(), b.name); err != nil {
		t.Fatal(err)
	}
	if _, err := b.FollowSources(t.Context(), b.name, true); !errors.Is(err, leaderboard.ErrBoardNotFound) {
		t.Errorf("following of a deleted board: %v", err)
	}
}

// testHidden: a member hidden on a source or on the board itself is absent, and after the restoration is back with
// its present entries.
func testHidden(t *testing.T, s subject) {
	b := newSum(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}, {Board: "rides"}}}, "runs", "rides")
	b.submitTo("runs", score("ada", 5), score("bob", 7))
	b.submitTo("rides", score("ada", 10))
	b.follow("ada 15", "bob 7")
	hide := func(board, member string) {
		t.Helper()
		if _, err := s.Hide(t.Context(), hiding(board, member)); err != nil {
			t.Fatal(err)
		}
	}
	hide(b.source("rides"), "ada")
	b.follow("bob 7", "ada 5")
	hide(b.name, "ada")
	b.follow("bob 7")
	hide(b.name, "eve")
	b.submitTo("runs", score("ada", 20), score("eve", 1))
	if step := b.follow("bob 7"); step.ToSeq != step.FromSeq {
		t.Errorf("changes of hidden members are in the log: %+v", step)
	}
	if err := s.Restore(t.Context(), hiding(b.name, "ada")); err != nil {
		t.Fatal(err)
	}
	b.follow("ada 20", "bob 7")
	if err := s.Restore(t.Context(), hiding(b.name, "eve")); err != nil {
		t.Fatal(err)
	}
	b.follow("ada 20", "bob 7", "eve 1")
}

// testAsOf: the times of a batch run ahead of the clock; entries derived from it at once are not reported as older
// (follow checks that).
func testAsOf(t *testing.T, s subject) {
	b := newSum(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}}}, "runs")
	b.submitTo("runs", score("a", 4), score("b", 3), score("c", 2), score("d", 1))
	b.follow("a 4", "b 3", "c 2", "d 1")
}

// testWindows: a window that a source does not have is refused when the rule is made, and reported when the source
// appears or changes later.
func testWindows(t *testing.T, s subject) {
	b := newSum(t, s, "2026-11-20T12:00:00Z", leaderboard.Derive{Last: "2d", From: []leaderboard.DeriveFrom{{Board: "runs"}}}, "runs")
	ever := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime}}
	b.putSource("ever", ever)
	for pointer, d := range map[string]leaderboard.Derive{
		"/derive/last":          {Last: "2d", From: []leaderboard.DeriveFrom{{Board: b.source("ever")}}},
		"/derive/from/0/window": {From: []leaderboard.DeriveFrom{{Board: b.source("ever"), Window: leaderboard.WindowDay}}},
		"/derive/from/0/period": {From: []leaderboard.DeriveFrom{{Board: b.source("runs"), Period: "2026-11-19"}}},
		"/derive/from/1":        {From: []leaderboard.DeriveFrom{{Board: b.source("runs")}, {Board: b.source("runs"), Window: leaderboard.WindowDay}}},
	} {
		_, _, err := s.PutBoard(t.Context(), b.name+".2", leaderboard.Rules{Derive: &d})
		if rule := leaderboard.AsRule(err); rule == nil || rule.Code != leaderboard.CodeInvalidBoard || len(rule.Fields) != 1 || rule.Fields[0].Pointer != pointer {
			t.Errorf("%+v: %v, want a fault at %s", d, err, pointer)
		}
	}
	check := func(want string) {
		t.Helper()
		d, err := s.Derivation(t.Context(), b.name)
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
