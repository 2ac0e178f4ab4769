package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/rs/cors"

	"leaderboard/internal/guard"
	"leaderboard/internal/trace"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// route is one row of the table of routes.
type route struct {
	pattern
	access guard.Access // must be set
	params []string
	handle func(*call) error

	anyQuery   bool // the query is not checked
	ops        bool // not under /v1: no bound on concurrency, so that health can be seen under load
	body       bodyRule
	mergePatch bool // the body may be application/merge-patch+json too
	admitted   bool // by Writer.Admit, before the body is read
	// someBoards: the handler lets a key that is for some boards touch no other. Without it, and without a board in its path,
	// the route is for keys of all boards.
	someBoards bool
	players    playersMay
	stream     bool // the answer has no end, so it does not count as a request in service
	writes     bool // a row at least, which counts against a quota
	read       bool // answers count as reads, see isRead; set by New
	heavy      int  // units of heavy work that a request counts for

	extraTime time.Duration // how much longer than Limits.RequestTimeout it may take
	// span is the name of the spans of its requests. Probes, documents, pages, which send requests to other routes, and streams,
	// which have no end, have none. Set by New.
	span string
}

// playersMay is what a player's token opens on a route, besides what anyone may read.
type playersMay int

const (
	playersMayAsAnyone    playersMay = iota
	playersMayReadOwn                // the member in the path, or that of a stream, if that is the player's own, where the board's rule players.read says so
	playersMayReadFriends            // the player among the own friends, on a board that anyone may read and that the token is for
	playersMaySubmit                 // to submit their own scores; the handler looks at the board's rule players.submit
)

// checkPolicy panics when a route does not state its access, so that a server with such a route does not start.
func (rt *route) checkPolicy() {
	if rt.access == guard.AccessUnsaid {
		panic("httpapi: no access is stated for " + rt.method + " " + rt.path)
	}
}

// counts returns what a request counts for before its body is read.
func (rt *route) counts() (out leaderboard.Charge) {
	if rt.ops {
		return out
	}
	out[leaderboard.QuotaKindRequests], out[leaderboard.QuotaKindHeavy] = 1, rt.heavy
	if rt.writes && rt.body.charge == nil { // a list is charged once, when it has been read: half of a charge could prevent the rest
		out[leaderboard.QuotaKindRows] = 1
	}
	return out
}

// shared is the part of an API that all calls share.
type shared struct {
	base      string // path below which the service is; "": the root
	logger    *slog.Logger
	onRequest func(Answered)
	tracer    trace.Tracer // nil: none

	guard  *guard.Guard
	writer admitter
	limits Limits

	traffic traffic
	buffers sync.Pool // *[]byte, for bodies out
	zippers wire.Zippers
	values  headerValues
	cors    *cors.Cors // nil: pages of other origins may not use the API
}

// admitter refuses submissions before their bodies are read, as Writer does.
type admitter interface {
	Admit(board string, bytes int64) error
}

// Answered is a request that was answered.
type Answered struct {
	Route     string // the path as in the document, "" when no route matched
	Method    string // one of the standard ones, or "OTHER"
	Status    int
	Took      time.Duration
	RequestID string // taken from the client or made, as the answer has it
	Span      trace.Span
}

// headerValues are values of header fields that many answers have, each a list of one. They must not be changed.
type headerValues struct {
	json, gzip, vary, noStore, private, public, nosniff []string
}

// newHeaderValues returns them; vary is the value of Vary.
func newHeaderValues(vary string) headerValues {
	return headerValues{
		json: []string{wire.TypeJSON}, gzip: []string{"gzip"}, vary: []string{vary}, noStore: []string{"no-store"},
		private: []string{"private, no-cache"}, public: []string{"public, no-cache"}, nosniff: []string{"nosniff"},
	}
}

// call is one request on its way through a route. It belongs to the request's goroutine.
type call struct {
	shared  *shared
	route   *route
	w       http.ResponseWriter
	r       *http.Request
	start   time.Time
	ctx     context.Context // ends when the client goes or the request's time is up
	path    segments
	key     *leaderboard.Key    // nil without one
	player  *leaderboard.Player // who calls by a token, nil without one
	scope   leaderboard.Scope   // of the key, "" without one
	caller  leaderboard.Caller
	id      [1]string // of the request, as a header has it
	span    trace.Span
	query   wire.Params
	bad     []wire.InputError // what is wrong with the parameters, collected so that the answer lists all of it
	status  int               // of the answer, 0 before it
	strings bool              // the answer has wide numbers as strings

	resolved resolved
	deadline deadline // what ctx is

	body      guard.Body // until it is decoded
	bodyTaken bool       // the body was read, or as much as came of it
	heldBack  bool       // the answer has had to wait
}

