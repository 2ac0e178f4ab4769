package leaderboard

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

// checkDerive reports the faults in the rule of a derived board, with or without its defaults.
func (r *Rules) checkDerive(fail failFunc) {
	d := r.Derive
	if d == nil {
		return
	}
	if len(r.Windows) != 1 || r.Windows[0] != WindowAllTime {
		fail("/windows", "a derived board has window %s only", WindowAllTime)
	}
	if len(r.Tiebreak.Fields) > 0 {
		fail("/tiebreak/fields", "the entries of a derived board have tiebreak 0")
	}
	if r.StartsAt != nil || r.EndsAt != nil {
		fail("/derive", "a derived board has no starts_at and no ends_at")
	}
	r.checkIgnored(fail)
	units, window, err := d.Units()
	if err != nil {
		fail("/derive/last", "%s", err)
		units = 1
	}
	if n := units * len(d.From); n > MaxSources && units > 1 {
		fail("/derive/from", "want 1 to %d sources, not %d × %d = %d", MaxSources, len(d.From), units, n)
	}
	d.checkFrom(window, fail)
}

// checkIgnored refuses rules about submissions and periods: a derived board has neither, so they would have no effect.
func (r *Rules) checkIgnored(fail failFunc) {
	for _, rule := range []struct {
		pointer string
		given   bool
	}{
		{"/policy", r.Policy != "" && r.Policy != PolicyBest},
		{"/limits", r.Limits != Limits{}},
		{"/time_zone", r.TimeZone != "" && r.TimeZone != "UTC"},
		{"/keep", len(r.Keep) > 0},
		{"/seasons", len(r.Seasons) > 0},
		{"/strict_ids", r.StrictIDs},
		{"/overrides", r.Overrides != nil},
	} {
		if rule.given {
			fail(rule.pointer, "has no effect on a derived board, which takes no submissions and has one period")
		}
	}
}

// checkFrom checks the sources one by one; window is the window of Last, or "".
func (d *Derive) checkFrom(window Window, fail failFunc) {
	seen := map[string]bool{}
	for i, f := range d.From[:min(len(d.From), MaxSources)] {
		pointer := "/derive/from/" + strconv.Itoa(i)
		if CheckBoardName(f.Board) != nil {
			fail(pointer+"/board", "a board name is [a-z0-9][a-z0-9._-]{0,63}")
		}
		if window != "" && f.Window != "" && f.Window != window {
			fail(pointer+"/window", "last %s is of window %s", d.Last, window)
		}
		if window != "" && f.Period != "" && f.Period != CurrentPeriod {
			fail(pointer+"/period", "with last it is %s", CurrentPeriod)
		}
		if len(f.Period) > MaxBoardName {
			fail(pointer+"/period", "want the name of a period, %s or %s", CurrentPeriod, PreviousPeriod)
		}
		if f.Window != "" && f.Window != WindowSeason && !f.Moves() {
			if _, err := f.Window.SpanNamed(f.Period, time.UTC); err != nil { // in any zone the names are of this form
				fail(pointer+"/period", "%s", err)
			}
		}
		period := f.Period
		period = cmp.Or(period, CurrentPeriod)
		name := fmt.Sprintf("%s %s %s", f.Board, f.Window, period)
		if seen[name] {
			fail(pointer, "the source is listed twice")
		}
		seen[name] = true
	}
}
