package leaderboard

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Order is a direction: which end of the int64 range is better.
type Order string

// OrderDesc: higher is better. OrderAsc: lower is better.
const (
	OrderDesc Order = "desc"
	OrderAsc  Order = "asc"
)

// Mode is a way to number ties.
type Mode string

const (
	// ModeStrict numbers 1,2,3,4: the earlier entry is ranked first.
	ModeStrict Mode = "strict"
	// ModeTied numbers 1,2,2,4: 1 + the number of entries with a better (score, tiebreak).
	ModeTied Mode = "tied"
	// ModeDense numbers 1,2,2,3: 1 + the number of better distinct (score, tiebreak).
	ModeDense Mode = "dense"
	// ModeAll is for queries only, not for boards: the answer has the ranks in all modes, dense ones where they are
	// known.
	ModeAll Mode = "all"
)

// WithDense reports whether answers in this mode have dense ranks.
func (m Mode) WithDense() bool { return m == ModeDense || m == ModeAll }

// Ranks are the ranks of one entry, each counted from 1.
type Ranks struct {
	Strict int64 // 1 + entries ordered before it
	Tied   int64 // 1 + entries with a better (score, tiebreak)
	Dense  int64 // 1 + better distinct (score, tiebreak); 0: not known
}

// Next returns the ranks of the entry right after an entry with ranks r. The two may have the same (score, tiebreak).
func (r Ranks) Next(same bool) Ranks {
	r.Strict++
	if same {
		return r
	}
	r.Tied = r.Strict
	if r.Dense != 0 {
		r.Dense++
	}
	return r
}

// In returns the rank in the mode of a board.
func (r Ranks) In(mode Mode) int64 {
	switch mode {
	case ModeTied:
		return r.Tied
	case ModeDense:
		return r.Dense
	default:
		return r.Strict
	}
}

func compareIn(o Order, a, b int64) int {
	switch {
	case a == b:
		return 0
	case (a > b) == (o == OrderDesc):
		return -1
	default:
		return 1
	}
}

// Percentile returns the percentage of a period's entries that an entry with this tied rank is at least as good as,
// itself included: 100 for the best, 100/total for a single worst. Rounded down to four decimals.
func Percentile(tied, total int64) float64 {
	if total <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(total-tied+1), 1_000_000)
	q, _ := bits.Div64(hi, lo, uint64(total))
	return float64(q) / 10_000
}

// Bounds of tiebreak fields.
const (
	MaxTiebreakFields = 16
	MaxTiebreakBits   = 63 // of all fields together: a packed tiebreak is an int64 and not negative
)

// Tiebreak is the second criterion: its direction, and the fields that it is packed from, if it has several.
type Tiebreak struct {
	Order  Order           `json:"order" flag:"tiebreak-order" label:"Order of the tiebreak" words:"desc,asc" default:"desc" doc:"Which tiebreaks are better, higher ones with desc, lower ones with asc."`
	Fields []TiebreakField `json:"fields,omitempty" flag:"tiebreak-fields" label:"Fields of the tiebreak" items:"0,16" want:"at most 16 fields" example:"[{ name: level, bits: 20, order: desc }, { name: paid, bits: 1, order: desc }, { name: deaths, bits: 16, order: asc }]" doc:"Fields of the tiebreak, the first decides first, each in its own direction. Together they have at most 63 bits. They cannot change while the board has entries."`
}

// TiebreakField is one field of a packed tiebreak.
type TiebreakField struct {
	Name  string `json:"name" pattern:"^[a-z][a-z0-9_]{0,31}$" want:"a name of its own, [a-z][a-z0-9_]{0,31}" doc:"Of its own."`
	Bits  int    `json:"bits" range:"1,63" want:"1 to 63 bits" doc:"A value is 0 to 2^bits - 1."`
	Order Order  `json:"order" words:"desc,asc" default:"desc" doc:"Which values are better, whatever the order of the tiebreak. desc: higher is better."`
}

// FieldValue is the value of one field.
type FieldValue struct {
	Name  string
	Value int64
}

// Max returns the greatest value of the field; the least is 0.
func (f *TiebreakField) Max() int64 { return math.MaxInt64 >> (MaxTiebreakBits - f.Bits) }

// oriented turns a value of f into its part of the packed tiebreak, and back: a field that runs against the tiebreak is
// complemented, so that comparing packed tiebreaks in the tiebreak's order compares every field in its own.
func (t *Tiebreak) oriented(f *TiebreakField, part int64) int64 {
	if f.Order == t.Order {
		return part
	}
	return f.Max() - part
}

// Pack packs the values of all fields into one tiebreak: the first field in the highest bits. Comparing packed
// tiebreaks compares field by field, each in its direction. Every declared field is required; other fields and values
// out of range are refused. The error has CodeInvalidFields and lists all faults.
func (t *Tiebreak) Pack(values map[string]int64) (int64, error) {
	if len(t.Fields) == 0 {
		return 0, invalidFields("the board's tiebreak has no fields")
	}
	var (
		packed int64
		bad    []string
		known  int
	)
	for i := range t.Fields {
		f := &t.Fields[i]
		v, given := values[f.Name]
		switch {
		case !given:
			bad = append(bad, f.Name+" is missing")
		case v < 0 || v > f.Max():
			bad = append(bad, fmt.Sprintf("%s %d is out of range, want 0 to %d", f.Name, v, f.Max()))
		}
		if given {
			known++
		}
		packed = packed<<f.Bits | t.oriented(f, v)
	}
	if known < len(values) {
		bad = append(bad, t.unknown(values))
	}
	if bad != nil {
		return 0, invalidFields("%s", strings.Join(bad, "; "))
	}
	return packed, nil
}

