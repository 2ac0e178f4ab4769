package leaderboard

import (
	"fmt"
	"strings"
)

// ConflictError rejects a change of a board's rules because of entries or periods that the board has. It is an
// ErrBoardConflict.
type ConflictError struct {
	Reason string       // the obstacle, such as "the board has entries"
	Fields []FieldError // the rules that cannot change; at least one
}

// Detail names the rules and the reason: "order stays desc, because the board has entries".
func (e *ConflictError) Detail() string {
	rules := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		rules[i] = strings.ReplaceAll(strings.TrimPrefix(f.Pointer, "/"), "/", ".") + " " + f.Detail
	}
	return strings.Join(rules, ", ") + ", because " + e.Reason
}

func (e *ConflictError) Error() string { return "board conflict: " + e.Detail() }

// Unwrap returns ErrBoardConflict.
func (e *ConflictError) Unwrap() error { return ErrBoardConflict }

// FixedByEntries returns the rules in which other differs from r and that a board with entries keeps.
func (r *Rules) FixedByEntries(other *Rules) []FieldError {
	var fixed []FieldError
	keep := func(differ bool, pointer, format string, args ...any) {
		if differ {
			fixed = append(fixed, FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
		}
	}
	keep(r.Order != other.Order, "/order", "stays %s", r.Order)
	keep(r.Tiebreak.Order != other.Tiebreak.Order, "/tiebreak/order", "stays %s", r.Tiebreak.Order)
	keep(!r.Tiebreak.sameFields(&other.Tiebreak), "/tiebreak/fields", "stay as they are")
	keep(r.Derive == nil && other.Derive != nil, "/derive", "cannot be added")
	keep(r.Derive != nil && other.Derive == nil, "/derive", "cannot be taken away")
	return fixed
}

// FixedByPeriods returns the rules in which other differs from r and that a board keeps whose calendar periods were
// used.
func (r *Rules) FixedByPeriods(other *Rules) []FieldError {
	if r.TimeZone == other.TimeZone {
		return nil
	}
	return []FieldError{{Pointer: "/time_zone", Detail: "stays " + r.TimeZone}}
}

// SeasonConflict returns the reason why these seasons, which were used, can be neither removed nor moved.
func SeasonConflict(used ...SeasonRule) *ConflictError {
	e := &ConflictError{Reason: "that season was used"}
	for _, s := range used {
		e.Fields = append(e.Fields, FieldError{Pointer: "/seasons", Detail: fmt.Sprintf("keep %s from %s to %s", s.Name, s.StartsAt, s.EndsAt)})
	}
	if len(used) > 1 {
		e.Reason = "these seasons were used"
	}
	return e
}