// resolved is what the names in a request were last resolved to, see resolver.retryOutdated.
type resolved struct {
	periodID int64 // 0 when none was found
	minSeq   int64 // as asked for

	// What was answered with.
	period   string
	revision leaderboard.Revision
	stale    bool
}

// identify gives the request its id, and every answer to it too.
func (c *call) identify() {
	c.caller.RequestID = wire.RequestID(c.r.Header)
	c.id[0] = c.caller.RequestID
	c.w.Header()[wire.HeaderRequestID] = c.id[:]
}

// serve answers the request on its route.
func (c *call) serve() {
	c.start = time.Now()
	if c.shared.tracer != nil && c.route.span != "" {
		c.span = beginSpan(c.shared.tracer, c.route.span, c.route.path, c.pathValue("board"), c.caller.RequestID, c.r)
	}
	defer c.finish()
	if err := c.run(); err != nil {
		c.holdBack(err)
		c.fail(err)
	}
}

// run lets the request in (key, query, body, bounds) and handles it. It reads the body before the request counts as in service,
// so that slow clients keep no others out.
func (c *call) run() (err error) {
	if err = c.authenticate(); err != nil {
		return err
	}
	if err = c.authorize(); err != nil {
		return err
	}
	if !c.route.anyQuery {
		if err = c.query.Parse(c.r.URL.RawQuery, c.route.params); err == nil {
			c.strings, err = c.query.Strings()
		}
		if err == nil {
			err = c.mayFilter()
		}
		if err != nil {
			return err
		}
	}
	served := c.start
	if c.route.body.limit == 0 && c.r.ContentLength != 0 {
		// net/http would wait for a body that is not wanted before it sends a long answer, with the request's permit taken.
		c.w.Header().Set("Connection", "close")
	}
	if c.route.body.limit > 0 {
		defer c.shared.guard.Intake.Drop(&c.body)
		if err := c.letIn(); err != nil {
			return err
		}
		served = time.Now()
	}
	if !c.route.ops && !c.route.stream {
		if err := c.shared.guard.Served.Acquire(); err != nil {
			return err
		}
		defer c.shared.guard.Served.Release()
	}
	if c.route.extraTime > 0 {
		c.extendDeadlines()
	}
	c.deadline.parent, c.deadline.caller, c.deadline.span = c.r.Context(), &c.caller, c.span
	c.deadline.at = served.Add(c.shared.limits.RequestTimeout + c.route.extraTime)
	c.ctx = &c.deadline
	defer c.deadline.end()
	return c.route.handle(c)
}

// authenticate finds the key of the request. A key that is not good is an attempt of the caller's address, in a cookie too.
func (c *call) authenticate() error {
	by, err := c.findKey(c.start)
	switch {
	case err != nil:
		return c.shared.guard.Attempt(c.w, c.r, err)
	case by.WrongCookie:
		return c.shared.guard.AttemptCookie(c.w, c.r)
	}
	return nil
}

// findKey finds the key of the request, or the player's token, as it is now.
func (c *call) findKey(now time.Time) (by guard.Bearer, err error) {
	if c.route.access == guard.AccessAnyone {
		return by, nil
	}
	by, err = c.shared.guard.Bearer(c.r, now)
	switch {
	case err != nil:
	case by.Key != nil:
		c.key, c.scope, c.caller.Key = by.Key, by.Key.Scope, by.Key.Actor()
		if by.Key.Person != "" {
			c.caller.Session = by.Key.ID
		}
		c.caller.Admin = c.scope.Includes(leaderboard.ScopeAdmin)
	case by.Player != nil:
		c.player, c.caller.Key, c.caller.Player = by.Player, by.Player.Via, by.Player.Owner
	case c.key != nil: // an answer that goes on began with it
		err = wire.Reject(wire.CodeUnauthorized, "The session is over.")
	}
	return by, err
}

