package api

import (
	"time"

	"leaderboard/leaderboard"
)

// Result is the outcome of one entry. Score, PreviousScore and CreatedTime are nil when the member has no entry.
type Result struct {
	Board         string             `json:"board,omitzero"` // of SubmitMultiBoard
	Member        string             `json:"member"`
	Status        leaderboard.Status `json:"status"`
	Score         *int64             `json:"score"`
	PreviousScore *int64             `json:"previous_score"`
	CreatedTime   *time.Time         `json:"created_time"`
	Tiebreak      *int64             `json:"tiebreak,omitzero"` // of a submission that is not plain
	Fields        Fields             `json:"fields,omitzero"`   // likewise, on a board with fields
	Error         *Problem           `json:"error,omitzero"`    // why, when rejected, unmet, aborted or held
	Standing      *Moved             `json:"standing,omitzero"` // with SubmitOptions.Standings; nil when it is not known
}

// Moved has a member's rank before and after a submission, in one state of the current period of the board's first window.
// Neither rank counts the member's own entry: a leader who improves was first before.
type Moved struct {
	Seq          int64    `json:"seq"` // the state, which has the submission
	Rank         int64    `json:"rank"`
	PreviousRank *int64   `json:"previous_rank"`   // nil without an entry before, and when the request was carried out before
	Total        int64    `json:"total"`           // entries of the period
	Passed       []string `json:"passed,omitzero"` // with SubmitOptions.Friends, the first 10; nil when they are not known
}

// BoardSeqs is the state of a board after a submission.
type BoardSeqs struct {
	Seq  int64                        `json:"seq"`           // of the board's first window; ReadQuery.MinSeq makes a read see it
	Seqs map[leaderboard.Window]int64 `json:"seqs,omitzero"` // by window, when the board has several
}

// Receipt answers a submission. The client reads a Removal as one, without results.
type Receipt struct {
	Results []Result `json:"results"` // one per entry, in order
	BoardSeqs
	// Replayed: the request was carried out before this call under its IdempotencyKey. This is the result of then, and nothing counted again. The
	// answer to a repetition by the client, after an attempt that may have been carried out, is the call's own and no replay.
	Replayed bool `json:"replayed,omitzero"`
}

// Removal answers the removal of an entry.
type Removal struct {
	Member    string `json:"member"`
	BoardSeqs        // of the one period that was named, if one was
}

// MultiBoardReceipt answers a submission to several boards.
type MultiBoardReceipt struct {
	Results []Result             `json:"results"` // one per entry, in order
	Boards  map[string]BoardSeqs `json:"boards"`
	// Replayed is as in a Receipt.
	Replayed bool `json:"replayed,omitzero"`
}
