package storetest

import (
	"reflect"
	"testing"

	"leaderboard/leaderboard"
)

// testClockLeaps: the clock leaps and comes back, by an hour or a year, forward or back. Every board takes submissions all
// the time, a period that was current is current again with all its entries, and the order of arrival is kept.
func testClockLeaps(t *testing.T, s Subject) {
	for name, leap := range map[string]struct{ to, back string }{
		"an hour ahead": {"2026-03-28T22:30:00Z", "2026-03-28T21:30:00Z"}, "an hour behind": {"2026-03-28T20:30:00Z", "2026-03-28T21:30:00Z"},
		"a year ahead": {"2027-03-28T21:30:00Z", "2026-03-28T21:30:00Z"}, "a year behind": {"2025-03-28T21:30:00Z", "2026-03-28T21:30:00Z"},
	} {
		for _, swept := range []bool{false, true} {
			t.Run(name, func(t *testing.T) { leapAndBack(t, s, leap.to, leap.back, swept) })
		}
	}
}

// leapAndBack submits before a leap, after it and when the clock is back; or, swept, only the housekeeping sees the
// leap.
func leapAndBack(t *testing.T, s Subject, to, back string, swept bool) {
	windows := []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowHour, leaderboard.WindowDay, leaderboard.WindowYear}
	b := newTimed(t, s, back, leaderboard.Rules{Windows: windows, TimeZone: "UTC"})
	b.submit(score("a", 5))
	before := b.current()
	b.at(to)
	want, inAll := []string{"1 a 5", "2 c 5"}, []string{"1 a 5", "2 b 5", "3 c 5"}
	if swept {
		if err := s.Database.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		inAll = want
	} else {
		b.submit(score("b", 5))
	}
	b.at(back)
	if swept {
		if err := s.Database.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.submit(score("c", 5))
	after := b.current()
	for _, w := range windows {
		page := want
		if before[w].EndsAt == leaderboard.Forever || before[w].StartsAt <= b.at(to) && b.at(to) < before[w].EndsAt {
			page = inAll // the leap did not lead out of it
		}
		b.at(back)
		if after[w].ID != before[w].ID || after[w].State != leaderboard.PeriodStateOpen {
			t.Errorf("%s: %s is current, want %s again", w, after[w].Name(), before[w].Name())
		} else if got := b.page(after[w]); !reflect.DeepEqual(got, page) {
			t.Errorf("%s shows %q, want %q", w, got, page)
		}
	}
	runs, err := b.Database.Runs(t.Context(), after[leaderboard.WindowAllTime].BoardID, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	reopened := map[leaderboard.Window]bool{}
	for _, r := range runs {
		if r.Kind != leaderboard.RunKindReopen || r.Reason != leaderboard.RunReasonClock || r.State != leaderboard.RunStateDone || r.FromSeq != 1 || r.ToSeq != 1 {
			t.Errorf("run %+v", r)
		}
		reopened[r.Window] = true
	}
	for _, w := range windows {
		if over := before[w].EndsAt <= b.at(to); reopened[w] != over {
			t.Errorf("%s: opened again %t, want %t", w, reopened[w], over)
		}
	}
	b.at(back)
	b.resubmitted(t)
}

// resubmitted: at any time of the clock, the same submission with the same key gives the same receipt.
func (b *timed) resubmitted(t *testing.T) {
	req := leaderboard.SubmitRequest{Board: b.name, Key: "k", Entries: []leaderboard.Submission{score("d", 7)}}
	first, err := b.Database.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	first.Replayed = true
	for _, now := range []string{"2026-03-28T21:30:00Z", "2027-03-28T21:30:00Z", "2026-03-28T21:30:00Z"} {
		b.at(now)
		if err := b.Database.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again, err := b.Database.Submit(t.Context(), req); err != nil || !reflect.DeepEqual(again, first) {
			t.Errorf("at %s again: %+v, %v; want %+v", now, again, err, first)
		}
	}
}

// testClockBackIntoClosed: a clock that goes back by little into a period that has no successor, and that was closed
// by the housekeeping, opens it again.
func testClockBackIntoClosed(t *testing.T, s Subject) {
	b := newTimed(t, s, "2026-03-28T22:59:59Z", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowHour}, TimeZone: "UTC"})
	b.submit(score("a", 5))
	hour := b.current()[leaderboard.WindowHour]
	b.at("2026-03-28T23:00:20Z")
	if err := s.Database.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := b.period(hour.ID); p.State != leaderboard.PeriodStateClosed {
		t.Fatalf("not closed: %+v", p)
	}
	b.at("2026-03-28T22:59:00Z")
	if r := b.submit(score("b", 6)); r.Seq != 2 {
		t.Errorf("submitted to %+v", r)
	}
	if p := b.period(hour.ID); p.State != leaderboard.PeriodStateOpen || p.LastSeq != 2 {
		t.Errorf("the hour is %+v", p)
	}
	b.at("2026-03-28T23:00:20Z")
	if r := b.submit(score("b", 6)); r.Seq != 1 {
		t.Errorf("the next hour: %+v", r)
	}
}
