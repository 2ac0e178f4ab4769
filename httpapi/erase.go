package httpapi

import (
	"context"
	"net/http"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// Erasures erases members.
type Erasures interface {
	// Forget removes everything about a member, and records the actor. It works until it is done, or ctx ends, or a board cannot
	// be written to; the last two are no errors. Housekeeping then does the rest; the same call again continues, and returns the
	// progress.
	Forget(ctx context.Context, member, actor string) (leaderboard.Erasure, error)
}

// eraseHandlers erase members.
type eraseHandlers struct{ erasures Erasures }

// erase answers DELETE /v1/members/{member}: 204 when nothing of the member is left, 202 when the work takes longer than a request
// may; it continues without the request.
func (h *eraseHandlers) erase(c *Call) error {
	id := c.Params.Member()
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	// The rest of the time is for the answer.
	ctx, cancel := context.WithTimeout(c.Ctx, c.RequestTimeout()*4/5)
	defer cancel()
	f, err := h.erasures.Forget(ctx, id, c.Caller.Key)
	if err != nil {
		return err
	}
	if !f.Done {
		return c.SendJSON(http.StatusAccepted, api.Erasing{Member: id, State: "running", Entries: f.Entries})
	}
	c.SendNothing(http.StatusNoContent)
	return nil
}
