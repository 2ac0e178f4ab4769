package records

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Records keeps the submissions to boards with the rule record.
type Records interface {
	// Submissions returns the recorded submissions of a member to a board, newest first.
	Submissions(ctx context.Context, q SubmissionsQuery) ([]SubmissionRecord, error)
	// Activity counts the recorded submissions of a board hour by hour; the work is bounded.
	Activity(ctx context.Context, q ActivityQuery) (Activity, error)
	// Race returns the recorded scores of members at moments since a period began. ErrPeriodNotFound.
	Race(ctx context.Context, q RaceQuery) (Race, error)
}

// handlers show records of submissions.
type handlers struct {
	httpapi.Resolver
	rankings httpapi.Rankings
	records  Records
}

// Routes returns the routes about submissions.
func Routes(find httpapi.Resolver, rankings httpapi.Rankings, records Records) []httpapi.Route {
	h := &handlers{find, rankings, records}
	return []httpapi.Route{
		httpapi.On("listSubmissions", h.list),
		httpapi.On("getRace", find.RetryOutdated(h.race)),
		httpapi.On("getActivity", h.activity),
	}
}

func showSubmission(r *SubmissionRecord) api.SubmissionRecord {
	out := api.SubmissionRecord{
		Time: r.At.Time(), Status: r.Status, Score: &r.Score, Tiebreak: r.Tiebreak, PreviousScore: r.Previous, NewScore: r.NewScore, Seq: r.Seq,
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

// list answers GET …/members/{member}/submissions, newest first.
func (h *handlers) list(c *httpapi.Call) error {
	member := c.Params.Member()
	limit := int(c.Params.Integer("limit"))
	cursor := c.Params.Text("cursor")
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	board, err := h.ResolveBoard(c) // also before its first season: there are no submissions, or all were rejected
	if err != nil {
		return err
	}
	of := wire.List{Name: "submissions", Id: board.ID}
	q := SubmissionsQuery{BoardID: board.ID, Member: member, Limit: limit + 1}
	if cursor != "" && !afterRecord(of, cursor, &q) {
		return wire.Malformed(wire.BadCursor())
	}
	found, err := h.records.Submissions(c.Ctx, q)
	if err != nil {
		return err
	}
	out := api.Submissions{Board: board.Name, Member: member, Record: string(board.Rules.Record), Submissions: []api.SubmissionRecord{}}
	if board.Rules.Record == leaderboard.RecordNone {
		out.Record = "none"
	}
	for i := range found {
		if i == limit {
			last := &found[i-1]
			out.NextCursor = of.Cursor(strconv.FormatInt(int64(last.At), 10) + " " + strconv.FormatInt(last.ID, 10))
			break
		}
		out.Submissions = append(out.Submissions, showSubmission(&found[i]))
	}
	return c.SendJSON(http.StatusOK, out)
}

// afterRecord sets the cursor of a query; false when it belongs to another list.
func afterRecord(of wire.List, cursor string, q *SubmissionsQuery) bool {
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
