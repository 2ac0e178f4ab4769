package store

import "leaderboard/rank"

// IndexMark is the state of the rank index of a period in memory and its number of buckets; false without one.
func (s *Store) IndexMark(periodID int64) (rank.Mark, int, bool) {
	t := s.indexes.ready(periodID)
	if t == nil {
		return rank.Mark{}, 0, false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.index.At(), t.index.Len(), true
}

// Reads counts the answers put together from single statements, those that took a transaction, those of them that were
// counted by scanning, and attempts in vain.
func (s *Store) Reads() (single, snapshot, scanned, moved int64) {
	r := &s.indexes.reads
	return r.single.Load(), r.snapshot.Load(), r.scanned.Load(), r.moved.Load()
}

// SaveBuilds makes builds of rank indexes save themselves after every bucket. It is to be called before any work.
func (s *Store) SaveBuilds() { s.indexes.saveBuilds, s.indexes.buildSlice = 0, 1 }

// TakeScans takes all turns to scan until release is called.
func (s *Store) TakeScans() (release func()) {
	for range cap(s.indexes.scans) {
		s.indexes.scans <- struct{}{}
	}
	return func() {
		for range cap(s.indexes.scans) {
			<-s.indexes.scans
		}
	}
}
