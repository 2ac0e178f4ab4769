package index

import (
	"sync"
	"time"
)

// Missing is the index that a period lacks: it is being loaded or built, or that failed and is tried
// again. The value stays the same until the index exists. All methods may be called concurrently.
type Missing struct {
	mu      sync.Mutex // guards the fields below
	entries int64      // of the period
	tried   chan struct{}
	loads   time.Time // start of loading the saved index; zero once that is over
	again   time.Time // when it is tried again after a failure
	began   time.Time // when the first progress was reported
	first   int64     // entries counted by then
	counted int64
	updated time.Time // when counted was
	found   bool      // there is an index
}

// perEntry is how long a build takes for an entry, before its own pace is known.
const perEntry = 2 * time.Microsecond

// loadWait is the time that loading a saved index may take before the period is scanned meanwhile.
const loadWait = 500 * time.Millisecond

// Loads returns until when a saved index may come, which takes little time: in the past when a build was found to be needed.
func (m *Missing) Loads() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loads.IsZero() {
		return m.loads
	}
	return m.loads.Add(loadWait)
}

// Tried returns a channel that is closed when the attempt under way has ended, or continues as a build; nil without an
// attempt.
func (m *Missing) Tried() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tried
}

// Entries returns how many entries the period had when it was last asked about.
func (m *Missing) Entries() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries
}

// Found reports whether the index exists now.
func (m *Missing) Found() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.found
}

// Left returns about how long it takes until the index exists, estimated from the progress and its time.
func (m *Missing) Left(now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	pause := max(0, m.again.Sub(now))
	done := m.counted - m.first
	if m.tried == nil || done <= 0 {
		return pause + time.Duration(m.entries)*perEntry
	}
	each := float64(m.updated.Sub(m.began)) / float64(done)
	return max(0, time.Duration(each*float64(m.entries-m.counted))-now.Sub(m.updated))
}

// progress notes how far a build is, and how many entries the period has.
func (m *Missing) progress(counted, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counted, m.updated = counted, time.Now()
	m.entries = max(m.entries, total)
	if m.began.IsZero() {
		m.began, m.first = m.updated, counted
	}
}

func (m *Missing) setEntries(entries int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = entries
}

// try begins an attempt, which loads the saved index.
func (m *Missing) try() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tried, m.loads = make(chan struct{}), time.Now()
}

// build begins the second part of an attempt.
func (m *Missing) build() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.tried)
	m.tried, m.loads = make(chan struct{}), time.Time{}
	m.began, m.counted, m.first = time.Time{}, 0, 0
}

// end ends the attempt, if any is under way. again is the earliest time of the next attempt.
func (m *Missing) end(again time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tried != nil {
		close(m.tried)
	}
	m.tried, m.loads, m.again = nil, time.Time{}, again
}

// find ends the attempt with an index.
func (m *Missing) find() {
	m.end(time.Time{})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found = true
}
