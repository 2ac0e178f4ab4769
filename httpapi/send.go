package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
)

// response is the way back of a request: how its answer is written, and in which form.
type response struct {
	shared  *shared
	W       http.ResponseWriter // for answers that no method sends: their handlers set Status
	R       *http.Request
	Status  int  // of the answer, 0 before it
	Strings bool // the answer has wide numbers as strings
	read    bool // the route's answers count as reads: without room for one it is refused
}

// Send answers with a body, compressed if the client takes that. The caller sets the other headers before; an ETag is the ETag of
// the plain form. Send returns when the kernel has all of the body, or with an error before any of it is sent.
func (a *response) Send(status int, contentType string, body []byte) error {
	held, h := len(body), a.W.Header()
	if a.Strings && contentType == wire.TypeJSON {
		buf := a.shared.buffer()
		defer a.shared.release(buf)
		*buf = wire.AppendNumbers((*buf)[:0], body, true)
		body = *buf
		held += len(body)
	}
	if len(body) >= wire.MinCompressed && status == http.StatusOK {
		h["Vary"] = a.shared.values.vary
		if wire.AcceptsGzip(a.R.Header) {
			buf := a.shared.buffer()
			defer a.shared.release(buf)
			*buf = a.shared.zippers.Zip((*buf)[:0], body)
			body = *buf
			held += len(body)
			h["Content-Encoding"] = a.shared.values.gzip
			if tag := h["Etag"]; tag != nil {
				h["Etag"] = []string{wire.GzipTag(tag[0])}
			}
		}
	}
	values := [...]string{contentType, strconv.Itoa(len(body))}
	h["Content-Type"] = values[0:1:1]
	h["Content-Length"] = values[1:2:2]
	return a.deliver(status, body, held)
}

// deliver sends a body whose headers are set, and counts its held bytes until it is sent. Its errors are the errors of Send.
func (a *response) deliver(status int, body []byte, held int) error {
	leaves, err := a.leave(held)
	if err != nil {
		h := a.W.Header()
		delete(h, "Etag")
		delete(h, "Content-Encoding")
		return err
	}
	defer a.shared.guard.Answers.End(leaves)
	a.Status = status
	a.sendWhole(body)
	a.W.WriteHeader(status)
	connection, began := http.NewResponseController(a.W), time.Now()
	for part := range slices.Chunk(body, connBuffer) {
		if _, err := a.W.Write(part); err != nil {
			break // the client is gone
		}
		a.shared.guard.Answers.GoOn(leaves, func() { _ = connection.SetWriteDeadline(sendUntil(began, time.Now())) })
	}
	return nil
}

// sendWhole has the beginning of an answer wait for the rest, so that both go to the kernel in one call: net/http makes two calls
// for header and body if its buffer does not hold both. It leaves out a body that may fit the buffer, and the answer to a HEAD,
// which has no body.
func (a *response) sendWhole(body []byte) {
	if len(body) <= httpBuffer || a.R.Method == http.MethodHead {
		return
	}
	if of, ok := a.R.Context().Value(connKey{}).(*conn); ok { // not under TLS, which makes a record of each write
		of.whole = true
	}
}

const (
	// sendStall is how long a client may read nothing of an answer.
	sendStall = 30 * time.Second
	// sendLimit is how long a client that keeps reading has for the whole answer.
	sendLimit = 2 * time.Minute
)

// sendUntil returns the deadline of the next part of an answer whose sending began at a time.
func sendUntil(began, now time.Time) time.Time {
	if end := began.Add(sendLimit); end.Before(now.Add(sendStall)) {
		return end
	}
	return now.Add(sendStall)
}

// leave counts the bytes of an answer until it is sent; it returns nil for an answer that fits the kernel's buffer. Without
// room it refuses a read, with an ErrOverloaded; the result of a write is always sent.
func (a *response) leave(bytes int) (*guard.Reservation, error) {
	if bytes <= connBuffer {
		return nil, nil //nolint:nilnil // nothing is to be counted
	}
	connection := http.NewResponseController(a.W)
	p := guard.NewReservation(func() { _ = connection.SetWriteDeadline(time.Unix(1, 0)) })
	a.shared.guard.Answers.Begin(p)
	err := a.shared.guard.Answers.Grow(p, int64(bytes))
	if err != nil && (a.read || a.R.Method == http.MethodGet || a.R.Method == http.MethodHead) {
		a.shared.guard.Answers.End(p)
		return nil, err
	}
	return p, nil
}

// SetBuffers bounds the kernel's buffers of the request's connection until done is called.
func (a *response) SetBuffers(bytes int) (done func()) {
	of, ok := connOf(a.R.Context())
	if !ok {
		return func() {}
	}
	setBuffers(of.TCPConn, bytes)
	return func() { setBuffers(of.TCPConn, connBuffer) }
}

// SendAppended answers 200 with the JSON that body appends, from a buffer that is reused. Its errors are the errors of Send.
func (a *response) SendAppended(body func([]byte) []byte) error {
	buf := a.shared.buffer()
	defer a.shared.release(buf)
	*buf = append(body((*buf)[:0]), '\n')
	return a.Send(http.StatusOK, wire.TypeJSON, *buf)
}

// SendJSON answers with v. Unless the handler has set Cache-Control, the answer is the state of this moment, and caches must ask
// again.
func (a *response) SendJSON(status int, v any) error {
	body, err := wire.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	if h := a.W.Header(); h["Cache-Control"] == nil {
		h["Cache-Control"] = a.shared.values.private
	}
	return a.Send(status, wire.TypeJSON, body)
}

// SendNothing answers without a body.
func (a *response) SendNothing(status int) {
	a.Status = status
	a.W.WriteHeader(status)
}

// NoStore says in the header that no cache may keep the answer.
func (a *response) NoStore() { a.W.Header()["Cache-Control"] = a.shared.values.noStore }

// Vary says in the header that the form of the answer depends on the codings that the client takes.
func (a *response) Vary() { a.W.Header()["Vary"] = a.shared.values.vary }

// Buffer takes an empty buffer, until release is called.
func (a *response) Buffer() (buf *[]byte, release func()) {
	buf = a.shared.buffer()
	return buf, func() { a.shared.release(buf) }
}

// RequestTimeout returns how long requests may take.
func (a *response) RequestTimeout() time.Duration { return a.shared.limits.RequestTimeout }

// Locate sets the header Location to the address of a new resource.
func (a *response) Locate(path string) { a.W.Header().Set("Location", a.shared.base+path) }

// extendDeadlines lets a route take longer than the server's timeouts allow. It has no effect on connections without deadlines (in
// tests).
func (a *response) extendDeadlines(extra time.Duration) {
	ctl := http.NewResponseController(a.W)
	until := time.Now().Add(2*a.shared.limits.RequestTimeout + extra)
	_ = ctl.SetWriteDeadline(until)
	_ = ctl.SetReadDeadline(until)
}

// form adds the form of an answer's numbers to its ETag.
func (a *response) form(hash wire.ETag) wire.ETag {
	if a.Strings {
		return hash.Text(wire.NumbersString)
	}
	return hash
}

// copied returns a copy of a body in the form that is sent.
func (a *response) copied(body []byte) []byte {
	if a.Strings {
		return wire.AppendNumbers(nil, body, true)
	}
	return append(make([]byte, 0, len(body)), body...)
}
