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

// maxToldHides bounds the hides of one member that are searched for hides on given boards.
const maxToldHides = 200

// WhyAbsent returns err, which says that a member is not ranked, or for admins that the member is hidden, everywhere or on one of
// the boards. Other callers learn nothing of hides.
func WhyAbsent(c *Call, all HiddenFinder, boards []string, member string, err error) error {
	if !errors.Is(err, leaderboard.ErrNotRanked) || c.Scope != leaderboard.ScopeAdmin || c.Key.Limited() {
		return err // a key for some boards gets the hides that it may see from GET /v1/hidden
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
