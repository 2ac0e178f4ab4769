package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// PeriodState is open while a period may change, and closed after that.
type PeriodState string

// Open periods take submissions; closed ones change only by a correction.
const (
	PeriodStateOpen   PeriodState = "open"
	PeriodStateClosed PeriodState = "closed"
)

// ClockBack is how far the database clock may go back without changing which period is current.
const ClockBack Micros = 5 * 60 * 1_000_000

// Period is one board × window × start. A member has at most one entry in a period.
type Period struct {
	ID          int64
	Incarnation int64 // see Revision
	BoardID     int64
	Window      Window
	Label       string // the name that it was given when it was created, "" for the name of its window
	StartsAt    Micros
	EndsAt      Micros // exclusive; Forever when it has no end
	State       PeriodState
	LastSeq     int64  // changes committed so far
	EntryCount  int64  // entries at LastSeq
	Committed   Micros // database time of the commit that led to LastSeq; of the creation when LastSeq is 0
}

// Name returns the period's name in the API, as in "2026-11-20" or "all_time".
func (p *Period) Name() string {
	if p.Label == "" {
		return string(p.Window)
	}
	return p.Label
}

// Revision returns the revision of the period's last commit.
func (p *Period) Revision() Revision { return Revision{p.Incarnation, p.LastSeq, p.Committed} }

// Ref returns the reference to the period. It shares the rules of the board.
func (p *Period) Ref(b *Board) PeriodRef {
	ref := PeriodRef{
		ID: p.ID, Incarnation: p.Incarnation, BoardID: b.ID, Board: b.Name, Window: p.Window, Name: p.Name(), Version: b.Version, Rules: &b.Rules, Closed: p.State == PeriodStateClosed,
	}
	if ref.Closed {
		ref.LastSeq = p.LastSeq
	}
	if !ref.HasRow() {
		ref.AsOf = p.Committed
	}
	return ref
}

// Listing is a board with its current periods at one moment of the database clock.
type Listing struct {
	Board   Board
	Clock   Micros
	Periods []Period // in the order of the board's windows; a window may have no period
}

// PeriodRef is the reference that a reader or a copy needs to work on one period. It has the rules of its board at one
// version; a caller that keeps it for long must look it up again.
type PeriodRef struct {
	ID          int64
	Incarnation int64 // a period with this id and another value is another one: the database was restored
	BoardID     int64
	Board       string // name
	Window      Window
	Name        string
	Version     int64  // of the board
	Rules       *Rules // of that version; must not be changed
	Closed      bool   // it changes only by a correction
	LastSeq     int64  // of a closed one
	AsOf        Micros // of a period without a row
	Stale       bool   // the board could not be looked up lately, so all of this may be outdated
}

// HasRow reports whether the period is in the database. A past period that never had an entry is not: it has no ID, and
// stays empty at Seq 0, as of AsOf. Questions about its entries are answered as for any empty period.
func (p *PeriodRef) HasRow() bool { return p.ID != 0 }

// HotPeriod is the current period of a window that a process has in memory.
type HotPeriod struct {
	Board  string `json:"board"`
	Window Window `json:"window"`
	Reads  int64  `json:"reads"` // by weight, each halved in ten seconds
}

// PeriodError explains why a period does not exist. It is an ErrPeriodNotFound.
type PeriodError struct {
	Detail    string
	Malformed bool // the window has no such names; Detail describes them
	NotBegun  bool // by the clock that was given
}

func (e *PeriodError) Error() string { return "period not found: " + e.Detail }

// Unwrap returns ErrPeriodNotFound.
func (e *PeriodError) Unwrap() error { return ErrPeriodNotFound }

func noPeriod(format string, args ...any) error {
	return &PeriodError{Detail: fmt.Sprintf(format, args...)}
}

func notBegun(format string, args ...any) error {
	return &PeriodError{Detail: fmt.Sprintf(format, args...), NotBegun: true}
}

// Find resolves the window and the name of a period in a request ("" is CurrentPeriod) at the moment now of the
// database clock: to one of the current periods, or to the span of an earlier one, which FindPast looks up. A name that
// no period can have is a *PeriodError. A board's history begins with the period that ended last when the board was
// created, so that there is a previous period from the first day on.
func (l *Listing) Find(cal Calendar, now Micros, w Window, name string) (current *Period, past Span, err error) {
	if i := slices.IndexFunc(l.Periods, func(p Period) bool { return p.Window == w }); i >= 0 {
		current = &l.Periods[i]
	}
	has := slices.Contains(l.Board.Rules.Windows, w)
	isCurrent := name == "" || name == CurrentPeriod
	switch {
	case current != nil && (isCurrent || name == current.Name()):
		return current, Span{}, nil
	case w == WindowAllTime && isCurrent:
		past = w.SpanAt(now, cal.zone) // the board had this window: its one period is found by this name too
	case !has && (isCurrent || name == PreviousPeriod), !slices.Contains(Windows(), w):
		err = l.noWindow(w)
	case !cal.Knows(w):
		err = fmt.Errorf("%w: /time_zone of board %s", ErrUnknownRule, l.Board.Name)
	case isCurrent:
		past, err = cal.began(w, now)
	case name == PreviousPeriod:
		past, err = cal.previous(w, now, current)
	default:
		past, err = cal.find(w, name, now)
	}
	if err == nil && past.EndsAt <= l.Board.CreatedTime && past != cal.ended(w, l.Board.CreatedTime) {
		err = noPeriod("%s ended before the board was made, at %s.", past.Name, l.Board.CreatedTime)
	}
	return nil, past, err
}