// mayGoOn returns why an answer that goes on must end: the key of the request is not valid any more, or not enough for the
// route. It is not charged as an attempt, because the key was valid when the answer began; and attempts from the same address
// do not matter. When the key cannot be looked up now the answer goes on.
func (c *call) mayGoOn(now time.Time) error {
	_, err := c.findKey(now)
	if err == nil {
		err = c.denied()
	}
	return unlessUnknown(err)
}

// unlessUnknown returns err, nil when it is only that there is no answer now.
func unlessUnknown(err error) error {
	if errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOverloaded) {
		return nil
	}
	return err
}

// authorize compares the key with the access of the route, and charges the caller. A request that the key may not make counts
// as a request only.
func (c *call) authorize() error {
	denied := c.denied()
	what := c.route.counts()
	if denied != nil {
		what = leaderboard.Charge{leaderboard.QuotaKindRequests: what[leaderboard.QuotaKindRequests]}
	}
	if err := c.charge(what); err != nil {
		return err
	}
	return denied
}

// denied returns why the request's key may not use the route. It only looks at the key.
func (c *call) denied() error {
	if c.route.access == guard.AccessAnyone {
		return nil
	}
	if c.player != nil {
		return c.deniedPlayer()
	}
	if err := c.route.access.Allow(c.scope); err != nil || c.key == nil || !c.key.Limited() {
		return err
	}
	switch {
	case c.route.access == guard.AccessReaders && (c.route.someBoards || c.route.has("board")):
		return nil // mayRead decides which boards: public ones are for anyone
	case c.route.has("board"):
		return c.mayName(c.pathValue("board"))
	case !c.route.someBoards:
		return guard.ErrSomeBoards(c.key)
	}
	return nil
}

// deniedPlayer returns why the request's player may not use the route.
func (c *call) deniedPlayer() error {
	need := c.route.access.Needs()
	if need == "" || c.route.players == playersMaySubmit || c.readsFriends() {
		return nil
	}
	return wire.Reject(wire.CodeForbidden, fmt.Sprintf("This needs a key with scope %s. A player's token reads what anyone may and what is the player's own, and submits for the player.", need))
}

// readsFriends reports whether the request is a player's for the own friends. It decides by the path and the token alone.
func (c *call) readsFriends() bool {
	return c.route.players == playersMayReadFriends && c.pathValue("member") == c.player.Member && c.player.Covers(c.pathValue("board"))
}

// mayName refuses the name of a board that the request's key is not for, wherever a request that needs a key names one: to
// make the board, to change it, to write to it, as a filter, as a source. It decides by the name and the key alone, so neither
// the answer nor its time tells whether the board exists. mayRead decides about reading. at is where the name stands, if not
// in the path.
func (c *call) mayName(board string, at ...wire.InputError) error {
	if c.covers(board) {
		return nil
	}
	return guard.ErrNotCovered(c.key, at...)
}

// mayFilter is mayName for the parameter board of lists, which are about all boards without it.
func (c *call) mayFilter() error {
	if c.key == nil || !c.key.Limited() || !slices.Contains(c.route.params, "board") {
		return nil
	}
	name, _ := c.query.Get("board")
	if name == "" {
		return guard.ErrSomeBoards(c.key)
	}
	return c.mayName(name, wire.InputError{Parameter: "board", Detail: guard.NotCovered})
}

// covers reports whether the request's key or token is for a board; a request without either is not limited to some.
func (c *call) covers(board string) bool {
	return (c.key == nil || c.key.Covers(board)) && (c.player == nil || c.player.Covers(board))
}

