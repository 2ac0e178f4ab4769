package leaderboard

import (
	"fmt"
	"strings"
)

// Apply returns the entry that a submission makes of cur, the member's entry (nil: none), and whether it differs from
// cur. It returns a RuleError if the submission is rejected, with CodeConditionUnmet if cur does not meet its
// condition. Apply is pure: now is the created_time of an applied change unless the submission gives a time, or keeps
// the time of cur. clock is the database clock, and no created_time is later: a time up to ClockAhead after the clock
// becomes the clock.
func (r *Rules) Apply(cur *Entry, sub Submission, now, clock Micros) (next Entry, changed bool, err error) {
	if err = r.checkSubmission(sub, clock); err != nil {
		return Entry{}, false, err
	}
	if err = r.checkTerms(cur, &sub); err != nil {
		return Entry{}, false, err
	}
	if t := sub.CreatedTime; t != nil && *t > clock {
		sub.CreatedTime = &clock
	}
	policy := sub.Edit.policy(r.Policy)
	if next, err = r.next(policy, cur, &sub, now); err != nil {
		return Entry{}, false, err
	}
	if cur != nil && !r.replaces(policy, *cur, next, sub.CreatedTime != nil) {
		return *cur, false, nil
	}
	if err = r.checkDelta(policy, cur, &sub); err != nil {
		return Entry{}, false, err
	}
	return next, true, nil
}

// checkTerms checks the condition and the edit of a submission.
func (r *Rules) checkTerms(cur *Entry, sub *Submission) error {
	if sub.Plain() {
		return nil
	}
	if err := r.checkCondition(sub.If); err != nil {
		return err
	}
	if err := r.checkEdit(sub.Edit); err != nil {
		return err
	}
	return r.meets(cur, sub)
}

// next returns the entry that a submission leads to when it replaces cur.
func (r *Rules) next(policy Policy, cur *Entry, sub *Submission, now Micros) (next Entry, err error) {
	next = Entry{Member: sub.Member, Score: sub.Score, CreatedTime: now}
	switch {
	case sub.Edit.withoutScore():
		next.Score = cur.Score
	case policy == PolicySum && cur != nil:
		var ok bool
		if next.Score, ok = addInt64(cur.Score, sub.Score); !ok {
			return Entry{}, &RuleError{Code: CodeScoreOverflow, Detail: fmt.Sprintf("%d + %d does not fit into an int64", cur.Score, sub.Score)}
		}
	}
	switch {
	case sub.CreatedTime != nil:
		next.CreatedTime = *sub.CreatedTime
	case cur != nil && sub.Edit.keepsTime() && next.Score == cur.Score:
		next.CreatedTime = cur.CreatedTime
	}
	if next.Tiebreak, err = r.nextTiebreak(policy, cur, sub); err != nil {
		return Entry{}, err
	}
	if sub.Edit.withoutScore() {
		return next, nil // the score may lie outside of limits that were narrowed
	}
	return next, r.checkRange(policy, cur, next.Score)
}

// nextTiebreak returns the tiebreak of the entry that a submission leads to.
func (r *Rules) nextTiebreak(policy Policy, cur *Entry, sub *Submission) (int64, error) {
	if sub.Edit.editsFields() {
		return r.Tiebreak.edit(cur, sub.Edit)
	}
	var kept *int64
	if policy == PolicySum && cur != nil && (len(r.Tiebreak.Fields) == 0 || len(r.Windows) == 1) {
		kept = &cur.Tiebreak // windows must agree on the fields: all of them take a submission, or none
	}
	return r.Tiebreak.Resolve(sub.Tiebreak, sub.Fields, kept)
}

// replaces reports whether next replaces cur. An equal entry changes nothing, its created_time included, unless the
// submission gives a created_time: then it corrects the time (best: only to an earlier one).
func (r *Rules) replaces(policy Policy, cur, next Entry, timeGiven bool) bool {
	if cur.Score == next.Score && cur.Tiebreak == next.Tiebreak {
		switch {
		case !timeGiven:
			return false
		case policy == PolicyBest:
			return next.CreatedTime < cur.CreatedTime
		default:
			return next.CreatedTime != cur.CreatedTime
		}
	}
	return policy != PolicyBest || r.Better(next, cur)
}

// ClockAhead is how far the clock of a caller that gives a created_time may be ahead of the database's.
const ClockAhead Micros = 1_000_000

