package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// SubmitRequest is one request to submit scores; its entries are applied in order, in one transaction.
type SubmitRequest struct {
	Board   string
	Key     string // idempotency key of at most 128 bytes, "" for none
	Entries []leaderboard.Submission
}

// maxKey is the length of the column of idempotency keys in bytes.
const maxKey = 128

// request waits in the queue of its board: entries to submit, a member to remove, or one to settle.
type request struct {
	key     string
	hash    [sha256.Size]byte
	entries []leaderboard.Submission
	boards  []string // of the entries, when they are across boards

	remove   string
	periodID int64 // of a removal, 0 for all current periods
	reopen   bool  // also when the period is closed
	actor    string

	settle    string  // a member who was hidden or restored
	periodIDs []int64 // of a settlement, besides the current periods

	done chan answer // buffered: the writer never waits for a caller
}

// answer is what a request gets: a receipt, of the kind that it asked for, or an error.
type answer struct {
	receipt leaderboard.Receipt
	across  leaderboard.AcrossReceipt
	err     error
}

func (r *request) rows() int { return max(1, len(r.entries)) }

// pastCost is how many entries to submit a past period counts for in a batch: it is locked, and may get a commit of its
// own.
const pastCost = 10

// cost is what the request takes of Config.BatchRows, so that few that settle past periods share a batch.
func (r *request) cost() int { return max(r.rows(), pastCost*len(r.periodIDs)) }

// past are the periods that the request names, whether current or not, and the member whose entry it is about there.
func (r *request) past() (periodIDs []int64, member string) {
	switch {
	case r.settle != "":
		return r.periodIDs, r.settle
	case r.remove != "" && r.periodID != 0:
		return []int64{r.periodID}, r.remove
	}
	return nil, ""
}

// queue is the work that waits for one board, or for several at once (acrossQueue).
type queue struct {
	board string
	// guarded by Store.mu
	waiting []*request
	rows    int           // entries waiting
	goal    int           // requests that the writer waits for, 0 when it does not wait
	reached chan struct{} // told when goal is reached
}

// Submit applies the entries to all current periods of the board and returns when the transaction is committed. A
// second request with the same key and the same entries gets the receipt of the first. ctx bounds the waiting of the
// caller only: when it ends first the error is ErrOutcomeUnknown, and the work goes on. Errors: ErrBoardNotFound,
// ErrKeyReused, ErrOverloaded, ErrUnavailable, ErrOutcomeUnknown. Entries that break a rule are results, not errors.
func (s *Store) Submit(ctx context.Context, r SubmitRequest) (leaderboard.Receipt, error) {
	if err := checkKey(r.Key); err != nil {
		return leaderboard.Receipt{}, err
	}
	req := &request{key: r.Key, entries: slices.Clone(r.Entries), done: make(chan answer, 1)}
	if r.Key != "" {
		req.hash = requestHash(r.Entries)
	}
	a, err := s.enqueue(ctx, r.Board, req)
	return a.receipt, err
}

// Remove deletes the entry of a member in one period of the board, or in all current ones (periodID 0). It goes
// through the same queue as the submissions. Errors: those of Submit, ErrNotRanked when there is no such entry,
// ErrPeriodNotFound when the board has no such period, ErrPeriodClosed when it is over.
func (s *Store) Remove(ctx context.Context, board string, periodID int64, member string) (leaderboard.Receipt, error) {
	return s.remove(ctx, board, &request{remove: member, periodID: periodID})
}

// Reopen is Remove for a period that may be closed. That it was done to a closed one, and by whom, is recorded as a run
// of kind RunKindReopen, in the same transaction.
func (s *Store) Reopen(ctx context.Context, board string, periodID int64, member, actor string) (leaderboard.Receipt, error) {
	return s.remove(ctx, board, &request{remove: member, periodID: periodID, reopen: true, actor: actor})
}

func (s *Store) remove(ctx context.Context, board string, r *request) (leaderboard.Receipt, error) {
	if leaderboard.CheckMember(r.remove) != nil {
		return leaderboard.Receipt{}, db.Wrap("remove", leaderboard.ErrNotRanked)
	}
	r.done = make(chan answer, 1)
	a, err := s.enqueue(ctx, board, r)
	return a.receipt, err
}

// enqueue waits for the answer to a request; without an error of its own it is one without an error.
func (s *Store) enqueue(ctx context.Context, board string, r *request) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, db.Wrap("submit", err)
	}
	if err := s.push(board, r); err != nil {
		return answer{}, db.Wrap("submit", err)
	}
	select {
	case a := <-r.done:
		if a.err != nil {
			return answer{}, db.Wrap("submit", a.err)
		}
		return a, nil
	case <-ctx.Done():
		return answer{}, fmt.Errorf("store: submit: %w: %w", leaderboard.ErrOutcomeUnknown, ctx.Err())
	}
}

