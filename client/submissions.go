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
	Score         int64              `json:"score"` // as it was submitted
	Tiebreak      *int64             `json:"tiebreak"`
	PreviousScore *int64             `json:"previous_score"`
	NewScore      *int64             `json:"new_score"`
	Seq           int64              `json:"seq"`
	Code          string             `json:"code,omitempty"` // of the rule that a rejected submission broke
	Detail        string             `json:"detail,omitempty"`
	Actor         string             `json:"actor"` // id of the key
	RequestID     string             `json:"request_id"`
}

// Submissions lists the recorded submissions of a member to a board, newest first. Needs scope write.
func (c *Client) Submissions(ctx context.Context, board, member string) iter.Seq2[SubmissionRecord, error] {
	return Items[SubmissionRecord](ctx, c, Path("boards", board, "members", member, "submissions"), nil, "submissions")
}
