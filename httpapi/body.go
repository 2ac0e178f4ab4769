package httpapi

import (
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// decode decodes the body into dst. An empty body is an error unless it is optional. It is called once: it gives the body back.
func (c *call) decode(dst any, optional bool, may *wire.Emptiness, options ...json.Options) error {
	defer c.shared.guard.Intake.Drop(&c.body)
	if len(c.body.Bytes) == 0 && optional {
		return nil
	}
	return wire.DecodeBody(c.r.Header, c.route.mergePatch, c.body.Bytes, dst, may, nil, options...)
}

// decodeEntries decodes the body of a submit into dst. It returns the numbers for which single entries are rejected.
func decodeEntries(c *call, dst any) (odd wire.OddNumbers, err error) {
	defer c.shared.guard.Intake.Drop(&c.body)
	err = wire.DecodeBody(c.r.Header, false, c.body.Bytes, dst, nil, &odd)
	return odd, err
}

// The limits of bodies in bytes.
const (
	anyBody   = 1 << 20
	ranksBody = 128 << 10 // anyone may send one: 1,000 members of 64 bytes are half of it
)

// takeBody reads the body of the request.
func (c *call) takeBody() error {
	limit := min(c.route.body.limit, c.shared.limits.MaxBody)
	if c.r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	c.bodyTaken = true
	if c.r.ContentLength == 0 {
		return nil
	}
	if err := c.shared.guard.Intake.Read(&c.body, c.w, c.r, limit); err != nil {
		return err
	}
	c.extendDeadlines(c.route.extraTime) // or the body's would end the work: the server reads on, to hear of a client that goes
	return nil
}

// heavyMembers is how many members of one question are a unit of heavy work.
const heavyMembers = 100

// rowsOf is what a list of rows that are written counts for; one that is empty, for one.
func rowsOf(n int) leaderboard.Charge {
	return leaderboard.Charge{leaderboard.QuotaKindRows: max(1, n)}
}

// lookUpsOf is what a list of members that are looked up counts for.
func lookUpsOf(n int) leaderboard.Charge {
	return leaderboard.Charge{leaderboard.QuotaKindHeavy: n / heavyMembers}
}

// letIn reads the body, unless the request would be refused anyway. After a wait for that answer it checks again: there may be
// room now.
func (c *call) letIn() error {
	err := c.admit()
	if c.holdBack(err) {
		err = c.admit()
	}
	if err == nil {
		err = c.takeBody()
	}
	if err != nil {
		return err
	}
	return c.charge(c.route.body.counts(c.body.Bytes))
}

// admit returns why the request would be refused with any body.
func (c *call) admit() error {
	if err := c.shared.guard.Served.Check(); err != nil {
		return err
	}
	if c.route.admitted {
		return c.shared.writer.Admit(c.pathValue("board"), max(0, c.r.ContentLength))
	}
	return nil
}

// holdBack makes a request that is refused wait for the answer, once, if many are refused. It reports whether it waited and
// the client is still there.
func (c *call) holdBack(err error) bool {
	if c.heldBack || !guard.IsRefusal(err) {
		return false
	}
	c.heldBack = true
	unread := int64(0)
	if !c.bodyTaken {
		unread = max(0, c.r.ContentLength)
	}
	return c.shared.guard.HoldBack(c.r.Context(), err, unread)
}

// overlapGiven returns what the body of a rotation says, 0 when it says nothing.
func overlapGiven(c *call, most time.Duration) (overlap time.Duration, err error) {
	var body struct {
		Overlap string `json:"overlap"`
	}
	if err := c.decode(&body, true, &wire.Emptiness{NonEmpty: []string{"overlap"}}); err != nil || body.Overlap == "" {
		return 0, err
	}
	if overlap, err = time.ParseDuration(body.Overlap); err != nil || overlap < 0 || overlap > most {
		return 0, wire.Malformed(wire.InputError{Pointer: "/overlap", Detail: "want a duration from 0s to " + most.String() + ", such as 24h"})
	}
	return overlap, nil
}
