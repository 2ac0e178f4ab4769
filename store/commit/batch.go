package commit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// Events are called when something has happened. They must not block.
type Events struct {
	// Committed is called after each commit, in seq order per period.
	Committed func(Event)
	// Batch is called once per batch, with how long the first of its requests had waited when it was begun, and the error
	// that all of them got, if any.
	Batch func(requests, rows int, waited, took time.Duration, err error)
}

// committer carries batches out. All methods may be called concurrently.
type committer struct {
	db      *mysql.DB
	memory  *boards.Cache
	parts   []Part
	boards  *boardMutexes
	tell    Events
	retries budget
	life    context.Context // ends soon after Close
}

// batch is the requests of one transaction.
type batch struct {
	*committer
	queue    *queue
	requests []request
	needs    map[string]*Needs // by board
	keys     []string          // idempotency keys of requests for several boards
	derived  map[string]bool   // boards that are not locked, because they are derived

	begun time.Time // when it was tried first

	// The outcome of the last try.
	locking string  // the board whose lock was requested last; for several boards "" once it has all
	answers []error // one per request
	commits []Event
	written []*Board
}

// commit carries out the next requests of a queue, once no other writer of this process has the board. Requests whose
// callers have left meanwhile are left out.
func (c *committer) commit(q *queue) error {
	if !q.id.several {
		defer c.boards.lock(q.id.board)()
		reqs := q.dequeue()
		if len(reqs) == 0 {
			return nil
		}
		return c.newBatch(q, reqs).run()
	}
	reqs := q.dequeue()
	for len(reqs) > 0 {
		b := c.newBatch(q, reqs)
		unlock, blocked := c.boards.lockAll(b.names())
		if blocked == "" {
			err := b.run()
			if unlock(); !b.mayDoWithout(err) {
				return err
			}
			reqs, blocked = b.requests, b.locking
		}
		reqs = dropBlocked(reqs, blocked)
	}
	return nil
}

// newBatch collects the reads of a batch. Boards that requests for several name and that are derived are left out.
func (c *committer) newBatch(q *queue, reqs []request) *batch {
	b := &batch{committer: c, queue: q, requests: reqs, needs: map[string]*Needs{}}
	of := func(board string) *Needs {
		n := b.needs[board]
		if n == nil {
			n = &Needs{}
			b.needs[board] = n
		}
		return n
	}
	for _, r := range reqs {
		r.collect(of)
		switch h := r.head(); {
		case h.key == "":
		case q.id.several:
			b.keys = append(b.keys, h.key)
		default:
			n := of(q.id.board)
			n.keys = append(n.keys, h.key)
		}
	}
	if q.id.several {
		b.derived = derivedAmong(c.db, c.memory, b.names())
	}
	for name := range b.derived {
		delete(b.needs, name)
	}
	for _, n := range b.needs {
		n.tidy()
	}
	return b
}

// names returns the boards of the batch.
func (b *batch) names() []string { return slices.Sorted(maps.Keys(b.needs)) }

// mayDoWithout reports whether a batch for several boards failed because of one of them, the last that it tried to lock:
// its requests are not answered yet.
func (b *batch) mayDoWithout(err error) bool {
	return b.queue.id.several && b.locking != "" && mysql.IsLockWait(err)
}

// run carries out a batch, reports its commits, and then answers every request. It has a separate context: the requests of
// a batch belong to several callers, and no caller may cancel it for the others.
func (b *batch) run() error {
	limits := &b.db.Config
	ctx, cancel := context.WithTimeout(b.life, mysql.Attempts*limits.LockWait+limits.ReadTimeout+limits.WriteTimeout)
	defer cancel()
	start := time.Now()
	ctx, end := batchSpan(ctx, b.queue.id, b.requests)
	err := b.tryAll(ctx)
	end(err)
	if len(b.requests) == 0 {
		return nil // all of them have left
	}
	if b.mayDoWithout(err) {
		return err
	}
	b.report(start, err)
	if err != nil {
		for _, r := range b.requests {
			r.head().done <- err
		}
		return err
	}
	for _, e := range b.commits {
		b.tell.Committed(e)
	}
	for i, p := range b.parts {
		if l, ok := p.(Listener); ok {
			l.Committed(changed(b.written, i))
		}
	}
	for i, r := range b.requests {
		r.head().done <- b.answers[i]
	}
	return nil
}

// report reports a batch that has ended.
func (b *batch) report(start time.Time, err error) {
	var waited time.Duration
	rows := 0
	for _, r := range b.requests {
		rows += r.head().load.rows
		waited = max(waited, start.Sub(r.head().since))
	}
	if err == nil {
		err = b.noneFound()
	}
	b.tell.Batch(len(b.requests), rows, waited, time.Since(start), err)
}

