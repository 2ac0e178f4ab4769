package commit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"leaderboard"
	"leaderboard/internal/trace"
	"leaderboard/store/internal/boards"
	"leaderboard/store/internal/db"
)

// committer carries batches out. All methods may be called concurrently.
type committer struct {
	db      *db.DB
	memory  *boards.Memory
	mutexes boardMutexes
	tell    Events
	retries budget
	line    *line
	life    context.Context      // ends soon after Close
	refuse  func(queueID, error) // what waits in a queue
	aheads  *aheads
}

// worker commits the batches of one queue, one after the other.
type worker struct {
	*committer
	text  *db.Text         // reused from batch to batch
	next  func() []request // what would be the next batch now
	ahead *ahead           // what is read for it; nil: nothing
}

// Events are told of what happens, and must not block.
type Events struct {
	// Committed is called after each commit, in seq order per period.
	Committed func(Event)
	// Batch is called once per batch, with how long the first of its requests had waited when it was begun, and the error
	// that all of them got, if any.
	Batch func(requests, rows int, waited, took time.Duration, err error)
}

// noBoard owns the idempotency keys of requests for several boards.
const noBoard = 0

// batch is the requests of one transaction.
type batch struct {
	*worker
	queue    queueID
	requests []request
	needs    map[string]*needs // by board
	keys     []string          // idempotency keys of requests for several boards
	derived  map[string]bool   // boards that are not locked, because they are derived
	read     *ahead            // what was read for it; nil: nothing, or it is used up
	traced   []trace.Span      // of its requests, while they wait for it

	begun time.Time // when it was tried first

	// The outcome of the last try.
	locking string  // the board whose lock was asked for last; of several "" when it has all
	answers []error // one per request
	commits []Event
}

// commit carries out what take returns, requests of one queue, once nothing in this process is in the way. Whose caller
// has left until then is left out.
func (w *worker) commit(id queueID, take func() []request) error {
	if !id.several {
		defer w.mutexes.lock(id.board)()
		reqs := take()
		if len(reqs) == 0 {
			return nil
		}
		return w.run(w.newBatch(reqs))
	}
	reqs := take()
	for len(reqs) > 0 {
		b := w.newBatch(reqs)
		unlock, barred := w.mutexes.lockAll(slices.Collect(maps.Keys(b.needs)))
		if barred == "" {
			err := w.run(b)
			if unlock(); !b.mayDoWithout(err) {
				return err
			}
			reqs, barred = b.requests, b.locking
		}
		reqs = keepOff(reqs, barred)
	}
	return nil
}

// mayDoWithout says whether a batch for several boards failed because of one of them, the last that it asked for, and
// has told nobody.
func (b *batch) mayDoWithout(err error) bool {
	return b.queue.several && b.locking != "" && db.IsLockWait(err)
}

// keepOff answers those requests that name a board whose lock somebody else holds, and returns the others.
func keepOff(reqs []request, barred string) []request {
	err := db.Wrap("batch", errBarred(barred))
	return slices.DeleteFunc(reqs, func(r request) bool {
		named := slices.Contains(r.head().boards, barred)
		if named {
			r.head().drop(err)
		}
		return named
	})
}

// run carries out a batch, tells of the commits, and then answers every request. It works on a context of its own: the
// requests of a batch belong to several callers, and none may cancel it for the others.
func (w *worker) run(b *batch) error {
	limits := &w.db.Config
	ctx, cancel := context.WithTimeout(w.life, db.Attempts*limits.LockWait+limits.ReadTimeout+limits.WriteTimeout)
	defer cancel()
	b.read, w.ahead = w.ahead.await(), nil
	start, rows := time.Now(), 0
	ctx, span := b.begunSpan(ctx)
	err := b.tryAll(ctx)
	b.endSpan(span, err)
	if len(b.requests) == 0 {
		return nil // all of them have left
	}
	var waited time.Duration
	for _, r := range b.requests {
		rows += r.head().load.rows
		waited = max(waited, start.Sub(r.head().since))
	}
	if b.mayDoWithout(err) {
		return err
	}
	if err != nil {
		w.tell.Batch(len(b.requests), rows, waited, time.Since(start), err)
		for _, r := range b.requests {
			r.head().done <- err
		}
		return err
	}
	w.tell.Batch(len(b.requests), rows, waited, time.Since(start), b.noneFound())
	for _, e := range b.commits {
		if w.ahead != nil {
			w.ahead.own = append(w.ahead.own, e.Commit)
		}
		w.tell.Committed(e)
	}
	for i, r := range b.requests {
		r.head().done <- b.answers[i]
	}
	return nil
}

