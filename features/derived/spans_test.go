package derived

import (
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// exampleBoards are a board of days and all time, made on 20 November 2026, one of seasons, and a derived one.
func exampleBoards(name string) (sourceBoard, bool) {
	rules := leaderboard.Rules{Seasons: []leaderboard.SeasonRule{{Name: "S1", StartsAt: 1, EndsAt: leaderboard.MaxTime}}}
	cal, err := rules.Calendar()
	b := sourceBoard{calendar: cal, created: leaderboard.MicrosOf(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))}
	switch b.windows = []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowAllTime}; name {
	case "days":
	case "seasons":
		b.windows = []leaderboard.Window{leaderboard.WindowSeason}
	case "derived":
		b.derived = true
	default:
		return sourceBoard{}, false
	}
	return b, err == nil
}

// TestCheckSources: a board that could never have an entry is refused, as far as its sources exist.
func TestCheckSources(t *testing.T) {
	t.Parallel()
	const day, week, ever, season = leaderboard.WindowDay, leaderboard.WindowWeek, leaderboard.WindowAllTime, leaderboard.WindowSeason
	type from = []leaderboard.DeriveFrom
	for name, c := range map[string]struct {
		last string
		from from
		want string
	}{
		"a board that may come":   {"", from{{Board: "later", Window: week}}, ""},
		"the same with last":      {"4w", from{{Board: "later"}}, ""},
		"itself":                  {"", from{{Board: "self"}}, "/derive/from/0/board"},
		"derived":                 {"", from{{Board: "days"}, {Board: "derived"}}, "/derive/from/1/board"},
		"its windows":             {"", from{{Board: "days"}, {Board: "days", Window: ever}}, ""},
		"no such window":          {"", from{{Board: "days", Window: week}}, "/derive/from/0/window"},
		"last of its window":      {"7d", from{{Board: "days"}}, ""},
		"last of another":         {"48h", from{{Board: "days"}}, "/derive/last"},
		"a day":                   {"", from{{Board: "days", Period: "2026-11-20"}}, ""},
		"a day to come":           {"", from{{Board: "days", Period: "2030-01-01"}}, ""},
		"the day before it":       {"", from{{Board: "days", Period: "2026-11-19"}}, "/derive/from/0/period"},
		"a week for a day":        {"", from{{Board: "days", Period: "2026-W47"}}, "/derive/from/0/period"},
		"a window that was there": {"", from{{Board: "days", Window: week, Period: "2026-W47"}}, ""},
		"before all time":         {"", from{{Board: "days", Window: ever, Period: "previous"}}, "/derive/from/0/period"},
		"a season":                {"", from{{Board: "seasons", Period: "S1"}}, ""},
		"no such season":          {"", from{{Board: "seasons", Window: season, Period: "S2"}}, "/derive/from/0/period"},
		"the first window twice":  {"", from{{Board: "days"}, {Board: "days", Window: day}}, "/derive/from/1"},
		"all time twice":          {"", from{{Board: "days", Window: ever, Period: "all_time"}, {Board: "days", Window: ever}}, "/derive/from/1"},
		"today and a day":         {"", from{{Board: "days"}, {Board: "days", Period: "2026-11-20"}}, ""},
	} {
		rules := leaderboard.Rules{Derive: &leaderboard.Derive{Last: c.last, From: c.from}}.WithDefaults()
		if broken := rules.Check(); broken != nil {
			t.Errorf("%s: %v", name, broken)
		}
		if got := pointersOf(checkSources(rules.Derive, "self", exampleBoards)); got != c.want {
			t.Errorf("%s: fault at %q, want %q", name, got, c.want)
		}
	}
}

