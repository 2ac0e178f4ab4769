package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard"
)

// decode decodes the body, one JSON value and nothing after it, into dst. It rejects unknown and repeated members, invalid
// UTF-8, names of members in another case, and what has too many values or is nested too deep. An empty body is an error unless
// optional. may is nil for a dst that tells null from a value by itself. It is called once: it gives the body back.
func (c *call) decode(dst any, optional bool, may *emptiness, options ...json.Options) error {
	defer c.dropBody()
	body := c.body
	if len(body) == 0 && optional {
		return nil
	}
	if len(body) == 0 {
		return malformed(inputError{Detail: "the body is empty, want a JSON object"})
	}
	if err := checkContentType(c.r.Header, c.route.mergePatch); err != nil {
		return err
	}
	if string(bytes.TrimSpace(body)) == "null" { // which would leave dst as it is
		return malformed(inputError{Detail: "want an object, not null"})
	}
	if err := checkOutline(body); err != nil {
		return err
	}
	options = append(options, json.RejectUnknownMembers(true))
	err := json.Unmarshal(body, dst, options...)
	if hasQuotedNumber(err) { // once more without the quotes, over the part that was decoded
		err = json.Unmarshal(appendNumbers(nil, body, false), dst, options...)
	}
	if err != nil {
		return malformed(describe(err))
	}
	if may != nil {
		return may.check(body)
	}
	return nil
}

// Bounds of every body. They are looked at before a decoder is, so that what a body costs is linear in its bytes: a decoder
// keeps many bytes for a short value, and where it is, which is as long as the names and as deep as the nesting around it.
const (
	maxValues = 1 << 15 // 1,000 entries with all the fields that a tiebreak can have are 23,000
	maxDepth  = 16      // the rules of a board have 4
)

// checkOutline rejects a body that is beyond them.
func checkOutline(body []byte) error {
	of := outlineOf(body)
	switch {
	case of.depth > maxDepth:
		return malformed(inputError{Detail: fmt.Sprintf("want objects and arrays at most %d inside of each other", maxDepth)})
	case of.values > maxValues:
		return malformed(inputError{Detail: fmt.Sprintf("want at most %d values", maxValues)})
	}
	return nil
}

// emptiness says where a body may have null or "". Elsewhere they are rejected: they are neither a value nor left out,
// and what Go makes of them is zero.
type emptiness struct {
	nullable []string // names of members that may be null; no other value may
	nonEmpty []string // names of members that may not be "", for want of a rule that says so
	opaque   string   // a member that holds what the client likes, checked by who takes it
}

// check reads a body that was decoded already, and rejects null and "" where they may not be. Only for what it rejects it asks
// where that is: the answer is as long as all names around it.
func (may *emptiness) check(body []byte) error {
	var bad badFields
	var name string // of the member that the token is the value of; of an element it is none
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	for !bad.full() {
		container, n := dec.StackIndex(dec.StackDepth())
		isName := container == '{' && n%2 == 0
		if next := dec.PeekKind(); name == may.opaque && name != "" && dec.StackDepth() == 1 && !isName && (next == '{' || next == '[') {
			_ = dec.SkipValue() // it was decoded
			continue
		}
		token, err := dec.ReadToken()
		if err != nil {
			break // the end
		}
		switch {
		case token.Kind() == '}' || token.Kind() == ']':
		case isName:
			name = token.String()
			continue
		case token.Kind() == 'n' && !slices.Contains(may.nullable, name):
			bad.add(pointer(dec.StackPointer()), "want a value, not null; what has a default may be left out")
		case token.Kind() == '"' && slices.Contains(may.nonEmpty, name) && token.String() == "":
			bad.add(pointer(dec.StackPointer()), "is empty; what has a default may be left out")
		}
		name = ""
	}
	return bad.err()
}