// unknown returns the first name in values that is no field.
func (t *Tiebreak) unknown(values map[string]int64) string {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.ContainsFunc(t.Fields, func(f TiebreakField) bool { return f.Name == name }) {
			return fmt.Sprintf("%.*q is none of the fields %s", maxFieldName, name, t.form())
		}
	}
	return "" // every value belongs to a field
}

// field finds a field by its name. The error has CodeInvalidFields.
func (t *Tiebreak) field(name string) (*TiebreakField, error) {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return &t.Fields[i], nil
		}
	}
	if len(t.Fields) == 0 {
		return nil, invalidFields("the board's tiebreak has no fields")
	}
	return nil, invalidFields("%.*q is none of the fields %s", maxFieldName, name, t.form())
}

// Unpack is the inverse of Pack: it returns the values of the fields in declared order, nil without fields. Bits above
// the fields are ignored.
func (t *Tiebreak) Unpack(packed int64) []FieldValue {
	if len(t.Fields) == 0 {
		return nil
	}
	values := make([]FieldValue, len(t.Fields))
	for i := len(t.Fields) - 1; i >= 0; i-- {
		f := &t.Fields[i]
		values[i] = FieldValue{f.Name, t.oriented(f, packed&f.Max())}
		packed >>= f.Bits
	}
	return values
}

// Resolve returns the tiebreak of a submission, which gives it as a number, as fields, or not at all (nil). If it does not, the
// result is kept; without kept (nil) it is 0 on a board without fields, and an error on a board with fields, because every value
// must be chosen. On a board with fields a number must be a result of Pack. The error has CodeInvalidFields.
func (t *Tiebreak) Resolve(given *int64, fields map[string]int64, kept *int64) (int64, error) {
	switch {
	case given != nil && fields != nil:
		return 0, invalidFields("give the tiebreak or its fields, not both")
	case fields != nil:
		return t.Pack(fields)
	case given != nil:
		return *given, t.checkPacked(*given)
	case kept != nil:
		return *kept, nil
	case len(t.Fields) > 0:
		return 0, invalidFields("the fields are missing, want %s", t.form())
	}
	return 0, nil
}

func (t *Tiebreak) checkPacked(packed int64) error {
	if len(t.Fields) == 0 {
		return nil
	}
	if most := int64(math.MaxInt64 >> (MaxTiebreakBits - t.bits())); packed < 0 || packed > most {
		return invalidFields("tiebreak %d is not packed from the fields %s: it is out of range, want 0 to %d", packed, t.form(), most)
	}
	return nil
}

// Layout names the fields, their bits and directions on one line, as in "level:20:desc,deaths:16:asc"; "" without
// fields. Two tiebreaks of one order with the same layout give values the same meaning.
func (t *Tiebreak) Layout() string {
	if len(t.Fields) == 0 {
		return ""
	}
	var b strings.Builder
	for i := range t.Fields {
		f := &t.Fields[i]
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f.Name + ":" + strconv.Itoa(f.Bits) + ":" + string(f.Order))
	}
	return b.String()
}

// form describes the fields for people.
func (t *Tiebreak) form() string {
	parts := make([]string, len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		parts[i] = fmt.Sprintf("%s (0 to %d)", f.Name, f.Max())
	}
	return strings.Join(parts, ", ")
}

// bits returns the length of a packed tiebreak. The fields must be valid one by one.
func (t *Tiebreak) bits() int {
	n := 0
	for i := range t.Fields {
		n += t.Fields[i].Bits
	}
	return n
}

func invalidFields(format string, args ...any) *RuleError {
	return &RuleError{Code: CodeInvalidFields, Detail: fmt.Sprintf(format, args...)}
}

// equal reports whether two tiebreaks have the same order and layout.
func (t *Tiebreak) equal(other *Tiebreak) bool {
	return t.Order == other.Order && t.sameFields(other)
}

func (t *Tiebreak) sameFields(other *Tiebreak) bool { return slices.Equal(t.Fields, other.Fields) }

// withDefaults returns a copy with defaults. The fields of t do not change.
func (t Tiebreak) withDefaults() Tiebreak {
	t.Order = cmp.Or(t.Order, OrderDesc)
	t.Fields = append([]TiebreakField(nil), t.Fields...) // nil without fields
	for i := range t.Fields {
		t.Fields[i].Order = cmp.Or(t.Fields[i].Order, OrderDesc)
	}
	return t
}

const maxFieldName = 32 // bytes

func (t *Tiebreak) check(fail failFunc) {
	if len(t.Fields) > MaxTiebreakFields {
		return
	}
	sum, terms := 0, make([]string, len(t.Fields))
	for i, f := range t.Fields {
		pointer := "/tiebreak/fields/" + strconv.Itoa(i)
		if slices.ContainsFunc(t.Fields[:i], func(g TiebreakField) bool { return g.Name == f.Name }) {
			fail(pointer+"/name", "want a name of its own, [a-z][a-z0-9_]{0,%d}", maxFieldName-1)
			return // the arithmetic names the fields
		}
		if f.Bits < 1 || f.Bits > MaxTiebreakBits {
			return
		}
		sum += f.Bits
		terms[i] = fmt.Sprintf("%s %d", f.Name, f.Bits)
	}
	if sum > MaxTiebreakBits {
		fail("/tiebreak/fields", "%s = %d bits, a tiebreak has %d", strings.Join(terms, " + "), sum, MaxTiebreakBits)
	}
}
