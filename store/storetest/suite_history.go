package storetest

import (
	"errors"
	"reflect"
	"testing"

	"leaderboard"
)

// testClosed: a closed period changes only when it is reopened on purpose, and that is recorded.
func testClosed(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	b.submit(score("a", 5), score("b", 9))
	day := b.current()[leaderboard.WindowDay]
	b.at("2026-03-28T23:00:01Z")
	b.submit(score("b", 1))
	if _, err := s.Database.Remove(t.Context(), b.name, day.ID, "b"); !errors.Is(err, leaderboard.ErrPeriodClosed) {
		t.Errorf("removed from a closed period: %v", err)
	}
	if p := b.period(day.ID); p.LastSeq != 2 || p.State != leaderboard.PeriodStateClosed {
		t.Fatalf("the closed day is %+v", p)
	}
	if got := b.page(day); !reflect.DeepEqual(got, []string{"1 b 9", "2 a 5"}) {
		t.Errorf("the closed day shows %q", got)
	}
	if _, err := s.Database.Reopen(t.Context(), b.name, day.ID, "nobody", "boss"); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("nobody removed: %v", err)
	}
	r, err := s.Database.Reopen(t.Context(), b.name, day.ID, "b", "boss")
	if err != nil || r.Seq != 3 || r.Seqs != nil || short(r.Results) != "b applied -<9" {
		t.Fatalf("reopened: %+v, %v", r, err)
	}
	if got := b.page(day); !reflect.DeepEqual(got, []string{"1 a 5"}) {
		t.Errorf("after the correction: %q", got)
	}
	if got := b.page(b.current()[leaderboard.WindowDay]); !reflect.DeepEqual(got, []string{"1 b 1"}) {
		t.Errorf("the current day shows %q", got)
	}
	runs, err := s.Database.Runs(t.Context(), day.BoardID, 0, 10)
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs %+v, %v", runs, err)
	}
	run := runs[0]
	if run.Kind != leaderboard.RunKindReopen || run.Actor != "boss" || run.Period != "2026-03-28" || run.Window != leaderboard.WindowDay || run.FromSeq != 2 ||
		run.ToSeq != 3 || run.Rows != 1 || run.State != leaderboard.RunStateDone || run.StartedAt < day.EndsAt {
		t.Errorf("recorded as %+v", run)
	}
	if commits, err := s.Database.Changes(t.Context(), day.ID, 2, 10); err != nil || len(commits) != 1 || commits[0].Changes[0].Member != "b" {
		t.Errorf("the log says %+v, %v", commits, err)
	}
	testNoPeriodOfBoard(t, b, day)
}

// testNoPeriodOfBoard names periods that the board does not have.
func testNoPeriodOfBoard(t *testing.T, b *timed, day *leaderboard.Period) {
	other := newBoardNamed(t, b.Subject, b.name+"-other", leaderboard.Rules{})
	for _, id := range []int64{other.ref.ID, day.ID + 1_000_000} {
		if _, err := b.Database.Reopen(t.Context(), b.name, id, "a", ""); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("period %d: %v", id, err)
		}
	}
	// One that is open is no correction.
	b.submit(score("c", 1))
	all := b.current()[leaderboard.WindowAllTime]
	if r, err := b.Database.Reopen(t.Context(), b.name, all.ID, "c", "boss"); err != nil || r.Seqs[leaderboard.WindowAllTime] != 4 {
		t.Errorf("removed from an open period: %+v, %v", r, err)
	}
	if runs, err := b.Database.Runs(t.Context(), day.BoardID, 0, 10); err != nil || len(runs) != 1 {
		t.Errorf("runs %+v, %v", runs, err)
	}
}

