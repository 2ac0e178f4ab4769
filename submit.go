package leaderboard

// Submission is one score sent for a member.
type Submission struct {
	Member   string
	Score    int64  // with policy sum: the amount to add
	Tiebreak *int64 // nil: 0 for best and latest, unchanged for sum; a board with fields requires it or Fields
	// Fields are the values of the board's tiebreak fields, instead of Tiebreak; nil when they are not given.
	Fields      map[string]int64
	CreatedTime *Micros // nil: assigned at commit; only admins may give one, for imports and corrections
}

// SubmitRequest asks to submit scores to one board. Its entries are applied in order, in one transaction.
type SubmitRequest struct {
	Board   string
	Key     string // idempotency key of at most MaxIdempotencyKey bytes, "" for none
	Entries []Submission
}

// MaxIdempotencyKey is the greatest length of an idempotency key in bytes.
const MaxIdempotencyKey = 128

// Status is the outcome of one submission.
type Status string

// StatusApplied changed the entry; StatusUnchanged was valid and changed nothing; StatusRejected broke a rule.
const (
	StatusApplied   Status = "applied"
	StatusUnchanged Status = "unchanged"
	StatusRejected  Status = "rejected"
)

// Result is the outcome of one submission. Score and CreatedTime are the entry's after it and Previous is its score
// before it; all three are nil while the member has no entry.
type Result struct {
	Member      string
	Status      Status
	Score       *int64
	Previous    *int64
	CreatedTime *Micros
	Rule        *RuleError // why, when rejected
}

// Receipt answers a submit: one result per submission, in order, and the seq of the period after it.
type Receipt struct {
	Results []Result
	Seq     int64            // of the board's first window
	Seqs    map[Window]int64 // by window, when the board has several
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

// BoardSubmission is one score sent for a member of a board.
type BoardSubmission struct {
	Board string
	Submission
}

// MultiBoardRequest asks to submit scores to several boards. Its entries are applied in order, in one transaction.
type MultiBoardRequest struct {
	Key     string // idempotency key of at most MaxIdempotencyKey bytes, "" for none
	Entries []BoardSubmission
}

// BoardResult is the outcome of one BoardSubmission.
type BoardResult struct {
	Board string
	Result
}

// BoardSeqs is the state of one board after a write, as in a Receipt.
type BoardSeqs struct {
	Seq  int64            // of the board's first window
	Seqs map[Window]int64 // by window, when the board has several
}

// MultiBoardReceipt answers a multi-board submit: one result per submission, in order, and the state of every board that
// was named, exists and takes submissions: a derived board does not, so it has no state of the request.
type MultiBoardReceipt struct {
	Results []BoardResult
	Boards  map[string]BoardSeqs
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

// SubmissionRecord is what is kept of one submission, on boards that say so. Scores and seq are those of the board's
// first window.
type SubmissionRecord struct {
	At        Micros // database time of its batch
	ID        int64  // tells apart what was recorded at the same time, in order within a batch
	Member    string
	Status    Status
	Score     int64  // as it was submitted; with policy sum the amount
	Tiebreak  *int64 // as it was submitted, fields packed; nil: none was
	Previous  *int64 // score of the entry before, nil without one
	NewScore  *int64 // and after it
	Seq       int64  // after it
	Code      string // of the rule that a rejected one broke, and what it said
	Detail    string
	Actor     string // id of the key
	RequestID string
}

// SubmissionsQuery asks for records of a member's submissions to a board, newest first.
type SubmissionsQuery struct {
	BoardID  int64
	Member   string
	Before   Micros // those recorded before it, 0: from the newest on
	BeforeID int64  // or at that time, with a smaller ID
	Limit    int
}
