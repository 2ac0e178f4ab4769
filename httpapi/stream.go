package httpapi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/internal/guard"
	"leaderboard/leaderboard"
)

// MaxStreamLimit is how many entries the events of a stream have at most.
const MaxStreamLimit = 100

const (
	// streamStall is how long a client has to take an event; otherwise its stream ends.
	streamStall = 10 * time.Second
	// streamSilence is after how long without an event a comment is sent, so that proxies keep the connection.
	streamSilence = 15 * time.Second
	// mostRetry bounds the time, different for each client, after which the clients of a server that ends come back.
	leastRetry, mostRetry = time.Second, 5 * time.Second
)

// streamHandlers serve streams: server-sent events, each a whole answer.
type streamHandlers struct {
	Resolver
	broadcasts broadcasts
	notices    notices
	most       int           // streams at once
	ended      chan struct{} // closed when no stream may go on
	end        func()        // closes it; may be called again
	pages      streamPages

	sent, skipped atomic.Int64 // events, over all clients

	open *guard.Permits

	mu sync.Mutex
	of map[string]int // open streams by caller
}

// serve answers GET …/stream: the answer of top, or of around with ?member=, at once and after each change. For a
// member that is not ranked it has no entries.
func (h *streamHandlers) serve(c *Call) error {
	key, passed, err := h.key(c)
	if err != nil {
		return err
	}
	caller := streamCaller(c)
	if err := h.enter(caller); err != nil {
		return err
	}
	defer h.leave(caller)
	f, leave := h.broadcasts.join(key)
	if f == nil {
		return leaderboard.ErrUnavailable // the server is about to end
	}
	defer leave()
	e := f.latest()
	for !e.said() {
		select {
		case <-e.next:
			e = f.latest()
		case <-h.ended:
			return leaderboard.ErrUnavailable
		case <-c.Ctx.Done():
			return c.Ctx.Err()
		}
	}
	if e.err != nil {
		return e.err
	}
	c.Ctx = c.R.Context() // for as long as the client stays
	defer c.SetBuffers(StreamBuffer)()
	var heard *hearer
	if passed {
		l, leave := h.notices.join(noticeKey{key.board, key.member})
		defer leave()
		heard = l
	}
	h.send(c, f, e, heard)
	return nil
}

// callerShare of the streams that may be open at once is for one caller: one in so many.
const callerShare = 8

// streamCaller returns the caller that a stream counts for: the key, or without a key the address; "" when callers cannot be
// told apart, because they may all be behind one proxy.
func streamCaller(c *Call) string {
	if c.Key != nil {
		return "key " + c.Key.ID
	}
	if c.Player != nil {
		return "player " + c.Player.Owner
	}
	return c.Client()
}

