package storetest

import (
	"errors"
	"reflect"
	"sync"
	"testing"

	"leaderboard/leaderboard"
)

// RunWindows runs the part of the suite that is about calendar windows and the turn of the clock. It sets the clock of the
// subject, so its tests run one after another.
func RunWindows(t *testing.T, s Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"read first": testTurnRead, "write first": testTurnWritten, "change of windows": testChangeWindows, "all windows or none": testAllWindowsOrNone, "max_delta of a first score": testFirstDelta,
		"clock goes back": testClockBack, "clock leaps": testClockLeaps, "clock goes back into a closed period": testClockBackIntoClosed, "time zone": testTimeZone, "keys": testKeysMultiBoardTurn, "remove": testRemoveWindows,
		"names": testPeriodNames, "turn under load": testTurnUnderLoad, "refreshes begin nothing": testPeekBeginsNothing,
		"closed periods": testClosed, "sweep closes": testSweepCloses, "retention": testRetention, "retention of many": testRetentionOfMany,
		"seasons": testSeasons, "seasons beside all_time": testSeasonsBeside, "change of seasons": testChangeSeasons,
		"hidden members": testHiddenPeriods, "hidden in a closed period, removed": testHiddenClosedRemoved,
		"only hidden in a closed period, removed": testHiddenClosedEmpty, "hidden and time zone": testHiddenRecut,
		"past of a member": testPast, "past over seasons": testPastSeasons,
		"hidden in an old window": testHiddenOldWindow, "hidden while the clock stands": testHiddenClock,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// testTurnRead: a reader is first after the turn: it sees an empty new period, and the old one under its own name.
func testTurnRead(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	r := b.submit(score("a", 5))
	if r.Seq != 1 || !reflect.DeepEqual(r.Seqs, seqs(1, 1, 1)) {
		t.Errorf("receipt %+v", r)
	}
	old := b.current()
	if old[leaderboard.WindowDay].Name() != "2026-03-28" || old[leaderboard.WindowHour].Name() != "2026-03-28T23" || old[leaderboard.WindowAllTime].Name() != "all_time" {
		t.Errorf("current periods %+v", old)
	}
	b.at("2026-03-28T23:00:01Z")
	now := b.current()
	day := now[leaderboard.WindowDay]
	if day.Name() != "2026-03-29" || day.LastSeq != 0 || day.EntryCount != 0 || day.EndsAt-day.StartsAt != 23*3600_000_000 ||
		day.State != leaderboard.PeriodStateOpen || day.Committed < day.StartsAt {
		t.Errorf("the new day is %+v", day)
	}
	if now[leaderboard.WindowAllTime].ID != old[leaderboard.WindowAllTime].ID {
		t.Error("all_time began anew")
	}
	if got := b.page(day); len(got) != 0 {
		t.Errorf("the new day shows %q", got)
	}
	if got := b.page(old[leaderboard.WindowDay]); !reflect.DeepEqual(got, []string{"1 a 5"}) {
		t.Errorf("the old day shows %q", got)
	}
	if p := b.period(old[leaderboard.WindowDay].ID); p.State != leaderboard.PeriodStateClosed {
		t.Errorf("the old day is %s", p.State)
	}
	r = b.submit(score("a", 3))
	if got := short(r.Results); got != "a applied 3<-" || !reflect.DeepEqual(r.Seqs, seqs(1, 1, 1)) {
		t.Errorf("after the turn: %s, seqs %v", got, r.Seqs)
	}
	if again := b.current(); again[leaderboard.WindowDay].ID != day.ID || again[leaderboard.WindowDay].LastSeq != 1 {
		t.Errorf("the new day became %+v", again[leaderboard.WindowDay])
	}
}

// testTurnWritten: a writer is first after the turn: it begins the missing periods in its own transaction.
func testTurnWritten(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	b.submit(score("a", 5), score("b", 9))
	old := b.current()
	b.at("2026-03-29T01:00:01Z") // the clock shows 03:00:01, there is no hour 02
	r := b.submit(score("a", 7))
	if got := short(r.Results); got != "a applied 7<-" || !reflect.DeepEqual(r.Seqs, seqs(1, 3, 1)) {
		t.Errorf("after the turn: %s, seqs %v", got, r.Seqs)
	}
	now := b.current()
	if now[leaderboard.WindowHour].Name() != "2026-03-29T03" || now[leaderboard.WindowDay].Name() != "2026-03-29" {
		t.Errorf("current periods %+v", now)
	}
	for w, want := range map[leaderboard.Window][]string{leaderboard.WindowDay: {"1 a 7"}, leaderboard.WindowAllTime: {"1 b 9", "2 a 7"}, leaderboard.WindowHour: {"1 a 7"}} {
		if got := b.page(now[w]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s shows %q, want %q", w, got, want)
		}
	}
	list, err := s.Database.Periods(t.Context(), now[leaderboard.WindowDay].BoardID, "", 0, 10)
	if err != nil || len(list) != 5 {
		t.Fatalf("periods %+v, %v", list, err)
	}
	for i := 1; i < len(list); i++ {
		if list[i].ID >= list[i-1].ID {
			t.Errorf("periods are not newest first: %+v", list)
		}
	}
	// A submit that changes nothing keeps the periods that it began.
	b.at("2026-03-29T02:00:01Z")
	if r := b.submit(score("\xff", 1)); r.Results[0].Status != leaderboard.StatusRejected || !reflect.DeepEqual(r.Seqs, seqs(1, 3, 0)) {
		t.Errorf("rejected in a new hour: %+v", r)
	}
	if p := b.period(old[leaderboard.WindowHour].ID); p.State != leaderboard.PeriodStateClosed || p.LastSeq != 2 {
		t.Errorf("the first hour is %+v", p)
	}
}

// testAllWindowsOrNone: a submission that breaks a rule in one window counts in no window: yesterday's sum reaches the
// limit of all_time, not of the day.
func testAllWindowsOrNone(t *testing.T, s Subject) {
	rules, limit := berlin(leaderboard.WindowDay, leaderboard.WindowAllTime), int64(10)
	rules.Policy, rules.Limits.MaxScore = leaderboard.PolicySum, &limit
	b := newTimed(t, s, berlinNight, rules)
	b.submit(score("a", 6))
	b.at("2026-03-28T23:00:01Z")
	r := b.submit(score("a", 6), score("b", 10), score("a", 4), score("b", 1))
	if got := short(r.Results); got != "a rejected -<- score-out-of-range; b applied 10<-; a applied 4<-; b rejected 10<10 score-out-of-range" {
		t.Errorf("results %s", got)
	}
	if rule := r.Results[0].Rule; rule == nil || rule.Detail != "in window all_time: score 12 is above the board's max_score 10" {
		t.Errorf("the first is refused by %v", rule)
	}
	now := b.current()
	for w, want := range map[leaderboard.Window][]string{leaderboard.WindowDay: {"1 b 10", "2 a 4"}, leaderboard.WindowAllTime: {"1 b 10", "2 a 10"}} {
		if got := b.page(now[w]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s shows %q, want %q", w, got, want)
		}
	}
}

// testFirstDelta: max_delta does not limit the first score of a member in a period. With all_time next to a window it
// limits each score that is better than the score in all_time.
func testFirstDelta(t *testing.T, s Subject) {
	const nextDay = "2026-03-28T23:00:01Z"
	delta := int64(10)
	for name, c := range map[string]struct {
		policy  leaderboard.Policy
		windows []leaderboard.Window
		want    string // on the next day, after 1005 and 1015
	}{
		"best, day":                {leaderboard.PolicyBest, []leaderboard.Window{leaderboard.WindowDay}, "a applied 5000<-; a rejected 5000<5000 delta-out-of-range; a applied 5010<5000"},
		"latest, day":              {leaderboard.PolicyLatest, []leaderboard.Window{leaderboard.WindowDay}, "a applied 5000<-; a rejected 5000<5000 delta-out-of-range; a applied 5010<5000"},
		"best, day, all_time":      {leaderboard.PolicyBest, []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowAllTime}, "a rejected -<- delta-out-of-range; a rejected -<- delta-out-of-range; a rejected -<- delta-out-of-range"},
		"sum, held from the first": {leaderboard.PolicySum, []leaderboard.Window{leaderboard.WindowDay}, "a rejected -<- delta-out-of-range; a rejected -<- delta-out-of-range; a rejected -<- delta-out-of-range"},
	} {
		t.Run(name, func(t *testing.T) {
			rules := berlin(c.windows...)
			rules.Policy, rules.Limits.MaxDelta = c.policy, &delta
			b := newTimed(t, s, berlinNight, rules)
			want := "a applied 1005<-; a rejected 1005<1005 delta-out-of-range; a applied 1015<1005"
			if c.policy == leaderboard.PolicySum {
				want = "a rejected -<- delta-out-of-range; a rejected -<- delta-out-of-range; a rejected -<- delta-out-of-range"
			}
			if got := short(b.submit(score("a", 1005), score("a", 1016), score("a", 1015)).Results); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			b.at(nextDay)
			if got := short(b.submit(score("a", 5000), score("a", 5011), score("a", 5010)).Results); got != c.want {
				t.Errorf("on the next day: %s, want %s", got, c.want)
			}
		})
	}
}