func checkContentType(h http.Header, mergePatch bool) error {
	if enc := h.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return reject(codeNotJSON, "The body has a Content-Encoding; send it as it is.")
	}
	ct := h.Get("Content-Type")
	if ct == typeJSON {
		return nil
	}
	name, params, err := mime.ParseMediaType(ct)
	if err != nil || name != typeJSON && !(mergePatch && name == typeMergePatch) || len(h["Content-Type"]) > 1 {
		return reject(codeNotJSON, "")
	}
	for key, value := range params {
		if key != "charset" || !strings.EqualFold(value, "utf-8") {
			return reject(codeNotJSON, "The only parameter that application/json may have here is charset=utf-8.")
		}
	}
	return nil
}

// describe says in the words of the contract where and why JSON could not be decoded.
func describe(err error) inputError {
	var (
		syntactic *jsontext.SyntacticError
		semantic  *json.SemanticError
	)
	switch {
	case errors.As(err, &syntactic):
		detail := fmt.Sprintf("not valid JSON at byte %d: %s", syntactic.ByteOffset, syntactic.Err.Error())
		return inputError{Pointer: pointer(syntactic.JSONPointer), Detail: clip(detail)}
	case errors.As(err, &semantic):
		return inputError{Pointer: pointer(semantic.JSONPointer), Detail: clip(wanted(semantic))}
	default:
		return inputError{Detail: "not valid JSON"}
	}
}

// hasQuotedNumber says whether JSON was not decoded because there is a string where a wide number belongs.
func hasQuotedNumber(err error) bool {
	var semantic *json.SemanticError
	if err == nil || !errors.As(err, &semantic) || semantic.JSONKind != '"' || semantic.GoType == nil {
		return false
	}
	t := semantic.GoType
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Int64 && t != reflect.TypeFor[leaderboard.Micros]()
}

func pointer(p jsontext.Pointer) string { return clip(string(p)) }

// wanted names what belongs where another thing was.
func wanted(e *json.SemanticError) string {
	if errors.Is(e, json.ErrUnknownName) {
		return "is not known"
	}
	if e.GoType == nil {
		return "is not of the documented form"
	}
	t := e.GoType
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[leaderboard.Micros]() {
		if e.Err != nil && e.JSONKind == '"' {
			return e.Err.Error()
		}
		return "want an RFC 3339 time in a string"
	}
	switch t.Kind() {
	case reflect.Int64:
		return "want a JSON integer from -9223372036854775808 to 9223372036854775807, without fraction or exponent"
	case reflect.Int:
		return "want a JSON integer"
	case reflect.String:
		return "want a string"
	case reflect.Slice:
		return "want an array"
	case reflect.Struct, reflect.Map:
		return "want an object"
	}
	return "is not of the documented form"
}

// bodyRule says what a route takes as its body. The zero value is a route without one.
type bodyRule struct {
	limit  int64                                 // bytes, if Config.MaxBody is not less
	charge func(elements int) leaderboard.Charge // what that many elements of its arrays count for; nil: nothing
}

// counts returns what a body counts for against quotas, before it is decoded.
func (rule *bodyRule) counts(body []byte) leaderboard.Charge {
	if rule.charge == nil {
		return leaderboard.Charge{}
	}
	return rule.charge(min(outlineOf(body).elements, leaderboard.MaxFriends)) // no route takes more, and what is refused is no debt
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
	// bodyRate is how many bytes a second give a body more time than Config.BodyTimeout.
	bodyRate = 100 << 10
	// bodyDelay is how much later than needed the deadline of a body may be: it is not moved for each packet.
	bodyDelay = time.Second
	// stalledAfter is how long nothing of a body has moved when it may give way to another.
	stalledAfter = 250 * time.Millisecond
	// firstRoom is what a body has before any of it has come, and does not count.
	firstRoom = 1 << 10
	// roomGrowth is how much larger the next room for a body is. Of what it counts for, an eighth has come.
	roomGrowth = 8
)

