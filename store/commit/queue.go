package commit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// queues are the requests that wait to be committed: a queue per board, and a queue for requests for several boards. Each
// queue with requests has a goroutine that commits all that wait as one batch, and then all that have come meanwhile (group
// commit).
type queues struct {
	commit  func(*queue) error // commits the next batch of a queue
	running sync.WaitGroup     // one per queue

	mu sync.Mutex // guards the fields below, and the fields of all queues
	admission
	byID   map[queueID]*queue
	closed bool
}

// queue is the requests that wait for one board, or for several.
type queue struct {
	*queues
	id   queueID
	text mysql.Text // of the batch under way, reused from batch to batch

	// The fields below are guarded by queues.mu.
	waiting []request
	backlog
	spent   bool          // the last batch had a large request: small requests have their turn
	pause   int           // how many batches go without a wait of awaitCallers
	pauses  int           // how many they were the last time that callers did not come, less after they came
	goal    int           // how many requests it waits for
	reached chan struct{} // closed when they are there; nil while awaitCallers does not wait
}

func newQueues(limits Limits, boards *boardMutexes) *queues {
	return &queues{admission: newAdmission(limits, boards), byID: map[queueID]*queue{}}
}

// do waits for the answer to a request. When ctx ends, or the request has waited for too long, before it was sent, nothing
// is done and the error says so; afterwards the work continues.
func (qs *queues) do(ctx context.Context, r request) error {
	if err := ctx.Err(); err != nil {
		return mysql.Wrap("submit", err)
	}
	h := r.head()
	h.span = trace.From(ctx)
	h.queued = h.span.Start("queue", trace.KindInternal)
	defer h.queued.End() // of a request that leaves before a batch takes it
	if err := qs.push(r); err != nil {
		return mysql.Wrap("submit", err)
	}
	if err := qs.await(ctx, r); err != nil {
		return mysql.Wrap("submit", err)
	}
	return nil
}

// push adds a request to its queue. It makes a missing queue, and starts its goroutine.
func (qs *queues) push(r request) error {
	h := r.head()
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if err := qs.refusal(h.queue, h.load.bytes, h.load.isLarge(qs.limits.Batch), h.urgent); err != nil {
		return err
	}
	q := qs.byID[h.queue]
	if q == nil {
		q = &queue{queues: qs, id: h.queue, backlog: backlog{pace: *qs.usual(h.queue)}}
		qs.byID[h.queue] = q
		qs.running.Go(q.drain)
	}
	h.since = time.Now()
	q.waiting = append(q.waiting, r)
	q.enter(h)
	if q.reached != nil && q.enough() {
		close(q.reached)
		q.reached = nil
	}
	return nil
}

// admit returns the error with which push would refuse a request of a size in bytes now.
func (qs *queues) admit(id queueID, bytes int64) error {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	return qs.refusal(id, bytes, bytes > int64(qs.limits.Batch/largeShare*leastJSON), false)
}

// refusal returns why a request may not wait in a queue, nil when it may. mu is held.
func (qs *queues) refusal(id queueID, bytes int64, large, urgent bool) error {
	switch {
	case qs.closed:
		return errClosed
	case urgent:
		return nil
	}
	var ahead *backlog
	if q := qs.byID[id]; q != nil {
		ahead = &q.backlog
	}
	return qs.mayWait(id, ahead, bytes, large)
}

// await waits until a request is answered, its time is up or ctx ends.
func (qs *queues) await(ctx context.Context, r request) error {
	h := r.head()
	late := time.NewTimer(qs.limits.Wait)
	defer late.Stop()
	if h.urgent {
		late.Stop()
	}
	for {
		select {
		case err := <-h.done:
			return err
		case <-late.C:
			if qs.withdraw(r) {
				if qs.boards.isBlocked(h.queue.board) {
					return errLocked(h.queue.board)
				}
				return errLate(qs.limits.Wait)
			}
		case <-ctx.Done():
			return qs.departed(ctx, r)
		}
	}
}

// departed returns the outcome of a request whose caller no longer waits.
func (qs *queues) departed(ctx context.Context, r request) error {
	sent := r.head().unsend()
	if !sent && !qs.withdraw(r) {
		select {
		case err := <-r.head().done: // it came at the same moment
			return err
		default:
			return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, ctx.Err())
		}
	}
	return errDeparted(ctx.Err(), sent, qs.limits.Wait)
}

// withdraw takes a request out of its queue, if nothing of it was sent.
func (qs *queues) withdraw(r request) bool {
	h := r.head()
	if !h.state.CompareAndSwap(stateWaiting, stateWithdrawn) {
		return false
	}
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if q := qs.byID[h.queue]; q != nil {
		if i := slices.Index(q.waiting, r); i >= 0 {
			q.waiting = slices.Delete(q.waiting, i, i+1)
			q.leave(h)
		}
	}
	return true
}

// refuseAll answers all waiting requests; nothing of them is done.
func (qs *queues) refuseAll(err error) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	for _, q := range qs.byID {
		q.drop(err)
	}
}

// close refuses the waiting and all later requests, and waits until the batches under way have ended.
func (qs *queues) close() {
	qs.mu.Lock()
	qs.closed = true
	qs.mu.Unlock()
	qs.refuseAll(errClosed)
	qs.running.Wait()
}

