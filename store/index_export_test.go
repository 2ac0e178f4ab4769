package store

import (
	"context"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// IndexMark returns the state of the rank index of a period in memory and its number of buckets; false without an index.
func (s *Store) IndexMark(ref leaderboard.PeriodRef) (rank.State, int, bool) {
	return s.Indexes.Loaded(ref)
}

// SaveBuilds has builds of rank indexes save themselves after every bucket.
func (c *Config) SaveBuilds() { c.buildSlice, c.buildSave = 1, time.Nanosecond }

// SweepIndexes has the rank indexes follow the log, until over says that the time for that is over.
func (s *Store) SweepIndexes(ctx context.Context, over func() bool) (more bool, err error) {
	return s.Indexes.Sweep(ctx, over)
}

// Silence ends the heartbeats of a run of this process.
func (s *Store) Silence(run int64) { s.Runs.here.end(run) }