// newBatch collects what has to be read. Boards that requests for several name and that are derived are left out.
func (w *worker) newBatch(reqs []request) *batch {
	b := &batch{worker: w, queue: reqs[0].head().queue, requests: reqs, needs: map[string]*needs{}}
	of := func(board string) *needs {
		n := b.needs[board]
		if n == nil {
			n = &needs{}
			b.needs[board] = n
		}
		return n
	}
	for _, r := range reqs {
		r.collect(of)
		switch h := r.head(); {
		case h.key == "":
		case b.queue.several:
			b.keys = append(b.keys, h.key)
		default:
			n := of(b.queue.board)
			n.keys = append(n.keys, h.key)
		}
	}
	if b.queue.several {
		b.derived = w.derivedAmong(slices.Collect(maps.Keys(b.needs)))
	}
	for name := range b.derived {
		delete(b.needs, name)
	}
	for _, n := range b.needs {
		n.tidy()
	}
	return b
}

// derivedAmong returns those of the boards that are derived. They take no submissions, so a batch for several boards
// does without their mutexes and locks, which a step of theirs may hold for seconds: boards that have nothing to do
// with it would wait, too. The database is asked only about boards that are not remembered as ordinary ones; what is
// remembered of a derived board is not enough, because nobody who submits to it would find out that another server has
// made it an ordinary one. When the answer does not come, the locks decide as of any board.
func (c *committer) derivedAmong(names []string) map[string]bool {
	unsure := slices.DeleteFunc(names, func(name string) bool {
		k, ok := c.memory.Get(name)
		return ok && k.Board.Rules.Derive == nil
	})
	if len(unsure) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.db.Config.ReadTimeout)
	defer cancel()
	derived := map[string]bool{}
	for chunk := range slices.Chunk(unsure, db.MaxRows) {
		var found [][]byte
		if err := c.db.SelectContext(ctx, &found, c.db.Limited(derivedQuery(chunk))); err != nil {
			c.db.Log.DebugContext(ctx, "it is not known which boards are derived", "error", err)
		}
		for _, name := range found {
			derived[string(name)] = true
		}
	}
	return derived
}

func derivedQuery(names []string) string {
	t := (&db.Text{}).Str("SELECT b.name FROM boards b STRAIGHT_JOIN derived_boards d ON d.board_id = b.id WHERE b.state = 'open' AND b.name IN (")
	return t.Hexes(names).Str(")").String()
}

// Somebody who holds a lock for long, such as a server that is frozen in a transaction, must not take all connections
// from the boards that it does not hold. So a batch waits for a second at first; when that is not enough its board is
// barred, and waits on in one of the few connections for that. A batch for several boards would hold those that it has
// already: it is given up, and begun again without the requests that name the board.

// waitedBefore says whether the board of the batch is barred.
func (b *batch) waitedBefore() bool { return !b.queue.several && b.mutexes.isBarred(b.queue.board) }

// bar says that somebody else keeps a board locked, for as long as the wait for it may take now.
func (c *committer) bar(board string, stuck bool) {
	c.mutexes.bar(board, c.db.Config.LockWait+time.Second, stuck)
}

// stuck says that a batch cannot be committed, though the database answers, because of boards that somebody keeps locked or
// for want of an answer to COMMIT. What waits behind it is refused.
func (b *batch) stuck(boards ...string) {
	if b.db.Away() != nil {
		return
	}
	b.db.Blocked(b.begun)
	for _, name := range boards {
		b.bar(name, true)
	}
	if len(boards) > 0 && !b.queue.several {
		b.refuse(b.queue, errBarred(b.queue.board))
	}
}

func (b *batch) gotLocks() {
	for name := range b.needs {
		b.mutexes.unbar(name)
	}
}