// push adds a request to its board's queue and sees to it that somebody empties it.
func (s *Store) push(board string, r *request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("%w: the store is closed", leaderboard.ErrUnavailable)
	}
	q := s.queues[board]
	if q == nil {
		q = &queue{board: board, reached: make(chan struct{}, 1)}
		s.queues[board] = q
		s.writers.Go(func() { s.drain(q) })
	}
	if q.rows > 0 && q.rows+r.rows() > s.cfg.QueueLimit && r.settle == "" { // these come one at a time
		return fmt.Errorf("%w: %d entries wait in the queue of %q", leaderboard.ErrOverloaded, q.rows, board)
	}
	q.waiting = append(q.waiting, r)
	q.rows += r.rows()
	if q.goal > 0 && (len(q.waiting) >= q.goal || q.rows >= s.cfg.BatchRows) {
		q.goal = 0
		q.reached <- struct{}{}
	}
	return nil
}

// drain commits what waits for one board, batch by batch, and ends when nothing does.
func (s *Store) drain(q *queue) {
	w := writer{store: s, board: q.board}
	for {
		reqs := s.take(q)
		if reqs == nil {
			return
		}
		start := time.Now()
		w.commit(reqs)
		s.gather(q, len(reqs), time.Since(start))
	}
}

// The wait of gather, as a share of the batch before it and at most.
const (
	gatherShare = 4
	maxGather   = time.Millisecond
)

// gather gives the callers that were just answered a moment to come back, a quarter of the time that the batch took. Without it
// busy callers fall into two halves that commit in turns, in batches of half the size. A caller that is alone is never
// waited for.
func (s *Store) gather(q *queue, answered int, took time.Duration) {
	s.mu.Lock()
	goal := answered + len(q.waiting)
	if goal <= 1 || q.rows >= s.cfg.BatchRows || s.closed {
		s.mu.Unlock()
		return
	}
	q.goal = goal
	s.mu.Unlock()
	timer := time.NewTimer(min(took/gatherShare, maxGather))
	defer timer.Stop()
	select {
	case <-q.reached:
		return
	case <-timer.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.goal = 0; len(q.reached) > 0 {
		<-q.reached
	}
}

// take is the next batch: whole requests, at most BatchRows entries on MaxAcrossBoards boards, or one request. When nothing waits it removes the
// queue and returns nil; the next request then starts a new one.
func (s *Store) take(q *queue) []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, rows, cost, boards := 0, 0, 0, map[string]bool{}
	for n < len(q.waiting) {
		r := q.waiting[n]
		for _, b := range r.boards {
			boards[b] = true
		}
		if n > 0 && (cost+r.cost() > s.cfg.BatchRows || len(boards) > leaderboard.MaxAcrossBoards) {
			break
		}
		rows, cost = rows+r.rows(), cost+r.cost()
		n++
	}
	if n == 0 {
		delete(s.queues, q.board)
		return nil
	}
	reqs := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	q.rows -= rows
	return reqs
}

// writer commits the batches of one board, one after the other.
type writer struct {
	store   *Store
	board   string
	derived map[string]bool // boards of the batch under way that are derived, when it is across boards
	text    db.Text         // reused from batch to batch
}

// commit carries a batch out, tells the followers, and then answers every request. It works on a context of its own:
// the requests of a batch belong to several callers, and none may cancel it for the others.
func (w *writer) commit(reqs []*request) {
	s, rows := w.store, 0
	for _, r := range reqs {
		rows += r.rows()
	}
	if w.board == acrossQueue {
		w.derived = s.derivedAmong(boardsOf(reqs))
		defer s.gates.enter(w.lockable(reqs)...)()
	} else {
		defer s.gates.enter(w.board)()
	}
	ctx, cancel := context.WithTimeout(context.Background(), db.Attempts*s.cfg.LockWait+s.cfg.ReadTimeout+s.cfg.WriteTimeout)
	defer cancel()
	start := time.Now()
	b, err := w.tryAll(ctx, reqs)
	s.cfg.OnBatch(len(reqs), rows, time.Since(start), err)
	if err != nil {
		for _, r := range reqs {
			r.done <- answer{err: err}
		}
		return
	}
	for _, c := range b.commits {
		s.indexes.Committed(c.ref, c.commit)
		s.cfg.OnCommit(c.ref, *c.commit)
	}
	for i, r := range reqs {
		r.done <- b.answers[i]
	}
}

// tryAll repeats a batch that the server rolled back, and once one whose connection was lost before COMMIT was sent:
// in both cases nothing has happened.
func (w *writer) tryAll(ctx context.Context, reqs []*request) (*batch, error) {
	reconnected := false
	for attempt := 1; ; attempt++ {
		b, err := w.try(ctx, reqs)
		if err == nil || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
			return b, err
		}
		again := db.Retryable(err) && attempt < db.Attempts
		if w.board == acrossQueue && db.IsDuplicate(err) {
			// One key came through two servers at once, for boards of which none is the same: the second finds it now.
			err, again = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err), attempt < db.Attempts
		}
		if db.ConnectionLost(err) && !reconnected {
			reconnected, again = true, true
		}
		if !again || ctx.Err() != nil {
			return nil, db.Translate(context.Background(), "batch", err)
		}
		w.store.db.Log.Debug("batch is repeated", "board", w.board, "attempt", attempt, "error", err)
	}
}