// testChangeWindows: a window that is added begins empty; a removed window is not changed, and continues when it comes
// back.
func testChangeWindows(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, berlin(leaderboard.WindowAllTime))
	if r := b.submit(score("a", 5)); r.Seqs != nil {
		t.Errorf("one window has seqs %v", r.Seqs)
	}
	b.put(berlin(leaderboard.WindowWeek, leaderboard.WindowAllTime))
	week := b.current()[leaderboard.WindowWeek]
	if week.Name() != "2026-W13" || week.LastSeq != 0 || week.StartsAt > week.Committed {
		t.Errorf("the added window has %+v", week)
	}
	r := b.submit(score("a", 4))
	if got := short(r.Results); got != "a applied 4<-" || r.Seq != 1 || r.Seqs[leaderboard.WindowAllTime] != 1 {
		t.Errorf("after adding: %s, %+v", got, r)
	}
	b.put(berlin(leaderboard.WindowAllTime))
	b.submit(score("b", 6))
	if p := b.period(week.ID); p.State != leaderboard.PeriodStateOpen || p.LastSeq != 1 {
		t.Errorf("the removed window has %+v", p)
	}
	if _, ok := b.current()[leaderboard.WindowWeek]; ok {
		t.Error("a removed window has a current period")
	}
	b.put(berlin(leaderboard.WindowAllTime, leaderboard.WindowWeek))
	if r := b.submit(score("b", 6)); r.Seqs[leaderboard.WindowWeek] != 2 || b.current()[leaderboard.WindowWeek].ID != week.ID {
		t.Errorf("back again: %+v", r)
	}
}

