package derived

import (
	"cmp"
	"fmt"
	"slices"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// sourceSpan is a source at one moment: one period of a board.
type sourceSpan struct {
	Board  string
	Window leaderboard.Window
	Weight int64
	leaderboard.Span
	Found bool // false: the board, the window or the period does not exist; only Board and Weight are certain then

	lack  api.SourceCondition // why it can have no entries, "" when it can have some
	moves bool                // it is the current or the previous period of its window, so a rollover replaces it
}

// condition returns the condition of the source; used: its period has had entries. A period that was only read is
// empty.
func (s *sourceSpan) condition(used bool) api.SourceCondition {
	switch {
	case s.lack == api.SourceConditionNoWindow && used && !s.moves:
		return api.SourceConditionPresent // entries from before the window was removed count
	case s.lack != "":
		return s.lack
	case used:
		return api.SourceConditionPresent
	default:
		return api.SourceConditionEmpty
	}
}

// sourceBoard is the part of a source's board that a derived board needs.
type sourceBoard struct {
	windows  []leaderboard.Window
	calendar leaderboard.Calendar
	created  leaderboard.Micros
	derived  bool // it is derived itself, so it cannot be a source
}

// findSource finds the board of a source by its name, false for an unknown one.
type findSource func(board string) (sourceBoard, bool)

// spansOf returns the sources of a rule at the moment now, in the order of From and, with Last, from the current period
// backwards.
func spansOf(d *leaderboard.Derive, now leaderboard.Micros, find findSource) []sourceSpan {
	n, _, err := d.Units()
	if err != nil {
		return nil // the rules were checked
	}
	spans := make([]sourceSpan, 0, n*len(d.From))
	for _, f := range d.From {
		source := sourceSpan{Board: f.Board, Weight: 1}
		if f.Weight != nil {
			source.Weight = *f.Weight
		}
		b, ok := find(f.Board)
		source.Window = windowOn(d, &f, &b)
		source.lack = b.lack(ok, source.Window)
		for i := range n {
			switch {
			case i > 0 && source.Found:
				source.Span, source.Found = b.calendar.Before(source.Window, source.StartsAt)
				source.moves = false
			case i == 0 && ok && !b.derived:
				source.moves = f.Moves()
				source.Span, source.Found = b.named(source.Window, f.Period, now)
				if !source.Found && !source.moves && source.lack == "" {
					source.lack = api.SourceConditionNoPeriod
				}
			}
			spans = append(spans, source)
		}
	}
	return spans
}

// checkKnown returns an ErrUnknownRule when a source is a period of a window whose periods this server does not know.
func checkKnown(d *leaderboard.Derive, find findSource) error {
	for _, f := range d.From {
		if b, ok := find(f.Board); ok && !b.derived && !b.calendar.Knows(windowOn(d, &f, &b)) {
			return fmt.Errorf("%w: /time_zone of board %s", leaderboard.ErrUnknownRule, f.Board)
		}
	}
	return nil
}

// turnOf returns the interval [from, until) around now in which spansOf returns the same sources, as long as the boards do
// not change.
func turnOf(d *leaderboard.Derive, now leaderboard.Micros, find findSource) (from, until leaderboard.Micros) {
	from, until = leaderboard.MinTime, leaderboard.Forever
	for _, f := range d.From {
		b, ok := find(f.Board)
		if !ok || b.derived || !f.Moves() {
			continue
		}
		start, end := b.latest(windowOn(d, &f, &b), now)
		from, until = max(from, start), min(until, end)
	}
	return from, until
}

// windowOn returns the window of a source on a board, "" when the board is unknown and would decide it.
func windowOn(d *leaderboard.Derive, f *leaderboard.DeriveFrom, b *sourceBoard) leaderboard.Window {
	_, unit, _ := d.Units() // the rules were checked
	w := cmp.Or(unit, f.Window)
	if w == "" && len(b.windows) > 0 {
		return b.windows[0]
	}
	return w
}

// lack returns why a window of the board has no new entries to count, "" when it can have some; known: the board
// exists.
func (b *sourceBoard) lack(known bool, w leaderboard.Window) api.SourceCondition {
	switch {
	case !known:
		return api.SourceConditionNoBoard
	case b.derived:
		return api.SourceConditionDerived
	case !slices.Contains(b.windows, w):
		return api.SourceConditionNoWindow
	default:
		return ""
	}
}

// named returns the period of a window that a request would address by this name at the moment now.
func (b *sourceBoard) named(w leaderboard.Window, name string, now leaderboard.Micros) (leaderboard.Span, bool) {
	if name != "" && name != leaderboard.CurrentPeriod && name != leaderboard.PreviousPeriod {
		span, err := b.calendar.Named(w, name)
		return span, err == nil
	}
	span, ok := b.calendar.Latest(w, now)
	if ok && name == leaderboard.PreviousPeriod {
		return b.calendar.Before(w, span.StartsAt)
	}
	return span, ok
}

// latest returns the interval [from, until) around now in which the same period of a window began last.
func (b *sourceBoard) latest(w leaderboard.Window, now leaderboard.Micros) (from, until leaderboard.Micros) {
	from, until = leaderboard.MinTime, leaderboard.Forever
	if span, ok := b.calendar.Latest(w, now); ok {
		from, until = span.StartsAt, span.EndsAt
	}
	if w != leaderboard.WindowSeason {
		return from, until
	}
	if next, ok := b.calendar.After(w, now+1); ok {
		return from, next.StartsAt
	}
	return from, leaderboard.Forever // a season is the latest one until the next one begins
}
