package leaderboard

import "testing"

func TestCalendarOfRules(t *testing.T) {
	for _, zone := range []string{"Local", "Mars/Base", "../etc/passwd"} {
		if _, err := (&Rules{TimeZone: zone}).Calendar(); err == nil {
			t.Errorf("zone %q is taken", zone)
		}
	}
	cal, err := (&Rules{TimeZone: "Europe/Berlin"}).Calendar()
	if err != nil {
		t.Fatal(err)
	}
	const noon = Micros(1774782000_000000) // 2026-03-29T11:00:00Z, of the day with 23 hours
	for w, want := range map[Window][2]string{
		AllTime: {"all_time", ""}, Hour: {"2026-03-29T13", "2026-03-29T12"}, Day: {"2026-03-29", "2026-03-28"}, Week: {"2026-W13", "2026-W12"},
		Month: {"2026-03", "2026-02"}, Quarter: {"2026-Q1", "2025-Q4"}, Year: {"2026", "2025"},
	} {
		span, ok := cal.At(w, noon)
		before, _ := cal.Before(w, noon)
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
	r := Rules{Windows: []Window{Year, AllTime, Hour, Day, Week, Month, Quarter}}.WithDefaults()
	if broken := r.Check(); broken != nil {
		t.Errorf("all windows: %v", broken)
	}
	other := r
	if other.TimeZone = "Europe/Berlin"; !r.Recuts(&other) || r.Recuts(&r) {
		t.Error("another zone is another calendar")
	}
}

func TestPeriodName(t *testing.T) {
	for want, p := range map[string]Period{"all_time": {Window: AllTime}, "2026": {Window: Year, Label: "2026"}} {
		if got := p.Name(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
