package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// startLoad gets the index of a period in the background; without build only a saved one. It is called with mu held.
func (x *Indexes) startLoad(sl *slot, ref leaderboard.PeriodRef, build bool) {
	missing, invalid := x.missingIn(sl), sl.invalid
	sl.loading = true
	missing.try()
	x.work.Go(func() {
		err := x.open(ref, invalid, build, missing)
		x.mu.Lock()
		defer x.mu.Unlock()
		if sl.loading = false; err != nil {
			sl.retryAt = time.Now().Add(retryPause)
			if x.ctx.Err() == nil && !errors.Is(err, leaderboard.ErrPeriodNotFound) {
				x.db.Log.Warn("there is no rank index", "board", ref.Board, "period", ref.ID, "error", err)
			}
		}
		missing.end(sl.retryAt)
	})
}

// open loads the saved index, or builds one, with build.
func (x *Indexes) open(ref leaderboard.PeriodRef, invalid, build bool, missing *Missing) error {
	if !invalid {
		if t, err := x.load(x.ctx, ref); t != nil || err != nil {
			if t != nil {
				x.install(t)
			}
			return err
		}
	}
	if !build {
		return nil
	}
	missing.build()
	_, err := x.buildLocked(x.ctx, ref, BuildRequest{Reason: leaderboard.RunReasonDemand, Progress: missing.progress})
	return err
}

// load reads the saved index and folds the log into it. It returns nil without an error when only a build helps.
func (x *Indexes) load(ctx context.Context, ref leaderboard.PeriodRef) (*Tracker, error) {
	saved, err := x.saved.read(ctx, ref)
	if err != nil || saved == nil || !saved.whole {
		return nil, err
	}
	index, err := rank.Decode(saved.payload)
	if err != nil {
		return nil, nil //nolint:nilerr // damaged, of an older version, or a build under way: build looks at it
	}
	state, err := x.stateOf(ctx, x.db.Pool, ref)
	if err != nil {
		return nil, err
	}
	lag := state.Seq - index.At().Seq
	if lag > foldRatio*(state.Total+foldRatio*foldCommits) {
		return nil, nil // counting from scratch is quicker
	}
	t := newTracker(ref, index, max(0, lag))
	if lag < 0 {
		err = fmt.Errorf("%w: it is at seq %d, the period at %d", rank.ErrDiverged, index.At().Seq, state.Seq)
	} else {
		err = x.Reach(ctx, t, x.db.Pool, RankState(state))
	}
	if err != nil && IsUseless(err) {
		x.db.Log.InfoContext(ctx, "a saved rank index is not used", "board", ref.Board, "period", ref.ID, "reason", err)
		return nil, nil
	}
	return t, err
}

// stateOf reads the state of a period. Errors: ErrPeriodNotFound, also when the id is another period's since a restore.
func (x *Indexes) stateOf(ctx context.Context, q mysql.Querier, ref leaderboard.PeriodRef) (leaderboard.State, error) {
	state, err := entries.StateOf(ctx, x.db, q, ref.ID)
	if err == nil && state.Incarnation != ref.Incarnation {
		err = leaderboard.ErrPeriodNotFound
	}
	return state, err
}

// foldRatio is how many changes are folded in the time in which one entry is counted by a build, roughly and less.
const foldRatio = 2

// BuildRequest is a request to build an index.
type BuildRequest struct {
	Reason leaderboard.RunReason
	Actor  string
	// Progress is called from time to time with the entries counted so far, and the entries of the period. It may be nil.
	Progress func(counted, total int64)
}

// Build builds the rank index of a period of any size from scratch, puts it into service and saves it. It is a run like a
// refresh. It blocks until the index is saved or ctx ends; the next build continues an interrupted build. Errors:
// ErrPeriodNotFound, ErrUnavailable.
func (x *Indexes) Build(ctx context.Context, ref leaderboard.PeriodRef, b BuildRequest) (leaderboard.Run, error) {
	run, err := x.buildLocked(ctx, ref, b)
	return run, mysql.Translate(ctx, "build index", err)
}

// buildLocked makes an index under a lock that only saves work: a second process that builds the same one waits, and
// then takes what the first one saved.
func (x *Indexes) buildLocked(ctx context.Context, ref leaderboard.PeriodRef, b BuildRequest) (leaderboard.Run, error) {
	select {
	case x.builds <- struct{}{}:
		defer func() { <-x.builds }()
	case <-ctx.Done():
		return leaderboard.Run{}, ctx.Err()
	}
	for {
		got, err := x.lock(ctx, ref.ID)
		if err != nil {
			return leaderboard.Run{}, err
		}
		if got {
			break
		}
		if b.Reason != leaderboard.RunReasonDemand {
			continue // a requested index is built from scratch when the other build is ready
		}
		if t, err := x.load(ctx, ref); err != nil || t != nil {
			if t != nil {
				x.install(t)
			}
			return leaderboard.Run{}, err
		}
	}
	defer x.unlock(ctx, ref.ID)
	return x.buildAlone(ctx, ref, b)
}

