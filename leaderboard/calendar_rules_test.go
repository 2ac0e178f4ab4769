package leaderboard

import (
	"errors"
	"testing"
)

func TestCalendarOfRules(t *testing.T) {
	for _, zone := range []string{"Local", "localtime", "Mars/Base", "../etc/passwd"} {
		cal, err := (&Rules{TimeZone: zone, Seasons: []SeasonRule{{"s1", 100, 200}}}).Calendar()
		if !errors.Is(err, ErrUnknownRule) {
			t.Errorf("zone %q: %v", zone, err)
		}
		for _, w := range Windows() {
			_, at := cal.At(w, 150)
			_, latest := cal.Latest(w, 150)
			_, after := cal.After(w, 50)
			if known := w == WindowAllTime || w == WindowSeason; at != known || latest != known || cal.Knows(w) != known || after != known {
				t.Errorf("zone %q, window %s: at %t, latest %t, after %t, known %t", zone, w, at, latest, after, cal.Knows(w))
			}
			if _, err := cal.Named(w, "2026"); !cal.Knows(w) && !errors.Is(err, ErrUnknownRule) {
				t.Errorf("zone %q, window %s: %v", zone, w, err)
			}
		}
	}
	for _, zone := range []string{"localtime", "posixrules", "posix/Europe/Berlin", "right/Europe/Berlin"} {
		r := Rules{TimeZone: zone}.WithDefaults()
		if rule := AsRule(r.Check()); rule == nil || rule.Fields[0].Pointer != "/time_zone" {
			t.Errorf("zone %q is taken: %v", zone, rule)
		}
	}
	cal, err := (&Rules{TimeZone: "Europe/Berlin"}).Calendar()
	if err != nil {
		t.Fatal(err)
	}
	const noon = Micros(1774782000_000000) // 2026-03-29T11:00:00Z, of the day with 23 hours
	for w, want := range map[Window][2]string{
		WindowAllTime: {"all_time", ""}, WindowHour: {"2026-03-29T13", "2026-03-29T12"}, WindowDay: {"2026-03-29", "2026-03-28"}, WindowWeek: {"2026-W13", "2026-W12"},
		WindowMonth: {"2026-03", "2026-02"}, WindowQuarter: {"2026-Q1", "2025-Q4"}, WindowYear: {"2026", "2025"},
	} {
		span, ok := cal.At(w, noon)
		before, _ := cal.Before(w, span.StartsAt)
		if !ok || span.Name != want[0] || before.Name != want[1] {
			t.Errorf("%s: %+v, before it %+v; want %v", w, span, before, want)
		}
		if named, err := cal.Named(w, span.Name); err != nil || named != span {
			t.Errorf("%s named %s: %+v, %v", w, span.Name, named, err)
		}
		if before.Name != "" && before.EndsAt != span.StartsAt {
			t.Errorf("%s: %+v does not end where %+v begins", w, before, span)
		}
	}
}

func TestWindowsOfRules(t *testing.T) {
	r := Rules{Windows: []Window{WindowYear, WindowAllTime, WindowHour, WindowDay, WindowWeek, WindowMonth, WindowQuarter, WindowSeason}, Seasons: []SeasonRule{{Name: "S1", StartsAt: 1, EndsAt: 2}}}.WithDefaults()
	if broken := r.Check(); broken != nil {
		t.Errorf("all windows: %v", broken)
	}
}

func TestPeriodName(t *testing.T) {
	for want, p := range map[string]Period{"all_time": {Window: WindowAllTime}, "2026": {Window: WindowYear, Label: "2026"}} {
		if got := p.Name(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestSeasonsOfRules(t *testing.T) {
	cal, err := (&Rules{TimeZone: "UTC", Seasons: []SeasonRule{{"s1", 100, 200}, {"s2", 200, 300}, {"s3", 400, 500}}}).Calendar()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at                 Micros
		under, latest, why string
	}{
		{99, "", "", CodeBoardNotStarted},
		{100, "s1", "s1", ""},
		{199, "s1", "s1", ""},
		{200, "s2", "s2", ""},
		{300, "", "s2", CodeBetweenSeasons},
		{399, "", "s2", CodeBetweenSeasons},
		{400, "s3", "s3", ""},
		{500, "", "s3", CodeBoardEnded},
	} {
		under, ok := cal.At(WindowSeason, c.at)
		latest, began := cal.Latest(WindowSeason, c.at)
		if ok != (c.under != "") || began != (c.latest != "") || (ok && under.Name != c.under) || latest.Name != c.latest {
			t.Errorf("at %d: %+v %t, latest %+v %t", c.at, under, ok, latest, began)
		}
		why := ""
		if broken := cal.Outside(c.at); broken != nil {
			why = AsRule(broken).Code
		}
		if why != c.why {
			t.Errorf("at %d: submissions are refused by %q, want %q", c.at, why, c.why)
		}
	}
	if before, ok := cal.Before(WindowSeason, 400); !ok || before.Name != "s2" {
		t.Errorf("before s3: %+v", before)
	}
	if before, ok := cal.Before(WindowSeason, 100); ok {
		t.Errorf("before s1: %+v", before)
	}
	if span, err := cal.Named(WindowSeason, "s2"); err != nil || span != (Span{"s2", 200, 300}) {
		t.Errorf("s2 is %+v, %v", span, err)
	}
	if _, err := cal.Named(WindowSeason, "s4"); err == nil {
		t.Error("there is no s4")
	}
}

func TestCheckSeasons(t *testing.T) {
	for pointer, seasons := range map[string][]SeasonRule{
		"/seasons":             nil,
		"/seasons/0/name":      {{"current", 1, 2}},
		"/seasons/1/name":      {{"a", 1, 2}, {"a", 3, 4}},
		"/seasons/0/starts_at": {{"a", 0, 2}},
		"/seasons/1/starts_at": {{"a", 1, 3}, {"b", 2, 4}},
		"/seasons/0/ends_at":   {{"a", 2, 2}},
	} {
		r := Rules{Windows: []Window{WindowSeason}, Seasons: seasons}.WithDefaults()
		if broken := r.Check(); broken == nil || len(AsRule(broken).Fields) != 1 || AsRule(broken).Fields[0].Pointer != pointer {
			t.Errorf("%+v: %v, want one at %s", seasons, broken, pointer)
		}
	}
	for _, name := range []string{"", "é", "a b", "-a", "K\u212a", "a/b"} {
		r := Rules{Seasons: []SeasonRule{{name, 1, 2}}}.WithDefaults()
		if broken := r.Check(); broken == nil {
			t.Errorf("a season may be called %q", name)
		}
	}
}
