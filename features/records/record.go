package records

import "leaderboard/leaderboard"

// SubmissionRecord is the record of one submission, on boards with the rule record. Scores and seq belong to the board's
// first window.
type SubmissionRecord struct {
	At        leaderboard.Micros // database time of its batch
	ID        int64              // distinguishes records of the same time, in order within a batch
	Member    string
	Status    leaderboard.Status
	Score     int64             // as submitted; with policy sum, the amount
	Tiebreak  *int64            // as submitted, fields packed; nil: no tiebreak
	Previous  *int64            // score of the entry before, nil without one
	NewScore  *int64            // and after it
	Seq       int64             // after it
	Hidden    bool              // it was applied to a hidden entry, so that nothing visible changed, nor the seq
	Edit      *leaderboard.Edit // as submitted, with the fields that the board has; nil: no edit
	Code      string            // of the broken rule if the submission failed, and its message
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
