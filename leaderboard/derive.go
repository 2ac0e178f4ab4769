package leaderboard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Derive is the rule of a derived board: its entries are computed from the entries of other boards' periods, its
// sources, and follow their changes. It takes no submissions.
type Derive struct {
	From      []DeriveFrom `json:"from" label:"Derived from" items:"1,100" want:"1 to 100 sources" doc:"The boards that its entries are computed from; nobody submits to it then, and its only window is all_time. A board with entries neither becomes a derived board nor ceases to be one."`
	Last      string       `json:"last,omitempty" label:"The last periods" doc:"Of each source the current hour, day or week and those before it, so many in all, as in 7d."`
	Op        DeriveOp     `json:"op,omitempty" label:"Which members" words:"union,intersect" default:"union" doc:"Members that are in any of the sources or in all of them."`
	Aggregate Aggregate    `json:"aggregate,omitempty" label:"How scores are joined" words:"sum,min,max" default:"sum" doc:"How weight × score in the member's sources becomes the score. It is exact; beyond an int64 it is the nearest one. The tiebreak is 0. created_time is when the score was reached: of a sum the latest of the entries that have a weight, of min and max the earliest of those that give it."`
}

// DeriveFrom names a source.
type DeriveFrom struct {
	Board  string `json:"board" doc:"The name of the source."`
	Window Window `json:"window,omitempty" words:"all_time,hour,day,week,month,quarter,year,season" doc:"By default the first of the board; with last that of its unit."`
	Period string `json:"period,omitempty" default:"current" doc:"The name of a period, current, or previous."`
	Weight *int64 `json:"weight,omitempty" range:"-1000000000,1000000000" default:"1" doc:"What the scores of the source are multiplied by. 0: they count as 0, and for being in."`
}

// DeriveOp says which members a derived board has.
type DeriveOp string

// DeriveOpUnion: the members of any source. DeriveOpIntersect: the members of all sources.
const (
	DeriveOpUnion     DeriveOp = "union"
	DeriveOpIntersect DeriveOp = "intersect"
)

// Aggregate says how a member's scores in the sources, weight × score, become one score.
type Aggregate string

// The aggregates.
const (
	AggregateSum Aggregate = "sum"
	AggregateMin Aggregate = "min"
	AggregateMax Aggregate = "max"
)

// Bounds of a derivation.
const (
	MaxSources = 100           // once Last is written out
	MaxWeight  = 1_000_000_000 // to either side of 0
)

// withDefaults returns a copy with defaults.
func (d *Derive) withDefaults() *Derive {
	if d == nil {
		return nil
	}
	out := *d
	out.From = slices.Clone(d.From)
	out.Op = cmp.Or(out.Op, DeriveOpUnion)
	out.Aggregate = cmp.Or(out.Aggregate, AggregateSum)
	for i := range out.From {
		f := &out.From[i]
		f.Period = cmp.Or(f.Period, CurrentPeriod)
		if f.Weight == nil {
			one := int64(1)
			f.Weight = &one
		}
	}
	return &out
}

// units parses Last: the number of periods and their window. Without Last it is 1 and "".
func (d *Derive) units() (n int, w Window, err error) {
	if d.Last == "" {
		return 1, "", nil
	}
	digits, unit := d.Last[:len(d.Last)-1], d.Last[len(d.Last)-1]
	switch unit {
	case 'h':
		w = WindowHour
	case 'd':
		w = WindowDay
	case 'w':
		w = WindowWeek
	}
	n, err = strconv.Atoi(digits)
	if err != nil || w == "" || n < 1 || n > MaxSources || strconv.Itoa(n) != digits {
		return 0, "", fmt.Errorf("want 1 to %d hours, days or weeks, such as 48h, 7d or 4w", MaxSources)
	}
	return n, w, nil
}

// SourceCondition is a condition that a source must meet to count.
type SourceCondition string

const (
	// SourceConditionPresent: its entries count.
	SourceConditionPresent SourceCondition = "present"
	// SourceConditionEmpty: the period has no entries yet, or has not begun.
	SourceConditionEmpty SourceCondition = "empty"
	// SourceConditionNoBoard: there is no board with this name.
	SourceConditionNoBoard SourceCondition = "no_board"
	// SourceConditionNoWindow: the board does not have the window.
	SourceConditionNoWindow SourceCondition = "no_window"
	// SourceConditionNoPeriod: the window cannot have a period with this name.
	SourceConditionNoPeriod SourceCondition = "no_period"
	// SourceConditionDerived: the board is derived itself, so it cannot be a source.
	SourceConditionDerived SourceCondition = "derived"
	// SourceConditionLeft: it is no longer a source, and counts until the next step.
	SourceConditionLeft SourceCondition = "left"
)

