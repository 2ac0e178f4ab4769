// Package index keeps the rank indexes of periods: in memory, saved in the database, and kept current by the change
// log.
package index

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// Indexes keeps the rank indexes of the periods that are read (promise P4). Nothing is shared between processes but the
// database: each keeps its own indexes in memory and folds the change log into them.
//
// # Why an answer is exact
//
// A number of entries ahead of a key k is put together from an index, which is at some state a, and one count inside a
// bucket, which a statement took at some state b; the answer as a whole is to be true at a state c, that of the entries
// in it. The states differ when somebody commits in between. Every state is named by (history, seq, committed_at), and between
// two states of one history lie the commits of the log, each with the exact keys that it took away and brought, so that
//
//	ahead(k, b) = ahead(bucket, a) + shift(bucket, a → b) + count([bucket, k), b)
//	ahead(k, c) = ahead(k, b) + shift(k, b → c)
//
// where shift(x, a → b) is the number of keys less than x that the commits from a to b brought, less those that they
// took away. All of these are whole numbers about keys that never change, so it does not matter which boundaries the
// index has by now, whether other readers fold it further meanwhile, or in which order the states are. What has to hold
// is that a, b and c lie on one history: each must be a commit that the tracker remembers, with the same committed_at
// (history.position). If one is older than that, the answer is put together again (errMoved), at last in a REPEATABLE
// READ transaction, where b = c. If a state is not on the history, the database was restored from a backup: the index
// is dropped and built from scratch, and answers come from scans until then.
//
// The index gets to b because the log is read up to there (Reach), unless this process made the commits itself: those
// are folded right after COMMIT, in order (Committed).
type Indexes struct {
	cfg    Config
	db     *db.DB
	runs   Runs
	saved  savedIndexes
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // loading, building, splitting, saving
	builds chan struct{}  // holds a value for each build
	ticks  atomic.Int64   // counts uses, a clock for who was used last

	saveBuilds time.Duration // buildSaveEvery, but in tests
	buildSlice int           // buildSlice, but in tests

	mu     sync.Mutex // guards the fields below
	slots  map[int64]*slot
	closed bool
}

// slot is what is known about the index of one period.
type slot struct {
	tracker *Tracker
	loading chan struct{} // somebody loads or builds; closed at the end
	loaded  chan struct{} // closed when what was saved is loaded, or a build turned out to be needed
	retryAt time.Time     // not before then, after a failure
	invalid bool          // what is saved led to damage: build
}

const (
	// maxLoadWait is how long a reader waits for an index to be loaded before it scans.
	maxLoadWait = 500 * time.Millisecond
	// retryPause is the least time between two attempts to get an index after a failure.
	retryPause = 5 * time.Second
)

// Config says which periods get an index, and what indexes may take. store.Config describes its fields and has the
// defaults.
type Config struct {
	MinEntries int64
	Target     int
	SaveEvery  int64
	Memory     int64
	ChangeTTL  time.Duration
}

// Runs keeps the history of builds, see store.Store.
type Runs interface {
	StartRun(ctx context.Context, r leaderboard.Run) (leaderboard.Run, error)
	FinishRun(ctx context.Context, r leaderboard.Run) error
}

// New returns indexes without any: each is loaded or built when it is first used.
func New(cfg Config, d *db.DB, runs Runs) *Indexes {
	x := &Indexes{cfg: cfg, db: d, runs: runs, saved: savedIndexes{d}, slots: map[int64]*slot{}}
	x.builds = make(chan struct{}, max(1, d.Config.MaxConns/12))
	x.saveBuilds, x.buildSlice = buildSaveEvery, buildSlice
	x.ctx, x.cancel = context.WithCancel(context.Background())
	return x
}

// Ready returns the tracker of a period that is in memory, nil without one.
func (x *Indexes) Ready(ref leaderboard.PeriodRef) *Tracker {
	x.mu.Lock()
	defer x.mu.Unlock()
	sl := x.slots[ref.ID]
	if sl == nil || sl.tracker == nil || sl.tracker.ref.History != ref.History {
		return nil
	}
	sl.tracker.used.Store(x.ticks.Add(1))
	return sl.tracker
}

// Wanted says whether a period of so many entries is worth an index.
func (x *Indexes) Wanted(total int64) bool { return total >= x.cfg.MinEntries }

// Use returns the tracker of a period with so many entries. It is nil while there is none: then it is loaded, which is
// soon done and waited for, or built. It is nil for a period that is not worth it.
func (x *Indexes) Use(ctx context.Context, ref leaderboard.PeriodRef, total int64) *Tracker {
	if t := x.Ready(ref); t != nil || !x.Wanted(total) {
		return t
	}
	x.mu.Lock()
	sl := x.slotOf(ref.ID)
	if sl.loading == nil && !x.closed && time.Now().After(sl.retryAt) {
		x.start(sl, ref)
	}
	loaded := sl.loaded
	x.mu.Unlock()
	if loaded == nil {
		return nil
	}
	timer := time.NewTimer(maxLoadWait)
	defer timer.Stop()
	select {
	case <-loaded:
	case <-timer.C:
	case <-ctx.Done():
	}
	return x.Ready(ref)
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

// Drop forgets a tracker that cannot be used any more, because of err. The next reader gets a new one.
func (x *Indexes) Drop(t *Tracker, err error) {
	t.invalidate(err)
	x.mu.Lock()
	defer x.mu.Unlock()
	sl := x.slots[t.ref.ID]
	if sl == nil || sl.tracker != t {
		return
	}
	if errors.Is(err, leaderboard.ErrPeriodNotFound) && sl.loading == nil {
		delete(x.slots, t.ref.ID)
		return
	}
	sl.tracker = nil
	sl.invalid = isDamage(err)
	x.db.Log.Warn("a rank index is dropped", "board", t.ref.Board, "period", t.ref.ID, "error", err)
}

// Committed is told about the commits of this process, in the order of seq per period.
func (x *Indexes) Committed(ref leaderboard.PeriodRef, c *leaderboard.Commit) {
	x.mu.Lock()
	var t *Tracker
	if sl := x.slots[ref.ID]; sl != nil {
		t = sl.tracker
	}
	x.mu.Unlock()
	if t == nil {
		return
	}
	switch err := t.fold(step{codec: rank.CodecOf(ref.Rules), commit: c}); {
	case err == nil:
		x.startMaintenance(t)
	case !isGap(err): // after a gap, another process has written too, the next reader reads the log
		x.Drop(t, err)
	}
}

// install puts a tracker into service and makes room for it.
func (x *Indexes) install(t *Tracker) {
	x.mu.Lock()
	defer x.mu.Unlock()
	sl := x.slotOf(t.ref.ID)
	sl.tracker, sl.invalid, sl.retryAt = t, false, time.Time{}
	t.used.Store(x.ticks.Add(1))
	for x.tooMany(t) {
	}
}

// tooMany removes the tracker that was not used for longest, if all of them together take too much memory, and says
// whether it did. It is called with mu held.
func (x *Indexes) tooMany(but *Tracker) bool {
	var oldest *slot
	bytes := int64(0)
	for _, sl := range x.slots {
		if sl.tracker == nil {
			continue
		}
		bytes += sl.tracker.bytes()
		if sl.tracker != but && (oldest == nil || sl.tracker.used.Load() < oldest.tracker.used.Load()) {
			oldest = sl
		}
	}
	if bytes <= x.cfg.Memory || oldest == nil {
		return false
	}
	t := oldest.tracker
	oldest.tracker = nil
	if !x.closed {
		x.work.Go(func() { x.saveQuietly(x.ctx, t) })
	}
	return true
}
