package commit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// queues are what waits to be committed: a queue per board, and one for requests for several boards. Each queue with
// work has a goroutine that commits all that waits as one batch, and again what has come meanwhile (group commit).
type queues struct {
	waiting int // how many entries may wait in one queue
	rows    int // how many entries one batch takes at most, unless a single request has more
	// work returns what commits the batches of one queue, one after the other.
	work func() func([]request)

	mu      sync.Mutex // guards the fields below
	byID    map[queueID]*queue
	closed  bool
	running sync.WaitGroup // one per queue
}

// queue is the work that waits for one board, or for several. Its fields are guarded by queues.mu.
type queue struct {
	id      queueID
	waiting []request
	rows    int           // entries waiting
	goal    int           // requests that linger waits for, 0 when it does not wait
	reached chan struct{} // told when goal is reached
}

// do waits for the answer to a request. ctx bounds the waiting only: when it ends first the work goes on.
func (q *queues) do(ctx context.Context, r request) error {
	if err := ctx.Err(); err != nil {
		return db.Wrap("submit", err)
	}
	if err := q.push(r); err != nil {
		return db.Wrap("submit", err)
	}
	select {
	case err := <-r.head().done:
		if err != nil {
			return db.Wrap("submit", err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("store: submit: %w: %w", leaderboard.ErrOutcomeUnknown, ctx.Err())
	}
}

// push adds a request to its queue and sees to it that somebody empties it.
func (q *queues) push(r request) error {
	h := r.head()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return fmt.Errorf("%w: the store is closed", leaderboard.ErrUnavailable)
	}
	one := q.byID[h.queue]
	if one == nil {
		one = &queue{id: h.queue, reached: make(chan struct{}, 1)}
		q.byID[h.queue] = one
		q.running.Go(func() { q.drain(one) })
	}
	if one.rows > 0 && one.rows+h.rows > q.waiting && !h.urgent {
		return fmt.Errorf("%w: %d entries wait in the queue of %q", leaderboard.ErrOverloaded, one.rows, h.queue.board)
	}
	one.waiting = append(one.waiting, r)
	one.rows += h.rows
	if one.goal > 0 && (len(one.waiting) >= one.goal || one.rows >= q.rows) {
		one.goal = 0
		one.reached <- struct{}{}
	}
	return nil
}

// close refuses what comes from now on, and waits until all that was accepted is committed.
func (q *queues) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.running.Wait()
}

// drain commits what waits in a queue, batch by batch, and ends when nothing does.
func (q *queues) drain(one *queue) {
	commit := q.work()
	for {
		reqs := q.take(one)
		if reqs == nil {
			return
		}
		start := time.Now()
		commit(reqs)
		q.linger(one, len(reqs), time.Since(start))
	}
}

// How long linger waits: a share of the time that the batch before it took, and at most.
const (
	lingerShare = 4
	maxLinger   = time.Millisecond
)

// linger gives the callers that were just answered a moment to come back, a quarter of the time that the batch took.
// Without it busy callers fall into two halves that commit alternately, in batches of half the size. A caller that is
// alone is never waited for.
func (q *queues) linger(one *queue, answered int, took time.Duration) {
	q.mu.Lock()
	goal := answered + len(one.waiting)
	if goal <= 1 || one.rows >= q.rows || q.closed {
		q.mu.Unlock()
		return
	}
	one.goal = goal
	q.mu.Unlock()
	timer := time.NewTimer(min(took/lingerShare, maxLinger))
	defer timer.Stop()
	select {
	case <-one.reached:
		return
	case <-timer.C:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if one.goal = 0; len(one.reached) > 0 {
		<-one.reached
	}
}

// take removes and returns the next batch: whole requests, for as many entries as one batch takes on at most
// MaxBoardsPerSubmit, or one request. When nothing waits it removes the queue and returns nil; the next request
// then starts a new one.
func (q *queues) take(one *queue) []request {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, rows, cost, boards := 0, 0, 0, map[string]bool{}
	for n < len(one.waiting) {
		h := one.waiting[n].head()
		for _, b := range h.boards {
			boards[b] = true
		}
		if n > 0 && (cost+h.cost > q.rows || len(boards) > leaderboard.MaxBoardsPerSubmit) {
			break
		}
		rows, cost = rows+h.rows, cost+h.cost
		n++
	}
	if n == 0 {
		delete(q.byID, one.id)
		return nil
	}
	reqs := slices.Clone(one.waiting[:n])
	one.waiting = slices.Delete(one.waiting, 0, n)
	one.rows -= rows
	return reqs
}

// length returns how many requests and entries wait in a queue; ok is false when nobody works on it.
func (q *queues) length(id queueID) (requests, entries int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one := q.byID[id]
	if one == nil {
		return 0, 0, false
	}
	return len(one.waiting), one.rows, true
}
