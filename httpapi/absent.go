package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// HiddenFinder lists hidden members.
type HiddenFinder interface {
	Hidden(ctx context.Context, q leaderboard.HiddenQuery) ([]leaderboard.HiddenMember, error)
}

// maxToldHides bounds the hides of one member that are looked through for those of some boards.
const maxToldHides = 200

// WhyAbsent tells admins, and no other callers, that a member is not ranked because it is hidden on one of the boards; err
// is that the member is not ranked.
func WhyAbsent(c *Call, all HiddenFinder, boards []string, member string, err error) error {
	if !errors.Is(err, leaderboard.ErrNotRanked) || c.Scope != leaderboard.ScopeAdmin || c.Key.Limited() {
		return err // what a key for some boards may know of it, GET /v1/hidden tells
	}
	q := leaderboard.HiddenQuery{Member: member, Limit: maxToldHides}
	if len(boards) == 1 {
		q.Board = boards[0]
	}
	hidden, listErr := all.Hidden(c.Ctx, q)
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
