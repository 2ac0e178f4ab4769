package storetest

import (
	"fmt"
	"reflect"
	"testing"

	"leaderboard/leaderboard"
)

func (b *timed) hide(r leaderboard.HideRequest) {
	b.t.Helper()
	if _, err := b.Database.Hide(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
}

func (b *timed) restore(r leaderboard.HideRequest) {
	b.t.Helper()
	if err := b.Database.Restore(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
}

func (b *timed) want(what string, p *leaderboard.Period, lines ...string) {
	b.t.Helper()
	if got := b.page(p); !reflect.DeepEqual(got, append([]string{}, lines...)) {
		b.t.Errorf("%s: %s shows %q, want %q", what, p.Name(), got, lines)
	}
}

// testHiddenPeriods: a hidden member stays hidden in periods that begin. Closed periods do not change, with or without the
// member, unless they are reopened, which is recorded.
func testHiddenPeriods(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	request := leaderboard.HideRequest{Board: b.name, Member: "m", Reason: "bot", Actor: "boss"}
	b.submit(score("m", 9), score("n", 5))
	one := b.current()[leaderboard.WindowDay]
	b.at("2026-03-28T23:00:01Z")
	b.submit(score("m", 8), score("n", 4))
	b.hide(request)
	two := b.current()[leaderboard.WindowDay]
	b.want("hidden", one, "1 m 9", "2 n 5")
	b.want("hidden", two, "1 n 4")
	if r := b.submit(score("m", 7)); short(r.Results) != "m unchanged 8<8" || r.Seqs[leaderboard.WindowDay] != 3 {
		t.Errorf("hidden, told %s at %v", short(r.Results), r.Seqs)
	}
	b.at("2026-03-29T22:00:01Z")
	if r := b.submit(score("m", 6), score("n", 3)); short(r.Results) != "m applied 6<-; n applied 3<-" || r.Seqs[leaderboard.WindowDay] != 1 {
		t.Errorf("in a new period told %s at %v", short(r.Results), r.Seqs)
	}
	three := b.current()[leaderboard.WindowDay]
	b.want("in a new period", three, "1 n 3")

	b.restore(request)
	b.want("restored", one, "1 m 9", "2 n 5")
	b.want("restored", two, "1 n 4") // closed meanwhile
	b.want("restored", three, "1 m 6", "2 n 3")

	request.Reopen = true
	b.hide(request)
	b.want("hidden in closed periods", one, "1 n 5")
	b.want("hidden in closed periods", two, "1 n 4")
	b.want("hidden in closed periods", three, "1 n 3")
	request.Actor = "judge"
	b.restore(request)
	b.want("restored in closed periods", one, "1 m 9", "2 n 5")
	b.want("restored in closed periods", two, "1 m 8", "2 n 4")
	b.want("restored in closed periods", three, "1 m 6", "2 n 3")
	testHiddenRuns(t, b, one, two)
}

// testHiddenRuns: the corrections of the closed periods are recorded, each with its seq and its actor.
func testHiddenRuns(t *testing.T, b *timed, one, two *leaderboard.Period) {
	runs, err := b.Database.Runs(t.Context(), one.BoardID, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, r := range runs {
		if r.Window == leaderboard.WindowDay {
			got[fmt.Sprintf("%s %s %s %d-%d", r.Kind, r.Period, r.Actor, r.FromSeq, r.ToSeq)]++
		}
	}
	want := map[string]int{
		"reopen " + one.Name() + " boss 2-3": 1, "reopen " + one.Name() + " judge 3-4": 1, "reopen " + two.Name() + " judge 3-4": 1,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

// testHiddenClosedRemoved: a hidden entry in a closed period can be removed for good.
func testHiddenClosedRemoved(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	request := leaderboard.HideRequest{Board: b.name, Member: "m", Reason: "bot"}
	b.hide(request)
	b.submit(score("m", 9), score("n", 5))
	day := b.current()[leaderboard.WindowDay]
	b.at("2026-03-28T23:00:01Z")
	b.restore(request)
	b.want("closed without m", day, "1 n 5")
	r, err := b.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, PeriodID: day.ID, Member: "m", Reopen: true, Actor: "boss"})
	if err != nil || short(r.Results) != "m applied -<9" || r.Seq != 1 {
		t.Errorf("removed: %+v, %v", r, err)
	}
	if runs, err := b.Database.Runs(t.Context(), day.BoardID, 0, 10); err != nil || len(runs) != 1 || runs[0].Kind != leaderboard.RunKindReopen ||
		runs[0].Actor != "boss" || runs[0].FromSeq != 1 || runs[0].ToSeq != 1 {
		t.Errorf("recorded %+v, %v", runs, err)
	}
	request.Reopen = true
	b.hide(request)
	b.restore(request)
	b.want("removed for good", day, "1 n 5")
}

// testHiddenClosedEmpty: when a closed period has no visible entry, the receipt has that, not the seq of today's.
func testHiddenClosedEmpty(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	request := leaderboard.HideRequest{Board: b.name, Member: "m", Reason: "bot"}
	b.hide(request)
	b.submit(score("m", 9))
	day := b.current()[leaderboard.WindowDay]
	b.at("2026-03-28T23:00:01Z")
	b.submit(score("n", 5), score("o", 4))
	r, err := b.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, PeriodID: day.ID, Member: "m", Reopen: true, Actor: "boss"})
	if err != nil || short(r.Results) != "m applied -<9" || r.Seq != 0 || len(r.Seqs) != 0 {
		t.Errorf("removed: %+v, %v", r, err)
	}
}

// testHiddenRecut: the bounds of a period in which only hidden members have entries do not move: it was used.
func testHiddenRecut(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	b.hide(leaderboard.HideRequest{Board: b.name, Member: "m", Reason: "bot"})
	b.submit(score("m", 9))
	rules := threeWindows()
	rules.TimeZone = "UTC"
	if _, _, err := b.Database.PutBoard(t.Context(), b.name, rules); err == nil {
		t.Error("the time zone was changed though a hidden member has entries")
	}
}

// testHiddenOldWindow: a window that the board no longer has keeps its open period; hiding is about that one too.
func testHiddenOldWindow(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	b.submit(score("m", 9), score("n", 5))
	all := b.current()[leaderboard.WindowAllTime]
	b.put(berlin(leaderboard.WindowDay))
	request := leaderboard.HideRequest{Board: b.name, Member: "m", Reason: "bot"}
	b.hide(request)
	b.want("hidden", all, "1 n 5")
	b.restore(request)
	b.want("restored", all, "1 m 9", "2 n 5")
}

// testHiddenClock: times are assigned to hidden entries and to others in one order, though the clock stands still: when all
// are shown together later, the first ones are first.
func testHiddenClock(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, berlin(leaderboard.WindowDay))
	request := leaderboard.HideRequest{Board: b.name, Member: "z", Reason: "bot"}
	b.hide(request)
	b.submit(score("z", 5))
	b.submit(score("a", 5))
	b.restore(request)
	b.want("restored", b.current()[leaderboard.WindowDay], "1 z 5", "2 a 5")
}