// testClockBack: a clock that goes back does not bring yesterday back.
func testClockBack(t *testing.T, s Subject) {
	b := newTimed(t, s, "2026-03-28T23:00:10Z", berlin(leaderboard.WindowDay))
	first := b.submit(score("a", 5))
	b.at(berlinNight)
	second := b.submit(score("b", 5))
	if second.Seq != 2 || *second.Results[0].CreatedTime <= *first.Results[0].CreatedTime {
		t.Errorf("before %+v, after %+v", first, second)
	}
	if got := b.page(b.current()[leaderboard.WindowDay]); !reflect.DeepEqual(got, []string{"1 a 5", "2 b 5"}) {
		t.Errorf("the day shows %q", got)
	}
}

// testTimeZone: the zone cuts the periods: it can change only until one of them was used.
func testTimeZone(t *testing.T, s Subject) {
	b := newTimed(t, s, "2026-03-28T23:30:00Z", berlin(leaderboard.WindowAllTime, leaderboard.WindowDay))
	if got := b.current()[leaderboard.WindowDay].Name(); got != "2026-03-29" {
		t.Fatalf("in Berlin it is %s", got)
	}
	utc := berlin(leaderboard.WindowAllTime, leaderboard.WindowDay)
	utc.TimeZone = "UTC"
	b.put(utc)
	if got := b.current()[leaderboard.WindowDay].Name(); got != "2026-03-28" {
		t.Fatalf("in UTC it is %s", got)
	}
	if list, err := s.Database.Periods(t.Context(), b.current()[leaderboard.WindowDay].BoardID, leaderboard.WindowDay, 0, 10); err != nil || len(list) != 1 {
		t.Errorf("days %+v, %v", list, err)
	}
	b.submit(score("a", 1))
	if _, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, Member: "a"}); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Database.PutBoard(t.Context(), b.name, threeWindows())
	wantConflict(t, err, "/time_zone", "time_zone stays UTC, because calendar periods of the board were used")
}

// testKeysMultiBoardTurn: the answer to a key is the first answer, also after the turn.
func testKeysMultiBoardTurn(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	req := leaderboard.SubmitRequest{Board: b.name, Key: "k", Entries: []leaderboard.Submission{score("a", 5)}}
	first, err := s.Database.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	first.Replayed = true
	b.at("2026-03-28T23:00:01Z")
	again, err := s.Database.Submit(t.Context(), req)
	if err != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("again %+v, %v; want %+v", again, err, first)
	}
	if p := b.current()[leaderboard.WindowDay]; p.LastSeq != 0 {
		t.Errorf("the retry counted in the new day: %+v", p)
	}
}

