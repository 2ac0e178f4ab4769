package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// HeldList lists the submissions that wait for an admin.
type HeldList interface {
	// Held lists held submissions, newest first.
	Held(ctx context.Context, q leaderboard.HeldQuery) ([]leaderboard.Held, error)
	// HeldOne finds one; ErrHeldNotFound.
	HeldOne(ctx context.Context, id int64) (leaderboard.Held, error)
}

// Review decides about held submissions.
type Review interface {
	// DecideHeld approves or rejects one; the same decision again changes nothing. Errors: ErrHeldNotFound, ErrHeldDecided,
	// ErrPeriodClosed, ErrPeriodNotFound, *leaderboard.RuleError.
	DecideHeld(ctx context.Context, d leaderboard.HeldDecision) (leaderboard.Held, error)
}

// heldHandlers show submissions that wait for an admin, and decide about them.
type heldHandlers struct {
	held   HeldList
	review Review
	boards BoardFinder
}

// heldJSON is a held submission as it is shown.
type heldJSON struct {
	ID          string                `json:"id"`
	Board       string                `json:"board"`
	Member      string                `json:"member"`
	State       leaderboard.HeldState `json:"state"`
	Reason      string                `json:"reason"`
	Score       *int64                `json:"score"`
	Tiebreak    *int64                `json:"tiebreak,omitempty"`
	Fields      map[string]int64      `json:"fields,omitempty"`
	Set         map[string]int64      `json:"set,omitempty"`
	Add         map[string]int64      `json:"add,omitempty"`
	Op          leaderboard.Policy    `json:"op,omitempty"`
	KeepTime    bool                  `json:"keep_time,omitzero"`
	Metadata    jsontext.Value        `json:"metadata,omitempty"`
	NewScore    int64                 `json:"new_score"`
	NewTiebreak int64                 `json:"new_tiebreak"`
	CreatedTime leaderboard.Micros    `json:"created_time"`
	HeldTime    leaderboard.Micros    `json:"held_time"`
	Actor       string                `json:"actor"`
	RequestID   string                `json:"request_id"`
	DecidedTime *leaderboard.Micros   `json:"decided_time"`
	DecidedBy   string                `json:"decided_by,omitempty"`
	Note        string                `json:"note,omitempty"`
	Outcome     leaderboard.Status    `json:"outcome,omitempty"`
}

func showHeld(h *leaderboard.Held) heldJSON {
	out := heldJSON{
		ID: strconv.FormatInt(h.ID, 10), Board: h.Board, Member: h.Member, State: h.State, Reason: h.Reason, Score: &h.Score, Tiebreak: h.Sub.Tiebreak,
		Fields: h.Sub.Fields, NewScore: h.NewScore, NewTiebreak: h.Tiebreak, CreatedTime: h.CreatedTime, HeldTime: h.HeldTime, Actor: h.Actor,
		RequestID: h.RequestID, DecidedTime: Given(h.DecidedTime), DecidedBy: h.DecidedBy, Note: h.Note, Outcome: h.Outcome,
	}
	if h.Sub.Metadata != "" {
		out.Metadata = jsontext.Value(h.Sub.Metadata)
	}
	if e := h.Sub.Edit; e != nil {
		out.Set, out.Add, out.Op, out.KeepTime = e.Set, e.Add, e.Op, e.KeepTime
		if e.NoScore {
			out.Score = nil
		}
	}
	return out
}

// list answers GET /v1/held: newest first, those that wait as a rule.
func (h *heldHandlers) list(c *Call) error {
	board, q := c.Params.Text("board"), leaderboard.HeldQuery{Member: c.Params.OptionalMember(), State: leaderboard.HeldState(cmp.Or(c.Params.Text("state"), string(leaderboard.HeldStateWaiting)))}
	if !slices.Contains(leaderboard.HeldStates(), q.State) {
		c.Params.BadParam("state", "want one of waiting, approved, rejected")
	}
	limit := int(c.Params.Integer("limit", DefaultList, 1, MaxList))
	of := wire.List{Name: "held " + string(q.State) + " " + board}
	q.Before = AfterCursor(c, of.AfterID)
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var err error
	if q.BoardID, err = BoardIDOf(c, h.boards, board); err != nil {
		return err
	}
	q.Limit = limit + 1
	held, err := h.held.Held(c.Ctx, q)
	if err != nil {
		return err
	}
	c.NoStore()
	return SendList(c, "held", held, limit, showHeld, func(last *leaderboard.Held) string { return of.CursorID(last.ID) })
}

// get answers GET /v1/held/{id}.
func (h *heldHandlers) get(c *Call) error {
	held, err := h.find(c)
	if err != nil {
		return err
	}
	c.NoStore()
	return c.SendJSON(http.StatusOK, showHeld(&held))
}

// find returns the held submission in the path, if the key is for its board.
func (h *heldHandlers) find(c *Call) (leaderboard.Held, error) {
	id, ok := Positive(c.Params.PathValue("id"), true)
	if !ok || id == 0 {
		return leaderboard.Held{}, leaderboard.ErrHeldNotFound
	}
	held, err := h.held.HeldOne(c.Ctx, id)
	if err == nil && !c.Covers(held.Board) {
		err = leaderboard.ErrHeldNotFound
	}
	return held, err
}

func (h *heldHandlers) approve(c *Call) error { return h.decide(c, true) }
func (h *heldHandlers) reject(c *Call) error  { return h.decide(c, false) }

// decide answers POST /v1/held/{id}/approve and …/reject. The same decision again has the same answer.
func (h *heldHandlers) decide(c *Call, approve bool) error {
	d := leaderboard.HeldDecision{Approve: approve}
	if approve {
		d.Reopen = c.Params.Boolean("reopen")
	}
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var body struct {
		Note string `json:"note"`
	}
	if err := c.Decode(&body, true, &wire.Emptiness{}); err != nil {
		return err
	}
	held, err := h.find(c)
	if err != nil {
		return err
	}
	d.ID, d.Note = held.ID, body.Note
	if held, err = h.review.DecideHeld(c.Ctx, d); err != nil {
		return wire.WriteError(err)
	}
	return c.SendJSON(http.StatusOK, showHeld(&held))
}
