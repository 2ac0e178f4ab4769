package httpapi

import (
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"leaderboard/api"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Decode decodes the body into dst. An empty body is an error unless it is optional. It is called once: it gives the body back.
func (c *Call) Decode(dst any, optional bool, may *wire.Emptiness, options ...json.Options) error {
	defer c.shared.guard.Intake.Drop(&c.body)
	if len(c.body.Bytes) == 0 && optional {
		return nil
	}
	return wire.DecodeBody(c.R.Header, c.Route.Body == api.BodyPatch, c.body.Bytes, dst, may, nil, options...)
}

// decodeEntries decodes the body of a submit into dst. It returns the numbers for which single entries are rejected.
func decodeEntries(c *Call, dst any) (odd wire.OddNumbers, err error) {
	defer c.shared.guard.Intake.Drop(&c.body)
	err = wire.DecodeBody(c.R.Header, false, c.body.Bytes, dst, nil, &odd)
	return odd, err
}

// The limits of bodies in bytes.
const (
	maxBody    = 1 << 20   // most routes
	maxMembers = 128 << 10 // anyone may send one: 1,000 members of 64 bytes are half of it
)

// takeBody reads the body of the request.
func (c *Call) takeBody() error {
	limit := min(maxBody, c.shared.limits.MaxBody)
	if c.Route.Body == api.BodyMembers {
		limit = min(maxMembers, limit)
	}
	if c.R.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	c.bodyTaken = true
	if c.R.ContentLength == 0 {
		return nil
	}
	if err := c.shared.guard.Intake.Read(&c.body, c.W, c.R, limit); err != nil {
		return err
	}
	c.extendDeadlines(c.Route.ExtraTime) // or the body's would end the work: the server reads on, to hear of a client that goes
	return nil
}

// heavyMembers is how many members of one question are a unit of heavy work.
const heavyMembers = 100

// bodyCounts returns what a body counts for against quotas, before it is decoded. An empty list of rows counts for one.
func (rt *Route) bodyCounts(body []byte) leaderboard.Charge {
	elements := min(wire.OutlineOf(body).Elements, leaderboard.MaxFriends) // no route takes more, and a refused request costs no debt
	switch rt.Body {
	case api.BodyRows, api.BodyScores:
		return leaderboard.Charge{leaderboard.QuotaKindRows: max(1, elements)}
	case api.BodyMembers:
		return LookUpsOf(elements)
	default:
		return leaderboard.Charge{}
	}
}

// LookUpsOf is what a list of members that are looked up counts for.
func LookUpsOf(n int) leaderboard.Charge {
	return leaderboard.Charge{leaderboard.QuotaKindHeavy: n / heavyMembers}
}

// letIn reads the body, unless the request would be refused anyway. After a wait for that answer it checks again: there may be
// room now.
func (c *Call) letIn() error {
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
	return c.Charge(c.Route.bodyCounts(c.body.Bytes))
}

// admit returns why the request would be refused with any body.
func (c *Call) admit() error {
	if err := c.shared.guard.Served.Check(); err != nil {
		return err
	}
	if c.Route.Body == api.BodyScores {
		return c.shared.writer.Admit(c.Params.PathValue("board"), max(0, c.R.ContentLength))
	}
	return nil
}

// holdBack makes a request that is refused wait for the answer, once, if many are refused. It reports whether it waited and
// the client is still there.
func (c *Call) holdBack(err error) bool {
	if c.heldBack || !guard.IsRefusal(err) {
		return false
	}
	c.heldBack = true
	unread := int64(0)
	if !c.bodyTaken {
		unread = max(0, c.R.ContentLength)
	}
	return c.shared.guard.HoldBack(c.R.Context(), err, unread)
}

// OverlapGiven returns what the body of a rotation says, 0 when it says nothing.
func OverlapGiven(c *Call, most time.Duration) (overlap time.Duration, err error) {
	var body struct {
		Overlap string `json:"overlap"`
	}
	if err := c.Decode(&body, true, &wire.Emptiness{NonEmpty: []string{"overlap"}}); err != nil || body.Overlap == "" {
		return 0, err
	}
	if overlap, err = time.ParseDuration(body.Overlap); err != nil || overlap < 0 || overlap > most {
		return 0, wire.Malformed(wire.InputError{Pointer: "/overlap", Detail: "want a duration from 0s to " + most.String() + ", such as 24h"})
	}
	return overlap, nil
}
