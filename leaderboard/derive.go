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

// Units parses Last: the number of periods and their window. Without Last it is 1 and "".
func (d *Derive) Units() (n int, w Window, err error) {
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

// Moves reports whether a rollover replaces the source by another period.
func (f *DeriveFrom) Moves() bool {
	return f.Period == "" || f.Period == CurrentPeriod || f.Period == PreviousPeriod
}
