package boards

import (
	"reflect"
	"testing"

	"leaderboard/leaderboard"
)

// TestRolloverAt walks the clock over the end of an hour.
func TestRolloverAt(t *testing.T) {
	t.Parallel()
	cal, err := (&leaderboard.Rules{TimeZone: "UTC"}).Calendar()
	if err != nil {
		t.Fatal(err)
	}
	const hour = leaderboard.Micros(3_600_000_000)
	all := leaderboard.Period{ID: 1, Window: leaderboard.WindowAllTime, EndsAt: leaderboard.Forever}
	first := leaderboard.Period{ID: 2, Window: leaderboard.WindowHour, StartsAt: hour, EndsAt: 2 * hour}
	second := leaderboard.Period{ID: 3, Window: leaderboard.WindowHour, StartsAt: 2 * hour, EndsAt: 3 * hour}
	day := leaderboard.Period{ID: 4, Window: leaderboard.WindowDay, StartsAt: 0, EndsAt: 24 * hour}
	for name, c := range map[string]struct {
		open    []leaderboard.Period
		clock   leaderboard.Micros
		current []int64
		ended   []int64
	}{
		"in the hour":         {[]leaderboard.Period{all, first}, hour, []int64{2, 1}, nil},
		"its last moment":     {[]leaderboard.Period{all, first}, 2*hour - 1, []int64{2, 1}, nil},
		"it has ended":        {[]leaderboard.Period{all, first}, 2 * hour, []int64{0, 1}, []int64{2}},
		"both are open":       {[]leaderboard.Period{all, first, second}, 2 * hour, []int64{3, 1}, []int64{2}},
		"the clock went back": {[]leaderboard.Period{all, second}, 2*hour - 1, []int64{3, 1}, nil},
		"back, both open":     {[]leaderboard.Period{second, first, all}, 2*hour - 1, []int64{2, 1}, nil},
		"back by much":        {[]leaderboard.Period{all, first, second}, 2*hour - leaderboard.ClockBack, []int64{2, 1}, nil},
		"by a moment more":    {[]leaderboard.Period{all, first, second}, 2*hour - leaderboard.ClockBack - 1, []int64{2, 1}, nil},
		"with nothing else":   {[]leaderboard.Period{all, second}, 2*hour - leaderboard.ClockBack - 1, []int64{0, 1}, nil},
		"nothing yet":         {nil, hour, []int64{0, 0}, nil},
		"a removed window":    {[]leaderboard.Period{all, first, day}, hour, []int64{2, 1}, nil},
		"and it has ended":    {[]leaderboard.Period{all, day}, 24 * hour, []int64{0, 1}, []int64{4}},
	} {
		got := RolloverAt(cal, 9, []leaderboard.Window{leaderboard.WindowHour, leaderboard.WindowAllTime}, c.open, c.clock)
		ids, whole := got.IDs()
		if !reflect.DeepEqual(ids, c.current) || !reflect.DeepEqual(got.Ended, c.ended) {
			t.Errorf("%s: current %v, ended %v; want %v, %v", name, ids, got.Ended, c.current, c.ended)
		}
		if whole != (got.Current[0].ID != 0 && got.Current[1].ID != 0) || got.Due() != (!whole || c.ended != nil) || got.lacks() == whole {
			t.Errorf("%s: whole %t, due %t, lacks %t", name, whole, got.Due(), got.lacks())
		}
	}
	begun := RolloverAt(cal, 9, []leaderboard.Window{leaderboard.WindowHour, leaderboard.WindowAllTime}, nil, hour+5).Current
	want := leaderboard.Period{
		BoardID: 9, Window: leaderboard.WindowHour, Label: "1970-01-01T01", StartsAt: hour, EndsAt: 2 * hour,
		State: leaderboard.PeriodStateOpen, Committed: hour + 5,
	}
	if begun[0] != want || begun[1].Label != "" || begun[1].StartsAt != 0 || begun[1].EndsAt != leaderboard.Forever {
		t.Errorf("begun %+v", begun)
	}
}
