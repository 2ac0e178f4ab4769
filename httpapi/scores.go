package httpapi

import (
	"fmt"
	"maps"
	"slices"

	"leaderboard"
)

// acrossBody is the body of POST /v1/scores.
type acrossBody struct {
	Entries []acrossEntry `json:"entries"`
}

type acrossEntry struct {
	Board       *string `json:"board"`
	submitEntry         // inlined
}

// submitAcross answers POST /v1/scores after the commit: all boards have it, or none.
func submitAcross(c *call) error {
	key, err := idempotencyKey(c.r.Header)
	if err != nil {
		return err
	}
	var body acrossBody
	if err := c.decode(&body, false, nil); err != nil {
		return err
	}
	entries, err := c.boardSubmissions(body.Entries)
	if err != nil {
		return err
	}
	receipt, err := c.api.cfg.Writer.SubmitAcross(c.ctx, key, entries)
	if err != nil {
		return writeError(err)
	}
	return c.sendReceipt(func(b []byte) []byte { return appendAcross(b, &receipt) })
}

// boardSubmissions is submissions for entries that name their boards. A board that does not exist, whatever it is called,
// is the writer's to reject.
func (c *call) boardSubmissions(in []acrossEntry) ([]leaderboard.BoardSubmission, error) {
	inner := make([]submitEntry, len(in))
	for i := range in {
		inner[i] = in[i].submitEntry
	}
	subs, err := c.submissions(inner)
	if err != nil {
		return nil, err
	}
	var bad badFields
	out, boards := make([]leaderboard.BoardSubmission, len(in)), map[string]bool{}
	for i, sub := range subs {
		if in[i].Board == nil {
			bad.add(fmt.Sprintf("/entries/%d/board", i), "is required")
			continue
		}
		out[i] = leaderboard.BoardSubmission{Board: *in[i].Board, Submission: sub}
		boards[*in[i].Board] = true
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	if len(boards) > leaderboard.MaxAcrossBoards {
		return nil, malformed(inputError{Pointer: "/entries", Detail: fmt.Sprintf("want at most %d different boards", leaderboard.MaxAcrossBoards)})
	}
	return out, nil
}

func appendAcross(b []byte, r *leaderboard.AcrossReceipt) []byte {
	b = append(b, `"results":[`...)
	for i := range r.Results {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"board":`...), r.Results[i].Board)
		b = append(appendResult(append(b, ','), &r.Results[i].Result), '}')
	}
	b = append(b, `],"boards":{`...)
	for i, name := range slices.Sorted(maps.Keys(r.Boards)) {
		if i > 0 {
			b = append(b, ',')
		}
		seqs := r.Boards[name]
		b = append(appendString(b, name), `:{`...)
		b = append(appendSeqs(b, seqs.Seq, seqs.Seqs), '}')
	}
	return append(b, '}')
}
