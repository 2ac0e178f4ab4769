package commit

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/internal/trace"
	"leaderboard/store/internal/db"
)

// queues are what waits to be committed: a queue per board, and one for requests for several boards. Each queue with
// work has a goroutine that commits all that waits as one batch, and again what has come meanwhile (group commit).
type queues struct {
	admission
	commit func(*queue) error // commits the next batch of a queue, which it takes when nothing is in the way any more

	seed    maphash.Seed
	shards  [64]shard
	closed  atomic.Bool
	running sync.WaitGroup // one per queue; added to under the lock of a shard that is not closed
}

// shard is some of the queues: a board waits for few others.
type shard struct {
	mu     sync.Mutex // guards the fields below, and the queues' own
	byID   map[queueID]*queue
	closed bool
}

// queue is the work that waits for one board, or for several.
type queue struct {
	*queues
	id    queueID
	shard *shard

	// The fields below are guarded by shard.mu.
	waiting []request
	backlog
	goal    int           // how many requests linger waits for
	reached chan struct{} // closed when they are there; nil while it does not wait

	// The fields below belong to the goroutine that commits the batches.
	text db.Text // reused from batch to batch
}

func newQueues(limits Limits) *queues {
	q := &queues{admission: newAdmission(limits), seed: maphash.MakeSeed()}
	for i := range q.shards {
		q.shards[i].byID = map[queueID]*queue{}
	}
	return q
}

func (q *queues) shardOf(id queueID) *shard {
	return &q.shards[maphash.String(q.seed, id.board)%uint64(len(q.shards))]
}

// do waits for the answer to a request. When ctx ends, or the request has waited for too long, before it was sent,
// nothing happens and the error says so; afterwards the work goes on.
func (q *queues) do(ctx context.Context, r request) error {
	if err := ctx.Err(); err != nil {
		return db.Wrap("submit", err)
	}
	h := r.head()
	h.span = trace.From(ctx)
	h.queued = h.span.Start("queue", trace.KindInternal)
	defer h.queued.End() // who leaves before a batch takes it
	if err := q.push(r); err != nil {
		return db.Wrap("submit", err)
	}
	if err := q.await(ctx, r); err != nil {
		return db.Wrap("submit", err)
	}
	return nil
}

func (q *queues) await(ctx context.Context, r request) error {
	h := r.head()
	late := time.NewTimer(q.wait)
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
				if q.barred.has(h.queue.board) {
					return errLocked(h.queue.board)
				}
				return errLate(q.wait)
			}
		case <-ctx.Done():
			return q.departed(ctx, r)
		}
	}
}

// departed says what became of a request whose caller has no time any more.
func (q *queues) departed(ctx context.Context, r request) error {
	sent := r.head().unsend()
	if !sent && !q.withdraw(r) {
		select {
		case err := <-r.head().done: // it came all the same
			return err
		default:
			return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, ctx.Err())
		}
	}
	return errDeparted(ctx.Err(), sent, q.wait)
}

// enter and leave keep count of what waits.
func (one *queue) enter(h *header) {
	one.load = one.load.plus(h.load)
	one.bytes.Add(h.load.bytes)
}

func (one *queue) leave(h *header) {
	one.load = one.load.minus(h.load)
	one.bytes.Add(-h.load.bytes)
}

// withdraw takes a request out of its queue, if nothing of it was sent.
func (q *queues) withdraw(r request) bool {
	h := r.head()
	if !h.state.CompareAndSwap(stateWaiting, stateWithdrawn) {
		return false
	}
	s := q.shardOf(h.queue)
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.byID[h.queue]; one != nil {
		if i := slices.Index(one.waiting, r); i >= 0 {
			one.waiting = slices.Delete(one.waiting, i, i+1)
			one.leave(h)
		}
	}
	return true
}

