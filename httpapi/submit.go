package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"leaderboard"
)

// submitBody is the body of POST …/scores. Members that have to be there are pointers, so that left out is not zero.
type submitBody struct {
	Entries []submitEntry `json:"entries"`
}

type submitEntry struct {
	Member      *string             `json:"member"`
	Score       *int64              `json:"score"`
	Tiebreak    *int64              `json:"tiebreak"`
	Fields      map[string]*int64   `json:"fields"`
	CreatedTime *leaderboard.Micros `json:"created_time"`
}

// submit answers POST …/scores after the commit.
func submit(c *call) error {
	key, err := idempotencyKey(c.r.Header)
	if err != nil {
		return err
	}
	var body submitBody
	if err := c.decode(&body, false, nil); err != nil {
		return err
	}
	entries, err := c.submissions(body.Entries)
	if err != nil {
		return err
	}
	board, err := c.boardName()
	if err != nil {
		return err
	}
	receipt, err := c.api.cfg.Writer.Submit(c.ctx, board, key, entries)
	if err != nil {
		return writeError(err)
	}
	return c.sendReceipt(func(b []byte) []byte {
		b = appendResults(b, receipt.Results)
		return appendSeqs(append(b, ','), receipt.Seq, receipt.Seqs)
	})
}

// boardName is the {board} of the path; no board has a name that is not valid.
func (c *call) boardName() (string, error) {
	name := c.pathValue("board")
	if leaderboard.CheckBoardName(name) != nil {
		return "", leaderboard.ErrBoardNotFound
	}
	return name, nil
}

// submissions checks the envelope: the number of entries and what each must have. The rules are the writer's.
func (c *call) submissions(in []submitEntry) ([]leaderboard.Submission, error) {
	if len(in) == 0 || len(in) > leaderboard.MaxLimit {
		return nil, malformed(inputError{Pointer: "/entries", Detail: fmt.Sprintf("want 1 to %d entries", leaderboard.MaxLimit)})
	}
	var bad badFields
	out := make([]leaderboard.Submission, len(in))
	for i := range in {
		e := &in[i]
		if e.Member == nil {
			bad.add(fmt.Sprintf("/entries/%d/member", i), "is required")
		} else {
			out[i].Member = *e.Member
		}
		if e.Score == nil {
			bad.add(fmt.Sprintf("/entries/%d/score", i), "is required")
		} else {
			out[i].Score = *e.Score
		}
		out[i].Tiebreak, out[i].CreatedTime = e.Tiebreak, e.CreatedTime
		out[i].Fields = fieldValues(e.Fields, &bad, i)
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	for i := range in {
		if in[i].CreatedTime != nil && c.scope.level() < ScopeAdmin.level() {
			return nil, refuse(codeForbidden, "created_time is for imports and corrections: it needs a key with scope admin.",
				inputError{Pointer: fmt.Sprintf("/entries/%d/created_time", i), Detail: "needs scope admin"})
		}
	}
	return out, nil
}

// idempotencyKey is the request's key, "" without one.
func idempotencyKey(h http.Header) (string, error) {
	values := h["Idempotency-Key"]
	if len(values) == 0 {
		return "", nil
	}
	bad := malformed(inputError{Parameter: "Idempotency-Key", Detail: "want one header of 1 to 128 visible ASCII characters"})
	key := values[0]
	if len(values) > 1 || key == "" || len(key) > 128 {
		return "", bad
	}
	for i := range len(key) {
		if key[i] < 0x21 || key[i] > 0x7e {
			return "", bad
		}
	}
	return key, nil
}

// writeError turns the end of the caller's patience into what it means for a write: the batch goes on without it.
func writeError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, leaderboard.ErrUnavailable) {
		return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, err)
	}
	return err
}

// removeMember answers DELETE …/members/{member}: the entry is taken out of the current periods, or of the one named.
func removeMember(c *call) error {
	id := c.member()
	window, period, reopen := c.window(), c.text("period"), c.boolean("reopen")
	if err := c.badInput(); err != nil {
		return err
	}
	board, err := c.boardName()
	if err != nil {
		return err
	}
	if _, b, err := c.resolve("", ""); err == nil && b.Rules.Derive != nil {
		return refuse(leaderboard.CodeDerivedBoard, "") // the next step would put the entry back
	}
	var periodID int64
	if window != "" || period != "" {
		ref, _, err := c.resolve(window, period)
		if err != nil {
			return err
		}
		if periodID = ref.ID; ref.Quiet() {
			return leaderboard.ErrNotRanked
		}
	}
	var receipt leaderboard.Receipt
	if reopen {
		receipt, err = c.api.cfg.Writer.Reopen(c.ctx, board, periodID, id, string(c.scope))
	} else {
		receipt, err = c.api.cfg.Writer.Remove(c.ctx, board, periodID, id)
	}
	if err != nil {
		return writeError(err)
	}
	return c.sendReceipt(func(b []byte) []byte {
		b = appendString(append(b, `"member":`...), id)
		return appendSeqs(append(b, ','), receipt.Seq, receipt.Seqs)
	})
}

// sendReceipt answers a write with an object of what body appends.
func (c *call) sendReceipt(body func([]byte) []byte) error {
	buf := c.api.buffers.Get().(*[]byte)
	b := append(body(append((*buf)[:0], '{')), '}', '\n')
	c.w.Header()["Cache-Control"] = []string{"no-store"}
	c.send(http.StatusOK, typeJSON, b)
	*buf = b
	c.api.release(buf)
	return nil
}

func appendResults(b []byte, results []leaderboard.Result) []byte {
	b = append(b, `"results":[`...)
	for i := range results {
		r := &results[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendResult(append(b, '{'), r), '}')
	}
	return append(b, ']')
}

// appendResult appends the members of a result's object, without the braces.
func appendResult(b []byte, r *leaderboard.Result) []byte {
	b = appendString(append(b, `"member":`...), r.Member)
	b = appendString(append(b, `,"status":`...), string(r.Status))
	b = appendOptInt(append(b, `,"score":`...), r.Score)
	b = appendOptInt(append(b, `,"previous_score":`...), r.Previous)
	b = appendOptTime(append(b, `,"created_time":`...), r.CreatedTime)
	if r.Rule != nil {
		b = appendRule(append(b, `,"error":`...), r.Rule)
	}
	return b
}

// appendRule appends the problem of one rejected entry.
func appendRule(b []byte, rule *leaderboard.RuleError) []byte {
	k := kindOf(rule.Code)
	b = appendString(append(b, `{"type":`...), k.typ())
	b = appendString(append(b, `,"title":`...), k.title)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(k.status), 10)
	b = appendString(append(b, `,"detail":`...), rule.Detail)
	return append(b, '}')
}

// appendSeqs appends seq, and seqs when the board has several windows.
func appendSeqs(b []byte, seq int64, seqs map[leaderboard.Window]int64) []byte {
	b = strconv.AppendInt(append(b, `"seq":`...), seq, 10)
	if len(seqs) < 2 {
		return b
	}
	b = append(b, `,"seqs":{`...)
	for i, w := range slices.Sorted(maps.Keys(seqs)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, string(w)), ':')
		b = strconv.AppendInt(b, seqs[w], 10)
	}
	return append(b, '}')
}
