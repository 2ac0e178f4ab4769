package httpapi

import (
	"context"
	"net/http"
)

// forgettingJSON is a forgetting that is not done yet.
type forgettingJSON struct {
	Member  string `json:"member"`
	State   string `json:"state"`
	Entries int64  `json:"entries"`
}

// forgetMember answers DELETE /v1/members/{member}: 204 when nothing of the member is left, 202 when the work is larger
// than a request has time for; it goes on without the request.
func forgetMember(c *call) error {
	id := c.member()
	if err := c.badInput(); err != nil {
		return err
	}
	// The rest of the time is for the answer.
	ctx, cancel := context.WithTimeout(c.ctx, c.api.cfg.RequestTimeout*4/5)
	defer cancel()
	f, err := c.api.cfg.Forgetter.Forget(ctx, id, string(c.scope))
	if err != nil {
		return err
	}
	if !f.Done {
		return c.sendJSON(http.StatusAccepted, forgettingJSON{id, "running", f.Entries})
	}
	c.status = http.StatusNoContent
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
