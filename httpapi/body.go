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

// Decode decodes the body into dst. An empty body is an error unless it is optional. Decode is called once: it gives the body
// back.
func (c *Call) Decode(dst any, optional bool, may *wire.Emptiness, options ...json.Options) error {
	defer c.shared.guard.Bodies.Drop(&c.body)
	if len(c.body.Bytes) == 0 && optional {
		return nil
	}
	return wire.DecodeBody(c.R.Header, c.Route.Body == api.BodyPatch, c.body.Bytes, dst, may, nil, options...)
}

// decodeEntries decodes the body of a submit into dst. It returns the numbers for which single entries are rejected.
func decodeEntries(c *Call, dst any) (odd wire.OddNumbers, err error) {
	defer c.shared.guard.Bodies.Drop(&c.body)
	err = wire.DecodeBody(c.R.Header, false, c.body.Bytes, dst, nil, &odd)
	return odd, err
}

// The limits of bodies in bytes.
const (
	maxBody    = 1 << 20   // most routes
	maxMembers = 128 << 10 // anyone may send one: 1,000 members of 64 bytes are half of it
)

// readBody reads the body of the request.
func (c *Call) readBody() error {
	limit := min(maxBody, c.shared.limits.MaxBody)
	if c.Route.Body == api.BodyMembers {
		limit = min(maxMembers, limit)
	}
	if c.R.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	c.bodyRead = true
	if c.R.ContentLength == 0 {
		return nil
	}
	if err := c.shared.guard.Bodies.Read(&c.body, c.W, c.R, limit); err != nil {
		return err
	}
	c.extendDeadlines(c.Route.ExtraTime) // or the deadlines of the body would end the work: the server continues to read, to notice a client that leaves
	return nil
}

// heavyMembers is how many members of one question are a unit of heavy work.
const heavyMembers = 100

// bodyCounts returns the charge of a body, before it is decoded. An empty list of rows counts as one row.
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

// LookUpsOf returns the charge of a list of n members to look up.
func LookUpsOf(n int) leaderboard.Charge {
	return leaderboard.Charge{leaderboard.QuotaKindHeavy: n / heavyMembers}
}

// admitBody reads the body, unless the request would be refused anyway. If the refusal had to wait, it checks again: there may be
// room.
func (c *Call) admitBody() error {
	err := c.admit()
	if c.delayRefusal(err) {
		err = c.admit()
	}
	if err == nil {
		err = c.readBody()
	}
	if err != nil {
		return err
	}
	return c.Charge(c.Route.bodyCounts(c.body.Bytes))
}

// admit returns the error with which the request would be refused, whatever its body.
func (c *Call) admit() error {
	if err := c.shared.guard.Served.Check(); err != nil {
		return err
	}
	if c.Route.Body == api.BodyScores {
		return c.shared.writer.Admit(c.Params.PathValue("board"), max(0, c.R.ContentLength))
	}
	return nil
}

// delayRefusal delays the answer to a refused request, once, if many are refused. It reports whether it waited and the client is still
// there.
func (c *Call) delayRefusal(err error) bool {
	if c.delayed || !guard.IsRefusal(err) {
		return false
	}
	c.delayed = true
	unread := int64(0)
	if !c.bodyRead {
		unread = max(0, c.R.ContentLength)
	}
	return c.shared.guard.DelayRefusal(c.R.Context(), err, unread)
}

// OverlapGiven returns the overlap in the body of a rotation, 0 without one.
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