// noneFound returns ErrBoardNotFound when that is the answer to all requests.
func (b *batch) noneFound() error {
	for _, answer := range b.answers {
		if !errors.Is(answer, leaderboard.ErrBoardNotFound) {
			return nil
		}
	}
	return leaderboard.ErrBoardNotFound
}

// try carries the batch out for the callers that have not left when it gets a connection. An error wraps ErrOutcomeUnknown
// when COMMIT was sent and no answer came; after every other error the transaction is rolled back.
func (b *batch) try(ctx context.Context, longWait bool) error {
	_, span := trace.Start(ctx, "connection", trace.KindInternal)
	tx, end, err := b.begin(ctx, longWait)
	span.Done(err)
	if err != nil {
		return err
	}
	defer end()
	b.requests = slices.DeleteFunc(b.requests, func(r request) bool { return !r.head().send() })
	if len(b.requests) == 0 {
		return tx.End()
	}
	return errors.Join(b.transact(ctx, &transaction{tx, b.db, b.memory, b.parts, &b.queue.text}), tx.End())
}

// begin takes a connection, after the batches that already wait for a connection; with longWait it is one of the few
// connections that wait long for a lock, which have no line. The caller calls end when it gives the connection back.
func (b *batch) begin(ctx context.Context, longWait bool) (tx *mysql.Tx, end func(), err error) {
	if longWait {
		tx, err = b.db.Begin(ctx, true)
		return tx, func() {}, err
	}
	b.queue.standInLine(1)
	tx, err = b.db.Begin(ctx, false)
	b.queue.standInLine(-1)
	start := time.Now()
	return tx, func() { b.queue.hadConnection(time.Since(start)) }, err
}

// transact takes three round trips when one board is locked: lock and read, write, commit. COMMIT goes alone, so that an
// answer to the writes shows that they were not committed.
func (b *batch) transact(ctx context.Context, t *transaction) error {
	names, err := t.lockOrder(ctx, b.names())
	if err != nil {
		return err
	}
	l := newLocked(len(names), b.derived)
	w := writes{owner: noBoard, features: t.parts}
	for _, name := range names {
		b.locking = name
		asked, span := statement(ctx, "lock board", name)
		f, err := t.lockBoard(asked, name, b.needs[name])
		endStatement(span, err)
		if errors.Is(err, leaderboard.ErrBoardNotFound) || errors.Is(err, leaderboard.ErrUnknownRule) {
			l.without[name] = err
			continue // each request has its own outcome
		}
		if err != nil {
			return err
		}
		l.add(name, f)
		w.boards = append(w.boards, f)
		w.periods = append(w.periods, f.all()...)
		w.rolledOver = w.rolledOver || f.rolledOver
		if !b.queue.id.several {
			w.owner, w.clock, w.known = f.known.Board.ID, f.clock, f.keys
		}
	}
	if b.queue.id.several {
		b.locking = "" // has them all
	}
	if len(b.keys) > 0 {
		if w.known, w.clock, err = t.readKeys(ctx, b.keys); err != nil {
			return err
		}
	}
	if b.requests = slices.DeleteFunc(b.requests, func(r request) bool { return !r.head().claim() }); len(b.requests) == 0 {
		return nil // all have left while the locks were waited for
	}
	w.keys = b.apply(l, w.known)
	asked, span := statement(ctx, "write", b.queue.id.board)
	b.written = w.boards
	b.commits, err = t.write(asked, &w)
	if err == nil {
		err = t.announce(asked, w.boards)
	}
	endStatement(span, err)
	if err != nil || !w.written() {
		return err
	}
	return b.sendCommit(ctx, t, names)
}

// apply carries out the requests in order of arrival on the boards that were locked. It returns the rows of idempotency
// keys to add by key, the order in which every batch adds them.
func (b *batch) apply(l *locked, known map[string]keyRow) (keys []keyRow) {
	b.answers = make([]error, len(b.requests))
	for i, r := range b.requests {
		h := r.head()
		keyed, ok := r.(keyedRequest)
		if !ok || h.key == "" {
			b.answers[i] = r.apply(l)
			continue
		}
		if row, ok := known[h.key]; ok {
			if b.answers[i] = leaderboard.ErrKeyReused; row.hash == h.hash {
				b.answers[i] = keyed.replay(l, row.receipt)
			}
			continue
		}
		if b.answers[i] = r.apply(l); b.answers[i] == nil {
			row := keyRow{key: h.key, hash: h.hash, receipt: keyed.stored()}
			known[h.key] = row // for a second request with the key in this very batch
			keys = append(keys, row)
		}
	}
	slices.SortFunc(keys, func(a, b keyRow) int { return strings.Compare(a.key, b.key) })
	return keys
}
