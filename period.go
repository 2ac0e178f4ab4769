package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// PeriodState says whether a period still changes.
type PeriodState string

// Open periods take submissions, closed ones never change again.
const (
	PeriodStateOpen   PeriodState = "open"
	PeriodStateClosed PeriodState = "closed"
)

// ClockBack is how far the database clock may go back without another period becoming current.
const ClockBack Micros = 5 * 60 * 1_000_000

// Period is one board × window × start. A member has at most one entry in it.
type Period struct {
	ID         int64
	History    int64 // see Revision
	BoardID    int64
	Window     Window
	Label      string // the name that it was given when it was made, "" for that of its window
	StartsAt   Micros
	EndsAt     Micros // exclusive; Forever when it has no end
	State      PeriodState
	LastSeq    int64  // changes committed so far
	EntryCount int64  // entries at LastSeq
	Committed  Micros // database time of the commit that led to LastSeq; of the creation when LastSeq is 0
}

// Name returns the period's name in the API, as in "2026-11-20" or "all_time".
func (p *Period) Name() string {
	if p.Label == "" {
		return string(p.Window)
	}
	return p.Label
}

// Revision returns that of the period's last commit.
func (p *Period) Revision() Revision { return Revision{p.History, p.LastSeq, p.Committed} }

// Ref returns what a reader of the period needs to know. The rules of the board are shared.
func (p *Period) Ref(b *Board) PeriodRef {
	ref := PeriodRef{
		ID: p.ID, History: p.History, BoardID: b.ID, Board: b.Name, Window: p.Window, Name: p.Name(), Rules: &b.Rules, Closed: p.State == PeriodStateClosed,
	}
	if ref.Closed {
		ref.LastSeq = p.LastSeq
	}
	if ref.Quiet() {
		ref.AsOf = p.Committed
	}
	return ref
}

// Listing is a board with its current periods at one moment of the database clock.
type Listing struct {
	Board   Board
	Clock   Micros
	Periods []Period // in the order of the board's windows; a window may have none
}

// PeriodRef is all that a reader or a copy needs to know to work on one period. It is a value of its board's rules at
// one version; whoever keeps one for long must look it up again.
type PeriodRef struct {
	ID      int64
	History int64 // who finds another one with the id says ErrPeriodNotFound: the database was restored
	BoardID int64
	Board   string // name
	Window  Window
	Name    string
	Rules   *Rules // never written to
	Closed  bool   // it has reached its last state, but for corrections on purpose
	LastSeq int64  // of a closed one
	AsOf    Micros // of one that is Quiet
	Stale   bool   // the board could not be looked up of late, so all of this may have changed
}

// Quiet says that the period is over and nobody played in it. Nothing is known of it but this: it has no ID, and only
// whoever asks for quiet periods is told of them.
func (p *PeriodRef) Quiet() bool { return p.ID == 0 }

// PeriodError says why there is no such period. It is an ErrPeriodNotFound.
type PeriodError struct {
	Detail    string
	Malformed bool // no period of the window can have the name; Detail says what names look like
	NotBegun  bool // by the clock that was given
}

func (e *PeriodError) Error() string { return "period not found: " + e.Detail }

// Is makes it an ErrPeriodNotFound.
func (e *PeriodError) Is(target error) bool { return target == ErrPeriodNotFound }

func noPeriod(format string, args ...any) error {
	return &PeriodError{Detail: fmt.Sprintf(format, args...)}
}

func notBegun(format string, args ...any) error {
	return &PeriodError{Detail: fmt.Sprintf(format, args...), NotBegun: true}
}

// Find decides what a request means by a window and the name of a period ("" is CurrentPeriod), at the moment now of
// the database clock: one of the current periods, or else a span of the past, whose period FindPast looks up. Names
// that no period can have end here, with a *PeriodError. The past of a board begins with the period that ended last when
// it was made, so that there is a previous one from its first day on.
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
		past = w.SpanAt(now, cal.zone) // the board had the window; its one period is there by this name too
	case !has && (isCurrent || name == PreviousPeriod), !slices.Contains(Windows(), w):
		err = l.noWindow(w)
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

// began returns the period of w that began last at the moment t: between seasons the standings to show are those of the
// last.
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

// previous returns the period of w ahead of the current one, or without that, between seasons, of the one that is shown
// for it.
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

// PeriodFinder looks periods up.
type PeriodFinder interface {
	// PeriodNamed finds a period that there is; ErrPeriodNotFound.
	PeriodNamed(ctx context.Context, boardID int64, w Window, name string) (Period, error)
	// FirstPeriod is the oldest one of a window that there is; ErrPeriodNotFound.
	FirstPeriod(ctx context.Context, boardID int64, w Window) (Period, error)
}

// FindPast returns the period of a span that Listing.Find has found, at the moment now. One that is over and in which
// nobody played has left nothing: it comes without an ID, see PeriodRef.Quiet. Retention deletes
// periods from the oldest on, so only one that is later than a period which is still there is taken for quiet, or one that
// cannot have been given up: it ended before the board was made, or is the previous one of a window that has only the
// current one and keeps more. Since when a board keeps more is not known: the first period after such a change has a
// predecessor that was given up and is taken for quiet.
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
	quiet := span.EndsAt <= b.CreatedTime
	switch {
	case quiet:
	case err != nil:
		quiet = w == WindowSeason && !givesUp // all seasons so far were quiet; other windows begin with the board
	case span.StartsAt < first.StartsAt:
		quiet = first.EndsAt > now && (kept > 0 || !givesUp) && isBefore(&b.Rules, w, span, first.StartsAt)
	default:
		quiet = true
	}
	if !quiet || span.EndsAt > now {
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
