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
func (q *queues) do(ctx context.Context, r request) error {
	if err := ctx.Err(); err != nil {
		return mysql.Wrap("submit", err)
	}
	h := r.head()
	h.span = trace.From(ctx)
	h.queued = h.span.Start("queue", trace.KindInternal)
	defer h.queued.End() // of a request that leaves before a batch takes it
	if err := q.push(r); err != nil {
		return mysql.Wrap("submit", err)
	}
	if err := q.await(ctx, r); err != nil {
		return mysql.Wrap("submit", err)
	}
	return nil
}

// push adds a request to its queue. It makes a missing queue, and starts its goroutine.
func (q *queues) push(r request) error {
	h := r.head()
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.refusal(h.queue, h.load.bytes, h.load.isLarge(q.limits.Batch), h.urgent); err != nil {
		return err
	}
	one := q.byID[h.queue]
	if one == nil {
		one = &queue{queues: q, id: h.queue, backlog: backlog{pace: *q.usual(h.queue)}}
		q.byID[h.queue] = one
		q.running.Go(one.drain)
	}
	h.since = time.Now()
	one.waiting = append(one.waiting, r)
	one.enter(h)
	if one.reached != nil && one.enough() {
		close(one.reached)
		one.reached = nil
	}
	return nil
}

// admit returns the error with which push would refuse a request of a size in bytes now.
func (q *queues) admit(id queueID, bytes int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refusal(id, bytes, bytes > int64(q.limits.Batch/largeShare*leastJSON), false)
}

// refusal returns why a request may not wait in a queue, nil when it may. mu is held.
func (q *queues) refusal(id queueID, bytes int64, large, urgent bool) error {
	switch {
	case q.closed:
		return errClosed
	case urgent:
		return nil
	}
	var ahead *backlog
	if one := q.byID[id]; one != nil {
		ahead = &one.backlog
	}
	return q.mayWait(id, ahead, bytes, large)
}

// await waits until a request is answered, its time is up or ctx ends.
func (q *queues) await(ctx context.Context, r request) error {
	h := r.head()
	late := time.NewTimer(q.limits.Wait)
	defer late.Stop()
	if h.urgent {
		late.Stop()
	}
	for {
		select {
		case err := <-h.done:
			return err
		case <-late.C:
			if q.withdraw(r) {
				if q.boards.isLockedOut(h.queue.board) {
					return errLocked(h.queue.board)
				}
				return errLate(q.limits.Wait)
			}
		case <-ctx.Done():
			return q.departed(ctx, r)
		}
	}
}

// departed returns the outcome of a request whose caller no longer waits.
func (q *queues) departed(ctx context.Context, r request) error {
	sent := r.head().unsend()
	if !sent && !q.withdraw(r) {
		select {
		case err := <-r.head().done: // it came at the same moment
			return err
		default:
			return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, ctx.Err())
		}
	}
	return errDeparted(ctx.Err(), sent, q.limits.Wait)
}

// withdraw takes a request out of its queue, if nothing of it was sent.
func (q *queues) withdraw(r request) bool {
	h := r.head()
	if !h.state.CompareAndSwap(stateWaiting, stateWithdrawn) {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if one := q.byID[h.queue]; one != nil {
		if i := slices.Index(one.waiting, r); i >= 0 {
			one.waiting = slices.Delete(one.waiting, i, i+1)
			one.leave(h)
		}
	}
	return true
}

// refuseAll answers all waiting requests; nothing of them is done.
func (q *queues) refuseAll(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range q.byID {
		one.drop(err)
	}
}

// close refuses the waiting and all later requests, and waits until the batches under way have ended.
func (q *queues) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.refuseAll(errClosed)
	q.running.Wait()
}

// enter and leave keep count of the requests that wait. mu is held.
func (one *queue) enter(h *header) {
	one.load = one.load.plus(h.load)
	if h.load.isLarge(one.limits.Batch) {
		one.large = one.large.plus(h.load)
	}
	one.bytes += h.load.bytes
}

func (one *queue) leave(h *header) {
	one.load = one.load.minus(h.load)
	if h.load.isLarge(one.limits.Batch) {
		one.large = one.large.minus(h.load)
	}
	one.bytes -= h.load.bytes
}

// refuse answers the waiting requests of the queue; nothing of them is done.
func (one *queue) refuse(err error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	one.drop(err)
}

