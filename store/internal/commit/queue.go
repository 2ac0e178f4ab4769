package commit

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/internal/trace"
	"leaderboard/store/internal/boards"
	"leaderboard/store/internal/db"
)

// maxKey is the length of the column of idempotency keys in bytes: 128 of the client's, and what says whose it is.
const maxKey = 160

// Limits bound what waits and what is committed together.
type Limits struct {
	Wait   time.Duration // until a request is sent; what has to be expected to take longer, or does, is an *OverloadError
	Memory int64         // bytes that requests take that wait, over all boards; beyond: an *OverloadError
	Batch  int           // entries that one transaction takes at most, unless a single request has more
}

// Writer commits what is asked for, in batches. Its methods return after the commit. When their ctx ends before a
// request is sent, nothing of it is done: the error is an ErrOverloaded when its time was up, and otherwise that of ctx.
// When it ends later the error is ErrOutcomeUnknown, and the work goes on. All methods may be called concurrently.
type Writer struct {
	committer
	queues *queues
	end    context.CancelFunc // of life
}

// New returns a Writer.
func New(d *db.DB, m *boards.Memory, limits Limits, events Events) *Writer {
	w := &Writer{committer: committer{db: d, memory: m, tell: events, aheads: newAheads(d)}, queues: newQueues(limits)}
	w.queues.away, w.queues.boards = d.Away, &w.mutexes
	w.refuse = func(id queueID, err error) { w.queues.refuse(&id, err) }
	d.OnAway(func(err error) { w.queues.refuse(nil, err) })
	w.line, w.queues.line.conns = &w.queues.line, d.Writers.Stats().MaxOpenConnections
	w.life, w.end = context.WithCancel(context.Background())
	w.queues.work = func(next func() []request) func(queueID, func() []request) error {
		return (&worker{committer: &w.committer, text: &db.Text{}, next: next}).commit
	}
	return w
}

// stopGrace is how long the batches under way have to end.
const stopGrace = 3 * time.Second

// Close waits for the batches under way, and cuts them off when they take too long. What was not sent, and what comes
// later, fails with ErrUnavailable: nothing of it is done.
func (w *Writer) Close() {
	defer time.AfterFunc(stopGrace, w.end).Stop()
	w.queues.close()
	w.end()
	w.aheads.wait()
}

// Admit says whether a submission of about so many bytes for a board would be refused now, "" for one for several
// boards: nil, or the error. It reserves nothing.
func (w *Writer) Admit(board string, bytes int64) error {
	return w.queues.admit(queueID{board: board, several: board == ""}, bytes)
}

// Submit applies the entries to all current periods of the board. A second request with the same key and the same
// entries gets the receipt of the first. Errors: ErrBoardNotFound, ErrKeyReused, ErrOverloaded, ErrUnavailable,
// ErrOutcomeUnknown. Entries that break a rule are results, not errors.
func (w *Writer) Submit(ctx context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error) {
	if err := checkKey(r.Key); err != nil {
		return leaderboard.Receipt{}, err
	}
	s := newSubmission(&r)
	s.caller = leaderboard.CallerOf(ctx)
	if err := w.queues.do(ctx, s); err != nil {
		return leaderboard.Receipt{}, err
	}
	return s.receipt, nil
}

// SubmitMultiBoard is Submit for entries of several boards: all of them are committed, or none. Entries of boards that do
// not exist are rejected, like those that break a rule, and so are those of derived boards, which it does not wait for.
// Its idempotency keys are not those of any board.
func (w *Writer) SubmitMultiBoard(ctx context.Context, r leaderboard.MultiBoardRequest) (leaderboard.MultiBoardReceipt, error) {
	if err := checkKey(r.Key); err != nil {
		return leaderboard.MultiBoardReceipt{}, err
	}
	s := newMultiBoardSubmission(&r)
	s.caller = leaderboard.CallerOf(ctx)
	if err := w.queues.do(ctx, s); err != nil {
		return leaderboard.MultiBoardReceipt{}, err
	}
	return s.receipt, nil
}

// Remove removes the entry of a member, and records that in the audit. Errors: those of Submit, ErrNotRanked when there is
// no such entry, ErrPeriodNotFound when the board has no such period, ErrPeriodClosed when it is over.
func (w *Writer) Remove(ctx context.Context, r leaderboard.RemoveRequest) (leaderboard.Receipt, error) {
	return w.remove(ctx, r, true)
}

// Erase is Remove as a part of something larger, which the audit has as a whole.
func (w *Writer) Erase(ctx context.Context, r leaderboard.RemoveRequest) (leaderboard.Receipt, error) {
	return w.remove(ctx, r, false)
}

func (w *Writer) remove(ctx context.Context, r leaderboard.RemoveRequest, audited bool) (leaderboard.Receipt, error) {
	if leaderboard.CheckMember(r.Member) != nil {
		return leaderboard.Receipt{}, db.Wrap("remove", leaderboard.ErrNotRanked)
	}
	req := newRemoval(r)
	req.caller, req.audited = leaderboard.CallerOf(ctx), audited
	if err := w.queues.do(ctx, req); err != nil {
		return leaderboard.Receipt{}, err
	}
	return req.receipt, nil
}