// push adds a request to its queue and sees to it that somebody empties it.
func (q *queues) push(r request) error {
	h := r.head()
	s := q.shardOf(h.queue)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	one := s.byID[h.queue]
	if err := q.mayWait(h.queue, s.backlog(h.queue), h.load.bytes); err != nil && !h.urgent {
		return err
	}
	if one == nil {
		one = &queue{queues: q, id: h.queue, shard: s, backlog: backlog{pace: q.usual(h.queue)}}
		s.byID[h.queue] = one
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

// backlog returns what waits in a queue, nil for one that there is not. The lock is held.
func (s *shard) backlog(id queueID) *backlog {
	if one := s.byID[id]; one != nil {
		return &one.backlog
	}
	return nil
}

// admit returns the error with which push would refuse a request of so many bytes now.
func (q *queues) admit(id queueID, bytes int64) error {
	if q.closed.Load() {
		return errClosed
	}
	s := q.shardOf(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return q.mayWait(id, s.backlog(id), bytes)
}

// refuseAll answers what was not sent, of which nothing is done.
func (q *queues) refuseAll(err error) {
	for i := range q.shards {
		q.shards[i].drop(err)
	}
}

// close refuses what comes from now on, answers what was not sent, of which nothing is done, and waits until the
// batches under way are through.
func (q *queues) close() {
	q.closed.Store(true)
	for i := range q.shards {
		q.shards[i].close()
	}
	q.running.Wait()
}

func (s *shard) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.drop(errClosed)
}

// drop answers what waits in the queues.
func (s *shard) drop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.byID {
		one.drop(err)
	}
}

// refuse answers what waits in the queue, of which nothing is done.
func (one *queue) refuse(err error) {
	one.shard.mu.Lock()
	defer one.shard.mu.Unlock()
	one.drop(err)
}

// drop answers what waits in a queue. The lock of its shard is held.
func (one *queue) drop(err error) {
	for _, r := range one.waiting {
		one.leave(r.head())
		r.head().drop(err)
	}
	one.waiting = nil
}

// drain commits what waits in a queue, batch by batch, and ends when nothing does.
func (one *queue) drain() {
	for !one.idle() {
		one.linger(one.learnFrom(one.commit(one)))
	}
}

// idle removes a queue in which nothing waits; the next request then starts a new one. Otherwise it is the turn of a
// batch.
func (one *queue) idle() bool {
	one.shard.mu.Lock()
	defer one.shard.mu.Unlock()
	if len(one.waiting) > 0 {
		one.busy, one.since = load{}, time.Now()
		return false
	}
	delete(one.shard.byID, one.id)
	return true
}

// learnFrom learns from what became of a batch, and returns how long it took.
func (one *queue) learnFrom(err error) time.Duration {
	one.shard.mu.Lock()
	defer one.shard.mu.Unlock()
	took := time.Since(one.since)
	one.since = time.Time{}
	one.bytes.Add(-one.busy.bytes)
	if one.busy.requests == 0 {
		return 0 // all of them had left
	}
	one.pace.learn(one.busy, took, one.rows)
	if err == nil {
		one.learn(one.id, one.busy, took)
	}
	return took
}

// How long linger waits: a share of the time that the batch before it took, and at most.
const (
	lingerShare = 4
	maxLinger   = time.Millisecond
	// manyCallers is from how many on they are two halves.
	manyCallers = 24
)

// linger gives the callers that were just answered a moment to come back, a quarter of the time that the batch took.
// When there are few it waits for all of them: a batch costs as much as some twenty entries, so two that commit in turns
// would do less. When there are many it waits for half: then one half is answered and asks again while the other is
// committed. A caller that is alone is never waited for.
func (one *queue) linger(took time.Duration) {
	s := one.shard
	s.mu.Lock()
	if one.goal = one.busy.requests + len(one.waiting); one.goal >= manyCallers {
		one.goal /= 2
	}
	if one.goal <= 1 || one.enough() || s.closed {
		s.mu.Unlock()
		return
	}
	reached := make(chan struct{})
	one.reached = reached
	s.mu.Unlock()
	timer := time.NewTimer(min(took/lingerShare, maxLinger))
	defer timer.Stop()
	select {
	case <-reached:
	case <-timer.C:
		s.mu.Lock()
		defer s.mu.Unlock()
		one.reached = nil
	}
}

// enough reports whether nothing is gained by waiting for more requests. The lock of the shard is held.
func (one *queue) enough() bool { return len(one.waiting) >= one.goal || one.load.rows >= one.rows }

// take removes and returns the next batch: whole requests, for as many entries as one batch takes on at most
// MaxBoardsPerSubmit boards, or one request; none when nothing waits.
func (one *queue) take() []request {
	one.shard.mu.Lock()
	defer one.shard.mu.Unlock()
	reqs := one.next()
	if len(reqs) == 0 {
		return nil
	}
	before := one.load
	for _, r := range reqs {
		one.leave(r.head())
	}
	one.waiting = slices.Delete(one.waiting, 0, len(reqs))
	one.busy = before.minus(one.load)
	one.bytes.Add(one.busy.bytes) // until it is through: it may wait for a connection
	return reqs
}

// next returns the requests of the next batch. The lock of the shard is held.
func (one *queue) next() []request {
	n, cost, boards := 0, 0, map[string]bool{}
	for n < len(one.waiting) {
		h := one.waiting[n].head()
		for _, b := range h.boards {
			boards[b] = true
		}
		if n > 0 && (cost+h.load.cost > one.rows || len(boards) > leaderboard.MaxBoardsPerSubmit) {
			break
		}
		cost += h.load.cost
		n++
	}
	return slices.Clone(one.waiting[:n])
}

// length returns how many requests and entries wait in a queue; ok is false when nobody works on it.
func (q *queues) length(id queueID) (requests, entries int, ok bool) {
	s := q.shardOf(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byID[id]
	if one == nil {
		return 0, 0, false
	}
	return len(one.waiting), one.load.rows, true
}
