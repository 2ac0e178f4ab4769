package residency

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/cache/resident"
	"leaderboard/rank"
)

// maxWaiting is how many changes wait to be folded into a period; with more they are read from the log instead.
const maxWaiting = 50_000

// tenant is a period that is read: in memory, or maybe to come there.
type tenant struct {
	id     int64
	ref    atomic.Pointer[leaderboard.PeriodRef] // as it was asked for last
	reads  atomic.Int64                          // by weight, since heat was reckoned
	period atomic.Pointer[resident.Period]       // nil while it is not in memory

	// The fields of the goroutine that chooses.
	heat   float64
	read   time.Time // last, as far as known
	loaded time.Time
	failed time.Time // when it could not be loaded

	mu      sync.Mutex
	bytes   int64 // that it takes, or was found to need
	loading bool
	waiting []leaderboard.Commit // to be folded
	changes int                  // in them
	coming  int64                // seq that the last of them leads to
	behind  bool                 // the log has more than is waiting, or may have
	moved   chan struct{}        // closed when the period has changed, nil while nobody waits for that
}

// candidate returns what is known of the tenant for choose, and cools it by the time that has passed.
func (t *tenant) candidate(now time.Time, passed time.Duration) candidate {
	reads := t.reads.Swap(0)
	if t.heat = cooled(t.heat, passed) + float64(reads); reads > 0 {
		t.read = now
	}
	ref, p := t.ref.Load(), t.period.Load()
	t.mu.Lock()
	defer t.mu.Unlock()
	if p != nil {
		t.bytes = p.Bytes()
	}
	return candidate{
		id: t.id, heat: t.heat, bytes: t.bytes, resident: p != nil, loaded: t.loaded, read: t.read,
		pinned: ref.Rules.Resident == leaderboard.ResidentAlways && !ref.Closed,
		unfit:  ref.Rules.Resident == leaderboard.ResidentNever || t.loading || p == nil && now.Sub(t.failed) < failedRest,
	}
}

// follows says whether commits are collected for the period.
func (t *tenant) follows() bool { return t.loading || t.period.Load() != nil }

// add takes commits that are to be folded, in any order, and says whether somebody has to do something about it.
func (t *tenant) add(commits ...leaderboard.Commit) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.follows() || len(commits) == 0 {
		return false
	}
	for i := range commits {
		t.changes += len(commits[i].Changes)
		t.coming = max(t.coming, commits[i].LastSeq)
	}
	if t.waiting = append(t.waiting, commits...); t.changes > maxWaiting {
		t.waiting, t.changes, t.coming, t.behind = nil, 0, 0, true
	}
	return true
}

// shown takes down what the watch has shown, and says whether the log has to be read for it.
func (t *tenant) shown(r leaderboard.Revision) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.period.Load()
	if p == nil || p.At().History == r.History && (t.coming >= r.Seq || p.At().Seq >= r.Seq) {
		return false
	}
	t.behind = true
	return true
}

// fold folds what waits. With a gap in it, or with more in the log, the tenant is behind. An error says that the period
// is of no more use.
func (t *tenant) fold() (behind bool, err error) {
	p, commits := t.take()
	if p == nil {
		return false, nil
	}
	slices.SortFunc(commits, func(a, b leaderboard.Commit) int { return cmp.Compare(a.LastSeq, b.LastSeq) })
	folded := 0
	for folded < len(commits) && err == nil {
		if err = p.Fold(&commits[folded]); err == nil {
			folded++
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if errors.Is(err, rank.ErrGap) {
		err = nil
		t.behind = true
		for _, c := range commits[folded:] {
			t.waiting, t.changes, t.coming = append(t.waiting, c), t.changes+len(c.Changes), max(t.coming, c.LastSeq)
		}
	}
	if t.moved != nil && folded > 0 {
		close(t.moved)
		t.moved = nil
	}
	return t.behind, err
}

// take removes and returns what waits, unless there is nothing yet to fold it into.
func (t *tenant) take() (*resident.Period, []leaderboard.Commit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.period.Load()
	if p == nil {
		return nil, nil
	}
	commits := t.waiting
	t.waiting, t.changes, t.coming = nil, 0, 0
	return p, commits
}

// next returns a channel that is closed when the period has changed.
func (t *tenant) next() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.moved == nil {
		t.moved = make(chan struct{})
	}
	return t.moved
}

// begin has commits collected from now on, for a period that is being loaded.
func (t *tenant) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loading = true
	t.waiting, t.changes, t.coming, t.behind = nil, 0, 0, false
}

// end ends the loading: p is the period, or nil when it failed.
func (t *tenant) end(p *resident.Period) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loading = false
	if p == nil {
		t.waiting, t.changes, t.coming = nil, 0, 0
		return
	}
	t.bytes = p.Bytes()
	t.period.Store(p)
}

// leave gives up the memory of the period, if it is still this one.
func (t *tenant) leave(p *resident.Period) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p == nil || !t.period.CompareAndSwap(p, nil) {
		return false
	}
	t.waiting, t.changes, t.coming, t.behind = nil, 0, 0, false
	if t.moved != nil {
		close(t.moved)
		t.moved = nil
	}
	return true
}
