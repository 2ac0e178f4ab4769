package commit

import (
	"context"
	"time"

	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Writer commits requests in batches. Its methods return after the commit. When their ctx ends before a request is sent,
// nothing of it is done: the error is an ErrOverloaded if its time was up, and otherwise the error of ctx. When it ends
// later the error is ErrOutcomeUnknown, and the work continues. All methods may be called concurrently.
type Writer struct {
	committer
	queues *queues
	end    context.CancelFunc // of life
}

// New returns a Writer to whose transactions features add parts, after the part for hidden members.
func New(d *mysql.DB, m *boards.Cache, limits Limits, events Events, parts ...Part) *Writer {
	boards := newBoardMutexes(d.Config.LockWait + time.Second)
	q := newQueues(limits, boards)
	w := &Writer{queues: q, committer: committer{db: d, memory: m, parts: append([]Part{hiding{}}, parts...), tell: events, boards: boards}}
	q.away, q.commit, q.line.conns = d.Away, w.commit, d.Writers.Stats().MaxOpenConnections
	d.OnAway(q.refuseAll)
	w.life, w.end = context.WithCancel(context.Background())
	return w
}

// stopGrace is how long the batches under way have to end.
const stopGrace = 3 * time.Second

// Close waits for the batches under way, and cuts them off when they take too long. Requests that were not sent, and later
// requests, fail with ErrUnavailable: nothing of them is done.
func (w *Writer) Close() {
	defer time.AfterFunc(stopGrace, w.end).Stop()
	w.queues.close()
	w.end()
}

// CheckRules returns an ErrUnknownRule when a board has a rule that no part carries out.
func (w *Writer) CheckRules(b *leaderboard.Board) error { return checkRules(w.parts, b) }

// Admit reports whether a submission of about a size in bytes for a board ("": for several boards) would be refused now:
// nil, or the error. It reserves nothing.
func (w *Writer) Admit(board string, bytes int64) error {
	return w.queues.admit(queueID{board: board, several: board == ""}, bytes)
}

// Submit applies the entries to all current periods of the board. A second request of the same caller with the same key
// and the same entries gets the receipt of the first. Errors: ErrBoardNotFound, ErrKeyReused, ErrOverloaded,
// ErrUnavailable, ErrOutcomeUnknown. Entries that break a rule are results, not errors.
func (w *Writer) Submit(ctx context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error) {
	s := newSubmission(&r)
	if err := w.do(ctx, s); err != nil {
		return leaderboard.Receipt{}, err
	}
	return s.receipt(), nil
}

// SubmitMultiBoard is Submit for entries of several boards: all of them are committed, or none. Entries of missing boards
// are rejected, like entries that break a rule, like entries of derived boards, for which it does not wait. Its idempotency
// keys are separate from the keys of every board.
func (w *Writer) SubmitMultiBoard(ctx context.Context, r leaderboard.MultiBoardRequest) (leaderboard.MultiBoardReceipt, error) {
	s := newMultiBoardSubmission(&r)
	if err := w.do(ctx, s); err != nil {
		return leaderboard.MultiBoardReceipt{}, err
	}
	return s.multiBoardReceipt(), nil
}

// Remove removes the entry of a member, and records that in the audit. Errors: the errors of Submit, ErrNotRanked without
// such an entry, ErrPeriodNotFound without such a period, ErrPeriodClosed when it is over.
func (w *Writer) Remove(ctx context.Context, r leaderboard.RemoveRequest) (leaderboard.Receipt, error) {
	return w.remove(ctx, r, true)
}

// Erase is Remove as a part of something larger, which the audit has as a whole.
func (w *Writer) Erase(ctx context.Context, r leaderboard.RemoveRequest) (leaderboard.Receipt, error) {
	return w.remove(ctx, r, false)
}

func (w *Writer) remove(ctx context.Context, r leaderboard.RemoveRequest, audited bool) (leaderboard.Receipt, error) {
	if leaderboard.CheckMember(r.Member) != nil {
		return leaderboard.Receipt{}, mysql.Wrap("remove", leaderboard.ErrNotRanked)
	}
	req := newRemoval(r)
	req.audited = audited
	if err := w.do(ctx, req); err != nil {
		return leaderboard.Receipt{}, err
	}
	return req.receipt, nil
}

// Move moves the entries of a member to their side. Errors: the errors of Submit.
func (w *Writer) Move(ctx context.Context, m Move) error { return w.do(ctx, newMove(m)) }

// do queues a request with the name of its caller, and waits for the answer. Other fields of the request may still be
// written to after an error.
func (w *Writer) do(ctx context.Context, r request) error {
	if err := r.head().belongTo(ctx); err != nil {
		return mysql.Wrap("submit", err)
	}
	return w.queues.do(ctx, r)
}

// Waiting returns how many requests and entries wait for a board, or for several boards if several is set; writing is true
// when all requests are in the batch under way. It is for tests.
func (w *Writer) Waiting(board string, several bool) (requests, entries int, writing bool) {
	requests, entries, busy := w.queues.length(queueID{board, several})
	return requests, entries, busy && requests == 0
}

// AtMutex returns how many writers of this process write to a board or wait for it. It is for tests.
func (w *Writer) AtMutex(board string) int { return w.boards.waiting(board) }

// Blocked reports whether another session did not give up the lock of a board lately. It is for tests.
func (w *Writer) Blocked(board string) bool { return w.boards.isBlocked(board) }