func (l *Listing) noWindow(w Window) error {
	return noPeriod("The board does not have window %s, it has %s.", w, joined(l.Board.Rules.Windows))
}

// began returns the period of w that began last at the moment t: between seasons that is the last season, whose
// standings are shown.
func (c Calendar) began(w Window, t Micros) (Span, error) {
	span, ok := c.Latest(w, t)
	if !ok && len(c.seasons) > 0 {
		return span, notBegun("The first season starts at %s.", c.seasons[0].StartsAt)
	}
	if !ok {
		return span, noPeriod("The board has no seasons.")
	}
	return span, nil
}

// previous returns the period of w before the current period or, between seasons, before the shown period.
func (c Calendar) previous(w Window, now Micros, current *Period) (Span, error) {
	if w == WindowAllTime {
		return Span{}, noPeriod("Window %s has one period.", w)
	}
	shown, err := c.began(w, now)
	if err != nil {
		return shown, err
	}
	if current != nil {
		shown.StartsAt = current.StartsAt
	}
	span, ok := c.Before(w, shown.StartsAt)
	if !ok {
		return span, noPeriod("No %s came before %s.", w, shown.Name)
	}
	return span, nil
}

// find returns the period of w with this name, which has begun at the moment now.
func (c Calendar) find(w Window, name string, now Micros) (Span, error) {
	if !w.canBeNamed(name) {
		return Span{}, &PeriodError{Detail: "want " + w.names(), Malformed: true}
	}
	span, err := c.Named(w, name)
	switch {
	case err != nil && w == WindowSeason:
		return span, noPeriod("The board has no season %s.", name)
	case err != nil:
		return span, noPeriod("%s does not occur in the board's time zone, %s.", name, c.zone)
	case span.StartsAt > now:
		return span, notBegun("%s has not begun, it does at %s.", name, span.StartsAt)
	}
	return span, nil
}

// PeriodFinder looks up periods.
type PeriodFinder interface {
	// PeriodNamed returns a period that has a row; ErrPeriodNotFound.
	PeriodNamed(ctx context.Context, boardID int64, w Window, name string) (Period, error)
	// FirstPeriod returns the oldest period of a window that has a row; ErrPeriodNotFound.
	FirstPeriod(ctx context.Context, boardID int64, w Window) (Period, error)
}

// FindPast returns the period of a span that Listing.Find returned, at the moment now. A period that is over and never
// had an entry has no row: it is returned without an ID, see PeriodRef.HasRow. Retention deletes the oldest periods
// first. So a missing period is empty, and not deleted, only if a period before it still exists, or if retention cannot
// have deleted it: it ended before the board was created, or it is the previous one of a window that has only the
// current one and keeps more. The time since when a board keeps more is not known: the first period after such a change
// has a predecessor that was deleted and is taken for empty.
func FindPast(ctx context.Context, finder PeriodFinder, b *Board, w Window, span Span, now Micros) (Period, error) {
	p, err := finder.PeriodNamed(ctx, b.ID, w, span.Name)
	if !errors.Is(err, ErrPeriodNotFound) {
		return p, err
	}
	l := Listing{Board: *b}
	if !slices.Contains(b.Rules.Windows, w) {
		return p, l.noWindow(w)
	}
	first, err := finder.FirstPeriod(ctx, b.ID, w)
	if err != nil && !errors.Is(err, ErrPeriodNotFound) {
		return p, err
	}
	kept, givesUp := b.Rules.Keep[w]
	empty := span.EndsAt <= b.CreatedTime
	switch {
	case empty:
	case err != nil:
		empty = w == WindowSeason && !givesUp // all seasons so far were empty; other windows begin with the board
	case span.StartsAt < first.StartsAt:
		empty = first.EndsAt > now && (kept > 0 || !givesUp) && isBefore(&b.Rules, w, span, first.StartsAt)
	default:
		empty = true
	}
	if !empty || span.EndsAt > now {
		return p, noPeriod("%s is not kept any more, or the board did not have window %s then.", span.Name, w)
	}
	return Period{
		BoardID: b.ID, Window: w, Label: span.Name, StartsAt: span.StartsAt, EndsAt: span.EndsAt, State: PeriodStateClosed, Committed: span.EndsAt,
	}, nil
}

// isBefore reports whether a span is the one ahead of that which begins at start.
func isBefore(r *Rules, w Window, span Span, start Micros) bool {
	cal, err := r.Calendar()
	if err != nil {
		return false
	}
	before, ok := cal.Before(w, start)
	return ok && before.StartsAt == span.StartsAt
}
