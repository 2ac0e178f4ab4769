package client

import (
	"context"
	"crypto/rand"
	"net/http"
	"time"

	"leaderboard"
)

// SubmitOptions are the options of a submission.
type SubmitOptions struct {
	// IdempotencyKey names the request, 1 to 128 visible ASCII characters: a repetition with the same key, also from
	// another process, gets the first answer. "": the client makes one up for the attempts of this call.
	IdempotencyKey string
}

// Result is the outcome of one entry. Score, PreviousScore and CreatedTime are nil when the member has no entry.
type Result struct {
	Board         string             `json:"board,omitempty"` // of SubmitMultiBoard
	Member        string             `json:"member"`
	Status        leaderboard.Status `json:"status"`
	Score         *int64             `json:"score"`
	PreviousScore *int64             `json:"previous_score"`
	CreatedTime   *time.Time         `json:"created_time"`
	Error         *Problem           `json:"error,omitempty"` // why, when rejected
}

// Receipt answers a submission or a removal.
type Receipt struct {
	Results []Result                     `json:"results"` // one per entry, in order
	Seq     int64                        `json:"seq"`     // of the board's first window; ReadQuery.MinSeq makes a read see it
	Seqs    map[leaderboard.Window]int64 `json:"seqs"`    // by window, when the board has several
}

// MultiBoardReceipt answers a submission to several boards.
type MultiBoardReceipt struct {
	Results []Result           `json:"results"` // one per entry, in order
	Boards  map[string]Receipt `json:"boards"`  // seqs by board
}

// entry is an entry of a submission as the API takes it.
type entry struct {
	Board       string              `json:"board,omitempty"`
	Member      string              `json:"member"`
	Score       int64               `json:"score"`
	Tiebreak    *int64              `json:"tiebreak,omitempty"`
	Fields      map[string]int64    `json:"fields,omitempty"`
	CreatedTime *leaderboard.Micros `json:"created_time,omitempty"`
}

func entryOf(board string, s leaderboard.Submission) entry {
	return entry{board, s.Member, s.Score, s.Tiebreak, s.Fields, s.CreatedTime}
}

type entries struct {
	Entries []entry `json:"entries"`
}

// Submit submits 1 to 1,000 scores and returns after they are committed. An entry that breaks a rule is rejected alone.
// Needs scope write.
func (c *Client) Submit(ctx context.Context, board string, scores []leaderboard.Submission, options ...SubmitOptions) (Receipt, error) {
	return call[Receipt](ctx, c, SubmitRequest(board, scores, options...))
}

// SubmitRequest returns the request of Submit, for callers that need the raw answer.
func SubmitRequest(board string, scores []leaderboard.Submission, options ...SubmitOptions) Request {
	body := entries{make([]entry, len(scores))}
	for i, s := range scores {
		body.Entries[i] = entryOf("", s)
	}
	return Request{Method: http.MethodPost, Path: Path("boards", board, "scores"), Header: idempotent(options), Body: body}
}

// SubmitMultiBoard submits 1 to 1,000 scores to up to 50 boards in one transaction. Needs scope write.
func (c *Client) SubmitMultiBoard(ctx context.Context, scores []leaderboard.BoardSubmission, options ...SubmitOptions) (MultiBoardReceipt, error) {
	body := entries{make([]entry, len(scores))}
	for i, s := range scores {
		body.Entries[i] = entryOf(s.Board, s.Submission)
	}
	return call[MultiBoardReceipt](ctx, c, Request{Method: http.MethodPost, Path: Path("scores"), Header: idempotent(options), Body: body})
}

// idempotent returns the header with the key of a write.
func idempotent(options []SubmitOptions) http.Header {
	key := ""
	for _, o := range options {
		key = o.IdempotencyKey
	}
	if key == "" {
		key = rand.Text()
	}
	return http.Header{"Idempotency-Key": {key}}
}

// RemoveOptions select a period other than the current ones.
type RemoveOptions struct {
	Window leaderboard.Window
	Period string
	Reopen bool // correct a closed period
}

// RemoveMember removes a member's entry from the current periods of a board, or from the one selected. Needs scope
// admin.
func (c *Client) RemoveMember(ctx context.Context, board, member string, o RemoveOptions) (Receipt, error) {
	return call[Receipt](ctx, c, Request{
		Method: http.MethodDelete, Path: Path("boards", board, "members", member),
		Query: newParams().text("window", string(o.Window)).text("period", o.Period).bool("reopen", o.Reopen).Values,
	})
}