// drop is refuse with mu held.
func (one *queue) drop(err error) {
	for _, r := range one.waiting {
		one.leave(r.head())
		r.head().drop(err)
	}
	one.waiting = nil
}

// drain commits the requests that wait in a queue, batch by batch, and ends when none does.
func (one *queue) drain() {
	for !one.idle() {
		one.awaitCallers(one.learnFrom(one.commit(one)))
	}
}

// idle removes a queue in which nothing waits; the next request then starts a new one.
func (one *queue) idle() bool {
	one.mu.Lock()
	defer one.mu.Unlock()
	if len(one.waiting) > 0 {
		one.busy, one.since = load{}, time.Now()
		return false
	}
	delete(one.byID, one.id)
	return true
}

// learnFrom learns from a batch how long batches take, and returns how long it took.
func (one *queue) learnFrom(err error) time.Duration {
	one.mu.Lock()
	defer one.mu.Unlock()
	took := time.Since(one.since)
	one.since = time.Time{}
	one.bytes -= one.busy.bytes
	if one.busy.requests == 0 {
		return 0 // all of them had left
	}
	one.pace.learn(one.busy, took, one.limits.Batch)
	if err == nil {
		one.usual(one.id).learn(one.busy, took, one.limits.Batch)
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
func (one *queue) awaitCallers(took time.Duration) {
	one.mu.Lock()
	one.goal = one.busy.requests + len(one.waiting)
	if one.goal <= 1 || one.enough() || one.closed {
		one.mu.Unlock()
		return
	}
	if one.pause > 0 {
		one.pause--
		one.mu.Unlock()
		return
	}
	wait := min(took, one.pace.each, maxReturn)
	reached := make(chan struct{})
	one.reached = reached
	one.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-reached:
	case <-timer.C:
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	one.reached = nil
	switch {
	case one.enough():
		one.pauses /= 2
	case 4*len(one.waiting) <= 3*one.goal:
		one.pauses = min(maxPause, max(1, 2*one.pauses))
		one.pause = one.pauses
	}
}

// enough reports whether nothing is gained by waiting for more requests. mu is held.
func (one *queue) enough() bool {
	return len(one.waiting) >= one.goal || one.load.rows >= one.limits.Batch
}

// take removes and returns the next batch: whole requests, for as many entries as one batch takes on at most
// MaxBoardsPerSubmit boards, or one request; none when nothing waits. After a batch with a large request come all waiting
// small requests, so that they wait for one large request, however many there are. Otherwise the order is the order of
// arrival.
func (one *queue) take() []request {
	one.mu.Lock()
	defer one.mu.Unlock()
	onlySmall := one.spent && one.load.requests > one.large.requests
	if onlySmall {
		one.smallFirst()
	}
	one.spent = false
	n, cost, boards := 0, 0, map[string]bool{}
	for n < len(one.waiting) {
		h := one.waiting[n].head()
		large := h.load.isLarge(one.limits.Batch)
		if large && onlySmall {
			break
		}
		for _, b := range h.boards {
			boards[b] = true
		}
		if n > 0 && (cost+h.load.cost > one.limits.Batch || len(boards) > leaderboard.MaxBoardsPerSubmit) {
			break
		}
		cost += h.load.cost
		one.spent = one.spent || large
		n++
	}
	if n == 0 {
		return nil
	}
	reqs := slices.Clone(one.waiting[:n])
	one.waiting = slices.Delete(one.waiting, 0, n)
	one.busy = load{}
	for _, r := range reqs {
		one.leave(r.head())
		one.busy = one.busy.plus(r.head().load)
	}
	one.bytes += one.busy.bytes // until the batch is through: it may wait for a connection
	return reqs
}

// smallFirst moves small requests ahead of large ones. mu is held.
func (one *queue) smallFirst() {
	var large []request
	small := one.waiting[:0]
	for _, r := range one.waiting {
		if r.head().load.isLarge(one.limits.Batch) {
			large = append(large, r)
		} else {
			small = append(small, r)
		}
	}
	one.waiting = append(small, large...)
}

// standInLine counts one more or one less batch that waits for a connection.
func (q *queues) standInLine(batches int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.line.waiting += batches
}

// hadConnection notes how long a batch had a connection.
func (q *queues) hadConnection(took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.line.learn(took)
}

// length returns how many requests and entries wait in a queue; ok is false when there is no such queue.
func (q *queues) length(id queueID) (requests, entries int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.byID[id]
	if one == nil {
		return 0, 0, false
	}
	return len(one.waiting), one.load.rows, true
}
