package client

import (
	"context"
	"iter"
	"time"

	"leaderboard"
)

// SubmissionRecord is what is recorded of one submission, on boards whose rules say record.
type SubmissionRecord struct {
	Time          time.Time          `json:"time"`
	Status        leaderboard.Status `json:"status"`
	Score         int64              `json:"score"` // as it was submitted
	Tiebreak      *int64             `json:"tiebreak"`
	PreviousScore *int64             `json:"previous_score"`
	NewScore      *int64             `json:"new_score"`
	Seq           int64              `json:"seq"`
	Code          string             `json:"code,omitempty"` // of the rule that a rejected one broke
	Detail        string             `json:"detail,omitempty"`
	Actor         string             `json:"actor"` // id of the key
	RequestID     string             `json:"request_id"`
}

// Submissions lists what is recorded of a member's submissions to a board, newest first. Needs scope write.
func (c *Client) Submissions(ctx context.Context, board, member string) iter.Seq2[SubmissionRecord, error] {
	return Items[SubmissionRecord](ctx, c, Path("boards", board, "members", member, "submissions"), nil, "submissions")
}