// Move moves the entries of a member to where they belong. Errors: those of Submit.
func (w *Writer) Move(ctx context.Context, m Move) error { return w.queues.do(ctx, newMove(m)) }

func checkKey(key string) error {
	if len(key) > maxKey {
		return db.Wrap("submit", fmt.Errorf("an idempotency key has at most %d bytes", maxKey))
	}
	return nil
}

// Waiting returns how many requests and entries wait for a board, or for several with several set; writing is true when
// all that came is in the batch under way. It is for tests.
func (w *Writer) Waiting(board string, several bool) (requests, entries int, writing bool) {
	requests, entries, busy := w.queues.length(queueID{board, several})
	return requests, entries, busy && requests == 0
}

// AtMutex returns how many writers of this process write to a board or wait for it. It is for tests.
func (w *Writer) AtMutex(board string) int { return w.mutexes.waiting(board) }

// Barred says whether somebody else did not give up the lock of a board lately. It is for tests.
func (w *Writer) Barred(board string) bool { return w.mutexes.isBarred(board) }

// Ahead returns how often entries were read ahead, and how often that was of use. It is for tests.
func (w *Writer) Ahead() (read, used int64) { return w.aheads.read.Load(), w.aheads.used.Load() }

// queues are what waits to be committed: a queue per board, and one for requests for several boards. Each queue with
// work has a goroutine that commits all that waits as one batch, and again what has come meanwhile (group commit).
type queues struct {
	admission
	away   func() error  // why nothing is sent to the database now, nil when it is
	boards *boardMutexes // know which boards are barred
	rows   int           // how many entries one batch takes at most, unless a single request has more
	// work returns what commits the batches of one queue, one after the other. It calls take when nothing is in the way
	// of a batch any more, and returns what the batch took; next says what take would return now.
	work func(next func() []request) func(id queueID, take func() []request) error

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

// queue is the work that waits for one board, or for several. Its fields are guarded by shard.mu.
type queue struct {
	id      queueID
	waiting []request
	load    load          // of what waits
	busy    load          // of the batch under way
	since   time.Time     // when its turn began, which may be before it could; zero between batches
	pace    pace          // of its batches
	goal    int           // requests that linger waits for, 0 when it does not wait
	reached chan struct{} // told when goal is reached
}

func newQueues(limits Limits) *queues {
	q := &queues{
		admission: newAdmission(limits), rows: limits.Batch, seed: maphash.MakeSeed(),
		away: func() error { return nil }, boards: &boardMutexes{},
	}
	for i := range q.shards {
		q.shards[i].byID = map[queueID]*queue{}
	}
	return q
}

func (q *queues) shard(id queueID) *shard {
	return &q.shards[maphash.String(q.seed, id.board)%uint64(len(q.shards))]
}

var errClosed = fmt.Errorf("%w: the store is closed", leaderboard.ErrUnavailable)

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
				if q.boards.isBarred(h.queue.board) {
					return errBarred(h.queue.board)
				}
				return &leaderboard.OverloadError{Wait: q.wait, Detail: "the request could not be sent in time"}
			}
		case <-ctx.Done():
			return q.departed(ctx, r)
		}
	}
}

// departed says what became of a request whose caller has no time any more.
func (q *queues) departed(ctx context.Context, r request) error {
	sent := r.head().unsend()
	switch {
	case !sent && !q.withdraw(r):
		select {
		case err := <-r.head().done: // it came all the same
			return err
		default:
			return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, ctx.Err())
		}
	case !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("not written, nothing was done: %w", ctx.Err())
	case sent:
		return fmt.Errorf("%w: the time of the request was up while it waited for the database", leaderboard.ErrUnavailable)
	default:
		return &leaderboard.OverloadError{Wait: q.wait, Detail: "the time of the request was up before it was sent"}
	}
}

// withdraw takes a request out of its queue, if nothing of it was sent.
func (q *queues) withdraw(r request) bool {
	h := r.head()
	if !h.state.CompareAndSwap(stateWaiting, stateWithdrawn) {
		return false
	}
	s := q.shard(h.queue)
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.byID[h.queue]; one != nil {
		if i := slices.Index(one.waiting, r); i >= 0 {
			one.waiting = slices.Delete(one.waiting, i, i+1)
			q.leave(one, h)
		}
	}
	return true
}

// push adds a request to its queue and sees to it that somebody empties it.
func (q *queues) push(r request) error {
	h := r.head()
	s := q.shard(h.queue)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	one := s.byID[h.queue]
	if err := q.mayWait(h.queue, one, h.load.bytes); err != nil && !h.urgent {
		return err
	}
	if one == nil {
		one = &queue{id: h.queue, reached: make(chan struct{}, 1), pace: q.usual(h.queue)}
		s.byID[h.queue] = one
		q.running.Go(func() { q.drain(s, one) })
	}
	h.since = time.Now()
	one.waiting = append(one.waiting, r)
	q.enter(one, h)
	if one.goal > 0 && (len(one.waiting) >= one.goal || one.load.rows >= q.rows) {
		one.goal = 0
		one.reached <- struct{}{}
	}
	return nil
}

