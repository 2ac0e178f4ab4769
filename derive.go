package leaderboard

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Derive is the rule of a derived board: its entries are computed from those of other boards' periods, its sources, and
// follow them. It takes no submissions.
type Derive struct {
	From      []DeriveFrom `json:"from"`
	Last      string       `json:"last,omitempty"` // "7d", "48h", "4w": of each of From the current period and those before it
	Op        DeriveOp     `json:"op"`
	Aggregate Aggregate    `json:"aggregate"`
	Weights   []int64      `json:"weights,omitempty"` // another way to write the weights of From; WithDefaults moves them there
}

// DeriveFrom names a source.
type DeriveFrom struct {
	Board  string `json:"board"`
	Window Window `json:"window,omitempty"` // "": the first of the board
	Period string `json:"period,omitempty"` // "" is current; with Last there is none but current
	Weight *int64 `json:"weight,omitempty"` // nil is 1
}

// DeriveOp says which members a derived board has.
type DeriveOp string

// DeriveOpUnion has who is in any source, DeriveOpIntersect who is in all of them.
const (
	DeriveOpUnion     DeriveOp = "union"
	DeriveOpIntersect DeriveOp = "intersect"
)

// Aggregate says what the score of a derived entry is, of weight × score in the sources that the member is in.
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

// withDefaults returns a copy with what was left out. Weights that fit go to From.
func (d *Derive) withDefaults() *Derive {
	if d == nil {
		return nil
	}
	out := *d
	out.From = slices.Clone(d.From)
	out.Op = cmp.Or(out.Op, DeriveOpUnion)
	out.Aggregate = cmp.Or(out.Aggregate, AggregateSum)
	given := slices.ContainsFunc(d.From, func(f DeriveFrom) bool { return f.Weight != nil })
	if len(d.Weights) == len(d.From) && !given {
		for i := range out.From {
			out.From[i].Weight = &d.Weights[i]
		}
		out.Weights = nil
	}
	for i := range out.From {
		f := &out.From[i]
		f.Period = cmp.Or(f.Period, CurrentPeriod)
		if f.Weight == nil && out.Weights == nil {
			one := int64(1)
			f.Weight = &one
		}
	}
	return &out
}

// units reads Last: how many periods of which window; 1 of any window without it.
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

// SourceCondition says what is to be expected of a source.
type SourceCondition string

const (
	// SourceConditionPresent: its entries count.
	SourceConditionPresent SourceCondition = "present"
	// SourceConditionEmpty: nothing was submitted to the period, or it has not begun.
	SourceConditionEmpty SourceCondition = "empty"
	// SourceConditionNoBoard: no board has the name, yet or any more.
	SourceConditionNoBoard SourceCondition = "no_board"
	// SourceConditionNoWindow: the board does not have the window.
	SourceConditionNoWindow SourceCondition = "no_window"
	// SourceConditionNoPeriod: the window can have no period of the name.
	SourceConditionNoPeriod SourceCondition = "no_period"
	// SourceConditionDerived: the board is derived itself, and so no source.
	SourceConditionDerived SourceCondition = "derived"
	// SourceConditionLeft: it is a source no more, and counts until the next step.
	SourceConditionLeft SourceCondition = "left"
)

// Lacks says whether a source has nothing to count until somebody changes a board.
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

	lack  SourceCondition // why it can have no entries, "" when it can
	moves bool            // it is the current period of its window or the one before, so a rollover makes it another one
}

// Condition says what is to be expected of the source; used: its period has had entries. A period that only a
// reader has begun is empty.
func (s *SourceSpan) Condition(used bool) SourceCondition {
	switch {
	case s.lack == SourceConditionNoWindow && used && !s.moves:
		return SourceConditionPresent // what there was before the window was taken away counts
	case s.lack != "":
		return s.lack
	case used:
		return SourceConditionPresent
	default:
		return SourceConditionEmpty
	}
}

// SourceBoard is what must be known of the board of a source.
type SourceBoard struct {
	Windows     []Window
	Calendar    Calendar
	CreatedTime Micros
	Derived     bool // it is derived itself, so it cannot be a source
}

// FindSource finds the board of a source by its name, false when there is none.
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

// Turn returns the moments between which Spans gives the same sources as at the moment now, as long as the boards stay
// as they are: from the first on, and before the second.
func (d *Derive) Turn(now Micros, find FindSource) (from, until Micros) {
	from, until = MinTime, Forever
	for _, f := range d.From {
		b, ok := find(f.Board)
		if !ok || b.Derived || !f.moves() {
			continue
		}
		start, end := b.Calendar.turn(d.windowOn(&f, &b), now)
		from, until = max(from, start), min(until, end)
	}
	return from, until
}

// windowOn returns the window of a source on a board, "" when the board that decides is not known.
func (d *Derive) windowOn(f *DeriveFrom, b *SourceBoard) Window {
	_, unit, _ := d.units() // the rules were checked
	w := cmp.Or(unit, f.Window)
	if w == "" && len(b.Windows) > 0 {
		return b.Windows[0]
	}
	return w
}

// moves says whether a rollover makes the source another period.
func (f *DeriveFrom) moves() bool {
	return f.Period == "" || f.Period == CurrentPeriod || f.Period == PreviousPeriod
}

// lack says why a window of the board has no new entries to count, "" when it has; known: the board exists.
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

// named returns the period of a window that a request would call so at the moment now.
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
