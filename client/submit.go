package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// SubmitOptions are the options of a submission.
type SubmitOptions struct {
	// IdempotencyKey names the request, 1 to 128 visible ASCII characters: a repetition with the same key, also from
	// another process, gets the first answer. "": the client makes one up for the attempts of this call.
	IdempotencyKey string
	// Atomic: all entries are applied, or nothing of the request is done.
	Atomic bool
	// Standings adds to each result the rank of the member, and the rank before.
	Standings bool
	// Mode is how ties are numbered in standings, "" as each board does.
	Mode leaderboard.Mode
	// Friends names in each standing the friends that the member has passed.
	Friends bool
	// Play is the token of BeginPlay, for a player who submits one score to a board that wants a play.
	Play string
}

func (o *SubmitOptions) params() url.Values {
	return api.Values(api.SubmitQuery{Standings: o.Standings, Mode: o.Mode, Friends: o.Friends})
}

// entry is an entry of a submission as the API takes it.
type entry struct {
	Board       string                 `json:"board,omitempty"`
	Member      string                 `json:"member"`
	Score       *int64                 `json:"score,omitempty"`
	Tiebreak    *int64                 `json:"tiebreak,omitempty"`
	Fields      map[string]int64       `json:"fields,omitempty"`
	CreatedTime *leaderboard.Micros    `json:"created_time,omitempty"`
	If          *leaderboard.Condition `json:"if,omitempty"`
	Set         map[string]int64       `json:"set,omitempty"`
	Add         map[string]int64       `json:"add,omitempty"`
	Op          leaderboard.Policy     `json:"op,omitempty"`
	KeepTime    bool                   `json:"keep_time,omitempty"`
	Play        string                 `json:"play,omitempty"`
	Metadata    json.RawMessage        `json:"metadata,omitempty"`
}

func entryOf(board string, s *leaderboard.Submission) entry {
	e := entry{Board: board, Member: s.Member, Score: &s.Score, Tiebreak: s.Tiebreak, Fields: s.Fields, CreatedTime: s.CreatedTime, If: s.If}
	if s.Metadata != "" {
		e.Metadata = json.RawMessage(s.Metadata)
	}
	if edit := s.Edit; edit != nil {
		e.Set, e.Add, e.Op, e.KeepTime = edit.Set, edit.Add, edit.Op, edit.KeepTime
		if edit.NoScore {
			e.Score = nil
		}
	}
	return e
}

type entries struct {
	Entries []entry `json:"entries"`
	Atomic  bool    `json:"atomic,omitempty"`
}

// Submit submits 1 to 1,000 scores and returns after they are committed. An entry that breaks a rule is rejected alone.
// Needs scope write.
func (c *Client) Submit(ctx context.Context, board string, scores []leaderboard.Submission, options ...SubmitOptions) (Receipt, error) {
	out, own, err := submit[Receipt](ctx, c, SubmitRequest(board, scores, options...))
	out.Replayed = out.Replayed && !own
	return out, err
}

// submit sends a submission. own: a replay in the answer may be the work of an earlier attempt of this call.
func submit[T any](ctx context.Context, c *Client, r Request) (out T, own bool, err error) {
	answer, err := c.Do(ctx, r)
	if err != nil {
		return out, false, err
	}
	return out, answer.own, answer.Decode(&out)
}

// SubmitRequest returns the request of Submit, for callers that need the raw answer.
func SubmitRequest(board string, scores []leaderboard.Submission, options ...SubmitOptions) Request {
	body, o := entries{make([]entry, len(scores)), atomic(options)}, last(options)
	for i := range scores {
		body.Entries[i] = entryOf("", &scores[i])
		body.Entries[i].Play = o.Play
	}
	return Request{Method: http.MethodPost, Path: Path("boards", board, "scores"), Query: o.params(), Header: idempotent(o), Body: body}
}

// SubmitMultiBoard submits 1 to 1,000 scores to up to 50 boards in one transaction. Needs scope write.
func (c *Client) SubmitMultiBoard(ctx context.Context, scores []leaderboard.BoardSubmission, options ...SubmitOptions) (MultiBoardReceipt, error) {
	body := entries{make([]entry, len(scores)), atomic(options)}
	for i := range scores {
		body.Entries[i] = entryOf(scores[i].Board, &scores[i].Submission)
	}
	o := last(options)
	r := Request{Method: http.MethodPost, Path: Path("scores"), Query: o.params(), Header: idempotent(o), Body: body}
	out, own, err := submit[MultiBoardReceipt](ctx, c, r)
	out.Replayed = out.Replayed && !own
	return out, err
}

func atomic(options []SubmitOptions) bool {
	return len(options) > 0 && options[len(options)-1].Atomic
}

// idempotent returns the header with the key of a write.
func idempotent(o SubmitOptions) http.Header {
	key := o.IdempotencyKey
	if key == "" {
		key = rand.Text()
	}
	return http.Header{"Idempotency-Key": {key}}
}

// last returns the last of options, or no options.
func last(options []SubmitOptions) (o SubmitOptions) {
	if n := len(options); n > 0 {
		o = options[n-1]
	}
	return o
}

// RemoveMember removes a member's entry from the current periods of a board, or from the one selected. Needs scope
// admin.
func (c *Client) RemoveMember(ctx context.Context, board, member string, o RemoveOptions) (Receipt, error) {
	return call[Receipt](ctx, c, Request{
		Method: http.MethodDelete, Path: Path("boards", board, "members", member),
		Query: api.Values(o),
	})
}
