package review

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Reviews is the store that the routes show and change.
type Reviews interface {
	// Held lists held submissions, newest first.
	Held(ctx context.Context, q leaderboard.HeldQuery) ([]leaderboard.Held, error)
	// HeldOne finds one; ErrHeldNotFound.
	HeldOne(ctx context.Context, id int64) (leaderboard.Held, error)
	// DecideHeld approves or rejects one; the same decision again changes nothing. Errors: ErrHeldNotFound, ErrHeldDecided,
	// ErrPeriodClosed, ErrPeriodNotFound, *leaderboard.RuleError.
	DecideHeld(ctx context.Context, d leaderboard.HeldDecision) (leaderboard.Held, error)
}

// handlers show submissions that wait for an admin, and decide about them.
type handlers struct {
	held   Reviews
	boards httpapi.BoardFinder
}

// Routes returns the routes about submissions that wait for an admin.
func Routes(held Reviews, boards httpapi.BoardFinder) []httpapi.Route {
	h := &handlers{held, boards}
	return []httpapi.Route{
		httpapi.On("listHeld", h.list),
		httpapi.On("getHeld", h.get),
		httpapi.On("approveHeld", h.approve),
		httpapi.On("rejectHeld", h.reject),
	}
}

func showHeld(h *leaderboard.Held) api.Held {
	out := api.Held{
		ID: strconv.FormatInt(h.ID, 10), Board: h.Board, Member: h.Member, State: h.State, Reason: h.Reason, Score: &h.Score, Tiebreak: h.Sub.Tiebreak,
		Fields: api.FieldsByName(h.Sub.Fields), NewScore: h.NewScore, NewTiebreak: h.Tiebreak, CreatedTime: h.CreatedTime.Time(), HeldTime: h.HeldTime.Time(), Actor: h.Actor,
		RequestID: h.RequestID, DecidedTime: httpapi.GivenMoment(h.DecidedTime), DecidedBy: h.DecidedBy, Note: h.Note, Outcome: h.Outcome,
	}
	if h.Sub.Metadata != "" {
		out.Metadata = []byte(h.Sub.Metadata)
	}
	if e := h.Sub.Edit; e != nil {
		out.Set, out.Add, out.Op, out.KeepTime = api.FieldsByName(e.Set), api.FieldsByName(e.Add), e.Op, e.KeepTime
		if e.NoScore {
			out.Score = nil
		}
	}
	return out
}

// list answers GET /v1/held: newest first, by default the waiting ones.
func (h *handlers) list(c *httpapi.Call) error {
	board, q := c.Params.Text("board"), leaderboard.HeldQuery{Member: c.Params.OptionalMember(), State: leaderboard.HeldState(cmp.Or(c.Params.Word("state"), string(leaderboard.HeldStateWaiting)))}
	limit := int(c.Params.Integer("limit"))
	of := wire.List{Name: "held " + string(q.State) + " " + board}
	q.Before = httpapi.AfterCursor(c, of.AfterID)
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var err error
	if q.BoardID, err = httpapi.BoardIDOf(c, h.boards, board); err != nil {
		return err
	}
	q.Limit = limit + 1
	held, err := h.held.Held(c.Ctx, q)
	if err != nil {
		return err
	}
	return httpapi.SendList(c, "held", held, limit, showHeld, func(last *leaderboard.Held) string { return of.CursorID(last.ID) })
}

// get answers GET /v1/held/{id}.
func (h *handlers) get(c *httpapi.Call) error {
	held, err := h.find(c)
	if err != nil {
		return err
	}
	return c.SendJSON(http.StatusOK, showHeld(&held))
}

// find returns the held submission in the path, if the key is for its board.
func (h *handlers) find(c *httpapi.Call) (leaderboard.Held, error) {
	id, ok := httpapi.Positive(c.Params.PathValue("id"), true)
	if !ok || id == 0 {
		return leaderboard.Held{}, leaderboard.ErrHeldNotFound
	}
	held, err := h.held.HeldOne(c.Ctx, id)
	if err == nil && !c.Covers(held.Board) {
		err = leaderboard.ErrHeldNotFound
	}
	return held, err
}

func (h *handlers) approve(c *httpapi.Call) error { return h.decide(c, true) }
func (h *handlers) reject(c *httpapi.Call) error  { return h.decide(c, false) }

// decide answers POST /v1/held/{id}/approve and …/reject. The same decision again has the same answer.
func (h *handlers) decide(c *httpapi.Call, approve bool) error {
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
	if held, err = h.held.DecideHeld(c.Ctx, d); err != nil {
		return wire.WriteError(err)
	}
	return c.SendJSON(http.StatusOK, showHeld(&held))
}
