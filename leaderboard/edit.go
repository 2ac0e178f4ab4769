package leaderboard

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Allow returns a RuleError when the rules do not let a caller make an edit. An edit that overrides nothing needs no
// permission.
func (r *Rules) Allow(e *Edit, by *Caller) error {
	if e == nil || r.Derive != nil { // which takes no submissions at all
		return nil
	}
	var o Overrides
	if r.Overrides != nil {
		o = *r.Overrides
	}
	op := e.Op != "" && e.Op != r.Policy
	switch {
	case !op && !e.KeepTime:
		return nil
	case op && !slices.Contains(o.Ops, e.Op):
		return noOverride("the board does not let op %s take the place of policy %s", e.Op, r.Policy)
	case e.KeepTime && !o.KeepTime:
		return noOverride("the board does not let a submission keep the time")
	case !by.Admin && !slices.Contains(o.Keys, by.Key):
		return noOverride("the key is neither of scope admin nor one of those that the board names")
	}
	return nil
}

func noOverride(format string, args ...any) *RuleError {
	return &RuleError{Code: CodeOverrideNotAllowed, Detail: fmt.Sprintf(format, args...)}
}

// editsFields reports whether single fields change.
func (e *Edit) editsFields() bool { return e != nil && len(e.Set)+len(e.Add) > 0 }

// keepsTime reports whether the created_time stays while the score does.
func (e *Edit) keepsTime() bool { return e != nil && e.KeepTime }

// policy returns the policy for a submission: its edit's, or the board's.
func (e *Edit) policy(of Policy) Policy {
	switch {
	case e == nil:
		return of
	case e.NoScore:
		return PolicyLatest
	}
	return cmp.Or(e.Op, of)
}

// checkEdit returns a RuleError when an edit names what the board does not have.
func (r *Rules) checkEdit(e *Edit) error {
	if !e.editsFields() {
		return nil
	}
	for _, values := range []map[string]int64{e.Set, e.Add} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if _, err := r.Tiebreak.field(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// edit returns the tiebreak of an entry (nil: no entry) with single fields changed. The error has CodeInvalidFields.
func (t *Tiebreak) edit(cur *Entry, e *Edit) (int64, error) {
	values := make(map[string]int64, len(t.Fields))
	for i := range t.Fields {
		values[t.Fields[i].Name] = 0
	}
	if cur != nil {
		for _, f := range t.Unpack(cur.Tiebreak) {
			values[f.Name] = f.Value
		}
	}
	maps.Copy(values, e.Set)
	for _, name := range slices.Sorted(maps.Keys(e.Add)) {
		sum, ok := addInt64(values[name], e.Add[name])
		if !ok {
			return 0, invalidFields("%s %d + %d does not fit into an int64", name, values[name], e.Add[name])
		}
		values[name] = sum
	}
	return t.Pack(values)
}

// CheckForm returns the contradictions in a submission, and the conditions and edits that ask for nothing, by pointers
// into an entry of a submit. It does not look at the board's rules. A submission without If and Edit has no faults.
func (s *Submission) CheckForm() (bad []FieldError) {
	fail := func(pointer, detail string) { bad = append(bad, FieldError{pointer, detail}) }
	if s.If != nil {
		bad = s.If.form()
		if s.Edit.withoutScore() && s.If.Absent != nil && *s.If.Absent {
			fail("/if/absent", "without a score there must be an entry")
		}
	}
	e := s.Edit
	if e == nil {
		return bad
	}
	switch {
	case e.NoScore && !e.editsFields():
		fail("/score", "is required, unless set or add change single fields")
	case e.NoScore && e.Op != "":
		fail("/op", "applies to a score, and there is none")
	}
	if e.Op != "" && !slices.Contains(policies(), e.Op) {
		fail("/op", "want one of "+joined(policies()))
	}
	if e.KeepTime && s.CreatedTime != nil {
		fail("/keep_time", "give a created_time or keep the one that is there, not both")
	}
	return append(bad, s.fieldFaults()...)
}

// fieldFaults returns the contradictions in the fields of a submission with an Edit.
func (s *Submission) fieldFaults() (bad []FieldError) {
	for _, of := range []struct {
		pointer string
		values  map[string]int64
	}{{"/set", s.Edit.Set}, {"/add", s.Edit.Add}} {
		switch {
		case of.values != nil && len(of.values) == 0:
			bad = append(bad, FieldError{of.pointer, "want at least one field"})
		case of.values != nil && (s.Tiebreak != nil || s.Fields != nil):
			bad = append(bad, FieldError{of.pointer, "give the whole tiebreak or change single fields of it, not both"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Edit.Add)) {
		if _, both := s.Edit.Set[name]; both {
			bad = append(bad, FieldError{"/add/" + pointerEscape(name), "is in set too"})
		}
	}
	return bad
}

// Known returns the edit as far as the board has the fields that it names, for records of it.
func (r *Rules) Known(e *Edit) *Edit {
	if e == nil {
		return nil
	}
	known := *e
	for _, values := range []*map[string]int64{&known.Set, &known.Add} {
		given := *values
		*values = nil
		for name, v := range given {
			if _, err := r.Tiebreak.field(name); err == nil {
				if *values == nil {
					*values = map[string]int64{}
				}
				(*values)[name] = v
			}
		}
	}
	return &known
}

func addInt64(a, b int64) (int64, bool) {
	if (b > 0 && a > math.MaxInt64-b) || (b < 0 && a < math.MinInt64-b) {
		return 0, false
	}
	return a + b, true
}
