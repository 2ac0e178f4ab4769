package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"leaderboard/leaderboard"
)

// testClosed: a closed period changes only when it is reopened on purpose, and that is recorded.
func testClosed(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	b.submit(score("a", 5), score("b", 9))
	day := b.current()[leaderboard.WindowDay]
	b.at("2026-03-28T23:00:01Z")
	b.submit(score("b", 1))
	if _, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, PeriodID: day.ID, Member: "b"}); !errors.Is(err, leaderboard.ErrPeriodClosed) {
		t.Errorf("removed from a closed period: %v", err)
	}
	if p := b.period(day.ID); p.LastSeq != 2 || p.State != leaderboard.PeriodStateClosed {
		t.Fatalf("the closed day is %+v", p)
	}
	if got := b.page(day); !reflect.DeepEqual(got, []string{"1 b 9", "2 a 5"}) {
		t.Errorf("the closed day shows %q", got)
	}
	if _, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, PeriodID: day.ID, Member: "nobody", Reopen: true, Actor: "boss"}); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("nobody removed: %v", err)
	}
	r, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, PeriodID: day.ID, Member: "b", Reopen: true, Actor: "boss"})
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
		if _, err := b.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, PeriodID: id, Member: "a", Reopen: true}); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("period %d: %v", id, err)
		}
	}
	// A change of an open period is no correction.
	b.submit(score("c", 1))
	all := b.current()[leaderboard.WindowAllTime]
	if r, err := b.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, PeriodID: all.ID, Member: "c", Reopen: true, Actor: "boss"}); err != nil || r.Seqs[leaderboard.WindowAllTime] != 4 {
		t.Errorf("removed from an open period: %+v, %v", r, err)
	}
	if runs, err := b.Database.Runs(t.Context(), day.BoardID, 0, 10); err != nil || len(runs) != 1 {
		t.Errorf("runs %+v, %v", runs, err)
	}
}

// testSweepCloses: housekeeping closes a period without a successor, some seconds after its end.
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

// testRetention: the newest closed periods are kept, as many as the board's rule says; periods of other windows are all
// kept.
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

// past returns a member's entries in the periods of a window, newest first, as text.
func (b *timed) past(w leaderboard.Window, member string) []string {
	b.t.Helper()
	made := b.board()
	periods, err := b.Database.PeriodsBefore(b.t.Context(), made.ID, w, leaderboard.MaxTime, 100)
	if err != nil {
		b.t.Fatal(err)
	}
	refs := make([]leaderboard.PeriodRef, len(periods))
	for i := range periods {
		refs[i] = periods[i].Ref(&made)
	}
	got, err := b.Subject.past(b.t.Context(), refs, member)
	if err != nil || len(got) != len(refs) {
		b.t.Fatalf("%d answers about %d periods, %v", len(got), len(refs), err)
	}
	var out []string
	for i := range got {
		if p := b.period(refs[i].ID); got[i].Seq != p.LastSeq || got[i].Total != p.EntryCount || got[i].AsOf != p.Committed || got[i].Stale {
			b.t.Errorf("%s is said to be %+v, it is %+v", p.Name(), got[i].State, p)
		}
		if r := got[i].Ranked; r != nil {
			out = append(out, fmt.Sprintf("%s %d/%d %s %d of %d", refs[i].Name, r.Strict, r.Tied, r.Member, r.Score, got[i].Total))
		}
	}
	return out
}

func (b *timed) wantPast(what string, w leaderboard.Window, member string, want ...string) {
	b.t.Helper()
	if got := b.past(w, member); !slices.Equal(got, want) {
		b.t.Errorf("%s: past of %s by %s is %q, want %q", what, member, w, got, want)
	}
}