// transit bounds the bodies that are on their way, in bytes of the process: those of requests that are not decoded yet, or those
// of answers that are not sent yet. What a body counts for grows with what has come of it: one that is announced and not sent
// takes nothing that another needs. Without room the body of which nothing has moved for the longest time gives way. All methods
// may be called concurrently.
type transit struct {
	most  int64
	full  string    // what is said when there is no room
	began time.Time // when it was made

	mu       sync.Mutex
	bytes    int64
	underWay map[*passage]struct{}
}

// passage is one body on its way.
type passage struct {
	stop  func()       // ends a read or a write of it at once; must not block
	moved atomic.Int64 // when something of it did, ns since transit.began

	bytes   int64 // what it counts for; guarded by transit.mu
	evicted bool  // it gave way; guarded by transit.mu
}

// errEvicted is the end of a body that gave way.
var errEvicted = errors.New("the body gave way to others")

func newTransit(most int64, full string) *transit {
	return &transit{most: most, full: full, began: time.Now(), underWay: map[*passage]struct{}{}}
}

// move notes that something of a body has come or gone; nil is one that does not count.
func (in *transit) move(a *passage) {
	if a != nil {
		a.moved.Store(int64(time.Since(in.began)))
	}
}

// goOn is move for a body that gets more time by more, unless it has given way.
func (in *transit) goOn(a *passage, more func()) {
	if a == nil {
		return
	}
	in.move(a)
	in.mu.Lock()
	defer in.mu.Unlock()
	if !a.evicted {
		more()
	}
}

func (in *transit) begin(a *passage) {
	in.move(a)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.underWay[a] = struct{}{}
}

// grow makes a body count for so many bytes. Errors: ErrOverloaded, errEvicted.
func (in *transit) grow(a *passage, to int64) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if a.evicted {
		return errEvicted
	}
	for in.bytes-a.bytes+to > in.most {
		slowest := in.slowest(a)
		if slowest == nil {
			return &leaderboard.OverloadError{Wait: bodyDelay, Detail: in.full}
		}
		in.bytes -= slowest.bytes
		slowest.bytes, slowest.evicted = 0, true
		delete(in.underWay, slowest)
		slowest.stop()
	}
	in.bytes += to - a.bytes
	a.bytes = to
	return nil
}

// slowest returns the other body that has been stalled for the longest time and counts for something, nil if there is none.
func (in *transit) slowest(but *passage) *passage {
	var found *passage
	oldest := int64(time.Since(in.began) - stalledAfter)
	for a := range in.underWay {
		if moved := a.moved.Load(); a != but && a.bytes > 0 && moved <= oldest {
			found, oldest = a, moved
		}
	}
	return found
}

// arrived says that the whole body is there, and cannot give way any more. Error: errEvicted.
func (in *transit) arrived(a *passage) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.underWay, a)
	if a.evicted {
		return errEvicted
	}
	return nil
}

// end forgets a body; nil is one that does not count.
func (in *transit) end(a *passage) {
	if a == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.underWay, a)
	in.bytes -= a.bytes
	a.bytes = 0
}

// takeBody reads the body of the request, to be given back with dropBody. It has Config.BodyTimeout, and longer only
// while bodyRate bytes a second come.
func (c *call) takeBody() error {
	limit := min(c.route.body.limit, c.shared.maxBody)
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
		start: time.Now(), timeout: c.shared.bodyTimeout,
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
		_ = http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(c.shared.bodyTimeout))
	}
}

// bodyError says what a failure to read the body is: too large, too slow, or cut off by the client.
func bodyError(err error) error {
	var toobig *http.MaxBytesError
	switch {
	case errors.As(err, &toobig), errors.Is(err, leaderboard.ErrOverloaded):
		return err
	case errors.Is(err, errEvicted), errors.Is(err, os.ErrDeadlineExceeded):
		return reject(codeSlowRequest, "")
	default:
		return malformed(inputError{Detail: "the body could not be read to its end"})
	}
}
