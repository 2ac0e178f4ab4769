package commit

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"time"

	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// request is a piece of work in a queue. A batch is repeated after a deadlock, so apply starts from nothing each time.
type request interface {
	head() *header
	// collect adds the data that the request needs from each of its boards.
	collect(of func(board string) *Needs)
	// apply carries the request out on the boards that were locked, in memory. Its error concerns only this request, which
	// then has changed nothing.
	apply(l *locked) error
}

// keyedRequest is a request that may have an idempotency key. The receipt is kept with the key.
type keyedRequest interface {
	request
	stored() []byte
	replay(l *locked, stored []byte) error // the request was carried out before, and this was its receipt
}

// header is the part of a request that queues use.
type header struct {
	queue  queueID
	boards []string // the names that it names, each once
	load   load
	urgent bool   // it is not refused when too much waits
	key    string // idempotency key, "" for none
	hash   [sha256.Size]byte
	done   chan error // has room for the answer: the writer never waits for a caller
	state  atomic.Int32
	caller leaderboard.Caller // caller, recorded in the audit
	since  time.Time          // when it entered its queue

	span   trace.Span // the span of the caller
	queued trace.Span // while it waits for a batch
}

// The states of a request. The code that moves it out of stateWaiting or stateSent decides its outcome.
const (
	stateWaiting   = iota
	stateWithdrawn // nothing of it is done
	stateSent      // it is in a batch that waits for the database
	stateApplied   // the batch has the locks and is about to write and commit it
)

// send reports whether the request is still there to be sent with a batch.
func (h *header) send() bool { return h.state.CompareAndSwap(stateWaiting, stateSent) }

// claim reports whether the request is still there to be carried out, once the batch has its locks.
func (h *header) claim() bool { return h.state.CompareAndSwap(stateSent, stateApplied) }

// recall notes that the batch was rolled back: its caller may leave until it is sent again.
func (h *header) recall() {
	_ = h.state.CompareAndSwap(stateSent, stateWaiting) || h.state.CompareAndSwap(stateApplied, stateWaiting)
}

// unsend takes the request out of a batch that has nothing of it written yet, and reports whether it could.
func (h *header) unsend() bool { return h.state.CompareAndSwap(stateSent, stateWithdrawn) }

// drop answers a request that was not sent.
func (h *header) drop(err error) {
	if h.state.CompareAndSwap(stateWaiting, stateWithdrawn) {
		h.done <- err
	}
}

// queueID names the queue of requests that share batches: requests for one board, or for several.
type queueID struct {
	board   string
	several bool
}

func headerOf(id queueID, boards []string, rows int, bytes int64) header {
	l := load{requests: 1, rows: max(1, rows), cost: max(1, rows), bytes: requestBytes + bytes}
	return header{queue: id, boards: boards, load: l, done: make(chan error, 1)}
}

// The memory of a waiting request and of an entry, without their text.
const (
	requestBytes = 1024
	entryBytes   = 128
)

// sizeOf returns how much memory an entry takes, roughly.
func sizeOf(s *leaderboard.Submission) int64 {
	values := len(s.Fields)
	if s.If != nil {
		values += 1 + len(s.If.Fields)
	}
	if s.Edit != nil {
		values += 1 + len(s.Edit.Set) + len(s.Edit.Add)
	}
	return int64(entryBytes + len(s.Member) + values*entryBytes/2 + len(s.Metadata))
}

func (h *header) head() *header { return h }

// belongTo sets the caller from a context, to whom the idempotency key belongs.
func (h *header) belongTo(ctx context.Context) error {
	h.caller, h.key = leaderboard.CallerOf(ctx), leaderboard.IdempotencyKeyOf(ctx, h.key)
	if len(h.key) > maxKey {
		return fmt.Errorf("an idempotency key has at most %d bytes", leaderboard.MaxIdempotencyKey)
	}
	return nil
}

// load is the load of requests on a queue.
type load struct {
	requests, rows int
	cost           int   // in entries of a submission
	bytes          int64 // of memory, roughly
}

const (
	largeShare = 8  // a request of more than this part of a batch is large
	leastJSON  = 64 // bytes of an entry in a request, roughly and at least
)

// isLarge reports whether a request is so large that others should not wait for several like it.
func (l load) isLarge(batch int) bool { return l.cost*largeShare > batch }

func (l load) plus(o load) load {
	return load{l.requests + o.requests, l.rows + o.rows, l.cost + o.cost, l.bytes + o.bytes}
}

func (l load) minus(o load) load {
	return load{l.requests - o.requests, l.rows - o.rows, l.cost - o.cost, l.bytes - o.bytes}
}
