package client

import (
	"context"
	"iter"
	"time"

	"leaderboard"
)

// SubmissionRecord is the record of one submission, on boards whose rules have record.
type SubmissionRecord struct {
	Time          time.Time          `json:"time"`
	Status        leaderboard.Status `json:"status"`
	Score         int64              `json:"score"` // as it was submitted; 0 when none was, see Set and Add
	Tiebreak      *int64             `json:"tiebreak"`
	PreviousScore *int64             `json:"previous_score"`
	NewScore      *int64             `json:"new_score"`
	Seq           int64              `json:"seq"`
	Set           map[string]int64   `json:"set,omitempty"` // as it was submitted, like the three below
	Add           map[string]int64   `json:"add,omitempty"`
	Op            leaderboard.Policy `json:"op,omitempty"`
	KeepTime      bool               `json:"keep_time,omitempty"`
	Code          string             `json:"code,omitempty"` // why it was rejected, unmet or aborted
	Detail        string             `json:"detail,omitempty"`
	Actor         string             `json:"actor"` // id of the key
	RequestID     string             `json:"request_id"`
}

// Submissions lists the recorded submissions of a member to a board, newest first. Needs scope write.
func (c *Client) Submissions(ctx context.Context, board, member string) iter.Seq2[SubmissionRecord, error] {
	return Items[SubmissionRecord](ctx, c, Path("boards", board, "members", member, "submissions"), nil, "submissions")
}
