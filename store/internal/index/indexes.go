// Package index keeps the rank indexes of periods: in memory, saved in the database, and kept current by the change
// log.
//
// The files read in layers; each uses only files above it and on its own line.
//
//	tracker.go, missing.go                   one index and its history; how long one will be missing
//	indexes.go, load.go, build.go, saved.go  all indexes: loaded, built, saved
//	status.go                                their numbers
package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Indexes keeps the rank indexes of the periods that are read, or grow (promise B1). Nothing is shared between processes but the
// database: each keeps its own indexes in memory and folds the change log into them.
//
// # Why an answer is exact
//
// A number of entries ahead of a key k is put together from an index, which is at some state a, and one count inside a
// bucket, which a statement took at some state b; the answer as a whole is to be true at a state c, the state of its
// entries. The states differ when there is a commit in between. Every state is named by (incarnation, seq, committed_at), and
// between two states of one incarnation lie the commits of the log, each with the exact keys that it removed and added, so that
//
//	ahead(k, b) = ahead(bucket, a) + shift(bucket, a → b) + count([bucket, k), b)
//	ahead(k, c) = ahead(k, b) + shift(k, b → c)
//
// where shift(x, a → b) is the number of keys less than x that the commits from a to b brought, less the keys that they
// took away. All of these are whole numbers about keys that never change, so the present boundaries of the index,
// concurrent folds by other readers and the order of the states do not matter. The condition is that a, b and c lie on one
// incarnation: each must be a commit that the tracker remembers, with the same committed_at (history.position). If a state is
// older than the remembered commits, the answer is computed again (errMoved), at last in a REPEATABLE READ transaction,
// where b = c. If a state is not on that incarnation, the database was restored from a backup: the index is dropped and built
// from scratch, and answers come from scans until then.
//
// The index reaches b because the log is read up to there (Reach). Commits of this process are folded right after COMMIT, in
// order (Committed).
type Indexes struct {
	cfg    Config
	db     *mysql.DB
	runs   Runs
	saved  savedIndexes
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // loading, building, splitting, saving
	builds chan struct{}  // holds a value for each build
	ticks  atomic.Int64   // counts uses, as a clock for the order of use

	// Progress of Sweep. Only one runs at a time.
	advanced  int64      // saved indexes of periods up to this id are up to date
	following []*Tracker // trackers in memory that still have to follow the log; nil while saved indexes are brought up to date

	mu     sync.Mutex // guards the fields below
	slots  map[int64]*slot
	bytes  int64 // of all trackers together, except trackers that leave
	closed bool
}

// slot is the state of the index of one period.
type slot struct {
	tracker *Tracker
	bytes   int64     // that the tracker takes, as counted in Indexes.bytes
	leaving bool      // the tracker is saved, and then dropped
	written bool      // a commit found no tracker, see begin
	missing *Missing  // since a tracker was first missing
	loading bool      // a goroutine loads or builds
	retryAt time.Time // not before then, after a failure
	invalid bool      // the saved index is damaged: build
}

// retryPause is the least time between two attempts to get an index after a failure.
const retryPause = 5 * time.Second

// Config says which periods get an index, and how much indexes may take. store.Config describes its fields and has the
// defaults, except for the last two.
type Config struct {
	MinEntries int64
	Target     int
	SaveEvery  int64
	Memory     int64
	ChangeTTL  time.Duration
	OnIndexes  func(bytes int64)

	BuildSlice int           // buckets that a build counts at one state; 0: 64
	BuildSave  time.Duration // how often a build under way is saved, and its progress recorded; 0: 10 s
}

// Runs keeps the history of builds, see store.Runs.
type Runs interface {
	StartRun(ctx context.Context, r leaderboard.Run) (leaderboard.Run, error)
	FinishRun(ctx context.Context, r leaderboard.Run) (leaderboard.Run, error)
}

// New returns indexes without any: each is loaded or built when it is first used, or begun when its period has grown.
func New(cfg Config, d *mysql.DB, runs Runs) *Indexes {
	x := &Indexes{cfg: cfg, db: d, runs: runs, saved: savedIndexes{d}, slots: map[int64]*slot{}}
	x.builds = make(chan struct{}, max(1, d.Config.MaxConns/12))
	x.cfg.BuildSlice, x.cfg.BuildSave = cmp.Or(cfg.BuildSlice, buildSlice), cmp.Or(cfg.BuildSave, buildSave)
	x.ctx, x.cancel = context.WithCancel(context.Background())
	return x
}