func buildOf(periodID int64) mysql.Lock { return mysql.Lock{Kind: "index", ID: periodID} }

// lockPause is the time between two attempts to get the lock.
const lockPause = 200 * time.Millisecond

// lock waits up to a second for the lock.
func (x *Indexes) lock(ctx context.Context, periodID int64) (bool, error) {
	for range time.Second / lockPause {
		if got, err := x.db.Locks.Acquire(ctx, buildOf(periodID)); got || err != nil {
			return got, err
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return false, nil
}

// unlock gives the lock back, or drops the connection, which has the same effect.
func (x *Indexes) unlock(ctx context.Context, periodID int64) {
	if err := x.db.Locks.Release(context.WithoutCancel(ctx), buildOf(periodID)); err != nil {
		x.db.Log.DebugContext(ctx, "the lock of a build was lost", "period", periodID, "error", err)
	}
}

// birthMost is how many times Config.MinEntries a period may have when its index begins with one bucket. More entries are
// counted by a build, which does not lose its progress when the period changes.
const birthMost = 4

// begin gives a period that is worth it an index with the first commit of this process, before a reader asks. A young one
// has all entries in one bucket, which is exact and costs nothing; the bucket is split in the background like any other.
// For a larger period begin loads the saved index. Nothing is built: a period that nobody reads may have as many entries as
// it likes.
func (x *Indexes) begin(ref leaderboard.PeriodRef, c *leaderboard.Commit) {
	if !x.Wanted(c.EntryCount) {
		return
	}
	x.mu.Lock()
	sl := x.slotOf(ref.ID)
	if sl.written || sl.tracker != nil || sl.loading || x.closed {
		x.mu.Unlock()
		return
	}
	sl.written = true
	if c.EntryCount > birthMost*x.cfg.MinEntries {
		x.startLoad(sl, ref, false)
		x.mu.Unlock()
		return
	}
	x.mu.Unlock()
	t, err := x.young(ref, rank.StateOf(c))
	if err != nil {
		x.db.Log.Warn("a rank index is not begun", "board", ref.Board, "period", ref.ID, "error", err)
		return
	}
	x.install(t)
	x.startMaintenance(t)
}

// young returns a tracker with all entries of a period in one bucket, which nobody has read yet.
func (x *Indexes) young(ref leaderboard.PeriodRef, at rank.State) (*Tracker, error) {
	b := rank.NewBuilder(x.cfg.Target)
	if err := b.Append(at, "", at.Total); err != nil {
		return nil, err
	}
	index, err := b.Finish()
	if err != nil {
		return nil, err
	}
	t := newTracker(ref, index, at.Total)
	t.entries, t.unused = -1, maxHistory
	return t, nil
}

// install puts a tracker into service and makes room for it.
func (x *Indexes) install(t *Tracker) {
	x.mu.Lock()
	sl := x.slotOf(t.ref.ID)
	x.clear(sl)
	sl.tracker, sl.invalid, sl.retryAt = t, false, time.Time{}
	x.missingIn(sl).find()
	sl.missing = nil
	t.usedAt = x.ticks.Add(1)
	t.used.Store(t.usedAt)
	x.mu.Unlock()
	x.account(t)
}

// clear takes the tracker out of a slot. It is called with mu held.
func (x *Indexes) clear(sl *slot) {
	if !sl.leaving {
		x.bytes -= sl.bytes
	}
	sl.tracker, sl.bytes, sl.leaving = nil, 0, false
}

// account updates the memory of a tracker, and makes room: while the sum is too large, the tracker that was not used for
// longest leaves, but not this one.
func (x *Indexes) account(t *Tracker) {
	bytes := t.bytes()
	x.mu.Lock()
	defer x.mu.Unlock()
	sl := x.slots[t.ref.ID]
	if sl == nil || sl.tracker != t || sl.leaving {
		return
	}
	x.bytes += bytes - sl.bytes
	sl.bytes = bytes
	for x.bytes > x.cfg.Memory && !x.closed {
		oldest := x.oldest(sl)
		if oldest == nil {
			break
		}
		x.leave(oldest)
	}
	x.cfg.OnIndexes(x.bytes)
}

// oldest returns the slot of the tracker that was not used for longest, but not this one; or nil. It is called with mu
// held.
func (x *Indexes) oldest(but *slot) (oldest *slot) {
	for _, sl := range x.slots {
		if sl.tracker == nil || sl.leaving || sl == but {
			continue
		}
		if oldest == nil || sl.tracker.used.Load() < oldest.tracker.used.Load() {
			oldest = sl
		}
	}
	return oldest
}

// leave saves a tracker and drops it. It serves until it is saved. leave is called with mu held.
func (x *Indexes) leave(sl *slot) {
	t := sl.tracker
	x.bytes -= sl.bytes
	sl.leaving = true
	x.work.Go(func() {
		x.saveQuietly(x.ctx, t)
		x.mu.Lock()
		defer x.mu.Unlock()
		if sl.tracker == t && !x.closed {
			x.clear(sl)
		}
	})
}
