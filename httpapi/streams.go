package httpapi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"leaderboard/internal/guard"
	"leaderboard/leaderboard"
)

const (
	// TypeEvents is the media type of server-sent events.
	TypeEvents = "text/event-stream"
	// streamStall is how long a client has to take an event; otherwise its stream ends.
	streamStall = 10 * time.Second
	// StreamSilence is the time without an event after which a comment is sent, so that proxies keep the connection.
	StreamSilence = 15 * time.Second
	// leastRetry and mostRetry bound the time, different for each client, after which the clients of a stopped server come back.
	leastRetry, mostRetry = time.Second, 5 * time.Second
	// callerShare divides the streams that may be open at once: one caller may have one in callerShare of them.
	callerShare = 8
)

// Streams are the answers without an end of a server. Their number is limited, of all callers and of one caller, and all end when
// the server stops. All methods may be called concurrently.
type Streams struct {
	most  int
	open  *guard.Permits
	ended chan struct{} // closed when all streams must end
	end   func()        // closes it; may be called again

	mu sync.Mutex
	of map[string]int // open streams by caller
}

// NewStreams returns streams; at most most may be open at once.
func NewStreams(most int) *Streams {
	s := &Streams{most: most, open: guard.NewPermits(most, errTooManyStreams()), ended: make(chan struct{}), of: map[string]int{}}
	s.end = sync.OnceFunc(func() { close(s.ended) })
	return s
}

func errTooManyStreams() error {
	return &leaderboard.OverloadError{Wait: time.Second, Detail: "as many streams are open as may be at once, of all or of one caller"}
}

// Open returns how many streams are open.
func (s *Streams) Open() int { return s.open.InUse() }

// Ended returns a channel that is closed when all streams must end.
func (s *Streams) Ended() <-chan struct{} { return s.ended }

// End ends all streams and lets no new ones begin. It asks their clients to come back in a while.
func (s *Streams) End() { s.end() }

// Enter counts a stream until it leaves, unless too many are open, of all or of one caller.
func (s *Streams) Enter(c *Call) (leave func(), err error) {
	caller := streamCaller(c)
	if err := s.open.Acquire(); err != nil || caller == "" {
		return s.open.Release, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[caller] >= max(1, s.most/callerShare) {
		s.open.Release()
		return nil, errTooManyStreams()
	}
	s.of[caller]++
	return func() { s.leave(caller) }, nil
}

// streamCaller returns the caller that a stream counts for: the key, the player, or without both the address; "" if callers cannot
// be distinguished, because they may all be behind one proxy.
func streamCaller(c *Call) string {
	if c.Key != nil {
		return "key " + c.Key.ID
	}
	if c.Player != nil {
		return "player " + c.Player.Owner
	}
	return c.Client()
}

func (s *Streams) leave(caller string) {
	s.open.Release()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[caller]--; s.of[caller] == 0 {
		delete(s.of, caller)
	}
}

// WhileOpen returns a context that ends with ctx, with the streams, or after limit, if that is not 0.
func (s *Streams) WhileOpen(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	var over <-chan time.Time
	if limit > 0 {
		over = time.After(limit)
	}
	go func() {
		defer stop()
		select {
		case <-s.ended:
		case <-over:
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}

// Stream is the answer without an end to one client: server-sent events.
type Stream struct {
	Last time.Time // when something was written

	c   *Call
	ctl *http.ResponseController
}

// BeginStream sends the header and replaces the server's deadlines, which are for answers that have an end. It returns false for a
// HEAD, which gets no events.
func BeginStream(c *Call) (*Stream, bool) {
	s := &Stream{c: c, ctl: http.NewResponseController(c.W)}
	h := c.W.Header()
	h.Set("Content-Type", TypeEvents)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	c.Status = http.StatusOK
	_ = s.ctl.SetReadDeadline(time.Time{})
	_ = s.ctl.SetWriteDeadline(time.Now().Add(streamStall))
	c.W.WriteHeader(http.StatusOK)
	return s, c.R.Method != http.MethodHead
}

// Write sends some text; false: the client is gone, or takes nothing.
func (s *Stream) Write(text []byte) bool {
	s.Last = time.Now()
	_ = s.ctl.SetWriteDeadline(s.Last.Add(streamStall))
	if _, err := s.c.W.Write(text); err != nil {
		return false
	}
	return s.ctl.Flush() == nil
}

// Gone sends the reason why the stream ends for good.
func (s *Stream) Gone(err error) {
	s.Write(append(append([]byte("event: gone\ndata: "), s.c.Problem(err)...), "\n\n"...))
}

// Retry sends the client of a stopping server the time after which to come back.
func (s *Stream) Retry() {
	retry := leastRetry + rand.N(mostRetry-leastRetry)
	s.Write([]byte("retry: " + strconv.FormatInt(retry.Milliseconds(), 10) + "\n\n"))
}