func (r *Rules) checkSubmission(sub Submission, clock Micros) error {
	if err := r.checkMember(sub.Member); err != nil {
		return err
	}
	if r.Derive != nil {
		return NotToDerived()
	}
	if sub.BadNumber != "" {
		return &RuleError{Code: CodeInvalidNumber, Detail: sub.BadNumber}
	}
	if r.StartsAt != nil && clock < *r.StartsAt {
		return &RuleError{Code: CodeBoardNotStarted, Detail: fmt.Sprintf("the board starts at %s", *r.StartsAt)}
	}
	if r.EndsAt != nil && clock >= *r.EndsAt {
		return &RuleError{Code: CodeBoardEnded, Detail: fmt.Sprintf("the board ended at %s", *r.EndsAt)}
	}
	if t := sub.CreatedTime; t != nil && (*t < MinTime || *t > clock && *t-clock > ClockAhead) {
		return &RuleError{Code: CodeInvalidTime, Detail: fmt.Sprintf("created_time lies between %s and the database clock, now %s", MinTime, clock)}
	}
	return r.Metadata.accept(sub.Metadata)
}

// checkMember is CheckMember for a board: with strict_ids an id is printable ASCII, so that no two look alike but by
// their spaces.
func (r *Rules) checkMember(id string) error {
	if err := CheckMember(id); err != nil || !r.StrictIDs {
		return err
	}
	for _, c := range id {
		if c > '~' { // control characters are refused already
			return invalidMember(fmt.Sprintf("the board takes ids of printable ASCII only (strict_ids), this one has %U", c))
		}
	}
	return nil
}

// checkRange checks the score that the member would have against min_score and max_score. A sum that lies outside of
// them, because they were narrowed after it was reached, may move towards them.
func (r *Rules) checkRange(policy Policy, cur *Entry, score int64) error {
	l := r.Limits
	sum := policy == PolicySum && cur != nil
	if l.MinScore != nil && score < *l.MinScore && !(sum && score >= cur.Score) {
		return &RuleError{Code: CodeScoreLimit, Detail: fmt.Sprintf("score %d is below the board's min_score %d", score, *l.MinScore)}
	}
	if l.MaxScore != nil && score > *l.MaxScore && !(sum && score <= cur.Score) {
		return &RuleError{Code: CodeScoreLimit, Detail: fmt.Sprintf("score %d is above the board's max_score %d", score, *l.MaxScore)}
	}
	return nil
}

// checkDelta checks a submission that changes the entry against max_delta: with sum the amount, otherwise the distance
// from the score that the member has, if any.
func (r *Rules) checkDelta(policy Policy, cur *Entry, sub *Submission) error {
	if r.Limits.MaxDelta == nil || sub.Edit.withoutScore() || (cur == nil && policy != PolicySum) {
		return nil
	}
	delta := magnitude(sub.Score, 0)
	if policy != PolicySum {
		delta = magnitude(sub.Score, cur.Score)
	}
	if delta > uint64(*r.Limits.MaxDelta) {
		return &RuleError{Code: CodeDeltaLimit, Detail: fmt.Sprintf("a change by %d is above the board's max_delta %d", delta, *r.Limits.MaxDelta)}
	}
	return nil
}

// magnitude returns |a - b|, which always fits into a uint64.
func magnitude(a, b int64) uint64 {
	if a < b {
		a, b = b, a
	}
	return uint64(a) - uint64(b)
}

// Compare is the one total order of a period (promise B1): negative when a is ranked before b. Score and tiebreak in
// the board's directions, then created_time ascending, then member bytes ascending.
func (r *Rules) Compare(a, b Entry) int {
	if c := compareIn(r.Order, a.Score, b.Score); c != 0 {
		return c
	}
	if c := compareIn(r.Tiebreak.Order, a.Tiebreak, b.Tiebreak); c != 0 {
		return c
	}
	if c := compareIn(OrderAsc, int64(a.CreatedTime), int64(b.CreatedTime)); c != 0 {
		return c
	}
	return strings.Compare(a.Member, b.Member)
}

// Better reports whether a has a better (score, tiebreak) than b; if neither entry is better, they are tied.
func (r *Rules) Better(a, b Entry) bool {
	if a.Score != b.Score {
		return compareIn(r.Order, a.Score, b.Score) < 0
	}
	return compareIn(r.Tiebreak.Order, a.Tiebreak, b.Tiebreak) < 0
}