// Ready returns the tracker of a period that is in memory, or nil.
func (x *Indexes) Ready(ref leaderboard.PeriodRef) *Tracker {
	t := x.peek(ref)
	if t != nil {
		t.used.Store(x.ticks.Add(1))
	}
	return t
}

// peek is Ready without counting as a use of the index.
func (x *Indexes) peek(ref leaderboard.PeriodRef) *Tracker {
	x.mu.Lock()
	defer x.mu.Unlock()
	sl := x.slots[ref.ID]
	if sl == nil || sl.tracker == nil || sl.tracker.ref.Incarnation != ref.Incarnation {
		return nil
	}
	return sl.tracker
}

// Wanted reports whether a period with a number of entries is worth an index.
func (x *Indexes) Wanted(total int64) bool { return total >= x.cfg.MinEntries }

// Need returns the tracker of a period with a number of entries. When it is not in memory Need begins to load or to build
// it, and returns the missing part. It returns neither for a period that is not worth an index.
func (x *Indexes) Need(ref leaderboard.PeriodRef, total int64) (*Tracker, *Missing) {
	if t := x.Ready(ref); t != nil || !x.Wanted(total) {
		return t, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	sl := x.slotOf(ref.ID)
	x.missingIn(sl).setEntries(total)
	if !sl.loading && !x.closed && time.Now().After(sl.retryAt) {
		x.startLoad(sl, ref, true)
	}
	return nil, sl.missing
}

// missingIn is called with mu held.
func (*Indexes) missingIn(sl *slot) *Missing {
	if sl.missing == nil {
		sl.missing = &Missing{}
	}
	return sl.missing
}

// slotOf is called with mu held.
func (x *Indexes) slotOf(periodID int64) *slot {
	sl := x.slots[periodID]
	if sl == nil {
		sl = &slot{}
		x.slots[periodID] = sl
	}
	return sl
}

// Drop forgets a tracker that has become unusable because of err. The next reader gets a new one.
func (x *Indexes) Drop(t *Tracker, err error) {
	t.invalidate(err)
	x.mu.Lock()
	defer x.mu.Unlock()
	sl := x.slots[t.ref.ID]
	if sl == nil || sl.tracker != t {
		return
	}
	x.clear(sl)
	if errors.Is(err, leaderboard.ErrPeriodNotFound) && !sl.loading {
		delete(x.slots, t.ref.ID)
		return
	}
	sl.invalid = isDamage(err)
	x.db.Log.Warn("a rank index is dropped", "board", t.ref.Board, "period", t.ref.ID, "error", err)
}

// Committed takes a commit of this process. They must come in the order of seq per period.
func (x *Indexes) Committed(ref leaderboard.PeriodRef, c *leaderboard.Commit) {
	x.mu.Lock()
	var t *Tracker
	if sl := x.slots[ref.ID]; sl != nil {
		t = sl.tracker
	}
	x.mu.Unlock()
	if t == nil {
		x.begin(ref, c)
		return
	}
	switch err := t.fold(step{codec: rank.CodecOf(ref.Rules), commit: c}); {
	case err == nil, isGap(err): // after a gap, another process has written too, the log is read, later
		x.startMaintenance(t)
	default:
		x.Drop(t, err)
	}
}

// startMaintenance begins to read the log, to split overgrown buckets and to save the index, in the background, when that
// is due.
func (x *Indexes) startMaintenance(t *Tracker) {
	if !t.wantsWork(x.cfg.SaveEvery) || !t.maintained.CompareAndSwap(false, true) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		t.maintained.Store(false)
		return
	}
	x.work.Go(func() {
		x.maintain(x.ctx, t)
		done := !t.wantsWork(x.cfg.SaveEvery)
		t.maintained.Store(false)
		t.rest()
		x.account(t)
		if done {
			x.startMaintenance(t) // for later commits
		}
	})
}

func (x *Indexes) maintain(ctx context.Context, t *Tracker) {
	if ahead, ok := t.lags(); ok {
		if err := x.Reach(ctx, t, x.db.Pool, ahead); err != nil {
			x.failed(ctx, t, err)
			return
		}
	}
	for range 1 + maxHistory/splitAtOnce {
		n, err := x.split(ctx, t)
		if err != nil {
			x.failed(ctx, t, err)
			return
		}
		if n == 0 {
			break
		}
	}
	if t.wantsSave(x.cfg.SaveEvery) {
		x.saveQuietly(ctx, t)
	}
}

