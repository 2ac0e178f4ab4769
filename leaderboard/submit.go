package leaderboard

import (
	"fmt"
	"slices"
)

// Submission is one score for a member.
type Submission struct {
	Member   string
	Score    int64  // with policy sum: the amount to add
	Tiebreak *int64 // nil: 0 for best and latest, unchanged for sum; a board with fields requires it or Fields
	// Fields are the values of the board's tiebreak fields, instead of Tiebreak; nil when they are not given.
	Fields      map[string]int64
	CreatedTime *Micros // nil: assigned at commit; only admins may give one, for imports and corrections

	If   *Condition // nil: whatever the entry is like
	Edit *Edit      // nil: the board's policy decides the new entry

	Play *PlayID // of a player who submits, nil: none

	// Metadata is the metadata of the new entry, a JSON object without spaces; "": none. A submission without metadata
	// that leaves the score unchanged also leaves the metadata unchanged.
	Metadata string

	// BadNumber names a number of the request that is not a whole number of 64 bits, with the expected form; the
	// submission is rejected for it. "": no such number.
	BadNumber string
}

// Plain reports whether a submission is a score alone, without a condition and without anything that the board's policy
// does not say.
func (s *Submission) Plain() bool { return s.If == nil && s.Edit == nil }

// Condition is a condition on the member's entry for a submission to be applied. All given parts must hold, in each of
// the board's windows, whose entries differ.
type Condition struct {
	Absent      *bool            `json:"absent,omitempty"` // true: the member has no entry; false: the member has an entry
	Score       *int64           `json:"score,omitempty"`
	Tiebreak    *int64           `json:"tiebreak,omitempty"` // of a board without fields
	Fields      map[string]int64 `json:"fields,omitempty"`   // some of the board's tiebreak fields, or all
	CreatedTime *Micros          `json:"created_time,omitempty"`
}

// Edit says how a submission differs from the board's policy.
type Edit struct {
	// NoScore: the score does not change. Only Set and Add change the entry, in any direction.
	NoScore bool `json:"no_score,omitzero"`
	// Set and Add change single tiebreak fields of the present entry; without an entry each field begins at 0. The
	// other fields stay.
	Set map[string]int64 `json:"set,omitempty"`
	Add map[string]int64 `json:"add,omitempty"`
	// Op takes the place of the board's policy, where Overrides allow it. "": the policy.
	Op Policy `json:"op,omitempty"`
	// KeepTime keeps the entry's created_time while its score stays the same, where Overrides allow it.
	KeepTime bool `json:"keep_time,omitzero"`
}

// withoutScore reports whether the score stays unchanged. It is false for a nil Edit.
func (e *Edit) withoutScore() bool { return e != nil && e.NoScore }

// SubmitRequest asks to submit scores to one board. Its entries are applied in order, in one transaction.
type SubmitRequest struct {
	Board   string
	Key     string // idempotency key of at most MaxIdempotencyKey bytes, "" for none
	Entries []Submission
	Atomic  bool // apply no entry if one is rejected or unmet
	Moves   bool // the receipt reports moves: Result.Old and New, and First; not part of the idempotency key's content
}

// MaxIdempotencyKey is the greatest length of an idempotency key in bytes.
const MaxIdempotencyKey = 128

// Status is the outcome of one submission.
type Status string

// StatusApplied changed the entry; StatusUnchanged was valid and changed nothing; StatusRejected broke a rule. StatusUnmet
// found an entry that does not meet its condition. StatusAborted would have been applied or unchanged, but another entry of
// an atomic request was rejected, unmet or would be held. StatusHeld waits for an admin: see Review. The last four changed
// nothing.
const (
	StatusApplied   Status = "applied"
	StatusUnchanged Status = "unchanged"
	StatusRejected  Status = "rejected"
	StatusUnmet     Status = "unmet"
	StatusAborted   Status = "aborted"
	StatusHeld      Status = "held"
)

// Failed reports whether nothing was done for a reason, which the result has.
func (s Status) Failed() bool {
	return s == StatusRejected || s == StatusUnmet || s == StatusAborted || s == StatusHeld
}

// Result is the outcome of one submission. Score and CreatedTime are the entry's after it and Previous is its score
// before it; all three are nil while the member has no entry. Old and New are the entry before and after it, when the
// request asks for moves; both are nil when Status.Failed, and when the request was carried out before.
type Result struct {
	Member      string
	Status      Status
	Score       *int64
	Previous    *int64
	CreatedTime *Micros
	Rule        *RuleError // why, when Status.Failed; for StatusHeld, the reason for waiting
	Old, New    *Entry

	// Of a submission that is not Plain, also the entry's tiebreak and its fields, if the board has some.
	Tiebreak *int64
	Fields   []FieldValue
}

// Fail makes the result one of a submission that broke a rule, an unmet condition included.
func (r *Result) Fail(broken *RuleError) {
	r.Rule, r.Old, r.New = broken, nil, nil
	switch broken.Code {
	case CodeConditionUnmet:
		r.Status = StatusUnmet
	case CodeAborted:
		r.Status = StatusAborted
	case CodeHeld:
		r.Status = StatusHeld
	default:
		r.Status = StatusRejected
	}
}