// charge charges the caller against quotas.
func (c *call) charge(what leaderboard.Charge) error {
	return c.shared.guard.Charge(c.w, c.r, guard.Bearer{Key: c.key, Player: c.player}, what)
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

// extendDeadlines lets a route take longer than the server's timeouts, which are made for the others. A connection
// that cannot (in tests) has none.
func (c *call) extendDeadlines() {
	ctl := http.NewResponseController(c.w)
	until := time.Now().Add(2*c.shared.limits.RequestTimeout + c.route.extraTime)
	_ = ctl.SetWriteDeadline(until)
	_ = ctl.SetReadDeadline(until)
}

// fail answers with the problem of err, and logs it when only the operator can mend it.
func (c *call) fail(err error) {
	if !c.bodyTaken && c.r.ContentLength != 0 {
		c.shared.guard.Intake.Leave(c.w)
	}
	if c.r.Method == http.MethodGet || c.r.Method == http.MethodHead {
		err = wire.OfRead(err)
	}
	k := wire.WriteProblem(c.w, c.shared.base, err, c.caller.RequestID)
	c.status = k.Status
	if k.Code == wire.CodeInternal {
		c.log(slog.LevelError, "request failed", slog.Any("error", err))
	}
}

// finish recovers a panic of the handler and reports the request.
func (c *call) finish() {
	if p := recover(); p != nil {
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			c.report()
			panic(p)
		}
		c.log(slog.LevelError, "request panicked", slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
		if c.status != 0 {
			c.status = http.StatusInternalServerError // for the report; part of an answer is out: end the connection
			c.report()
			panic(http.ErrAbortHandler)
		}
		c.status = wire.WriteProblem(c.w, c.shared.base, wire.Reject(wire.CodeInternal, ""), c.caller.RequestID).Status
	}
	c.report()
}

func (c *call) report() {
	took := time.Since(c.start)
	if !c.route.ops {
		c.shared.traffic.answered(c.route.read && c.status < http.StatusBadRequest, c.start.Add(took))
	}
	c.shared.onRequest(Answered{
		Route: c.route.path, Method: methodLabel(c.r.Method), Status: c.status, Took: took, RequestID: c.caller.RequestID, Span: c.span,
	})
	if c.span.On() {
		endSpan(c.span, c.status)
	}
}

func (c *call) log(level slog.Level, msg string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("method", c.r.Method), slog.String("path", c.r.URL.EscapedPath()), slog.String("request_id", c.caller.RequestID)}, attrs...)
	c.shared.logger.LogAttrs(trace.With(context.WithoutCancel(c.r.Context()), c.span), level, msg, attrs...)
}

// pathValue returns the decoded segment that stands for {name} in the route's path.
func (c *call) pathValue(name string) string { return c.route.value(&c.path, name) }

// send answers with a body, compressed if the client takes that. The headers that are not about the body are set before; an
// ETag is that of the plain form. It returns when the kernel has all of the body, or with an error before any of it is sent.
func (c *call) send(status int, contentType string, body []byte) error {
	held, h := len(body), c.w.Header()
	if c.strings && contentType == wire.TypeJSON {
		buf := c.shared.buffer()
		defer c.shared.release(buf)
		*buf = wire.AppendNumbers((*buf)[:0], body, true)
		body = *buf
		held += len(body)
	}
	if len(body) >= wire.MinCompressed && status == http.StatusOK {
		h["Vary"] = c.shared.values.vary
		if wire.TakesGzip(c.r.Header) {
			buf := c.shared.buffer()
			defer c.shared.release(buf)
			*buf = c.shared.zippers.Zip((*buf)[:0], body)
			body = *buf
			held += len(body)
			h["Content-Encoding"] = c.shared.values.gzip
			if tag := h["Etag"]; tag != nil {
				h["Etag"] = []string{wire.GzipTag(tag[0])}
			}
		}
	}
	values := [...]string{contentType, strconv.Itoa(len(body))}
	h["Content-Type"] = values[0:1:1]
	h["Content-Length"] = values[1:2:2]
	return c.deliver(status, body, held)
}

// deliver sends a body whose headers are set, and counts the bytes that it holds until it is sent. Errors as of send.
func (c *call) deliver(status int, body []byte, held int) error {
	leaves, err := c.leave(held)
	if err != nil {
		h := c.w.Header()
		delete(h, "Etag")
		delete(h, "Content-Encoding")
		return err
	}
	defer c.shared.guard.Outgo.End(leaves)
	c.status = status
	c.sendWhole(body)
	c.w.WriteHeader(status)
	connection, began := http.NewResponseController(c.w), time.Now()
	for part := range slices.Chunk(body, connBuffer) {
		if _, err := c.w.Write(part); err != nil {
			break // the client is gone
		}
		c.shared.guard.Outgo.GoOn(leaves, func() { _ = connection.SetWriteDeadline(sendUntil(began, time.Now())) })
	}
	return nil
}

// sendWhole has the beginning of an answer wait for the rest, so that both go to the kernel in one call: net/http makes two of
// header and body when its buffer does not hold both. A body that may fit in is not waited for, nor one that is not sent.
func (c *call) sendWhole(body []byte) {
	if len(body) <= httpBuffer || c.r.Method == http.MethodHead {
		return
	}
	if of, ok := c.r.Context().Value(connKey{}).(*conn); ok { // not under TLS, which makes records of each write
		of.whole = true
	}
}

