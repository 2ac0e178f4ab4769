package leaderboard

import (
	"math/rand/v2"
	"testing"
	"time"
)

// oddZones have changes of the clock at odd places: at midnight, across midnight, by half an hour, a skipped day.
var oddZones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "America/St_Johns", "America/Havana", "Asia/Beirut",
	"Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "Pacific/Kiritimati", "Africa/Casablanca", "America/Asuncion",
}

// TestSpansPartitionTime: the period that a moment lies in holds it, its neighbours begin and end where it does, and
// its name leads back to it.
func TestSpansPartitionTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	from, to := time.Date(1985, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	for _, zone := range oddZones {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for range 3000 {
			at := Micros(from + rng.Int64N(to-from))
			if rng.IntN(2) == 0 { // near a change of the clock, if the zone has any
				if _, end := at.Time().In(loc).ZoneBounds(); !end.IsZero() {
					at = MicrosOf(end) + Micros(rng.Int64N(2*3600e6)-3600e6)
				}
			}
			for _, w := range []Window{WindowHour, WindowDay, WindowWeek, WindowMonth, WindowQuarter, WindowYear} {
				checkSpan(t, w, at, loc)
			}
		}
	}
}

func checkSpan(t *testing.T, w Window, at Micros, loc *time.Location) {
	t.Helper()
	span := w.SpanAt(at, loc)
	if at < span.StartsAt || at >= span.EndsAt {
		t.Fatalf("%s of %s in %s: %s [%s, %s) does not hold it", w, at.Time(), loc, span.Name, span.StartsAt.Time(), span.EndsAt.Time())
	}
	if got := w.SpanAt(span.StartsAt, loc); got != span {
		t.Fatalf("%s of %s in %s: %+v, its first moment gives %+v", w, at.Time(), loc, span, got)
	}
	if got := w.SpanAt(span.EndsAt-1, loc); got != span {
		t.Fatalf("%s of %s in %s: %+v, its last moment gives %+v", w, at.Time(), loc, span, got)
	}
	if next := w.SpanAt(span.EndsAt, loc); next.StartsAt != span.EndsAt || next.Name <= span.Name {
		t.Fatalf("%s in %s: after %+v comes %+v", w, loc, span, next)
	}
	named, err := w.SpanNamed(span.Name, loc)
	if err != nil || named != span {
		t.Fatalf("%s in %s: %s gives %+v, %v; want %+v", w, loc, span.Name, named, err, span)
	}
}

// TestSpanAgainstTimePackage compares with time.Time's own fields wherever the clock shows each second once.
func TestSpanAgainstTimePackage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, zone := range oddZones {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			at := time.Unix(rng.Int64N(2_000_000_000), 0).In(loc)
			if start, end := at.ZoneBounds(); (!start.IsZero() && at.Sub(start) < 26*time.Hour) || (!end.IsZero() && end.Sub(at) < 26*time.Hour) {
				continue
			}
			for w, want := range map[Window]string{WindowHour: at.Format("2006-01-02T15"), WindowDay: at.Format(time.DateOnly), WindowMonth: at.Format("2006-01"), WindowYear: at.Format("2006")} {
				if got := w.SpanAt(MicrosOf(at), loc).Name; got != want {
					t.Fatalf("%s of %s: %s", w, at, got)
				}
			}
			day := WindowDay.SpanAt(MicrosOf(at), loc)
			if hours := time.Duration(day.EndsAt-day.StartsAt) * time.Microsecond; hours != 24*time.Hour {
				t.Fatalf("%s: the day has %s", at, hours)
			}
		}
	}
}

func TestSpanGolden(t *testing.T) {
	tests := []struct {
		w                Window
		zone, at         string
		name, start, end string
	}{
		{WindowDay, "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},     // 23 hours
		{WindowDay, "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},     // 25 hours
		{WindowHour, "Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T02", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z"}, // shown twice
		{WindowHour, "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T03", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"}, // 02 is skipped
		{WindowWeek, "UTC", "2027-01-03T23:59:59Z", "2026-W53", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"},
		{WindowQuarter, "UTC", "2026-11-20T13:00:00Z", "2026-Q4", "2026-10-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{WindowYear, "UTC", "2026-12-31T23:59:59Z", "2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{WindowDay, "America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"}, // no midnight
	}
	for _, tt := range tests {
		loc, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		got := tt.w.SpanAt(MicrosOf(at), loc)
		if got.Name != tt.name || got.StartsAt.Time().Format(time.RFC3339) != tt.start || got.EndsAt.Time().Format(time.RFC3339) != tt.end {
			t.Errorf("%s at %s in %s: %s [%s, %s)", tt.w, tt.at, tt.zone, got.Name, got.StartsAt.Time(), got.EndsAt.Time())
		}
	}
}

func TestSpanNamedRefuses(t *testing.T) {
	apia, err := time.LoadLocation("Pacific/Apia")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		w    Window
		name string
	}{
		{WindowDay, "2011-12-30"},
		{WindowDay, "2026-13-01"},
		{WindowDay, "2026-1-1"},
		{WindowWeek, "2026-W54"},
		{WindowWeek, "2026-W00"},
		{WindowWeek, "2025-W53"},
		{WindowWeek, "W47"},
		{WindowQuarter, "2026-Q5"},
		{WindowQuarter, "2026-Q0"},
		{WindowQuarter, "26-Q1"},
		{WindowHour, "2026-11-20T24"},
		{WindowHour, "2026-11-20"},
		{WindowMonth, "2026"},
		{WindowYear, "26"},
		{WindowYear, ""},
	} {
		if span, err := tt.w.SpanNamed(tt.name, apia); err == nil {
			t.Errorf("%s %q: %+v, want an error", tt.w, tt.name, span)
		}
	}
}
