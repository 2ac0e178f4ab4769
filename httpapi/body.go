package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/go-json-experiment/json"

	"leaderboard"
	"leaderboard/httpapi/internal/wire"
)

// decode decodes the body into dst as decodeBody does. An empty one is an error unless it is optional. It is called once: it gives
// the body back.
func (c *call) decode(dst any, optional bool, may *wire.Emptiness, options ...json.Options) error {
	defer c.dropBody()
	if len(c.body) == 0 && optional {
		return nil
	}
	return wire.DecodeBody(c.r.Header, c.route.mergePatch, c.body, dst, may, options...)
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
	return rule.charge(min(wire.OutlineOf(body).Elements, leaderboard.MaxFriends)) // no route takes more, and what is refused is no debt
}

// The limits of bodies in bytes.
const (
	anyBody   = 1 << 20
	ranksBody = 128 << 10 // anybody may send one: 1,000 members of 64 bytes are half of it
)

// readTimeout is for the head of a request and for all of it, however its body comes. With one time for both the connection's deadline is set
// once less for each request, which is expensive.
const readTimeout = 15 * time.Second

const (
	// bodyRate is how many bytes a second give a body more time than Limits.BodyTimeout.
	bodyRate = 100 << 10
	// bodyDelay is how much later than needed the deadline of a body may be: it is not moved for each packet.
	bodyDelay = time.Second
	// firstRoom is what a body has before any of it has come, and does not count.
	firstRoom = 1 << 10
	// roomGrowth is how much larger the next room for a body is. Of what it counts for, an eighth has come.
	roomGrowth = 8
)

// takeBody reads the body of the request, to be given back with dropBody. It has Limits.BodyTimeout, and longer only
// while bodyRate bytes a second come.
func (c *call) takeBody() error {
	limit := min(c.route.body.limit, c.shared.limits.MaxBody)
	if c.r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	c.bodyTaken = true
	if c.r.ContentLength == 0 {
		return nil
	}
	connection := http.NewResponseController(c.w)
	c.arrival = &passage{stop: func() { _ = connection.SetReadDeadline(time.Unix(1, 0)) }}
	c.shared.intake.begin(c.arrival)
	body := deadlinedBody{
		ReadCloser: http.MaxBytesReader(c.w, c.r.Body, limit), connection: connection, intake: c.shared.intake, arrival: c.arrival,
		start: time.Now(), timeout: c.shared.limits.BodyTimeout,
	}
	body.extend()
	err := c.readBody(&body, limit)
	if gaveWay := c.shared.intake.arrived(c.arrival); gaveWay != nil {
		err = gaveWay
	}
	if err != nil {
		return bodyError(err)
	}
	c.extendDeadlines() // or the body's would end the work: the server reads on, to hear of a client that goes
	return nil
}

// readBody is io.ReadAll into rooms that grow with what has come and are counted.
func (c *call) readBody(r io.Reader, limit int64) error {
	c.body = c.shared.room()
	for {
		n, err := r.Read(c.body[len(c.body):cap(c.body)])
		c.body = c.body[:len(c.body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(c.body) < cap(c.body):
			continue
		}
		size := min(roomGrowth*int64(cap(c.body)), limit+1)
		if c.r.ContentLength > 0 {
			size = min(size, c.r.ContentLength+1)
		}
		if err := c.shared.intake.grow(c.arrival, size); err != nil {
			return err
		}
		grown := append(make([]byte, 0, size), c.body...)
		c.shared.releaseRoom(c.body)
		c.body = grown
	}
}

// dropBody gives back what the body takes.
func (c *call) dropBody() {
	if c.arrival == nil {
		return
	}
	c.shared.releaseRoom(c.body)
	c.shared.intake.end(c.arrival)
	c.body, c.arrival = nil, nil
}

// deadlinedBody is a body whose deadline moves with what comes.
type deadlinedBody struct {
	io.ReadCloser
	connection *http.ResponseController
	intake     *transit
	arrival    *passage
	start      time.Time
	timeout    time.Duration

	got  int64
	last time.Time // the deadline
}

// Read reads what has come.
func (b *deadlinedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	if err == nil {
		b.intake.move(b.arrival)
		b.extend()
	}
	return n, err
}

// extend moves the deadline if it is too early for what has come by more than bodyDelay.
func (b *deadlinedBody) extend() {
	at := b.start.Add(min(b.timeout+time.Duration(b.got)*time.Second/bodyRate, readTimeout))
	if at.Sub(b.last) >= min(bodyDelay, b.timeout) {
		b.last = at
		_ = b.connection.SetReadDeadline(at) // one that cannot (in tests) has none
	}
}

// room takes what a body is read into first.
func (s *shared) room() []byte {
	if room, ok := s.rooms.Get().(*[firstRoom]byte); ok {
		return room[:0]
	}
	return make([]byte, 0, firstRoom)
}

// releaseRoom gives it back; a larger one is left to the collector.
func (s *shared) releaseRoom(b []byte) {
	if cap(b) == firstRoom {
		s.rooms.Put((*[firstRoom]byte)(b[:firstRoom]))
	}
}

// leaveBody is for who answers before the body was read: net/http does before it sends the answer, so that the connection
// can be used again, and must not wait for it for longer than takeBody would.
func (c *call) leaveBody() {
	if !c.bodyTaken && c.r.ContentLength != 0 {
		_ = http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(c.shared.limits.BodyTimeout))
	}
}

// bodyError says what a failure to read the body is: too large, too slow, or cut off by the client.
func bodyError(err error) error {
	var toobig *http.MaxBytesError
	switch {
	case errors.As(err, &toobig), errors.Is(err, leaderboard.ErrOverloaded):
		return err
	case errors.Is(err, errEvicted), errors.Is(err, os.ErrDeadlineExceeded):
		return wire.Reject(wire.CodeSlowRequest, "")
	default:
		return wire.Malformed(wire.InputError{Detail: "the body could not be read to its end"})
	}
}
