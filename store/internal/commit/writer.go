package commit

import (
	"context"
	"fmt"
	"time"

	"leaderboard"
	"leaderboard/store/internal/boards"
	"leaderboard/store/internal/db"
)

// maxKey is the length of the column of idempotency keys in bytes.
const maxKey = 128

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
	w.line, w.queues.line.conns = &w.queues.line, d.Batches.Stats().MaxOpenConnections
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
func (w *Writer) Submit(ctx context.Context, r SubmitRequest) (leaderboard.Receipt, error) {
	if err := checkKey(r.Key); err != nil {
		return leaderboard.Receipt{}, err
	}
	s := newSubmission(r)
	if err := w.queues.do(ctx, s); err != nil {
		return leaderboard.Receipt{}, err
	}
	return s.receipt, nil
}

// SubmitMultiBoard is Submit for entries of several boards: all of them are committed, or none. Entries of boards that do
// not exist are rejected, like those that break a rule, and so are those of derived boards, which it does not wait for.
// Its idempotency keys are not those of any board.
func (w *Writer) SubmitMultiBoard(ctx context.Context, r MultiBoardRequest) (leaderboard.MultiBoardReceipt, error) {
	if err := checkKey(r.Key); err != nil {
		return leaderboard.MultiBoardReceipt{}, err
	}
	s := newMultiBoardSubmission(r)
	if err := w.queues.do(ctx, s); err != nil {
		return leaderboard.MultiBoardReceipt{}, err
	}
	return s.receipt, nil
}

// Remove removes the entry of a member. Errors: those of Submit, ErrNotRanked when there is no such entry,
// ErrPeriodNotFound when the board has no such period, ErrPeriodClosed when it is over.
func (w *Writer) Remove(ctx context.Context, r Removal) (leaderboard.Receipt, error) {
	if leaderboard.CheckMember(r.Member) != nil {
		return leaderboard.Receipt{}, db.Wrap("remove", leaderboard.ErrNotRanked)
	}
	req := newRemoval(r)
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
