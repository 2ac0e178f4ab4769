package leaderboard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The calendar of a board. A civil time is the reading of a wall clock in the board's time zone, written as a time.Time
// in UTC; a period begins at the first moment at which that clock shows the period's first civil second or a later
// second:
//
//	begin(c) = min { t : civil(t) >= c }
//
// begin never goes backwards, so consecutive periods partition time in every zone: a day has 23 or 25 hours where the clock
// is changed, an hour that the clock shows twice is one period of two hours, an hour that it skips is empty and has no
// period. (Go's time.Date leaves open which of two moments it returns at a change of the clock.)

// epochStart is the start of the one period of all_time.
const epochStart Micros = 0

// Span is the period of a window that a moment lies in.
type Span struct {
	Name     string // "2026-11-20T13", "2026-11-20", "2026-W47", "2026-11", "2026-Q4", "2026", "all_time"
	StartsAt Micros
	EndsAt   Micros // exclusive; Forever for all_time
}

// SpanAt returns the period of w that the moment t lies in, in the zone loc. w is a calendar window or all_time.
func (w Window) SpanAt(t Micros, loc *time.Location) Span {
	if w == WindowAllTime {
		return Span{Name: string(WindowAllTime), StartsAt: epochStart, EndsAt: Forever}
	}
	now := t.Time()
	first := w.floor(civil(now, loc))
	next := w.next(first)
	for !begin(next, loc).After(now) { // the clock was set back across the boundary after it had passed it
		first, next = next, w.next(next)
	}
	start := begin(first, loc)
	for { // periods that the clock skips are empty
		if end := begin(next, loc); end.After(start) {
			return Span{Name: w.name(first), StartsAt: MicrosOf(start), EndsAt: MicrosOf(end)}
		}
		first, next = next, w.next(next)
	}
}

// SpanNamed returns the period of w with this name, the inverse of Span.Name. It fails for a name that is not of the
// window's form and for a period that the clock of loc skips.
func (w Window) SpanNamed(name string, loc *time.Location) (Span, error) {
	if w == WindowAllTime {
		if name != string(WindowAllTime) {
			return Span{}, fmt.Errorf("the period of window %s is %s", WindowAllTime, WindowAllTime)
		}
		return w.SpanAt(0, loc), nil
	}
	first, err := w.parse(name)
	if err != nil || w.name(first) != name {
		return Span{}, fmt.Errorf("a period of window %s has a name such as %s", w, w.name(time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)))
	}
	span := w.SpanAt(MicrosOf(begin(first, loc)), loc)
	if span.Name != name {
		return Span{}, fmt.Errorf("%s does not occur in the board's time zone", name)
	}
	return span, nil
}

// canBeNamed reports whether a name has the form of the names of the window.
func (w Window) canBeNamed(name string) bool {
	switch w {
	case WindowAllTime:
		return name == string(w)
	case WindowSeason:
		return validSeason(name)
	default:
		first, err := w.parse(name)
		return err == nil && w.name(first) == name
	}
}

// names describes the form of the names of a window, for error messages.
func (w Window) names() string {
	switch w {
	case WindowAllTime:
		return fmt.Sprintf("%s or %s", CurrentPeriod, w)
	case WindowSeason:
		return fmt.Sprintf("%s, %s or the name of a season", CurrentPeriod, PreviousPeriod)
	default:
		return fmt.Sprintf("%s, %s or a %s such as %s", CurrentPeriod, PreviousPeriod, w, w.name(time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)))
	}
}

