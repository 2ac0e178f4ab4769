package leaderboard

import (
	"fmt"
	"unicode/utf8"
)

// MaxMember is the greatest length of a member id in bytes.
const MaxMember = 64

// Entry is a member's place material in one period.
type Entry struct {
	Member      string // 1 to 64 bytes of UTF-8, compared as bytes
	Score       int64
	Tiebreak    int64
	CreatedTime Micros // when this score was reached
}

// Submission is one score sent for a member.
type Submission struct {
	Member   string
	Score    int64  // with policy sum: the amount to add
	Tiebreak *int64 // nil: 0 for best and latest, unchanged for sum; a board with fields wants it or Fields
	// Fields are the values of the board's tiebreak fields, instead of Tiebreak; nil when they are not given.
	Fields      map[string]int64
	CreatedTime *Micros // nil: assigned at commit; given only by admins, for imports and corrections
}

// Status says what became of one submission.
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

// CheckMember says whether id can name a member: nil, or a RuleError.
func CheckMember(id string) error {
	switch {
	case id == "":
		return &RuleError{Code: CodeInvalidMember, Detail: "a member id has at least 1 byte"}
	case len(id) > MaxMember:
		return &RuleError{Code: CodeInvalidMember, Detail: fmt.Sprintf("a member id has at most %d bytes, this one has %d", MaxMember, len(id))}
	case !utf8.ValidString(id):
		return &RuleError{Code: CodeInvalidMember, Detail: "a member id is UTF-8"}
	}
	return nil
}