// testSweepCloses: housekeeping closes what nobody followed up, some seconds after its end.
func testSweepCloses(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, berlin(leaderboard.WindowDay))
	day := b.current()[leaderboard.WindowDay]
	for _, c := range []struct {
		now  string
		want leaderboard.PeriodState
	}{
		{"2026-03-28T22:59:55Z", leaderboard.PeriodStateOpen},
		{"2026-03-28T23:00:02Z", leaderboard.PeriodStateOpen},
		{"2026-03-28T23:00:11Z", leaderboard.PeriodStateClosed},
	} {
		b.at(c.now)
		if err := s.Database.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p := b.period(day.ID); p.State != c.want {
			t.Errorf("at %s the day is %s", c.now, p.State)
		}
	}
	if list, err := s.Database.Periods(t.Context(), day.BoardID, "", 0, 10); err != nil || len(list) != 1 {
		t.Errorf("the sweep began periods: %+v, %v", list, err)
	}
}

// testRetention: the newest closed periods are kept, as many as the board says; those of other windows all.
func testRetention(t *testing.T, s Subject) {
	rules := threeWindows()
	rules.Keep = map[leaderboard.Window]int{leaderboard.WindowHour: 2, leaderboard.WindowWeek: 0}
	b := newTimed(t, s, "2026-03-28T19:30:00Z", rules)
	var hours []leaderboard.Period
	for _, now := range []string{"2026-03-28T19:30:00Z", "2026-03-28T20:30:00Z", "2026-03-28T21:30:00Z", "2026-03-28T22:30:00Z", "2026-03-28T23:30:00Z"} {
		b.at(now)
		b.submit(score("a", 1), score("b", 2))
		hours = append(hours, *b.current()[leaderboard.WindowHour])
	}
	for range 2 { // a second sweep has nothing more to do
		if err := s.Database.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range hours {
		_, err := s.Database.Period(t.Context(), p.ID)
		if (i < 2) != errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("%s: %v", p.Name(), err)
		}
		if _, err := s.Database.PeriodNamed(t.Context(), p.BoardID, leaderboard.WindowHour, p.Name()); (i < 2) != errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("%s by name: %v", p.Name(), err)
		}
	}
	if p, err := s.Database.FirstPeriod(t.Context(), hours[0].BoardID, leaderboard.WindowHour); err != nil || p.ID != hours[2].ID {
		t.Errorf("the first hour is %+v, %v; want %s", p, err, hours[2].Name())
	}
	if p, err := s.Database.FirstPeriod(t.Context(), hours[0].BoardID, leaderboard.WindowYear); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("the first year is %+v, %v", p, err)
	}
	if list, err := s.Database.Periods(t.Context(), hours[0].BoardID, "", 0, 20); err != nil || len(list) != 6 {
		t.Errorf("left are %+v, %v", list, err)
	}
	if got := b.page(&hours[2]); !reflect.DeepEqual(got, []string{"1 b 2", "2 a 1"}) {
		t.Errorf("a kept hour shows %q", got)
	}
}

// testRetentionOfMany: however many periods there are to give up, the oldest go first: at no time is there a gap that
// passes for quiet hours.
func testRetentionOfMany(t *testing.T, s Subject) {
	rules := berlin(leaderboard.WindowHour)
	b := newTimed(t, s, "2026-03-01T00:30:00Z", rules)
	begin := b.at("2026-03-01T00:30:00Z")
	const hours, hour = 110, leaderboard.Micros(3_600_000_000)
	for i := range leaderboard.Micros(hours) {
		s.SetNow(begin + i*hour)
		b.current()
	}
	rules.Keep = map[leaderboard.Window]int{leaderboard.WindowHour: 2}
	made := b.put(rules)
	for range 2 {
		if err := s.Database.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		left, err := s.Database.Periods(t.Context(), made.ID, leaderboard.WindowHour, 0, hours)
		if err != nil || len(left) < 3 {
			t.Fatalf("%d hours are left, %v", len(left), err)
		}
		for i, p := range left {
			if want := begin - begin%hour + (hours-1-leaderboard.Micros(i))*hour; p.StartsAt != want {
				t.Fatalf("of %d hours the newest but %d begins at %s, want %s", len(left), i, p.StartsAt, want)
			}
		}
	}
	if left, err := s.Database.Periods(t.Context(), made.ID, leaderboard.WindowHour, 0, hours); err != nil || len(left) != 3 {
		t.Errorf("%d hours are left, %v; want the current one and two", len(left), err)
	}
}