func testRemoveWindows(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	b.submit(score("a", 5), score("b", 6))
	now := b.current()
	r, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, PeriodID: now[leaderboard.WindowAllTime].ID, Member: "a"})
	if err != nil || !reflect.DeepEqual(r.Seqs, seqs(2, 3, 2)) {
		t.Fatalf("removed from one period: %+v, %v", r, err)
	}
	r, err = s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, Member: "a"}) // it is in the two others still
	if err != nil || !reflect.DeepEqual(r.Seqs, seqs(3, 3, 3)) {
		t.Fatalf("removed from all: %+v, %v", r, err)
	}
	if _, err := s.Database.Remove(t.Context(), leaderboard.RemoveRequest{Board: b.name, Member: "a"}); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("removed twice: %v", err)
	}
}

// testPeriodNames: periods are found by their names, past ones too, of windows that were removed too.
func testPeriodNames(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, threeWindows())
	old := b.current()
	b.at("2026-03-28T23:00:01Z")
	b.put(berlin(leaderboard.WindowAllTime, leaderboard.WindowHour))
	now := b.current()
	id := now[leaderboard.WindowAllTime].BoardID
	for _, c := range []struct {
		w    leaderboard.Window
		name string
		want int64
	}{
		{leaderboard.WindowDay, "2026-03-28", old[leaderboard.WindowDay].ID},
		{leaderboard.WindowHour, "2026-03-28T23", old[leaderboard.WindowHour].ID},
		{leaderboard.WindowHour, "2026-03-29T00", now[leaderboard.WindowHour].ID},
		{leaderboard.WindowAllTime, "all_time", old[leaderboard.WindowAllTime].ID},
		{leaderboard.WindowDay, "2026-03-29", 0},
		{leaderboard.WindowHour, "2026-03-28", 0},
		{leaderboard.WindowWeek, "2026-W13", 0},
	} {
		p, err := s.Database.PeriodNamed(t.Context(), id, c.w, c.name)
		if p.ID != c.want || (c.want == 0) != errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("%s %s: %+v, %v; want %d", c.w, c.name, p, err, c.want)
		}
	}
}

// testPeekBeginsNothing: a look at copies begins no period.
func testPeekBeginsNothing(t *testing.T, s Subject) {
	b := newTimed(t, s, berlinNight, berlin(leaderboard.WindowHour))
	made := b.put(berlin(leaderboard.WindowHour))
	old := b.current()[leaderboard.WindowHour]
	if p, err := s.Database.CurrentPeriod(t.Context(), made, leaderboard.WindowHour); err != nil || p != *old {
		t.Errorf("%+v, %v; want %+v", p, err, old)
	}
	b.at("2026-03-28T23:00:01Z")
	if p, err := s.Database.CurrentPeriod(t.Context(), made, leaderboard.WindowHour); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
		t.Errorf("after the turn: %+v, %v", p, err)
	}
	if list, err := s.Database.Periods(t.Context(), made.ID, "", 0, 10); err != nil || len(list) != 1 {
		t.Errorf("periods %+v, %v", list, err)
	}
}

// testTurnUnderLoad: writers and readers cross the turn together: nothing is lost, counted twice or put into two
// periods of one name.
func testTurnUnderLoad(t *testing.T, s Subject) {
	rules := threeWindows()
	rules.Policy = leaderboard.PolicySum
	b := newTimed(t, s, berlinNight, rules)
	const writers, each = 8, 20
	var wg sync.WaitGroup
	errs := make(chan error, 2*writers)
	for range writers {
		wg.Go(func() {
			for range each {
				if _, err := s.Database.Submit(t.Context(), leaderboard.SubmitRequest{Board: b.name, Entries: []leaderboard.Submission{score("m", 1)}}); err != nil {
					errs <- err
					return
				}
			}
		})
		wg.Go(func() {
			for range each {
				if l, err := s.Database.Current(t.Context(), b.name); err != nil || len(l.Periods) != 3 {
					errs <- err
					return
				}
			}
		})
	}
	b.at("2026-03-28T23:00:01Z")
	wg.Wait()
	select {
	case err := <-errs:
		t.Fatal(err)
	default:
	}
	list, err := s.Database.Periods(t.Context(), b.current()[leaderboard.WindowAllTime].BoardID, "", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	sums, names := map[leaderboard.Window]int64{}, map[string]bool{}
	for _, p := range list {
		if names[p.Name()] {
			t.Errorf("two periods are %s", p.Name())
		}
		names[p.Name()] = true
		sums[p.Window] += p.LastSeq
	}
	for _, w := range rules.Windows {
		if sums[w] != writers*each {
			t.Errorf("%s counted %d of %d", w, sums[w], writers*each)
		}
	}
}