// failed drops an index whose maintenance failed and which is therefore unusable.
func (x *Indexes) failed(ctx context.Context, t *Tracker, err error) {
	if IsUseless(err) || errors.Is(err, leaderboard.ErrPeriodNotFound) {
		x.Drop(t, err)
	} else if ctx.Err() == nil && !errors.Is(err, ErrTooOld) {
		x.db.Log.InfoContext(ctx, "a rank index is maintained later", "board", t.ref.Board, "error", err)
	}
}

// Sweep folds the log into all indexes, so that it may be pruned, and saves indexes that were not saved for long, until
// over reports that its time is over; then it reports that there may be more.
func (x *Indexes) Sweep(ctx context.Context, over func() bool) (more bool, err error) {
	var errs []error
	if x.following == nil {
		more, err = x.advance(ctx, over)
		if more {
			return true, err
		}
		errs, x.following = append(errs, err), x.all()
	}
	for len(x.following) > 0 {
		if over() || ctx.Err() != nil {
			return true, errors.Join(errs...)
		}
		t := x.following[0]
		x.following = x.following[1:]
		state, err := entries.StateOf(ctx, x.db, x.db.Pool, t.ref.ID)
		if err == nil {
			err = x.Reach(ctx, t, x.db.Pool, RankState(state))
		}
		if err == nil && t.unsavedFor() > x.cfg.ChangeTTL/4 {
			err = x.save(ctx, t, false)
		}
		if err == nil {
			continue
		}
		if IsUseless(err) || errors.Is(err, leaderboard.ErrPeriodNotFound) {
			x.Drop(t, err)
		} else {
			errs = append(errs, fmt.Errorf("rank index of period %d: %w", t.ref.ID, err))
		}
	}
	x.following = nil
	return false, errors.Join(errs...)
}

// advancedAtOnce is how many saved indexes are looked at together.
const advancedAtOnce = 20

// lagging is a saved index that lacks commits, or whose period is gone: then Incarnation is the index's, and BoardID is 0.
type lagging struct {
	ID          int64     `db:"period_id"`
	Incarnation int64     `db:"incarnation"`
	BoardID     int64     `db:"board_id"`
	SavedAt     time.Time `db:"saved_at"`
}

// advance brings the saved indexes of periods up to date that change without being read here, before the log is pruned
// beyond them: otherwise the next read would need a build. Indexes that no reader can use any longer are removed, and a
// failing index does not stop the others.
func (x *Indexes) advance(ctx context.Context, over func() bool) (more bool, failed error) {
	const query = "SELECT r.period_id, r.incarnation, COALESCE(p.board_id, 0) AS board_id, r.saved_at FROM rank_indexes r FORCE INDEX (PRIMARY)" +
		" LEFT JOIN periods p ON p.id = r.period_id AND p.incarnation = r.incarnation AND p.state <> 'deleting'" +
		" WHERE r.period_id > ? AND r.chunk = 0 AND (p.id IS NULL OR r.seq < p.last_seq) AND r.saved_at < %s - INTERVAL ? MICROSECOND" +
		" ORDER BY r.period_id LIMIT ?"
	age := x.cfg.ChangeTTL / 2
	for {
		var rows []lagging
		err := x.db.Pool.SelectContext(ctx, &rows, x.db.Limited(fmt.Sprintf(query, x.db.Now())), x.advanced, age.Microseconds(), advancedAtOnce)
		if err != nil {
			return false, errors.Join(failed, err)
		}
		for _, row := range rows {
			if over() {
				return true, failed
			}
			x.advanced = row.ID // also when it fails
			if err := x.advanceOne(ctx, row); err != nil {
				failed = errors.Join(failed, fmt.Errorf("saved rank index of period %d: %w", row.ID, err))
			}
			if ctx.Err() != nil {
				return false, failed
			}
		}
		if len(rows) < advancedAtOnce {
			x.advanced = 0
			return false, failed
		}
	}
}

func (x *Indexes) advanceOne(ctx context.Context, row lagging) error {
	if row.BoardID == 0 {
		return x.saved.remove(ctx, row)
	}
	ref := leaderboard.PeriodRef{ID: row.ID, Incarnation: row.Incarnation, BoardID: row.BoardID}
	if x.peek(ref) != nil {
		return nil // it follows the log already
	}
	t, err := x.load(ctx, ref)
	switch {
	case err != nil:
		return err
	case t == nil:
		return x.saved.remove(ctx, row)
	default:
		return x.save(ctx, t, false)
	}
}

// all returns the trackers in memory.
func (x *Indexes) all() []*Tracker {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []*Tracker
	for _, sl := range x.slots {
		if sl.tracker != nil {
			out = append(out, sl.tracker)
		}
	}
	return out
}

