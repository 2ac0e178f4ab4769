package residency

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/cache/resident"
	"leaderboard/rank"
)

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
	heard   leaderboard.Revision // the newest that a commit or the feed has told of
	moved   chan struct{}        // closed when the period has changed, nil while no reader waits for that
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

// hear takes down that the period has come to a revision, and reports whether what is in memory lacks commits.
func (t *tenant) hear(r leaderboard.Revision) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heard.Incarnation != r.Incarnation || t.heard.Seq < r.Seq {
		t.heard = r
	}
	return t.lacks()
}

// shown takes down what the database was at, which after a restore is less than it had come to, and reports as hear does.
func (t *tenant) shown(r leaderboard.Revision) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = r
	return t.lacks()
}

// lacks reports whether what is in memory lacks commits. It is called with mu held.
func (t *tenant) lacks() bool {
	p := t.period.Load()
	if p == nil || t.heard == (leaderboard.Revision{}) {
		return false
	}
	at := p.At().Revision
	return t.heard.Incarnation != at.Incarnation || t.heard.Seq > at.Seq
}

// fold folds commits, in order, as far as they lead on from the state in memory, and reports whether it still lacks some. An
// error says that the period is of no more use.
func (t *tenant) fold(p *resident.Period, commits []leaderboard.Commit) (lacks bool, err error) {
	for i := range commits {
		if err = p.Fold(&commits[i]); err != nil {
			break
		}
	}
	if errors.Is(err, rank.ErrGap) {
		err = nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.moved != nil && len(commits) > 0 {
		close(t.moved)
		t.moved = nil
	}
	return t.lacks(), err
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

// begin takes down that the period is being loaded.
func (t *tenant) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.loading = true
}

// end ends the loading: p is the period, or nil when it failed.
func (t *tenant) end(p *resident.Period) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loading = false; p != nil {
		t.bytes = p.Bytes()
		t.period.Store(p)
	}
}

// leave gives up the memory of the period, if it is still this one.
func (t *tenant) leave(p *resident.Period) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p == nil || !t.period.CompareAndSwap(p, nil) {
		return false
	}
	if t.moved != nil {
		close(t.moved)
		t.moved = nil
	}
	return true
}