// enter counts a stream, unless too many are open, of all or of one caller.
func (h *streamHandlers) enter(caller string) error {
	if err := h.open.Acquire(); err != nil || caller == "" {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of[caller] >= max(1, h.most/callerShare) {
		h.open.Release()
		return errTooManyStreams()
	}
	if h.of == nil {
		h.of = map[string]int{}
	}
	h.of[caller]++
	return nil
}

func errTooManyStreams() error {
	return &leaderboard.OverloadError{Wait: time.Second, Detail: "as many streams are open as may be at once, of all or of one caller"}
}

func (h *streamHandlers) leave(caller string) {
	h.open.Release()
	if caller == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of[caller]--; h.of[caller] == 0 {
		delete(h.of, caller)
	}
}

// key reads the parameters of a stream. passed: notices of the member come too.
func (h *streamHandlers) key(c *Call) (key broadcastKey, passed bool, err error) {
	key = broadcastKey{
		board: c.Params.PathValue("board"), window: c.Params.Window(), mode: c.Params.Mode(), member: c.Params.OptionalMember(),
		limit: int(c.Params.Integer("limit", leaderboard.DefaultLimit, 1, MaxStreamLimit)), strings: c.Strings,
	}
	before, after := c.Params.AroundParams()
	if key.member != "" {
		key.limit, key.before, key.after = 0, int(before), int(after)
		if before+1+after > MaxStreamLimit {
			c.Params.BadParam("after", "want before and after to be less than "+strconv.Itoa(MaxStreamLimit)+" together")
		}
		if c.Params.Query.Has("limit") {
			c.Params.BadParam("limit", "limit and member exclude each other")
		}
	} else if c.Params.Query.Has("before") || c.Params.Query.Has("after") {
		c.Params.BadParam("before", "before and after need member")
	}
	if passed, err = passedParam(c, key.member); err == nil {
		_, _, err = h.Resolve(c, key.window, "")
	}
	return key, passed, err
}

// send writes events until the client goes, the board is gone, the client may not read it any more, or the server ends. heard has the
// notices that the client asks for, nil without any.
func (h *streamHandlers) send(c *Call, f *broadcast, e *event, heard *hearer) {
	out := stream{c: c, ctl: http.NewResponseController(c.W)}
	if !out.begin() {
		return
	}
	check := time.NewTicker(AccessCheck)
	defer check.Stop()
	checked := time.Now()
	var come <-chan struct{} // nil: never
	if heard != nil {
		come = heard.come
	}
	turn := rand.Float64() // when it takes events, of the time over which all do
	for ok := h.sendPage(&out, e); ok; {
		next, noticed := false, false
		select {
		case <-e.next:
			next = h.inTurn(c, time.Duration(turn*float64(f.turns())))
		case <-come:
			noticed = true
		case <-check.C:
		case <-h.ended:
			h.sendRetry(&out)
			return
		case <-c.Ctx.Done():
			return
		}
		if time.Since(checked) >= AccessCheck { // also when the client took long to read the last page
			if err := h.mayStay(c, &f.key); err != nil {
				out.gone(err)
				return
			}
			checked = time.Now()
		}
		switch {
		case noticed:
			ok = h.sendNotices(&out, heard)
		case next:
			last := e.n
			e = f.latest()
			h.skipped.Add(e.n - last - 1)
			if e.err != nil {
				out.gone(e.err)
				return
			}
			ok = h.sendPage(&out, e)
		case time.Since(out.last) >= streamSilence:
			ok = out.write([]byte(":\n\n"))
		}
	}
}

// sendRetry tells the client of a server that ends when to come back.
func (h *streamHandlers) sendRetry(out *stream) {
	retry := leastRetry + rand.N(mostRetry-leastRetry)
	out.write([]byte("retry: " + strconv.FormatInt(retry.Milliseconds(), 10) + "\n\n"))
}

// whileOpen returns a context that ends with ctx, with the streams, or after a time, 0: none.
func (h *streamHandlers) whileOpen(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	var over <-chan time.Time
	if limit > 0 {
		over = time.After(limit)
	}
	go func() {
		defer stop()
		select {
		case <-h.ended:
		case <-over:
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}

// inTurn waits for a client's turn, if it is still there then.
func (h *streamHandlers) inTurn(c *Call, after time.Duration) bool {
	if after <= 0 {
		return true
	}
	turn := time.NewTimer(after)
	defer turn.Stop()
	select {
	case <-turn.C:
		return true
	case <-h.ended:
	case <-c.Ctx.Done():
	}
	return false
}

// sendPage sends an event to a client.
func (h *streamHandlers) sendPage(out *stream, e *event) bool {
	ok := out.write(e.text)
	if ok {
		h.sent.Add(1)
	}
	return ok
}

// sendNotices sends a client the notices that wait.
func (h *streamHandlers) sendNotices(out *stream, heard *hearer) bool {
	for _, text := range h.notices.take(heard) {
		if !out.write(text) {
			return false
		}
	}
	return true
}

// StreamStats are of the streams of a server: how many are open, how many events they were sent, and how many they were not
// because a newer one was there first.
type StreamStats struct {
	Open          int
	Sent, Skipped int64
}

func (h *streamHandlers) stats() StreamStats {
	return StreamStats{h.open.Taken(), h.sent.Load(), h.skipped.Load()}
}

// mayStay returns why a client may not read the board any more. An answer that cannot be had now is no reason.
func (h *streamHandlers) mayStay(c *Call, key *broadcastKey) error {
	if err := c.MayGoOn(time.Now()); err != nil {
		return err
	}
	_, _, err := h.Resolve(c, key.window, "")
	return UnlessUnknown(err)
}

// stream is the answer to one client.
type stream struct {
	c    *Call
	ctl  *http.ResponseController
	last time.Time // when something was written
}

// begin sends the header. The deadlines of the server are for answers that have an end.
func (s *stream) begin() bool {
	h := s.c.W.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s.c.Status = http.StatusOK
	_ = s.ctl.SetReadDeadline(time.Time{})
	_ = s.ctl.SetWriteDeadline(time.Now().Add(streamStall))
	s.c.W.WriteHeader(http.StatusOK)
	return s.c.R.Method != http.MethodHead
}

// write sends some text; false: the client is gone, or takes nothing.
func (s *stream) write(text []byte) bool {
	s.last = time.Now()
	_ = s.ctl.SetWriteDeadline(s.last.Add(streamStall))
	if _, err := s.c.W.Write(text); err != nil {
		return false
	}
	return s.ctl.Flush() == nil
}

// gone tells why the stream ends for good.
func (s *stream) gone(err error) {
	s.write(append(append([]byte("event: gone\ndata: "), s.c.Problem(err)...), "\n\n"...))
}

// start makes streams ready for clients. table is that of the routes.
func (h *streamHandlers) start(s *shared, table []Route) {
	h.pages.question, h.ended, h.broadcasts.ask = s.ask, make(chan struct{}), h.pages.ask
	h.notices.log, h.notices.ended = s.logger, h.ended
	h.end = sync.OnceFunc(func() {
		close(h.ended)
		h.broadcasts.end()
	})
	for i := range table {
		switch table[i].Path {
		case "/v1/boards/{board}/top":
			h.pages.top = &table[i]
		case "/v1/boards/{board}/members/{member}/around":
			h.pages.around = &table[i]
		}
	}
}
