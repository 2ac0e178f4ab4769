package sweep

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRoundGivesEachATurn: jobs that have endless work, hang or fail take no turn from the others, and the remaining time
// goes to jobs that can use it.
func TestRoundGivesEachATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Second)
		defer cancel()
		turns, worked := map[string]int{}, map[string]time.Duration{}
		run := func(name string, work func(context.Context, Slice) (bool, error)) Job {
			return Job{Name: name, Run: func(ctx context.Context, slice Slice) (bool, error) {
				began := time.Now()
				defer func() { turns[name]++; worked[name] += time.Since(began) }()
				return work(ctx, slice)
			}}
		}
		endless := func(_ context.Context, slice Slice) (bool, error) {
			for !slice.Over() {
				time.Sleep(30 * time.Millisecond)
			}
			return true, nil
		}
		err := Round(ctx, []Job{
			run("hangs", func(ctx context.Context, _ Slice) (bool, error) { <-ctx.Done(); return false, ctx.Err() }),
			run("endless", endless),
			run("fails", func(context.Context, Slice) (bool, error) { return true, errors.New("a row is locked") }),
			run("also endless", endless),
			run("quick", func(context.Context, Slice) (bool, error) { return false, nil }),
		})
		if turns["hangs"] != 1 || turns["quick"] != 1 || turns["fails"] != failedTurns || turns["endless"] < 5 || turns["also endless"] < 5 {
			t.Errorf("turns: %v", turns)
		}
		if worked["hangs"] > 10*time.Second || worked["endless"]+worked["also endless"] < 30*time.Second {
			t.Errorf("time: %v", worked)
		}
		if err == nil || !strings.Contains(err.Error(), "hangs") || !strings.Contains(err.Error(), "a row is locked") || strings.Contains(err.Error(), "endless") {
			t.Errorf("error: %v", err)
		}
	})
}

// TestOrder: work with the fewest turns comes first, and work that is gone is forgotten.
func TestOrder(t *testing.T) {
	t.Parallel()
	var turns Turns[string]
	order := func(waiting ...string) string {
		Order(&turns, waiting, func(s string) string { return s })
		return strings.Join(waiting, " ")
	}
	for i, want := range []string{"a b c", "b c a", "c a b", "a b c", "b c a"} {
		got := order("a", "b", "c")
		if got != want {
			t.Errorf("turn %d goes to %s, want %s", i, got, want)
		}
		turns.Begin(strings.Fields(got)[0])
	}
	if got := order("c", "new", "b"); got != "new c b" || len(turns.begun) != 2 {
		t.Errorf("%s, remembered %v", got, turns.begun)
	}
}

// TestClockIsDoubted: after a leap forward nothing is deleted for its age, for an hour or until the clock is back.
func TestClockIsDoubted(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	type reading struct{ ahead, after time.Duration }
	for name, c := range map[string]struct {
		readings []reading
		believed []bool
	}{
		"steady":           {[]reading{{0, 0}, {0, time.Minute}, {0, time.Hour}}, []bool{true, true, true}},
		"a drift":          {[]reading{{0, 0}, {4 * time.Minute, time.Minute}, {8 * time.Minute, 2 * time.Minute}}, []bool{true, true, true}},
		"a leap, for good": {[]reading{{0, 0}, {time.Hour, time.Minute}, {time.Hour, time.Hour}, {time.Hour, time.Hour + time.Minute}}, []bool{true, false, false, true}},
		"and back":         {[]reading{{0, 0}, {365 * 24 * time.Hour, time.Minute}, {0, 2 * time.Minute}}, []bool{true, false, true}},
		"back":             {[]reading{{0, 0}, {-time.Hour, time.Minute}, {-time.Hour, 2 * time.Minute}}, []bool{true, true, true}},
		"from the first":   {[]reading{{time.Hour, time.Minute}}, []bool{true}},
	} {
		var clock clock
		var got []bool
		for _, r := range c.readings {
			process := time.Now().Add(r.after)
			got = append(got, clock.believe(start.Add(r.after+r.ahead), process))
		}
		if !slices.Equal(got, c.believed) {
			t.Errorf("%s: believed %v, want %v", name, got, c.believed)
		}
	}
}