// civil returns the reading of loc's clock at t.
func civil(t time.Time, loc *time.Location) time.Time {
	_, offset := t.In(loc).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// begin returns the first moment at which the clock of loc shows c or later.
func begin(c time.Time, loc *time.Location) time.Time {
	const farthest = 26 * time.Hour // no zone is farther from UTC
	t := c.Add(-farthest)
	for {
		start, end := t.In(loc).ZoneBounds()
		_, offset := t.In(loc).Zone()
		reached := c.Add(-time.Duration(offset) * time.Second)
		if !start.IsZero() && reached.Before(start) {
			reached = start.UTC()
		}
		if end.IsZero() || !end.After(t) || reached.Before(end) {
			return reached
		}
		t = end
	}
}

// floor returns the first civil second of the period that c lies in.
func (w Window) floor(c time.Time) time.Time {
	y, m, d := c.Date()
	switch w {
	case WindowHour:
		return c.Truncate(time.Hour)
	case WindowDay:
		return date(y, m, d)
	case WindowWeek:
		return date(y, m, d-(int(c.Weekday())+6)%7) // ISO 8601: from Monday
	case WindowMonth:
		return date(y, m, 1)
	case WindowQuarter:
		return date(y, (m-1)/3*3+1, 1)
	default:
		return date(y, 1, 1)
	}
}

// next returns the first civil second of the period after the period that begins at c.
func (w Window) next(c time.Time) time.Time {
	switch w {
	case WindowHour:
		return c.Add(time.Hour)
	case WindowDay:
		return c.AddDate(0, 0, 1)
	case WindowWeek:
		return c.AddDate(0, 0, 7)
	case WindowMonth:
		return c.AddDate(0, 1, 0)
	case WindowQuarter:
		return c.AddDate(0, 3, 0)
	default:
		return c.AddDate(1, 0, 0)
	}
}

func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func (w Window) name(c time.Time) string {
	switch w {
	case WindowHour:
		return c.Format("2006-01-02T15")
	case WindowDay:
		return c.Format(time.DateOnly)
	case WindowWeek:
		y, week := c.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", y, week)
	case WindowMonth:
		return c.Format("2006-01")
	case WindowQuarter:
		return fmt.Sprintf("%04d-Q%d", c.Year(), (c.Month()+2)/3)
	default:
		return c.Format("2006")
	}
}

func (w Window) parse(name string) (time.Time, error) {
	switch w {
	case WindowHour:
		return time.Parse("2006-01-02T15", name)
	case WindowDay:
		return time.Parse(time.DateOnly, name)
	case WindowWeek:
		y, week, err := cutNumbers(name, "-W")
		return w.floor(date(y, 1, 4)).AddDate(0, 0, 7*(week-1)), err // 4 January is always in week 1
	case WindowMonth:
		return time.Parse("2006-01", name)
	case WindowQuarter:
		y, q, err := cutNumbers(name, "-Q")
		return date(y, time.Month(3*q-2), 1), err
	default:
		return time.Parse("2006", name)
	}
}

func cutNumbers(name, sep string) (year, n int, err error) {
	left, right, _ := strings.Cut(name, sep)
	if year, err = strconv.Atoi(left); err != nil {
		return 0, 0, err
	}
	n, err = strconv.Atoi(right)
	return year, n, err
}

// SeasonRule is one period of window season.
type SeasonRule struct {
	Name     string `json:"name" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" want:"a name of its own, [A-Za-z0-9][A-Za-z0-9._-]{0,63} and neither current nor previous" doc:"Of its own, neither current nor previous."`
	StartsAt Micros `json:"starts_at" label:"Start" doc:"At or after the end of the season before."`
	EndsAt   Micros `json:"ends_at" label:"End" doc:"Exclusive."`
}

// Calendar has the periods of a board's windows. It is made from the rules once, because a time zone is read from a
// file. It is immutable. Windows that it does not Know have no periods.
type Calendar struct {
	zone    *time.Location // nil: not known
	seasons []SeasonRule
}

// Knows reports whether the calendar knows the periods of w: most windows need the time zone.
func (c Calendar) Knows(w Window) bool {
	return c.zone != nil || w == WindowAllTime || w == WindowSeason
}

// spanAt is Window.SpanAt, false when the calendar does not know the window.
func (c Calendar) spanAt(w Window, t Micros) (Span, bool) {
	if !c.Knows(w) {
		return Span{}, false
	}
	return w.SpanAt(t, c.zone), true
}

// At returns the period of w that the moment t lies in, false between seasons.
func (c Calendar) At(w Window, t Micros) (Span, bool) {
	if w != WindowSeason {
		return c.spanAt(w, t)
	}
	span, ok := c.Latest(w, t)
	return span, ok && t < span.EndsAt
}

// Latest returns the period of w that began last at the moment t, false before the first season.
func (c Calendar) Latest(w Window, t Micros) (Span, bool) {
	if w != WindowSeason {
		return c.spanAt(w, t)
	}
	for _, s := range slices.Backward(c.seasons) {
		if s.StartsAt <= t {
			return Span(s), true
		}
	}
	return Span{}, false
}

// Named returns the period of w with this name. The error describes the form of the names.
func (c Calendar) Named(w Window, name string) (Span, error) {
	if !c.Knows(w) {
		return Span{}, fmt.Errorf("%w: the time zone by which a %s begins", ErrUnknownRule, w)
	}
	if w != WindowSeason {
		return w.SpanNamed(name, c.zone)
	}
	for _, s := range c.seasons {
		if s.Name == name {
			return Span(s), nil
		}
	}
	return Span{}, fmt.Errorf("the board has no season %q", name)
}

// Before returns the period of w before the period that begins at start; false for the first period.
func (c Calendar) Before(w Window, start Micros) (Span, bool) {
	if w == WindowAllTime || start <= MinTime {
		return Span{}, false
	}
	return c.Latest(w, start-1)
}

// After returns the first period of w that begins at end or later; false if there is no such period, or not yet.
func (c Calendar) After(w Window, end Micros) (Span, bool) {
	if w != WindowSeason {
		span, ok := c.spanAt(w, end)
		return span, ok && end < Forever
	}
	for _, s := range c.seasons {
		if s.StartsAt >= end {
			return Span(s), true
		}
	}
	return Span{}, false
}

// ended returns the last period of w that has ended by t; the zero Span if no period has ended.
func (c Calendar) ended(w Window, t Micros) Span {
	last, under := c.At(w, t)
	if under {
		last, _ = c.Before(w, last.StartsAt)
	}
	return last
}

// Outside returns a RuleError when a board that has only seasons takes no submissions at the moment t, nil during a
// season.
func (c Calendar) Outside(t Micros) error {
	if len(c.seasons) == 0 {
		return nil
	}
	switch last, ok := c.Latest(WindowSeason, t); {
	case !ok:
		return &RuleError{Code: CodeBoardNotStarted, Detail: fmt.Sprintf("the first season starts at %s", c.seasons[0].StartsAt)}
	case t < last.EndsAt:
		return nil
	case last.Name == c.seasons[len(c.seasons)-1].Name:
		return &RuleError{Code: CodeBoardEnded, Detail: fmt.Sprintf("the last season ended at %s", last.EndsAt)}
	default:
		return &RuleError{Code: CodeBetweenSeasons, Detail: fmt.Sprintf("season %s ended at %s", last.Name, last.EndsAt)}
	}
}