// testPast: a member's entry in each period is exact, and follows corrections, hiding and erasure like the periods.
func testPast(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	b.submit(score("a", 5), score("m", 5), score("z", 9))
	b.at("2026-03-28T23:00:01Z")
	b.submit(score("a", 8))
	b.at("2026-03-29T22:00:01Z")
	b.submit(score("m", 7), score("a", 8), score("z", 8))
	first, last := "2026-03-28 3/2 m 5 of 3", "2026-03-30 3/3 m 7 of 3"
	b.wantPast("played on two of three days", leaderboard.WindowDay, "m", last, first)
	b.wantPast("played on two of three days", leaderboard.WindowAllTime, "m", "all_time 3/3 m 7 of 3")
	b.wantPast("nobody", leaderboard.WindowDay, "nobody")

	day, err := s.Database.PeriodNamed(t.Context(), b.board().ID, leaderboard.WindowDay, "2026-03-28")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, PeriodID: day.ID, Member: "z", Reopen: true, Actor: "boss"}); err != nil {
		t.Fatal(err)
	}
	corrected := "2026-03-28 2/1 m 5 of 2"
	b.wantPast("corrected", leaderboard.WindowDay, "m", last, corrected)

	request := leaderboard.HideRequest{Board: b.name, Member: "a", Reason: "bot", Reopen: true}
	b.hide(request)
	b.wantPast("another is hidden", leaderboard.WindowDay, "m", "2026-03-30 2/2 m 7 of 2", "2026-03-28 1/1 m 5 of 1")
	b.wantPast("hidden", leaderboard.WindowDay, "a")
	b.restore(request)
	b.wantPast("restored", leaderboard.WindowDay, "m", last, corrected)
	b.wantPast("restored", leaderboard.WindowDay, "a", "2026-03-30 1/1 a 8 of 3", "2026-03-29 1/1 a 8 of 1", "2026-03-28 1/1 a 5 of 2")

	if done, err := s.Database.Forget(t.Context(), "a", "boss"); err != nil || !done.Done {
		t.Fatalf("%+v, %v", done, err)
	}
	b.wantPast("erased", leaderboard.WindowDay, "a")
	b.wantPast("another is erased", leaderboard.WindowDay, "m", "2026-03-30 2/2 m 7 of 2", "2026-03-28 1/1 m 5 of 1")
	testNoPast(t, b, &day)
}

// testNoPast queries periods that no longer exist, or are not at the required seq yet.
func testNoPast(t *testing.T, b *timed, day *leaderboard.Period) {
	made := b.board()
	there, gone, another, ahead := day.Ref(&made), day.Ref(&made), day.Ref(&made), day.Ref(&made)
	gone.ID, another.Incarnation, ahead.LastSeq = day.ID+1_000_000, day.Incarnation+1, day.LastSeq+100
	for ref, want := range map[*leaderboard.PeriodRef]error{
		&gone: leaderboard.ErrPeriodNotFound, &another: leaderboard.ErrPeriodNotFound, &ahead: leaderboard.ErrSeqAhead,
	} {
		refs := []leaderboard.PeriodRef{there, *ref}
		if ref.ID == there.ID {
			refs = refs[1:]
		}
		if got, err := b.Subject.past(t.Context(), refs, "m"); !errors.Is(err, want) {
			t.Errorf("%+v, %v; want %v", got, err, want)
		}
	}
	if got, err := b.Subject.past(t.Context(), nil, "m"); err != nil || len(got) != 0 {
		t.Errorf("of no periods: %+v, %v", got, err)
	}
}

// testPastSeasons: seasons without an entry of the member are left out, like the time between seasons.
func testPastSeasons(t *testing.T, s Subject) {
	b := newTimed(t, s, "2026-03-02T12:00:00Z", leaderboard.Rules{
		Order: leaderboard.OrderAsc, Windows: []leaderboard.Window{leaderboard.WindowSeason}, Seasons: spring(t),
	})
	b.submit(score("a", 5), score("b", 4))
	b.at("2026-04-02T12:00:00Z")
	b.submit(score("b", 3))
	b.at("2026-05-02T12:00:00Z")
	b.wantPast("between seasons", leaderboard.WindowSeason, "a", "S1 2/2 a 5 of 2")
	b.at("2026-06-02T12:00:00Z")
	b.submit(score("a", 9), score("c", 9))
	b.wantPast("in the third", leaderboard.WindowSeason, "a", "S3 1/1 a 9 of 2", "S1 2/2 a 5 of 2")
	b.wantPast("in the third", leaderboard.WindowSeason, "b", "S2 1/1 b 3 of 1", "S1 1/1 b 4 of 2")
	b.wantPast("in the third", leaderboard.WindowSeason, "c", "S3 2/1 c 9 of 2")
	made := b.board()
	if older, err := s.Database.PeriodsBefore(t.Context(), made.ID, leaderboard.WindowSeason, made.Rules.Seasons[2].StartsAt, 1); err != nil ||
		len(older) != 1 || older[0].Name() != "S2" {
		t.Errorf("the season before the third is %+v, %v", older, err)
	}
}

func (b *timed) board() leaderboard.Board {
	b.t.Helper()
	made, err := b.Database.Board(b.t.Context(), b.name)
	if err != nil {
		b.t.Fatal(err)
	}
	return made
}