// admit says whether push would take a request of so many bytes now.
func (q *queues) admit(id queueID, bytes int64) error {
	if q.closed.Load() {
		return errClosed
	}
	s := q.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return q.mayWait(id, s.byID[id], bytes)
}

// mayWait reports whether a request of so many bytes may wait in a queue, nil for one in which nothing does. While nothing can
// be written to a board, one batch tries, and nobody waits behind it. It is called with the lock of the queue's shard.
func (q *queues) mayWait(id queueID, one *queue, bytes int64) error {
	if err := q.away(); err != nil {
		return err
	}
	if one != nil && q.boards.isStuck(id.board) {
		return errBarred(id.board)
	}
	return q.check(one, bytes)
}

// refuse answers what was not sent, of which nothing is done, in one queue or, with nil, in all.
func (q *queues) refuse(id *queueID, err error) {
	for i := range q.shards {
		s := &q.shards[i]
		s.mu.Lock()
		for _, one := range s.byID {
			if id == nil || one.id == *id {
				q.drop(one, err)
			}
		}
		s.mu.Unlock()
	}
}

// drop answers what waits in a queue. The lock of its shard is held.
func (q *queues) drop(one *queue, err error) {
	for _, r := range one.waiting {
		q.leave(one, r.head())
		r.head().drop(err)
	}
	one.waiting = nil
}

// close refuses what comes from now on, answers what was not sent, of which nothing is done, and waits until the
// batches under way are through.
func (q *queues) close() {
	q.closed.Store(true)
	for i := range q.shards {
		q.shards[i].close(q)
	}
	q.running.Wait()
}

func (s *shard) close(q *queues) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, one := range s.byID {
		q.drop(one, errClosed)
	}
}

// drain commits what waits in a queue, batch by batch, and ends when nothing does.
func (q *queues) drain(s *shard, one *queue) {
	work := q.work(func() []request { return q.peek(s, one) })
	for !q.idle(s, one) {
		answered := 0
		err := work(one.id, func() []request {
			reqs := q.take(s, one)
			answered = len(reqs)
			return reqs
		})
		q.linger(s, one, answered, q.done(s, one, err))
	}
}

// idle removes a queue in which nothing waits; the next request then starts a new one. Otherwise it is the turn of a
// batch.
func (q *queues) idle(s *shard, one *queue) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(one.waiting) > 0 {
		one.busy, one.since = load{}, time.Now()
		return false
	}
	delete(s.byID, one.id)
	return true
}

// done learns from a batch, and returns how long it took.
func (q *queues) done(s *shard, one *queue, err error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := time.Since(one.since)
	one.since = time.Time{}
	q.bytes.Add(-one.busy.bytes)
	if one.busy.requests == 0 {
		return 0 // all of them had left
	}
	one.pace.learn(one.busy, took, q.rows)
	if err == nil {
		q.learn(one.id, one.busy, took, q.rows)
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
func (q *queues) linger(s *shard, one *queue, answered int, took time.Duration) {
	s.mu.Lock()
	goal := answered + len(one.waiting)
	if goal >= manyCallers {
		goal /= 2
	}
	if goal <= 1 || len(one.waiting) >= goal || one.load.rows >= q.rows || s.closed {
		s.mu.Unlock()
		return
	}
	one.goal = goal
	s.mu.Unlock()
	timer := time.NewTimer(min(took/lingerShare, maxLinger))
	defer timer.Stop()
	select {
	case <-one.reached:
		return
	case <-timer.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.goal = 0; len(one.reached) > 0 {
		<-one.reached
	}
}

// take removes and returns the next batch: whole requests, for as many entries as one batch takes on at most
// MaxBoardsPerSubmit boards, or one request; none when nothing waits.
func (q *queues) take(s *shard, one *queue) []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	reqs := q.next(one)
	if len(reqs) == 0 {
		return nil
	}
	before := one.load
	for _, r := range reqs {
		q.leave(one, r.head())
	}
	one.waiting = slices.Delete(one.waiting, 0, len(reqs))
	one.busy = before.minus(one.load)
	q.bytes.Add(one.busy.bytes) // until it is through: it may wait for a connection
	return reqs
}

// peek returns what take would, and leaves it where it is.
func (q *queues) peek(s *shard, one *queue) []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return q.next(one)
}

// next returns the requests of the next batch. The lock of the shard is held.
func (q *queues) next(one *queue) []request {
	n, cost, boards := 0, 0, map[string]bool{}
	for n < len(one.waiting) {
		h := one.waiting[n].head()
		for _, b := range h.boards {
			boards[b] = true
		}
		if n > 0 && (cost+h.load.cost > q.rows || len(boards) > leaderboard.MaxBoardsPerSubmit) {
			break
		}
		cost += h.load.cost
		n++
	}
	return slices.Clone(one.waiting[:n])
}

// length returns how many requests and entries wait in a queue; ok is false when nobody works on it.
func (q *queues) length(id queueID) (requests, entries int, ok bool) {
	s := q.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.byID[id]
	if one == nil {
		return 0, 0, false
	}
	return len(one.waiting), one.load.rows, true
}