// tryAll repeats a batch that the server rolled back, and once one whose connection was lost before COMMIT was sent:
// in both cases nothing has happened.
func (b *batch) tryAll(ctx context.Context) error {
	reconnected, patient := false, b.waitedBefore()
	b.begun = time.Now()
	b.retries.earn(len(b.requests))
	for attempt := 1; ; attempt++ {
		err := b.try(ctx, patient)
		if err == nil {
			b.gotLocks()
		}
		if err == nil || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
			return err
		}
		lockWait := db.IsLockWait(err)
		_, blocked := b.db.BlockedSince()
		if lockWait && b.locking != "" {
			if b.bar(b.locking, false); patient || blocked {
				b.stuck(b.locking)
			}
			patient = true
		}
		if db.IsDiskFull(err) {
			b.stuck()
		}
		for _, r := range b.requests {
			r.head().recall() // nothing has happened
		}
		again := db.Retryable(err) && attempt < db.Attempts && !(lockWait && (b.queue.several || blocked))
		if b.queue.several && db.IsDuplicate(err) {
			// One key came through two servers at once, for boards of which none is the same: the second finds it now.
			err, again = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err), attempt < db.Attempts
		}
		if db.ConnectionLost(err) && !reconnected {
			reconnected, again = true, true
		}
		if !again || ctx.Err() != nil || !lockWait && !b.retries.spend() { // few wait for locks, none more often than Attempts
			return db.Translate(context.Background(), "batch", err)
		}
		b.db.Log.DebugContext(ctx, "batch is repeated", "board", b.queue.board, "attempt", attempt, "error", err)
	}
}

// try carries the batch out for those who have not left when there is a connection for it. An error wraps
// ErrOutcomeUnknown when COMMIT was sent and no answer came; after every other error the transaction is rolled back.
func (b *batch) try(ctx context.Context, patient bool) error {
	_, span := trace.Start(ctx, "connection", trace.KindInternal)
	tx, end, err := b.begin(ctx, patient)
	span.Done(err)
	if err != nil {
		return err
	}
	defer end()
	b.requests = slices.DeleteFunc(b.requests, func(r request) bool { return !r.head().send() })
	if len(b.requests) == 0 {
		return tx.End()
	}
	return errors.Join(b.transact(ctx, &transaction{tx, b.db, b.memory, b.text}), tx.End())
}

// begin waits in line for a connection, unless it is for one of the patient ones. end says that it is given back.
func (c *committer) begin(ctx context.Context, patient bool) (tx *db.Tx, end func(), err error) {
	if patient {
		tx, err = c.db.Begin(ctx, true)
		return tx, func() {}, err
	}
	c.line.waiting.Add(1)
	tx, err = c.db.Begin(ctx, false)
	c.line.waiting.Add(-1)
	start := time.Now()
	return tx, func() { c.line.learn(time.Since(start)) }, err
}

// transact takes three round trips when one board is locked: lock and read, write, commit. COMMIT goes alone, so that
// an answer to what was written decides that it was not committed.
func (b *batch) transact(ctx context.Context, t *transaction) error {
	names, err := b.lockOrder(ctx, t)
	if err != nil {
		return err
	}
	l := &locked{boards: make(map[string]*lockedBoard, len(names)), derived: b.derived}
	w := outcome{owner: noBoard}
	for _, name := range names {
		b.locking = name
		asked, span := statement(ctx, "lock board", name)
		f, err := t.lockBoard(asked, name, b.needs[name], b.read)
		endStatement(span, err)
		b.read = nil // the batch changes what it was given
		if errors.Is(err, leaderboard.ErrBoardNotFound) {
			continue // each request says what that means for it
		}
		if err != nil {
			return err
		}
		l.boards[name] = f
		w.periods = append(w.periods, f.all()...)
		w.rolledOver = w.rolledOver || f.rolledOver
		if !b.queue.several {
			w.owner, w.clock = f.known.Board.ID, f.clock
			w.known = f.keys
			if f.readAhead {
				b.aheads.used.Add(1)
			}
			b.readNext(f.known)
		}
	}
	if b.queue.several {
		b.locking = "" // has them all
	}
	if len(b.keys) > 0 {
		if w.known, w.clock, err = b.readKeys(ctx, t); err != nil {
			return err
		}
	}
	if b.requests = slices.DeleteFunc(b.requests, func(r request) bool { return !r.head().claim() }); len(b.requests) == 0 {
		return nil // all have left while the locks were waited for
	}
	w.keys = b.apply(l, w.known)
	w.recorded = l.recorded(names)
	w.audit = l.audit
	asked, span := statement(ctx, "write", b.queue.board)
	b.commits, err = t.write(asked, &w)
	endStatement(span, err)
	if err != nil || !w.written() {
		return err
	}
	asked, span = statement(ctx, "commit", b.queue.board)
	told := make(chan struct{})
	late := time.AfterFunc(b.db.Config.LockWait, func() {
		defer close(told)
		b.stuck(names...)
	})
	err = t.Commit(asked)
	if err == nil {
		b.db.Committed()
	}
	if !late.Stop() {
		<-told
		for _, name := range names {
			b.mutexes.unbar(name) // whatever became of it, the next batch finds out
		}
	}
	endStatement(span, err)
	return err
}

