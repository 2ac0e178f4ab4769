package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Hides hides members and shows them again.
type Hides interface {
	// Hide returns when no answer of MySQL shows the member any more, on the board of the request or everywhere; copies
	// follow as after any write. A repetition may change reason and actor. Errors: *leaderboard.RuleError,
	// ErrBoardNotFound, ErrUnknownRule, ErrOutcomeUnknown (it has begun and will be finished, or it has not begun).
	Hide(ctx context.Context, r leaderboard.HideRequest) (leaderboard.HiddenMember, error)
	// Restore undoes that. ErrNotHidden, otherwise the errors of Hide.
	Restore(ctx context.Context, r leaderboard.HideRequest) error
	// Hidden lists the hidden members; ErrBoardNotFound.
	Hidden(ctx context.Context, q leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error)
}

// hiddenFinder lists hidden members as Hides does.
type hiddenFinder interface {
	Hidden(ctx context.Context, q leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error)
}

// hiddenHandlers hide members and show them again.
type hiddenHandlers struct{ hides Hides }

// hiddenJSON is a hidden member as it is shown; without a board the hide is global.
type hiddenJSON struct {
	Member   string             `json:"member"`
	Board    string             `json:"board,omitempty"`
	Reason   string             `json:"reason"`
	Actor    string             `json:"actor"`
	HiddenAt leaderboard.Micros `json:"hidden_at"`
}

func showHidden(h *leaderboard.HiddenMember) hiddenJSON {
	return hiddenJSON{Member: h.Member, Board: h.Board, Reason: h.Reason, Actor: h.Actor, HiddenAt: h.HiddenAt}
}

// hideRequest returns what the path and the parameters say; the member everywhere when the path has no board.
func hideRequest(c *call) (leaderboard.HideRequest, error) {
	r := leaderboard.HideRequest{Member: c.member(), Reopen: c.boolean("reopen")}
	if err := c.badInput(); err != nil {
		return r, err
	}
	var err error
	if strings.Contains(c.route.path, "{board}") {
		r.Board, err = c.boardName()
	}
	return r, err
}

// reasonBody is what an admin says of what is done to a member.
type reasonBody struct {
	Reason string `json:"reason"`
	Actor  string `json:"actor"` // "": the key
}

// hide answers PUT …/members/{member}/hidden and PUT /v1/members/{member}/hidden.
func (h *hiddenHandlers) hide(c *call) error {
	r, err := hideRequest(c)
	if err != nil {
		return err
	}
	var body reasonBody
	if err := c.decode(&body, false, &wire.Emptiness{NonEmpty: []string{"actor"}}); err != nil {
		return err
	}
	r.Reason, r.Actor = body.Reason, cmp.Or(body.Actor, c.caller.Key)
	hide, err := h.hides.Hide(c.ctx, r)
	if err != nil {
		return wire.WriteError(err)
	}
	return c.sendJSON(http.StatusOK, showHidden(&hide))
}

// restore answers DELETE of the same paths.
func (h *hiddenHandlers) restore(c *call) error {
	reason, actor := c.text("reason"), c.text("actor")
	r, err := hideRequest(c)
	if err != nil {
		return err
	}
	r.Reason, r.Actor = reason, cmp.Or(actor, c.caller.Key)
	if broken := leaderboard.AsRule(r.CheckRestore()); broken != nil { // these came as parameters
		bad := make([]wire.InputError, len(broken.Fields))
		for i, f := range broken.Fields {
			bad[i] = wire.InputError{Parameter: strings.TrimPrefix(f.Pointer, "/"), Detail: f.Detail}
		}
		return wire.Reject(broken.Code, broken.Detail, bad...)
	}
	if err := h.hides.Restore(c.ctx, r); err != nil {
		return wire.WriteError(err)
	}
	c.sendNothing(http.StatusNoContent)
	return nil
}

// list answers GET /v1/hidden: members hidden everywhere, then by board.
func (h *hiddenHandlers) list(c *call) error {
	q := leaderboard.HiddenQuery{Board: c.text("board"), Member: c.optionalMember()}
	q.Limit = int(c.integer("limit", defaultList, 1, maxList))
	of := wire.List{Name: "hidden " + q.Board}
	if cursor := c.text("cursor"); cursor != "" {
		after, ok := of.After(cursor)
		id, member, _ := strings.Cut(after, " ")
		if q.AfterBoard, ok = positive(id, ok); !ok || leaderboard.CheckMember(member) != nil {
			c.bad = append(c.bad, wire.BadCursor())
		}
		q.AfterMember = member
	}
	if err := c.badInput(); err != nil {
		return err
	}
	if q.Board != "" && leaderboard.CheckBoardName(q.Board) != nil {
		return leaderboard.ErrBoardNotFound
	}
	limit := q.Limit
	q.Limit++
	hidden, err := h.hides.Hidden(c.ctx, q)
	if err != nil {
		return err
	}
	if c.key.Limited() {
		for i := range hidden {
			if hidden[i].Board == "" { // why a member is hidden everywhere is for keys for all boards
				hidden[i].Reason, hidden[i].Actor = "", ""
			}
		}
	}
	return sendList(c, "hidden", hidden, limit, showHidden, func(last *leaderboard.HiddenMember) string {
		return of.Cursor(strconv.FormatInt(last.BoardID, 10) + " " + last.Member)
	})
}

// maxToldHides bounds the hides of one member that are looked through for those of some boards.
const maxToldHides = 200

// whyAbsent tells admins, and no other callers, that a member is not ranked because it is hidden on one of the boards; err
// is that the member is not ranked.
func whyAbsent(c *call, all hiddenFinder, boards []string, member string, err error) error {
	if !errors.Is(err, leaderboard.ErrNotRanked) || c.scope != leaderboard.ScopeAdmin || c.key.Limited() {
		return err // what a key for some boards may know of it, GET /v1/hidden tells
	}
	q := leaderboard.HiddenQuery{Member: member, Limit: maxToldHides}
	if len(boards) == 1 {
		q.Board = boards[0]
	}
	hidden, listErr := all.Hidden(c.ctx, q)
	if listErr != nil {
		return err // that the member is not ranked is true in any case
	}
	var told []string
	for i := range hidden {
		h, where := &hidden[i], "everywhere"
		switch {
		case h.Board == "":
		case len(boards) == 1:
			where = "on this board"
		case slices.Contains(boards, h.Board):
			where = "on board " + h.Board
		default:
			continue
		}
		told = append(told, fmt.Sprintf("Hidden %s since %s by %s: %s.", where, h.HiddenAt, h.Actor, h.Reason))
	}
	if len(told) == 0 {
		return err
	}
	return wire.Reject(wire.CodeMemberHidden, strings.Join(told, " "))
}