// Lacks reports whether a source has nothing to count until a board is changed.
func (c SourceCondition) Lacks() bool {
	switch c {
	case SourceConditionNoBoard, SourceConditionNoWindow, SourceConditionNoPeriod, SourceConditionDerived:
		return true
	default:
		return false
	}
}

// SourceSpan is a source at one moment: one period of a board.
type SourceSpan struct {
	Board  string
	Window Window
	Weight int64
	Span
	Found bool // false: the board, the window or the period does not exist; only Board and Weight are certain then

	lack  SourceCondition // why it can have no entries, "" when it can have some
	moves bool            // it is the current or the previous period of its window, so a rollover replaces it
}

// Condition returns the condition of the source; used: its period has had entries. A period that was only read is
// empty.
func (s *SourceSpan) Condition(used bool) SourceCondition {
	switch {
	case s.lack == SourceConditionNoWindow && used && !s.moves:
		return SourceConditionPresent // entries from before the window was removed count
	case s.lack != "":
		return s.lack
	case used:
		return SourceConditionPresent
	default:
		return SourceConditionEmpty
	}
}

// SourceBoard is the part of a source's board that a derived board needs.
type SourceBoard struct {
	Windows     []Window
	Calendar    Calendar
	CreatedTime Micros
	Derived     bool // it is derived itself, so it cannot be a source
}

// FindSource finds the board of a source by its name, false for an unknown one.
type FindSource func(board string) (SourceBoard, bool)

// Spans returns the sources at the moment now, in the order of From and, with Last, from the current period backwards.
func (d *Derive) Spans(now Micros, find FindSource) []SourceSpan {
	n, _, err := d.units()
	if err != nil {
		return nil // the rules were checked
	}
	spans := make([]SourceSpan, 0, n*len(d.From))
	for _, f := range d.From {
		source := SourceSpan{Board: f.Board, Weight: 1}
		if f.Weight != nil {
			source.Weight = *f.Weight
		}
		b, ok := find(f.Board)
		source.Window = d.windowOn(&f, &b)
		source.lack = b.lack(ok, source.Window)
		for i := range n {
			switch {
			case i > 0 && source.Found:
				source.Span, source.Found = b.Calendar.Before(source.Window, source.StartsAt)
				source.moves = false
			case i == 0 && ok && !b.Derived:
				source.moves = f.moves()
				source.Span, source.Found = b.named(source.Window, f.Period, now)
				if !source.Found && !source.moves && source.lack == "" {
					source.lack = SourceConditionNoPeriod
				}
			}
			spans = append(spans, source)
		}
	}
	return spans
}

// CheckKnown returns an ErrUnknownRule when a source is a period of a window whose periods this server does not know.
func (d *Derive) CheckKnown(find FindSource) error {
	for _, f := range d.From {
		if b, ok := find(f.Board); ok && !b.Derived && !b.Calendar.Knows(d.windowOn(&f, &b)) {
			return fmt.Errorf("%w: /time_zone of board %s", ErrUnknownRule, f.Board)
		}
	}
	return nil
}

// Turn returns the interval [from, until) around now in which Spans returns the same sources, as long as the boards do
// not change.
func (d *Derive) Turn(now Micros, find FindSource) (from, until Micros) {
	from, until = MinTime, Forever
	for _, f := range d.From {
		b, ok := find(f.Board)
		if !ok || b.Derived || !f.moves() {
			continue
		}
		start, end := b.Calendar.latestSpan(d.windowOn(&f, &b), now)
		from, until = max(from, start), min(until, end)
	}
	return from, until
}

// windowOn returns the window of a source on a board, "" when the board is unknown and would decide it.
func (d *Derive) windowOn(f *DeriveFrom, b *SourceBoard) Window {
	_, unit, _ := d.units() // the rules were checked
	w := cmp.Or(unit, f.Window)
	if w == "" && len(b.Windows) > 0 {
		return b.Windows[0]
	}
	return w
}

// moves reports whether a rollover replaces the source by another period.
func (f *DeriveFrom) moves() bool {
	return f.Period == "" || f.Period == CurrentPeriod || f.Period == PreviousPeriod
}

// lack returns why a window of the board has no new entries to count, "" when it can have some; known: the board
// exists.
func (b *SourceBoard) lack(known bool, w Window) SourceCondition {
	switch {
	case !known:
		return SourceConditionNoBoard
	case b.Derived:
		return SourceConditionDerived
	case !slices.Contains(b.Windows, w):
		return SourceConditionNoWindow
	default:
		return ""
	}
}

// named returns the period of a window that a request would address by this name at the moment now.
func (b *SourceBoard) named(w Window, name string, now Micros) (Span, bool) {
	if name != "" && name != CurrentPeriod && name != PreviousPeriod {
		span, err := b.Calendar.Named(w, name)
		return span, err == nil
	}
	span, ok := b.Calendar.Latest(w, now)
	if ok && name == PreviousPeriod {
		return b.Calendar.Before(w, span.StartsAt)
	}
	return span, ok
}
