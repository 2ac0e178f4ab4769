package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json"

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
func (c *call) decodeEntries(dst any) (odd wire.OddNumbers, err error) {
	defer c.shared.guard.Intake.Drop(&c.body)
	err = wire.DecodeBody(c.r.Header, false, c.body.Bytes, dst, nil, &odd)
	return odd, err
}

// bodyRule says what a route takes as its body. The zero value is a route without one.
type bodyRule struct {
	limit  int64                                 // bytes, if Limits.MaxBody is not less
	charge func(elements int) leaderboard.Charge // what that many elements of its arrays count for; nil: nothing
}

// counts returns what a body counts for against quotas, before it is decoded.
func (rule *bodyRule) counts(body []byte) leaderboard.Charge {
	if rule.charge == nil {
		return leaderboard.Charge{}
	}
	return rule.charge(min(wire.OutlineOf(body).Elements, leaderboard.MaxFriends)) // no route takes more, and a refused request costs no debt
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
	c.extendDeadlines() // or the body's would end the work: the server reads on, to hear of a client that goes
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
