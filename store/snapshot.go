package store

import (
	"context"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// snapshotChunk is how many entries one statement of a snapshot reads.
const snapshotChunk = 1000

// Snapshot reads the best entries of a period, at most limit, in one state: begin gets the state first, then rows gets
// the sort keys in order, in chunks of at most 1000. An error of either ends the snapshot and is returned as it is. The
// snapshot holds a connection and, on the server, old row versions: begin and rows should not dally.
func (s *Store) Snapshot(ctx context.Context, ref leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error {
	var callback error
	err := s.view(ctx, view{store: s, ref: ref, codec: rank.CodecOf(ref.Rules)}, func(v *view) error {
		if callback = begin(v.state); callback != nil {
			return callback
		}
		from := beginning()
		for limit > 0 {
			n := min(limit, snapshotChunk)
			keys, err := v.keys(ctx, scan{iv: interval{from, end()}, limit: n})
			if err != nil {
				return err
			}
			if len(keys) == 0 {
				return nil
			}
			if from, err = keyCut(keys[len(keys)-1], true); err != nil {
				return err
			}
			short := len(keys) < n
			limit -= len(keys)
			if callback = rows(keys); callback != nil || short {
				return callback
			}
		}
		return nil
	})
	if callback != nil {
		return callback
	}
	return db.Translate(ctx, "snapshot", err)
}
