package commit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"leaderboard"
	"leaderboard/internal/trace"
	"leaderboard/store/internal/boards"
	"leaderboard/store/internal/db"
)

// Events are told of what happens, and must not block.
type Events struct {
	// Committed is called after each commit, in seq order per period.
	Committed func(Event)
	// Batch is called once per batch, with how long the first of its requests had waited when it was begun, and the error
	// that all of them got, if any.
	Batch func(requests, rows int, waited, took time.Duration, err error)
}

// committer carries batches out. All methods may be called concurrently.
type committer struct {
	db      *db.DB
	memory  *boards.Memory
	mutexes boardMutexes
	tell    Events
	retries budget
	life    context.Context // ends soon after Close
}

// batch is the requests of one transaction.
type batch struct {
	*committer
	queue    *queue
	requests []request
	needs    map[string]*needs // by board
	keys     []string          // idempotency keys of requests for several boards
	derived  map[string]bool   // boards that are not locked, because they are derived
	traced   []trace.Span      // of its requests, while they wait for it

	begun time.Time // when it was tried first

	// The outcome of the last try.
	locking string  // the board whose lock was asked for last; of several "" when it has all
	answers []error // one per request
	commits []Event
}

// commit carries out the next requests of a queue, once nothing in this process is in the way. Those whose caller has left
// until then are left out.
func (c *committer) commit(q *queue) error {
	if !q.id.several {
		defer c.mutexes.lock(q.id.board)()
		reqs := q.take()
		if len(reqs) == 0 {
			return nil
		}
		return c.newBatch(q, reqs).run()
	}
	reqs := q.take()
	for len(reqs) > 0 {
		b := c.newBatch(q, reqs)
		unlock, barred := c.mutexes.lockAll(slices.Collect(maps.Keys(b.needs)))
		if barred == "" {
			err := b.run()
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
	return b.queue.id.several && b.locking != "" && db.IsLockWait(err)
}

// keepOff answers those requests that name a board whose lock somebody else holds, and returns the others.
func keepOff(reqs []request, barred string) []request {
	err := db.Wrap("batch", errLocked(barred))
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
func (b *batch) run() error {
	limits := &b.db.Config
	ctx, cancel := context.WithTimeout(b.life, db.Attempts*limits.LockWait+limits.ReadTimeout+limits.WriteTimeout)
	defer cancel()
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
		b.tell.Batch(len(b.requests), rows, waited, time.Since(start), err)
		for _, r := range b.requests {
			r.head().done <- err
		}
		return err
	}
	b.tell.Batch(len(b.requests), rows, waited, time.Since(start), b.noneFound())
	for _, e := range b.commits {
		b.tell.Committed(e)
	}
	for i, r := range b.requests {
		r.head().done <- b.answers[i]
	}
	return nil
}

// newBatch collects what has to be read. Boards that requests for several name and that are derived are left out.
func (c *committer) newBatch(q *queue, reqs []request) *batch {
	b := &batch{committer: c, queue: q, requests: reqs, needs: map[string]*needs{}}
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
		case b.queue.id.several:
			b.keys = append(b.keys, h.key)
		default:
			n := of(b.queue.id.board)
			n.keys = append(n.keys, h.key)
		}
	}
	if b.queue.id.several {
		b.derived = c.derivedAmong(slices.Collect(maps.Keys(b.needs)))
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
	return errors.Join(b.transact(ctx, &transaction{tx, b.db, b.memory, &b.queue.text}), tx.End())
}

// begin waits in line for a connection, unless it is for one of the patient ones. end says that it is given back.
func (b *batch) begin(ctx context.Context, patient bool) (tx *db.Tx, end func(), err error) {
	if patient {
		tx, err = b.db.Begin(ctx, true)
		return tx, func() {}, err
	}
	line := &b.queue.line
	line.waiting.Add(1)
	tx, err = b.db.Begin(ctx, false)
	line.waiting.Add(-1)
	start := time.Now()
	return tx, func() { line.learn(time.Since(start)) }, err
}

// transact takes three round trips when one board is locked: lock and read, write, commit. COMMIT goes alone, so that
// an answer to what was written decides that it was not committed.
func (b *batch) transact(ctx context.Context, t *transaction) error {
	names, err := b.lockOrder(ctx, t)
	if err != nil {
		return err
	}
	l := &locked{boards: make(map[string]*lockedBoard, len(names)), without: map[string]error{}, derived: b.derived}
	w := writes{owner: noBoard}
	for _, name := range names {
		b.locking = name
		asked, span := statement(ctx, "lock board", name)
		f, err := t.lockBoard(asked, name, b.needs[name])
		endStatement(span, err)
		if errors.Is(err, leaderboard.ErrBoardNotFound) || errors.Is(err, leaderboard.ErrUnknownRule) {
			l.without[name] = err
			continue // each request says what that means for it
		}
		if err != nil {
			return err
		}
		l.boards[name] = f
		w.periods = append(w.periods, f.all()...)
		w.rolledOver = w.rolledOver || f.rolledOver
		if !b.queue.id.several {
			w.owner, w.clock = f.known.Board.ID, f.clock
			w.known = f.keys
		}
	}
	if b.queue.id.several {
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
	asked, span := statement(ctx, "write", b.queue.id.board)
	b.commits, err = t.write(asked, &w)
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
