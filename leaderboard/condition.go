package leaderboard

import (
	"fmt"
	"maps"
	"slices"
)

// empty reports whether there is no condition at all.
func (c *Condition) empty() bool {
	return c.Absent == nil && !c.wantsValues()
}

// wantsValues reports whether only an entry can meet the condition.
func (c *Condition) wantsValues() bool {
	return c.Score != nil || c.Tiebreak != nil || len(c.Fields) > 0 || c.CreatedTime != nil
}

// wantsEntry reports whether the condition does not hold without an entry. It is false for a nil Condition.
func (c *Condition) wantsEntry() bool {
	return c != nil && (c.wantsValues() || c.Absent != nil && !*c.Absent)
}

// form returns the contradictions in the condition, by pointers into the entry of a submit.
func (c *Condition) form() (bad []FieldError) {
	switch {
	case c.empty():
		bad = append(bad, FieldError{"/if", "want at least one condition"})
	case c.Absent != nil && *c.Absent && c.wantsValues():
		bad = append(bad, FieldError{"/if/absent", "an entry that is absent has no score, fields or time: give absent alone"})
	}
	return bad
}

// checkCondition returns a RuleError when no entry of the board could ever meet the condition, because it names what the
// board does not have.
func (r *Rules) checkCondition(c *Condition) error {
	switch {
	case c == nil:
		return nil
	case c.Tiebreak != nil && len(r.Tiebreak.Fields) > 0:
		return invalidFields("the board's tiebreak has fields, a condition names them: %s", r.Tiebreak.form())
	}
	for _, name := range slices.Sorted(maps.Keys(c.Fields)) {
		f, err := r.Tiebreak.field(name)
		if err != nil {
			return err
		}
		if v := c.Fields[name]; v < 0 || v > f.Max() {
			return invalidFields("%s is never %d, its values are 0 to %d", name, v, f.Max())
		}
	}
	return nil
}

// meets returns a RuleError with CodeConditionUnmet when cur does not meet the submission's condition; cur is nil if
// there is no entry.
func (r *Rules) meets(cur *Entry, sub *Submission) error {
	c := sub.If
	switch {
	case cur == nil && c.wantsEntry():
		return unmet("the member has no entry")
	case cur == nil && sub.Edit.withoutScore():
		return unmet("the member has no entry, and the submission has no score to begin one with")
	case c == nil || cur == nil:
		return nil
	case c.Absent != nil && *c.Absent:
		return unmet("the member has an entry")
	case c.Score != nil && *c.Score != cur.Score:
		return unmet("score is %d, not %d", cur.Score, *c.Score)
	case c.Tiebreak != nil && *c.Tiebreak != cur.Tiebreak:
		return unmet("tiebreak is %d, not %d", cur.Tiebreak, *c.Tiebreak)
	case c.CreatedTime != nil && *c.CreatedTime != cur.CreatedTime:
		return unmet("created_time is %s, not %s", cur.CreatedTime, *c.CreatedTime)
	case len(c.Fields) == 0:
		return nil
	}
	for _, f := range r.Tiebreak.Unpack(cur.Tiebreak) {
		if want, ok := c.Fields[f.Name]; ok && want != f.Value {
			return unmet("%s is %d, not %d", f.Name, f.Value, want)
		}
	}
	return nil
}

func unmet(format string, args ...any) *RuleError {
	return &RuleError{Code: CodeConditionUnmet, Detail: fmt.Sprintf(format, args...)}
}
