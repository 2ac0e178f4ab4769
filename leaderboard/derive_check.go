package leaderboard

import (
	"cmp"
	"fmt"
	"slices"
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
	units, window, err := d.units()
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
		if f.Window != "" && f.Window != WindowSeason && !f.moves() {
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

// CheckSources reports the sources that a board of this name cannot have, or that could have no entries: the board
// itself, derived boards, windows and periods that their boards do not have. A board that does not exist passes: it may
// be created later. The rules must have passed Check.
func (r *Rules) CheckSources(name string, find FindSource) error {
	if r.Derive == nil {
		return nil
	}
	var bad []FieldError
	fail := func(pointer, format string, args ...any) {
		bad = append(bad, FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	}
	seen := map[DeriveFrom]bool{}
	for i, f := range r.Derive.From {
		pointer := "/derive/from/" + strconv.Itoa(i)
		b, ok := find(f.Board)
		if f.Board == name || b.Derived {
			fail(pointer+"/board", "%s is a derived board, which cannot be a source", f.Board)
		} else if ok {
			f.Window, f.Weight = r.Derive.windowOn(&f, &b), nil
			r.Derive.checkOn(&b, f, pointer, fail)
			if f.Window == WindowAllTime {
				f.Period = CurrentPeriod // the only one it can have
			}
			if seen[f] {
				fail(pointer, "the source is listed twice: the first window of %s is %s", f.Board, b.Windows[0])
			}
			seen[f] = true
		}
	}
	if bad == nil {
		return nil
	}
	return &RuleError{Code: CodeInvalidBoard, Detail: "the board's rules are not valid", Fields: bad}
}

// checkOn checks a source with a known window against the board that it names.
func (d *Derive) checkOn(b *SourceBoard, f DeriveFrom, pointer string, fail failFunc) {
	has := slices.Contains(b.Windows, f.Window)
	switch {
	case !has && d.Last != "":
		fail("/derive/last", "counts periods of window %s, and board %s has %s", f.Window, f.Board, joined(b.Windows))
	case !has && f.moves():
		fail(pointer+"/window", "board %s has %s", f.Board, joined(b.Windows))
	case f.Window == WindowAllTime && f.Period == PreviousPeriod:
		fail(pointer+"/period", "window %s has one period", f.Window)
	case !f.moves():
		span, err := b.Calendar.Named(f.Window, f.Period)
		if err != nil {
			fail(pointer+"/period", "%s", err)
		} else if span.EndsAt <= b.CreatedTime {
			fail(pointer+"/period", "ended before board %s was made, at %s", f.Board, b.CreatedTime)
		}
	}
}