const (
	// sendStall is how long a client may read nothing of an answer.
	sendStall = 30 * time.Second
	// sendLimit is how long a client that goes on reading has for the whole answer.
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
func (c *call) leave(bytes int) (*guard.Passage, error) {
	if bytes <= connBuffer {
		return nil, nil //nolint:nilnil // nothing is to be counted
	}
	connection := http.NewResponseController(c.w)
	p := guard.NewPassage(func() { _ = connection.SetWriteDeadline(time.Unix(1, 0)) })
	c.shared.guard.Outgo.Begin(p)
	err := c.shared.guard.Outgo.Grow(p, int64(bytes))
	if err != nil && (c.route.read || c.r.Method == http.MethodGet || c.r.Method == http.MethodHead) {
		c.shared.guard.Outgo.End(p)
		return nil, err
	}
	return p, nil
}

// setBuffers bounds the kernel's buffers of the request's connection until done is called.
func (c *call) setBuffers(bytes int) (done func()) {
	of, ok := connOf(c.r.Context())
	if !ok {
		return func() {}
	}
	setBuffers(of.TCPConn, bytes)
	return func() { setBuffers(of.TCPConn, connBuffer) }
}

// sendAppended answers 200 with the JSON that body appends, from a buffer that is used again. Errors as of send.
func (c *call) sendAppended(body func([]byte) []byte) error {
	buf := c.shared.buffer()
	defer c.shared.release(buf)
	*buf = append(body((*buf)[:0]), '\n')
	return c.send(http.StatusOK, wire.TypeJSON, *buf)
}

// sendJSON answers with v, the state of this moment, which caches must ask for again.
func (c *call) sendJSON(status int, v any) error {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	c.w.Header().Set("Cache-Control", "private, no-cache")
	return c.send(status, wire.TypeJSON, body)
}

// sendNothing answers without a body.
func (c *call) sendNothing(status int) {
	c.status = status
	c.w.WriteHeader(status)
}

// buffer takes an empty buffer, to be released.
func (s *shared) buffer() *[]byte {
	if buf, ok := s.buffers.Get().(*[]byte); ok {
		return buf
	}
	buf := make([]byte, 0, 4<<10)
	return &buf
}

// release gives a buffer back unless it has grown beyond what a usual request needs.
func (s *shared) release(buf *[]byte) {
	if cap(*buf) <= 256<<10 {
		s.buffers.Put(buf)
	}
}

// deadline is a context that ends at a time, as context.WithDeadline makes one, but starts its timer only when something
// waits for it. Answers from memory do not wait, and save a twentieth of the request. It carries the caller and the span of
// the request, too.
type deadline struct {
	parent context.Context
	caller *leaderboard.Caller
	span   trace.Span
	at     time.Time
	once   sync.Once
	timed  atomic.Pointer[timed]
}

type timed struct {
	context.Context
	cancel context.CancelFunc
}

func (d *deadline) start() *timed {
	d.once.Do(func() {
		ctx, cancel := context.WithDeadline(d.parent, d.at)
		d.timed.Store(&timed{ctx, cancel})
	})
	return d.timed.Load()
}

// end frees the timer. Nothing may begin to wait after it.
func (d *deadline) end() {
	if t := d.timed.Load(); t != nil {
		t.cancel()
	}
}

// Deadline is the time at which the context ends.
func (d *deadline) Deadline() (time.Time, bool) { return d.start().Deadline() }

// Done is closed at the deadline, or when the parent ends.
func (d *deadline) Done() <-chan struct{} { return d.start().Done() }

// Err returns why the context has ended, nil while it has not.
func (d *deadline) Err() error { return d.start().Err() }

// Value asks the timed context once there is one: package context finds in it what it needs to derive others cheaply.
func (d *deadline) Value(key any) any {
	switch key.(type) {
	case leaderboard.CallerKey:
		return d.caller
	case trace.Key:
		return d.span.Recorder()
	}
	if t := d.timed.Load(); t != nil {
		return t.Value(key)
	}
	return d.parent.Value(key)
}

// locate says where what was made is.
func (c *call) locate(path string) { c.w.Header().Set("Location", c.shared.base+path) }