// aborted returns why an entry of an atomic request was not applied: the i-th one, from 0, has a status that prevented it.
func aborted(i int, status Status) *RuleError {
	return &RuleError{Code: CodeAborted, Detail: fmt.Sprintf("nothing of the request was applied, because entry %d of it is %s", i, status)}
}

// AbortAll marks every result of an atomic request as aborted if one of them has failed; ok is false otherwise. The
// caller corrects the entries in them.
func AbortAll(results []*Result) (ok bool) {
	first := slices.IndexFunc(results, func(r *Result) bool { return r.Status.Failed() })
	if first < 0 {
		return false
	}
	for _, r := range results {
		if r.Status == StatusHeld {
			r.Fail(&RuleError{Code: CodeReviewNeeded, Detail: "an atomic request is not held in part: " + r.Rule.Detail})
		}
	}
	broken := aborted(first, results[first].Status)
	for _, r := range results {
		if !r.Status.Failed() {
			r.Fail(broken)
		}
	}
	return true
}

// Show sets the entry of a result that changed nothing to cur, nil without an entry.
func (r *Result) Show(cur *Entry, t *Tiebreak, plain bool) {
	r.Score, r.Previous, r.CreatedTime, r.Tiebreak, r.Fields = nil, nil, nil, nil, nil
	if cur == nil {
		return
	}
	r.Score, r.Previous, r.CreatedTime = &cur.Score, &cur.Score, &cur.CreatedTime
	if !plain {
		r.Tiebreak, r.Fields = &cur.Tiebreak, t.Unpack(cur.Tiebreak)
	}
}

// Receipt answers a submit: one result per submission, in order, and the seq of the period after it.
type Receipt struct {
	Results []Result
	Seq     int64            // of the board's first window
	Seqs    map[Window]int64 // by window, when the board has several
	// First is the current period of the board's first window, if the request asks for moves and the window has a
	// current period. It has this submission from its LastSeq on. For a repeated request it is the period that is
	// current now.
	First *PeriodRef
	// Replayed: the request was carried out before under its key, and this is the result it had then; nothing counted now.
	Replayed bool
}

// RemoveRequest asks to remove the entry of a member.
type RemoveRequest struct {
	Board    string
	PeriodID int64 // 0: all current periods
	Member   string
	// Reopen removes it also from a period that is closed. That is recorded as a run of kind RunKindReopen.
	Reopen bool
	Actor  string // the caller, as the record of the correction has it
}

// MaxBoardsPerSubmit is how many boards one multi-board submit may name.
const MaxBoardsPerSubmit = 50

// CodeBoardNotFound rejects one submission of a multi-board request; a request to one board fails as a whole.
const CodeBoardNotFound = "board-not-found"

// BoardSubmission is one score for a member of a board.
type BoardSubmission struct {
	Board string
	Submission
}

// MultiBoardRequest asks to submit scores to several boards. Its entries are applied in order, in one transaction.
type MultiBoardRequest struct {
	Key     string // idempotency key of at most MaxIdempotencyKey bytes, "" for none
	Entries []BoardSubmission
	Atomic  bool // apply no entry, on any board, if one is rejected or unmet
	Moves   bool // as of a SubmitRequest
}

// BoardResult is the outcome of one BoardSubmission.
type BoardResult struct {
	Board string
	Result
}

// BoardSeqs is the state of one board after a write, as in a Receipt.
type BoardSeqs struct {
	Seq   int64            // of the board's first window
	Seqs  map[Window]int64 // by window, when the board has several
	First *PeriodRef       // as in a Receipt
}

// MultiBoardReceipt answers a multi-board submit: one result per submission, in order, and the state of every board that
// was named, exists and takes submissions: a derived board does not, so it has no state of the request.
type MultiBoardReceipt struct {
	Results  []BoardResult
	Boards   map[string]BoardSeqs
	Replayed bool // as in a Receipt
}

// NoBoard returns the rule that a submission to a board breaks which does not exist.
func NoBoard() *RuleError {
	return &RuleError{Code: CodeBoardNotFound, Detail: "No board has this name."}
}

// NotToDerived returns the rule that a submission to a derived board breaks.
func NotToDerived() *RuleError {
	return &RuleError{Code: CodeDerivedBoard, Detail: "the entries of a derived board follow those of its sources"}
}

// Keeps reports whether a submission with this result is recorded.
func (r Record) Keeps(s Status) bool {
	return r == RecordAll || r == RecordApplied && s == StatusApplied
}

// Bounds of questions about all recorded submissions of a board.
const (
	MaxActivityHours   = 168
	MaxActivityRecords = 100_000 // that one question reads

	MaxRunners  = 10 // members that a race is of
	RaceMoments = 12 // of a race
	MaxLaps     = 31 // shorter periods that a race of a board without records looks at
)
