package streams

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
)

// maxLimit is how many entries the events of a stream have at most.
const maxLimit = 100

// handlers serve streams: server-sent events, each a whole answer.
type handlers struct {
	httpapi.Resolver
	streams    *httpapi.Streams
	broadcasts broadcasts
	notices    notices
	pages      streamPages

	sent, skipped atomic.Int64 // events, over all clients
}

// newHandlers returns the handlers of streams on an engine.
func newHandlers(e *features.Engine) *handlers {
	find := httpapi.Resolver{Catalog: e.Catalog}
	h := &handlers{
		Resolver: find, streams: e.Streams, broadcasts: broadcasts{feed: e.Feed, streams: e.Streams},
		notices: notices{from: features.Offered[Notices](e), log: e.Log, streams: e.Streams}, pages: streamPages{find: find, rankings: e.Rankings, api: e.API},
	}
	h.broadcasts.ask = h.pages.fetch
	return h
}

// routes are the routes of streams.
func (h *handlers) routes() []httpapi.Route {
	return []httpapi.Route{httpapi.On("streamPage", h.RetryOutdated(h.serve))}
}

// serve answers GET …/stream: the answer of top, or of around with ?member=, at once and after each change. For a
// member that is not ranked it has no entries.
func (h *handlers) serve(c *httpapi.Call) error {
	key, passed, err := h.key(c)
	if err != nil {
		return err
	}
	select {
	case <-h.streams.Ended():
		return leaderboard.ErrUnavailable // the server is about to end
	default:
	}
	leave, err := h.streams.Enter(c)
	if err != nil {
		return err
	}
	defer leave()
	f, leaveBroadcast := h.broadcasts.join(key)
	defer leaveBroadcast()
	e := f.latest()
	for !e.said() {
		select {
		case <-e.next:
			e = f.latest()
		case <-h.streams.Ended():
			return leaderboard.ErrUnavailable
		case <-c.Ctx.Done():
			return c.Ctx.Err()
		}
	}
	if e.err != nil {
		return e.err
	}
	c.Ctx = c.R.Context() // for as long as the client stays
	defer c.SetBuffers(httpapi.StreamBuffer)()
	var heard *listener
	if passed {
		l, leave := h.notices.join(noticeKey{key.board, key.member})
		defer leave()
		heard = l
	}
	h.send(c, f, e, heard)
	return nil
}

// key reads the parameters of a stream. passed: notices of the member come too.
func (h *handlers) key(c *httpapi.Call) (key broadcastKey, passed bool, err error) {
	key = broadcastKey{
		board: c.Params.PathValue("board"), window: c.Params.Window(), mode: c.Params.Mode(), member: c.Params.OptionalMember(),
		limit: int(c.Params.Integer("limit")), strings: c.Strings,
	}
	before, after := c.Params.AroundParams()
	if key.member != "" {
		key.limit, key.before, key.after = 0, int(before), int(after)
		if before+1+after > maxLimit {
			c.Params.BadParam("after", "want before and after to be less than "+strconv.Itoa(maxLimit)+" together")
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

// send writes events until the client goes, the board is gone, the client may no longer read it, or the server ends. heard
// has the notices that the client asks for, or nil.
func (h *handlers) send(c *httpapi.Call, f *broadcast, e *event, heard *listener) {
	out, more := httpapi.BeginStream(c)
	if !more {
		return
	}
	check := time.NewTicker(httpapi.AccessCheck)
	defer check.Stop()
	checked := time.Now()
	var come <-chan struct{} // nil: never
	if heard != nil {
		come = heard.come
	}
	turn := rand.Float64() // when it takes events, as a share of the time over which all do
	for ok := h.sendPage(out, e); ok; {
		next, noticed := false, false
		select {
		case <-e.next:
			next = h.inTurn(c, time.Duration(turn*float64(f.turns())))
		case <-come:
			noticed = true
		case <-check.C:
		case <-h.streams.Ended():
			out.Retry()
			return
		case <-c.Ctx.Done():
			return
		}
		if time.Since(checked) >= httpapi.AccessCheck { // also when the client took long to read the last page
			if err := h.mayStay(c, &f.key); err != nil {
				out.Gone(err)
				return
			}
			checked = time.Now()
		}
		switch {
		case noticed:
			ok = h.sendNotices(out, heard)
		case next:
			last := e.n
			e = f.latest()
			h.skipped.Add(e.n - last - 1)
			if e.err != nil {
				out.Gone(e.err)
				return
			}
			ok = h.sendPage(out, e)
		case time.Since(out.Last) >= httpapi.StreamSilence:
			ok = out.Write([]byte(":\n\n"))
		}
	}
}

// inTurn waits for a client's turn, if it is still there then.
func (h *handlers) inTurn(c *httpapi.Call, after time.Duration) bool {
	if after <= 0 {
		return true
	}
	turn := time.NewTimer(after)
	defer turn.Stop()
	select {
	case <-turn.C:
		return true
	case <-h.streams.Ended():
	case <-c.Ctx.Done():
	}
	return false
}

// sendPage sends an event to a client.
func (h *handlers) sendPage(out *httpapi.Stream, e *event) bool {
	ok := out.Write(e.text)
	if ok {
		h.sent.Add(1)
	}
	return ok
}

// sendNotices sends a client the notices that wait.
func (h *handlers) sendNotices(out *httpapi.Stream, heard *listener) bool {
	for _, text := range h.notices.drain(heard) {
		if !out.Write(text) {
			return false
		}
	}
	return true
}

// mayStay returns the reason why a client may no longer read the board. An unavailable answer is no reason.
func (h *handlers) mayStay(c *httpapi.Call, key *broadcastKey) error {
	if err := c.MayGoOn(time.Now()); err != nil {
		return err
	}
	_, _, err := h.Resolve(c, key.window, "")
	return httpapi.UnlessUnknown(err)
}
