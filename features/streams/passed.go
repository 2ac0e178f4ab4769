package streams

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"leaderboard/httpapi"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Notices are events when committed, for streams. Errors of all: ErrUnavailable.
type Notices interface {
	// EventsMark returns a mark above which are all events of the last time d and all future events.
	EventsMark(ctx context.Context, d time.Duration) (mark int64, err error)
	// EventsAbove returns the events of a kind above a mark whose Seq known does not have, in the order in which they were
	// entered, and a mark for the next call. Events up to that mark do not come again; later ones may.
	EventsAbove(ctx context.Context, kind leaderboard.EventKind, mark int64, known func(seq int64) bool) (events []leaderboard.Event, next int64, err error)
}

const (
	// noticesEvery is the time between two looks at the events.
	noticesEvery = time.Second
	// noticesAge is the greatest age of the notices with which a stream begins, so that a client that connects again misses
	// none.
	noticesAge = time.Minute
	// maxNotices is how many notices of the last noticesAge are kept, over all members: about 5 MB.
	maxNotices = 20_000
)

// notices pass the notices about passed members to the streams of these members: one reader for all, which reads only while
// somebody listens. The zero value works once from, log and streams are set.
type notices struct {
	from    Notices // nil: no notices
	log     *slog.Logger
	streams *httpapi.Streams

	mu      sync.Mutex
	of      map[noticeKey]map[*listener]bool
	recent  []notice // of the last noticesAge, oldest first
	reading bool     // a reader runs
}

// noticeKey is the board and the member that was passed.
type noticeKey struct{ board, member string }

// notice is a member that was passed.
type notice struct {
	key  noticeKey
	read time.Time
	text []byte // as streams send it
}

// listener is a stream that asks for the notices of a member.
type listener struct {
	come    chan struct{} // has room for one value: notices are waiting
	waiting [][]byte      // guarded by notices.mu
}

func (l *listener) add(text []byte) {
	l.waiting = append(l.waiting, text)
	select {
	case l.come <- struct{}{}:
	default:
	}
}

// drain returns the notices that wait.
func (n *notices) drain(l *listener) (texts [][]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	texts, l.waiting = l.waiting, nil
	return texts
}

// join returns a listener of the notices of a member, which begin with the notices of the last noticesAge.
func (n *notices) join(key noticeKey) (l *listener, leave func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l = &listener{come: make(chan struct{}, 1)}
	if n.of == nil {
		n.of = map[noticeKey]map[*listener]bool{}
	}
	if n.of[key] == nil {
		n.of[key] = map[*listener]bool{}
	}
	n.of[key][l] = true
	for i := range n.recent {
		if n.recent[i].key == key {
			l.add(n.recent[i].text)
		}
	}
	if !n.reading && n.from != nil {
		n.reading = true
		go n.read()
	}
	return l, func() { n.leave(key, l) }
}

func (n *notices) leave(key noticeKey, l *listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if delete(n.of[key], l); len(n.of[key]) == 0 {
		delete(n.of, key)
	}
}

// read reads until nobody listens any longer, or streams end.
func (n *notices) read() {
	ctx, stop := n.streams.WhileOpen(context.Background(), 0)
	defer stop()
	pace := time.NewTicker(noticesEvery)
	defer pace.Stop()
	r := noticeReader{from: n.from}
	for failed := false; n.wanted(); {
		err := r.next(ctx, n.deliver)
		if err != nil && !failed && ctx.Err() == nil {
			n.log.WarnContext(ctx, "notices of who was passed wait for the database", "error", err)
		}
		failed = err != nil
		select {
		case <-pace.C:
		case <-ctx.Done():
			return
		}
	}
}

// wanted reports whether somebody listens. When nobody does, the reader must end.
func (n *notices) wanted() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.of) == 0 {
		n.reading, n.recent = false, nil
	}
	return n.reading
}

// deliver gives an event to the listeners, and keeps it for listeners who come within noticesAge.
func (n *notices) deliver(e *leaderboard.Event) {
	data, err := e.Payload()
	if err != nil || len(e.Members) == 0 { // it was erased meanwhile
		return
	}
	now := time.Now()
	next := notice{noticeKey{e.Board, e.Members[0].Member}, now, slices.Concat([]byte("id: "+e.ID+"\nevent: passed\ndata: "), data, []byte("\n\n"))}
	n.mu.Lock()
	defer n.mu.Unlock()
	old := 0
	for old < len(n.recent) && (now.Sub(n.recent[old].read) > noticesAge || len(n.recent)-old >= maxNotices) {
		old++
	}
	n.recent = append(n.recent[old:], next)
	for l := range n.of[next.key] {
		l.add(next.text)
	}
}

// noticeReader reads events in rounds, each once.
type noticeReader struct {
	from  Notices
	begun bool
	mark  int64
	above map[int64]bool // events that were read above the mark
}

// next calls fn with the events since the last call; the first time, with the events of the last noticesAge.
func (r *noticeReader) next(ctx context.Context, fn func(*leaderboard.Event)) error {
	ctx, cancel := context.WithTimeout(ctx, feedTimeout)
	defer cancel()
	if !r.begun {
		mark, err := r.from.EventsMark(ctx, noticesAge)
		if err != nil {
			return err
		}
		r.mark, r.begun, r.above = mark, true, map[int64]bool{}
	}
	events, mark, err := r.from.EventsAbove(ctx, leaderboard.EventKindMemberPassed, r.mark, func(seq int64) bool { return r.above[seq] })
	if err != nil {
		return err
	}
	for i := range events {
		r.above[events[i].Seq] = true
		fn(&events[i])
	}
	r.mark = mark
	for seq := range r.above {
		if seq <= mark {
			delete(r.above, seq)
		}
	}
	return nil
}

// mayHear returns the reason why a caller may not have the notices of a member, nil when it may: they reveal who has whom
// as a friend, so they are for keys that may read the board, and for the member's own token, also on a public board.
func mayHear(c *httpapi.Call, board, member string) error {
	switch {
	case c.Player != nil && c.Player.Member == member && c.Player.Covers(board):
		return nil
	case c.Player != nil:
		return wire.Reject(wire.CodeForbidden, "A player's token has the notices of the player alone.", wire.InputError{Parameter: "member", Detail: "is not the player of the token"})
	case c.Key == nil:
		return wire.Reject(wire.CodeUnauthorized, "Notices of who was passed need a key, or the member's own token, also on a public board.", wire.InputError{Parameter: "passed", Detail: "needs a key"})
	case !c.Key.Covers(board):
		return guard.ErrNotCovered(c.Key)
	}
	return nil
}

// passedParam reads the parameter passed of a stream.
func passedParam(c *httpapi.Call, member string) (bool, error) {
	passed := c.Params.Boolean("passed")
	if passed && member == "" {
		c.Params.BadParam("passed", "needs member")
	}
	if err := c.Params.BadInput(); err != nil || !passed {
		return false, err
	}
	return true, mayHear(c, c.Params.PathValue("board"), member)
}
