package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"leaderboard/api"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Hides hides members and shows them again.
type Hides interface {
	// Hide returns when no answer of MySQL shows the member, on the board of the request or everywhere; copies follow as after any
	// write. A repetition may change reason and actor. Errors: *leaderboard.RuleError, ErrBoardNotFound, ErrUnknownRule,
	// ErrOutcomeUnknown (it has begun and will be finished, or it has not begun).
	Hide(ctx context.Context, r leaderboard.HideRequest) (leaderboard.HiddenMember, error)
	// Restore undoes a hide. ErrNotHidden, otherwise the errors of Hide.
	Restore(ctx context.Context, r leaderboard.HideRequest) error
	// Hidden lists the hidden members; ErrBoardNotFound.
	Hidden(ctx context.Context, q leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error)
}

// hiddenHandlers hide members and show them again.
type hiddenHandlers struct{ hides Hides }

// ShowHidden returns a hidden member as answers show it.
func ShowHidden(h *leaderboard.HiddenMember) api.HiddenMember {
	return api.HiddenMember{Member: h.Member, Board: h.Board, Reason: h.Reason, Actor: h.Actor, HiddenAt: h.HiddenAt.Time()}
}

// hideRequest returns the request in the path and the parameters; without a board in the path it is about the member everywhere.
func hideRequest(c *Call) (leaderboard.HideRequest, error) {
	r := leaderboard.HideRequest{Member: c.Params.Member(), Reopen: c.Params.Boolean("reopen")}
	if err := c.Params.BadInput(); err != nil {
		return r, err
	}
	var err error
	if strings.Contains(c.Route.Path, "{board}") {
		r.Board, err = c.Params.BoardName()
	}
	return r, err
}

// reasonBody has an admin's reason for an action on a member.
type reasonBody struct {
	Reason string `json:"reason"`
	Actor  string `json:"actor"` // "": the key
}

// hide answers PUT …/members/{member}/hidden and PUT /v1/members/{member}/hidden.
func (h *hiddenHandlers) hide(c *Call) error {
	r, err := hideRequest(c)
	if err != nil {
		return err
	}
	var body reasonBody
	if err := c.Decode(&body, false, &wire.Emptiness{NonEmpty: []string{"actor"}}); err != nil {
		return err
	}
	r.Reason, r.Actor = body.Reason, cmp.Or(body.Actor, c.Caller.Key)
	hide, err := h.hides.Hide(c.Ctx, r)
	if err != nil {
		return wire.WriteError(err)
	}
	return c.SendJSON(http.StatusOK, ShowHidden(&hide))
}

// restore answers DELETE …/members/{member}/hidden and DELETE /v1/members/{member}/hidden.
func (h *hiddenHandlers) restore(c *Call) error {
	reason, actor := c.Params.Text("reason"), c.Params.Text("actor")
	r, err := hideRequest(c)
	if err != nil {
		return err
	}
	r.Reason, r.Actor = reason, cmp.Or(actor, c.Caller.Key)
	if broken := leaderboard.AsRule(r.CheckRestore()); broken != nil { // reason and actor came as parameters
		bad := make([]wire.InputError, len(broken.Fields))
		for i, f := range broken.Fields {
			bad[i] = wire.InputError{Parameter: strings.TrimPrefix(f.Pointer, "/"), Detail: f.Detail}
		}
		return wire.Reject(broken.Code, broken.Detail, bad...)
	}
	if err := h.hides.Restore(c.Ctx, r); err != nil {
		return wire.WriteError(err)
	}
	c.SendNothing(http.StatusNoContent)
	return nil
}

// list answers GET /v1/hidden: members hidden everywhere, then by board.
func (h *hiddenHandlers) list(c *Call) error {
	q := leaderboard.HiddenQuery{Board: c.Params.Text("board"), Member: c.Params.OptionalMember()}
	q.Limit = int(c.Params.Integer("limit"))
	of := wire.List{Name: "hidden " + q.Board}
	if cursor := c.Params.Text("cursor"); cursor != "" {
		after, ok := of.After(cursor)
		id, member, _ := strings.Cut(after, " ")
		if q.AfterBoard, ok = Positive(id, ok); !ok || leaderboard.CheckMember(member) != nil {
			c.Params.BadCursor()
		}
		q.AfterMember = member
	}
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	if q.Board != "" && leaderboard.CheckBoardName(q.Board) != nil {
		return leaderboard.ErrBoardNotFound
	}
	limit := q.Limit
	q.Limit++
	hidden, err := h.hides.Hidden(c.Ctx, q)
	if err != nil {
		return err
	}
	if c.Key.Limited() {
		for i := range hidden {
			if hidden[i].Board == "" { // the reason for a hide everywhere is shown only to keys for all boards
				hidden[i].Reason, hidden[i].Actor = "", ""
			}
		}
	}
	return SendList(c, "hidden", hidden, limit, ShowHidden, func(last *leaderboard.HiddenMember) string {
		return of.Cursor(strconv.FormatInt(last.BoardID, 10) + " " + last.Member)
	})
}
