package streams

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// broadcasts make the events of streams, once for all clients that ask for the same. A broadcast asks the route whose answers it
// gives, as a client would: at once, and whenever the feed shows a change. All methods
// may be called concurrently.
type broadcasts struct {
	ask     func(ctx context.Context, key broadcastKey, known *event, least int64) (*event, error)
	feed    httpapi.Feed
	streams *httpapi.Streams // which all broadcasts end with

	mu    sync.Mutex
	byKey map[broadcastKey]*broadcast
}

// broadcastKey is the common part of a broadcast's clients: the path of a route and its parameters in one form.
type broadcastKey struct {
	board, window string
	mode          leaderboard.Mode
	member        string // "": the top, limit entries of it; otherwise the entries around, before and after
	limit         int
	before, after int
	strings       bool // wide numbers are strings
}

// interval is the least time between two events of a broadcast.
func (k *broadcastKey) interval() time.Duration {
	if k.member != "" {
		return time.Second
	}
	return 200 * time.Millisecond
}

// event is the state of a broadcast at one time. Once clients have it, only next changes.
type event struct {
	text []byte // in the form for sending; nil before the first, and with an error
	err  error  // why there is no event, and will be no more

	n int64 // how many the broadcast had before

	tag      string // of the answer
	stale    bool
	period   int64
	revision leaderboard.Revision

	next chan struct{} // closed when there is another
}

// said is false for the first event of a broadcast.
func (e *event) said() bool { return e.text != nil || e.err != nil }

// broadcast is shared by the clients that ask for the same.
type broadcast struct {
	key     broadcastKey
	clients atomic.Int64 // changed with broadcasts.mu held
	stop    context.CancelFunc

	mu  sync.Mutex
	now *event
}

// latest returns the event of now.
func (f *broadcast) latest() *event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

const (
	// perTurn is several times the time of sending one client an event.
	perTurn = 75 * time.Microsecond
	// fewClients are sent an event at once.
	fewClients = 64
)

// turns is the time over which the clients take an event, each at a separate moment: all of them at once would occupy the
// processors for that long, and every other request would wait.
func (f *broadcast) turns() time.Duration {
	n := f.clients.Load()
	if n <= fewClients {
		return 0
	}
	return min(time.Duration(n)*perTurn, f.key.interval()*3/4)
}

func (f *broadcast) publish(e *event) {
	e.next = make(chan struct{})
	f.mu.Lock()
	before := f.now
	e.n = before.n + 1
	f.now = e
	f.mu.Unlock()
	close(before.next)
}

// join returns the broadcast of a key, which lasts until the last client leaves.
func (s *broadcasts) join(key broadcastKey) (f *broadcast, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f = s.byKey[key]
	if f == nil {
		ctx, stop := s.streams.WhileOpen(context.Background(), 0)
		f = &broadcast{key: key, stop: stop, now: &event{next: make(chan struct{})}}
		if s.byKey == nil {
			s.byKey = map[broadcastKey]*broadcast{}
		}
		s.byKey[key] = f
		go s.run(ctx, f)
	}
	f.clients.Add(1)
	return f, sync.OnceFunc(func() { s.leave(f) })
}

func (s *broadcasts) leave(f *broadcast) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.clients.Add(-1) == 0 {
		f.stop()
		s.forget(f)
	}
}

// forget removes a broadcast, so that the next client begins another one. It is called with mu held.
func (s *broadcasts) forget(f *broadcast) {
	if s.byKey[f.key] == f {
		delete(s.byKey, f.key)
	}
}

const (
	// feedIdle is how long a broadcast waits for a change before it asks all the same: a new period or another rule is no
	// change of the period that it knows.
	feedIdle = time.Second
	// feedTimeout is the time limit of one answer.
	feedTimeout = 5 * time.Second
)

// run reads until ctx ends or its subject is gone.
func (s *broadcasts) run(ctx context.Context, f *broadcast) {
	pace := time.NewTicker(f.key.interval())
	defer pace.Stop()
	for least := int64(0); ctx.Err() == nil; {
		known := f.latest()
		e, err := s.next(ctx, f.key, known, least)
		if ctx.Err() != nil {
			return // the broadcast has no clients, or the server ends, which clients learn elsewhere
		}
		switch {
		case err == nil && e != nil:
			f.publish(e)
			known = e
		case err != nil && (!known.said() || isGone(err)):
			s.mu.Lock()
			s.forget(f)
			s.mu.Unlock()
			f.publish(&event{err: err})
			return
		}
		select {
		case <-pace.C:
		case <-ctx.Done():
		}
		least = 0
		idle, cancel := context.WithTimeout(ctx, feedIdle)
		if known.period == 0 { // it has no entries yet
			<-idle.Done()
		} else if s.feed.Changed(idle, known.period, known.revision) == nil {
			least = known.revision.Seq + 1
		}
		cancel()
	}
}

// next returns the event after known, nil when nothing is new. least is the seq that the period has reached, if it is still
// the same.
func (s *broadcasts) next(ctx context.Context, key broadcastKey, known *event, least int64) (*event, error) {
	ctx, cancel := context.WithTimeout(ctx, feedTimeout)
	defer cancel()
	e, err := s.ask(ctx, key, known, least)
	if least > 0 && err != nil {
		return s.ask(ctx, key, known, 0) // another period has begun, or there are only stale answers
	}
	return e, err
}

// isGone reports whether an error ends a stream: the board no longer exists, or not for the caller.
func isGone(err error) bool {
	k, _, _ := wire.Classify(err)
	return k.Status == http.StatusUnauthorized || k.Status == http.StatusForbidden || k.Status == http.StatusNotFound
}
