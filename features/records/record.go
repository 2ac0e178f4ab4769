package records

import "leaderboard/leaderboard"

// SubmissionRecord is what is kept of one submission, on boards that say so. Scores and seq are those of the board's
// first window.
type SubmissionRecord struct {
	At        leaderboard.Micros // database time of its batch
	ID        int64              // tells apart what was recorded at the same time, in order within a batch
	Member    string
	Status    leaderboard.Status
	Score     int64             // as it was submitted; with policy sum the amount
	Tiebreak  *int64            // as it was submitted, fields packed; nil: none was
	Previous  *int64            // score of the entry before, nil without one
	NewScore  *int64            // and after it
	Seq       int64             // after it
	Hidden    bool              // it was applied to a hidden entry, so that nothing visible changed, nor the seq
	Edit      *leaderboard.Edit // as it was submitted, as far as the board has the fields that it names; nil: none was
	Code      string            // of the rule that one broke which Failed, and what it said
	Detail    string
	Actor     string // id of the key
	RequestID string
}

// SubmissionsQuery asks for records of a member's submissions to a board, newest first.
type SubmissionsQuery struct {
	BoardID  int64
	Member   string
	Before   leaderboard.Micros // those recorded before it, 0: from the newest on
	BeforeID int64              // or at that time, with a smaller ID
	Limit    int
}