// TestSourceConditions: the conditions of sources, with and without a period that has begun.
func TestSourceConditions(t *testing.T) {
	t.Parallel()
	const week = leaderboard.WindowWeek
	for want, d := range map[string]leaderboard.Derive{
		"present empty":           {From: []leaderboard.DeriveFrom{{Board: "days"}}},
		"no_board no_board":       {From: []leaderboard.DeriveFrom{{Board: "later"}}},
		"derived derived":         {From: []leaderboard.DeriveFrom{{Board: "derived"}}},
		"no_window no_window":     {From: []leaderboard.DeriveFrom{{Board: "days", Window: week, Period: "previous"}}},
		"present no_window":       {From: []leaderboard.DeriveFrom{{Board: "days", Window: week, Period: "2026-W47"}}},
		"no_period no_period":     {From: []leaderboard.DeriveFrom{{Board: "days", Period: "2026-W47"}}},
		"no_window present empty": {Last: "2w", From: []leaderboard.DeriveFrom{{Board: "days"}}},
	} {
		spans := spansOf(&d, leaderboard.MicrosOf(time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)), exampleBoards)
		got := string(spans[0].condition(true) + " " + spans[0].condition(false))
		if d.Last != "" { // the week before the last week of a board that has ended
			got = string(spans[0].condition(true) + " " + spans[1].condition(true) + " empty")
		}
		if got != want {
			t.Errorf("%+v: %s, want %s", d, got, want)
		}
	}
	for _, c := range []struct {
		state, want api.DerivationState
		source      api.SourceCondition
	}{
		{api.DerivationStateFollowing, api.DerivationStateFollowing, api.SourceConditionEmpty},
		{api.DerivationStateFollowing, api.DerivationStateIncomplete, api.SourceConditionNoWindow},
		{api.DerivationStateComputing, api.DerivationStateComputing, api.SourceConditionNoWindow},
	} {
		if got := withSources(c.state, []api.Source{{Condition: api.SourceConditionPresent}, {Condition: c.source}}); got != c.want {
			t.Errorf("%s with a source %s is %s, want %s", c.state, c.source, got, c.want)
		}
	}
}

// TestSpans walks over the end of a day that has 23 hours, in two zones.
func TestSpans(t *testing.T) {
	t.Parallel()
	find := func(name string) (sourceBoard, bool) {
		rules := leaderboard.Rules{TimeZone: name}
		cal, err := rules.Calendar()
		return sourceBoard{windows: []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowHour}, calendar: cal}, err == nil
	}
	names := func(d leaderboard.Derive, now string) string {
		moment, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, s := range spansOf(&d, leaderboard.MicrosOf(moment), find) {
			if !s.Found {
				s.Name = "-"
			}
			list = append(list, string(s.Window)+" "+s.Name)
		}
		return strings.Join(list, ", ")
	}
	days := leaderboard.Derive{Last: "3d", From: []leaderboard.DeriveFrom{{Board: "Europe/Berlin"}, {Board: "UTC"}, {Board: "Nowhere"}}}
	for now, want := range map[string]string{
		"2026-03-29T21:59:59Z": "day 2026-03-29, day 2026-03-28, day 2026-03-27, day 2026-03-29, day 2026-03-28, day 2026-03-27, day -, day -, day -",
		"2026-03-29T22:00:00Z": "day 2026-03-30, day 2026-03-29, day 2026-03-28, day 2026-03-29, day 2026-03-28, day 2026-03-27, day -, day -, day -",
	} {
		if got := names(days, now); got != want {
			t.Errorf("at %s: %s\nwant %s", now, got, want)
		}
	}
	single := leaderboard.Derive{From: []leaderboard.DeriveFrom{
		{Board: "UTC"},
		{Board: "UTC", Window: leaderboard.WindowHour},
		{Board: "UTC", Period: "previous"},
		{Board: "UTC", Period: "2026-01-02"},
		{Board: "UTC", Window: leaderboard.WindowAllTime},
		{Board: "UTC", Period: "2026-W01"},
		{Board: "UTC", Window: leaderboard.WindowAllTime, Period: "previous"},
	}}
	want := "day 2026-11-20, hour 2026-11-20T13, day 2026-11-19, day 2026-01-02, all_time all_time, day -, all_time -"
	if got := names(single, "2026-11-20T13:00:00Z"); got != want {
		t.Errorf("single periods: %s\nwant %s", got, want)
	}
}

// pointersOf lists what a check finds fault with.
func pointersOf(err error) string {
	if err == nil {
		return ""
	}
	rule := leaderboard.AsRule(err)
	if rule == nil {
		return err.Error()
	}
	var list []string
	for _, f := range rule.Fields {
		list = append(list, f.Pointer)
	}
	return strings.Join(list, " ")
}