// enter and leave keep count of the requests that wait. mu is held.
func (q *queue) enter(h *header) {
	q.load = q.load.plus(h.load)
	if h.load.isLarge(q.limits.Batch) {
		q.large = q.large.plus(h.load)
	}
	q.bytes += h.load.bytes
}

func (q *queue) leave(h *header) {
	q.load = q.load.minus(h.load)
	if h.load.isLarge(q.limits.Batch) {
		q.large = q.large.minus(h.load)
	}
	q.bytes -= h.load.bytes
}

// refuse answers the waiting requests of the queue; nothing of them is done.
func (q *queue) refuse(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(err)
}

// drop is refuse with mu held.
func (q *queue) drop(err error) {
	for _, r := range q.waiting {
		q.leave(r.head())
		r.head().drop(err)
	}
	q.waiting = nil
}

// drain commits the requests that wait in a queue, batch by batch, and ends when none does.
func (q *queue) drain() {
	for !q.idle() {
		q.awaitCallers(q.learnFrom(q.commit(q)))
	}
}

// idle removes a queue in which nothing waits; the next request then starts a new one.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		q.busy, q.since = load{}, time.Now()
		return false
	}
	delete(q.byID, q.id)
	return true
}

// learnFrom learns from a batch how long batches take, and returns how long it took.
func (q *queue) learnFrom(err error) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	took := time.Since(q.since)
	q.since = time.Time{}
	q.bytes -= q.busy.bytes
	if q.busy.requests == 0 {
		return 0 // all of them had left
	}
	q.pace.learn(q.busy, took, q.limits.Batch)
	if err == nil {
		q.usual(q.id).learn(q.busy, took, q.limits.Batch)
	}
	return took
}

const (
	maxReturn = 10 * time.Millisecond // the longest wait for callers
	maxPause  = 32                    // the most batches in a row that go without a wait
)

// awaitCallers gives the callers that were just answered a moment to send their next requests. A batch has a fixed cost,
// and callers whose requests alternate between two batches pay it twice, so a shorter wait pays off. If at most three
// quarters of the callers return in time, the next batch does not wait; each further miss doubles the number of batches
// that do not wait, and each wait in which all return halves it. It does not wait for a single caller.
func (q *queue) awaitCallers(took time.Duration) {
	q.mu.Lock()
	q.goal = q.busy.requests + len(q.waiting)
	if q.goal <= 1 || q.enough() || q.closed {
		q.mu.Unlock()
		return
	}
	if q.pause > 0 {
		q.pause--
		q.mu.Unlock()
		return
	}
	wait := min(took, q.pace.each, maxReturn)
	reached := make(chan struct{})
	q.reached = reached
	q.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-reached:
	case <-timer.C:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reached = nil
	switch {
	case q.enough():
		q.pauses /= 2
	case 4*len(q.waiting) <= 3*q.goal:
		q.pauses = min(maxPause, max(1, 2*q.pauses))
		q.pause = q.pauses
	}
}

// enough reports whether nothing is gained by waiting for more requests. mu is held.
func (q *queue) enough() bool {
	return len(q.waiting) >= q.goal || q.load.rows >= q.limits.Batch
}

// dequeue removes and returns the next batch: whole requests, for as many entries as one batch takes on at most
// MaxBoardsPerSubmit boards, or one request; none when nothing waits. After a batch with a large request come all waiting
// small requests, so that they wait for one large request, however many there are. Otherwise the order is the order of
// arrival.
func (q *queue) dequeue() []request {
	q.mu.Lock()
	defer q.mu.Unlock()
	onlySmall := q.spent && q.load.requests > q.large.requests
	if onlySmall {
		q.smallFirst()
	}
	q.spent = false
	n, cost, boards := 0, 0, map[string]bool{}
	for n < len(q.waiting) {
		h := q.waiting[n].head()
		large := h.load.isLarge(q.limits.Batch)
		if large && onlySmall {
			break
		}
		for _, b := range h.boards {
			boards[b] = true
		}
		if n > 0 && (cost+h.load.cost > q.limits.Batch || len(boards) > leaderboard.MaxBoardsPerSubmit) {
			break
		}
		cost += h.load.cost
		q.spent = q.spent || large
		n++
	}
	if n == 0 {
		return nil
	}
	reqs := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	q.busy = load{}
	for _, r := range reqs {
		q.leave(r.head())
		q.busy = q.busy.plus(r.head().load)
	}
	q.bytes += q.busy.bytes // until the batch is through: it may wait for a connection
	return reqs
}

// smallFirst moves small requests ahead of large ones. mu is held.
func (q *queue) smallFirst() {
	var large []request
	small := q.waiting[:0]
	for _, r := range q.waiting {
		if r.head().load.isLarge(q.limits.Batch) {
			large = append(large, r)
		} else {
			small = append(small, r)
		}
	}
	q.waiting = append(small, large...)
}

// standInLine counts one more or one less batch that waits for a connection.
func (qs *queues) standInLine(batches int) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.line.waiting += batches
}

// hadConnection notes how long a batch had a connection.
func (qs *queues) hadConnection(took time.Duration) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.line.learn(took)
}

// length returns how many requests and entries wait in a queue; ok is false when there is no such queue.
func (qs *queues) length(id queueID) (requests, entries int, ok bool) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.byID[id]
	if q == nil {
		return 0, 0, false
	}
	return len(q.waiting), q.load.rows, true
}
