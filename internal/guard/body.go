package guard

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// ReadTimeout is for the head of a request and for the whole request, at any pace of its body. With one time for both, the
// connection's deadline is set once less for each request, which is expensive.
const ReadTimeout = 15 * time.Second

const (
	// bodyRate is how many bytes a second give a body more time than BodyReader.timeout.
	bodyRate = 100 << 10
	// BodyDelay is how much later than needed the deadline of a body may be: it is not moved for each packet.
	BodyDelay = time.Second
	// FirstRoom is the room of a body before any of it has come, which does not count.
	FirstRoom = 1 << 10
	// roomGrowth is how much larger the next room for a body is. At least an eighth of its counted size has come.
	roomGrowth = 8
)

// BodyReader reads the bodies of requests. All methods may be called concurrently.
type BodyReader struct {
	*BodyBudget
	timeout time.Duration // for a body to come, longer only while it comes at bodyRate
	rooms   sync.Pool     // *[FirstRoom]byte
}

// Body is the body of a request. The zero value takes no memory.
type Body struct {
	Bytes       []byte
	reservation *Reservation
}

// Read reads the body of a request, to be given back with Drop, also after an error. It has BodyReader.timeout, and longer only
// while bodyRate bytes a second come.
func (in *BodyReader) Read(body *Body, w http.ResponseWriter, r *http.Request, limit int64) error {
	connection := http.NewResponseController(w)
	body.reservation = NewReservation(func() { _ = connection.SetReadDeadline(time.Unix(1, 0)) })
	in.Begin(body.reservation)
	from := deadlinedBody{ReadCloser: http.MaxBytesReader(w, r.Body, limit), connection: connection, bodies: in, reservation: body.reservation, start: time.Now()}
	from.extend()
	err := in.readAll(body, &from, r.ContentLength, limit)
	if evicted := in.Arrived(body.reservation); evicted != nil {
		err = evicted
	}
	if err == nil {
		return nil
	}
	return bodyError(err)
}

// readAll is io.ReadAll into rooms that grow with the received bytes and are counted.
func (in *BodyReader) readAll(body *Body, r io.Reader, announced, limit int64) error {
	b := in.room()
	defer func() { body.Bytes = b }()
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(b) < cap(b):
			continue
		}
		size := min(roomGrowth*int64(cap(b)), limit+1)
		if announced > 0 {
			size = min(size, announced+1)
		}
		if err := in.Grow(body.reservation, size); err != nil {
			return err
		}
		grown := append(make([]byte, 0, size), b...)
		in.release(b)
		b = grown
	}
}

// Drop gives back the memory of a body.
func (in *BodyReader) Drop(body *Body) {
	if body.reservation == nil {
		return
	}
	in.release(body.Bytes)
	in.End(body.reservation)
	*body = Body{}
}

// Leave bounds how long net/http reads the rest of a body, which it does before it sends an answer, to use the connection
// again.
func (in *BodyReader) Leave(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(in.timeout))
}

// room returns the memory that a body is read into first.
func (in *BodyReader) room() []byte {
	if room, ok := in.rooms.Get().(*[FirstRoom]byte); ok {
		return room[:0]
	}
	return make([]byte, 0, FirstRoom)
}

// release returns the room for use by others; a larger room is left to the collector.
func (in *BodyReader) release(b []byte) {
	if cap(b) == FirstRoom {
		in.rooms.Put((*[FirstRoom]byte)(b[:FirstRoom]))
	}
}

// deadlinedBody is a body whose deadline moves as it comes.
type deadlinedBody struct {
	io.ReadCloser
	connection  *http.ResponseController
	bodies      *BodyReader
	reservation *Reservation
	start       time.Time

	got  int64
	last time.Time // the deadline
}

// Read reads the received bytes.
func (b *deadlinedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	if err == nil {
		b.bodies.Move(b.reservation)
		b.extend()
	}
	return n, err
}

// extend moves the deadline if it is more than BodyDelay too early for the received bytes.
func (b *deadlinedBody) extend() {
	at := b.start.Add(min(b.bodies.timeout+time.Duration(b.got)*time.Second/bodyRate, ReadTimeout))
	if at.Sub(b.last) >= min(BodyDelay, b.bodies.timeout) {
		b.last = at
		_ = b.connection.SetReadDeadline(at) // it fails on connections without deadlines, in tests
	}
}

// bodyError returns the problem of a body that could not be read: too large, too slow, or cut off by the client.
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