// readNext begins to read ahead for the batch after this one. It is called with the board locked, so nobody else's
// change comes between what is read and the end of this batch.
func (b *batch) readNext(board *boards.Known) {
	if b.ahead != nil {
		return // this is another try
	}
	n := &needs{}
	for _, r := range b.next() {
		r.collect(func(string) *needs { return n })
	}
	n.tidy()
	b.ahead = b.aheads.begin(b.life, board, n.members)
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
				b.answers[i] = keyed.replay(row.receipt)
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

// noneFound returns ErrBoardNotFound when that is the answer to all requests.
func (b *batch) noneFound() error {
	for _, answer := range b.answers {
		if !errors.Is(answer, leaderboard.ErrBoardNotFound) {
			return nil
		}
	}
	return leaderboard.ErrBoardNotFound
}

// boardID is a board's id and name.
type boardID struct {
	ID   int64
	Name string
}

// lockOrder returns the boards of the batch, several by id: as they are remembered, or as the database says when one is
// not. Whoever locks several boards takes them in this order, and whoever locks one waits for no other, so there is no
// circle. (An id may be known wrongly, when another server has deleted a board and made it again; a circle that comes
// of it is a deadlock, and the batch is repeated with the right ids.)
func (b *batch) lockOrder(ctx context.Context, t *transaction) ([]string, error) {
	names := slices.Sorted(maps.Keys(b.needs))
	if len(names) < 2 {
		return names, nil
	}
	ids := make([]boardID, 0, len(names))
	for _, name := range names {
		if k, ok := b.memory.Get(name); ok {
			ids = append(ids, boardID{k.Board.ID, name})
		}
	}
	if len(ids) < len(names) {
		var err error
		if ids, err = t.readIDs(ctx, names); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(ids, func(a, b boardID) int { return int(min(1, max(-1, a.ID-b.ID))) })
	names = names[:0]
	for _, id := range ids {
		names = append(names, id.Name)
	}
	return names, nil
}

// readIDs reads the ids of the boards that exist.
func (t *transaction) readIDs(ctx context.Context, names []string) ([]boardID, error) {
	var ids []boardID
	for chunk := range slices.Chunk(names, db.MaxRows) {
		t.text.Reset()
		appendReadIDs(t.text, chunk)
		rows, err := t.Conn.QueryContext(ctx, t.text.String())
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var b boardID
			if err := rows.Scan(&b.ID, &b.Name); err != nil {
				return nil, err
			}
			ids = append(ids, b)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func appendReadIDs(t *db.Text, names []string) {
	t.Str("SELECT id, name FROM boards WHERE name IN (").Hexes(names).Str(") AND state = 'open'")
}

// readKeys reads the idempotency keys of requests for several boards, and the clock that those to add are stored with.
// All locks are held: a repetition names the same boards, so it waits for the first.
func (b *batch) readKeys(ctx context.Context, t *transaction) (keys map[string]keyRow, clock leaderboard.Micros, err error) {
	t.text.Reset()
	t.text.Str(t.Opening()).Str("SELECT ").Str(b.db.Sysdate()).Str(";")
	appendReadKeys(t.text, noBoard, b.keys)
	rows, err := t.Conn.QueryContext(ctx, t.text.String())
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var sysdate time.Time
	for rows.Next() {
		if err := rows.Scan(&sysdate); err != nil {
			return nil, 0, err
		}
	}
	keys = map[string]keyRow{}
	return keys, leaderboard.MicrosOf(sysdate), errors.Join(scanKeys(rows, b.keys, keys), rows.Close())
}
