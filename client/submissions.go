package client

import (
	"context"
	"iter"

	"leaderboard/api"
)

// Submissions lists the recorded submissions of a member to a board, newest first. Needs scope write.
func (c *Client) Submissions(ctx context.Context, board, member string) iter.Seq2[SubmissionRecord, error] {
	return Items[SubmissionRecord](ctx, c, Path("boards", board, "members", member, "submissions"), nil, "submissions")
}

// Activity counts the recorded submissions to a board in the latest hours, 0 for 48. Needs scope write.
func (c *Client) Activity(ctx context.Context, board string, hours int) (Activity, error) {
	return get[Activity](ctx, c, Path("boards", board, "activity"), api.ActivityQuery{Hours: hours})
}

// Race returns the places and scores of the first ten over time.
func (c *Client) Race(ctx context.Context, board string, q RaceQuery) (Race, error) {
	return get[Race](ctx, c, Path("boards", board, "race"), q)
}