// closeTimeout is the time in which Close may save indexes; for an unsaved index the next start reads more of the log.
const closeTimeout = 3 * time.Second

// Close ends the work in the background and saves the indexes that have changed.
func (x *Indexes) Close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.cancel()
	x.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for _, t := range x.all() {
		x.saveQuietly(ctx, t)
	}
}

// Reach folds the log into the index until it is at m or later. q must see m: it is the transaction of the reader, or
// the pool. One reader reads the log and the others wait for it; it uses the connection that it has already.
func (x *Indexes) Reach(ctx context.Context, t *Tracker, q mysql.Querier, m rank.State) error {
	if t.At().Seq < m.Seq {
		select {
		case t.reading <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := x.readUpTo(ctx, t, q, m.Seq)
		<-t.reading
		if err != nil {
			return err
		}
		x.startMaintenance(t)
	}
	return t.check(m)
}

func (x *Indexes) readUpTo(ctx context.Context, t *Tracker, q mysql.Querier, seq int64) error {
	for at := t.At(); at.Seq < seq; at = t.At() {
		n, err := readSteps(ctx, x.db, q, t.ref.ID, at.Seq, foldCommits, t.fold)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%w: at seq %d, an answer was at %d", rank.ErrDiverged, at.Seq, seq)
		}
	}
	return nil
}

// splitAtOnce bounds the buckets that are cut together; cutting takes time in proportion to all buckets.
const splitAtOnce = 64

// split cuts overgrown buckets into parts of about the target, and returns how many buckets there were to cut.
func (x *Indexes) split(ctx context.Context, t *Tracker) (int, error) {
	spans := t.overgrown(splitAtOnce)
	var cuttings []cutting
	for _, span := range spans {
		found, err := x.cuttings(ctx, t, span)
		if err != nil {
			return 0, err
		}
		if cuttings = append(cuttings, found...); t.farFrom(cuttings) {
			break
		}
	}
	if len(cuttings) == 0 {
		return 0, nil
	}
	newest := cuttings[len(cuttings)-1].state
	if err := x.Reach(ctx, t, x.db.Pool, newest); err != nil {
		return 0, err
	}
	return len(spans), t.cut(cuttings)
}

// cuttings counts where to cut one bucket, part by part, each with one statement. It leaves parts for later when the period
// moves on fast.
func (x *Indexes) cuttings(ctx context.Context, t *Tracker, span rank.Span) ([]cutting, error) {
	until, err := entries.BeforeKey(span.To)
	if err != nil {
		return nil, err
	}
	if span.To == "" {
		until = entries.End()
	}
	parts := span.Count / t.target
	size := (span.Count + parts - 1) / parts
	var out []cutting
	from := span.From
	for range parts - 1 {
		start, err := entries.BeforeKey(from)
		if err != nil {
			return nil, err
		}
		part := entries.Query{Scans: []entries.Scan{{Range: entries.Range{From: start, To: until}, Offset: size - 1, Limit: 2}}}
		r, err := part.Run(ctx, x.db, x.db.Pool, t.ref.ID)
		if err != nil {
			return nil, err
		}
		keys := r.Keys[0]
		if len(keys) < 2 {
			break
		}
		at := entries.Between(keys[0], keys[1])
		out = append(out, cutting{span: span, from: from, at: at, left: size, state: RankState(r.State)})
		if t.farFrom(out) {
			break
		}
		from = at
	}
	return out, nil
}

// save writes an index if it changed since it was saved; see writeIndex for must.
func (x *Indexes) save(ctx context.Context, t *Tracker, must bool) error {
	t.mu.RLock()
	at, unsaved := t.index.At(), t.unsaved
	payload, err := t.index.AppendBinary(nil)
	t.mu.RUnlock()
	if err != nil || unsaved == 0 {
		return err
	}
	if err := x.saved.write(ctx, t.ref, at.Seq, payload, must); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsaved -= unsaved
	t.entries, t.savedAt = at.Total, time.Now()
	return nil
}

// saveQuietly is save, and logs a failure: in the worst case the index is built from scratch when the log is pruned.
func (x *Indexes) saveQuietly(ctx context.Context, t *Tracker) {
	if err := x.save(ctx, t, false); err != nil && !errors.Is(err, rank.ErrDamaged) {
		x.db.Log.WarnContext(ctx, "a rank index is not saved", "board", t.ref.Board, "period", t.ref.ID, "error", err)
	}
}
