package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Records keeps what was submitted to boards with the rule record.
type Records interface {
	// Submissions returns the recorded submissions of a member to a board, newest first.
	Submissions(ctx context.Context, q leaderboard.SubmissionsQuery) ([]leaderboard.SubmissionRecord, error)
}

// submissionHandlers serve records of submissions.
type submissionHandlers struct {
	Resolver
	records Records
}

// submissionJSON is a record as it is shown.
type submissionJSON struct {
	Time      leaderboard.Micros `json:"time"`
	Status    leaderboard.Status `json:"status"`
	Score     *int64             `json:"score"`
	Tiebreak  *int64             `json:"tiebreak"`
	Previous  *int64             `json:"previous_score"`
	NewScore  *int64             `json:"new_score"`
	Seq       int64              `json:"seq"`
	Set       map[string]int64   `json:"set,omitempty"`
	Add       map[string]int64   `json:"add,omitempty"`
	Op        leaderboard.Policy `json:"op,omitempty"`
	KeepTime  bool               `json:"keep_time,omitzero"`
	Code      string             `json:"code,omitempty"`
	Detail    string             `json:"detail,omitempty"`
	Actor     string             `json:"actor"`
	RequestID string             `json:"request_id"`
}

func showSubmission(r *leaderboard.SubmissionRecord) submissionJSON {
	out := submissionJSON{
		Time: r.At, Status: r.Status, Score: &r.Score, Tiebreak: r.Tiebreak, Previous: r.Previous, NewScore: r.NewScore, Seq: r.Seq,
		Code: r.Code, Detail: r.Detail, Actor: r.Actor, RequestID: r.RequestID,
	}
	if e := r.Edit; e != nil {
		out.Set, out.Add, out.Op, out.KeepTime = e.Set, e.Add, e.Op, e.KeepTime
		if e.NoScore {
			out.Score = nil
		}
	}
	return out
}

// submissionList is the answer.
type submissionList struct {
	Board       string           `json:"board"`
	Member      string           `json:"member"`
	Record      string           `json:"record"`
	Submissions []submissionJSON `json:"submissions"`
	Next        string           `json:"next_cursor,omitempty"`
}

// list answers GET …/members/{member}/submissions, newest first.
func (h *submissionHandlers) list(c *Call) error {
	member := c.Params.Member()
	limit := int(c.Params.Integer("limit", DefaultList, 1, MaxList))
	cursor := c.Params.Text("cursor")
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	board, err := h.ResolveBoard(c) // also before its first season: there are no submissions, or all were rejected
	if err != nil {
		return err
	}
	of := wire.List{Name: "submissions", Id: board.ID}
	q := leaderboard.SubmissionsQuery{BoardID: board.ID, Member: member, Limit: limit + 1}
	if cursor != "" && !afterRecord(of, cursor, &q) {
		return wire.Malformed(wire.BadCursor())
	}
	found, err := h.records.Submissions(c.Ctx, q)
	if err != nil {
		return err
	}
	out := submissionList{Board: board.Name, Member: member, Record: string(board.Rules.Record), Submissions: []submissionJSON{}}
	if board.Rules.Record == leaderboard.RecordNone {
		out.Record = "none"
	}
	for i := range found {
		if i == limit {
			last := &found[i-1]
			out.Next = of.Cursor(strconv.FormatInt(int64(last.At), 10) + " " + strconv.FormatInt(last.ID, 10))
			break
		}
		out.Submissions = append(out.Submissions, showSubmission(&found[i]))
	}
	return c.SendJSON(http.StatusOK, out)
}

// afterRecord makes a query go on after a cursor; false when that belongs to another list.
func afterRecord(of wire.List, cursor string, q *leaderboard.SubmissionsQuery) bool {
	text, ok := of.After(cursor)
	if !ok {
		return false
	}
	at, id, _ := strings.Cut(text, " ")
	time, ok1 := wire.ParseInteger(at)
	number, ok2 := wire.ParseInteger(id)
	q.Before, q.BeforeID = leaderboard.Micros(time), number
	return ok1 && ok2 && q.Before > 0 && q.Before <= leaderboard.MaxTime
}
