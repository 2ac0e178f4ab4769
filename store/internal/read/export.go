package read

import (
	"context"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// snapshotChunk is how many entries one statement of a snapshot reads.
const snapshotChunk = 1000

// Snapshot reads the best entries of a period, at most limit, in one state: begin gets the state first, then rows gets
// the sort keys in order, in chunks of at most 1000. An error of either ends the snapshot and is returned as it is. The
// snapshot holds a connection and, on the server, old row versions: begin and rows should not dally.
func (s *Reader) Snapshot(ctx context.Context, ref leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error {
	var callback error
	err := s.view(ctx, view{reader: s, ref: ref, codec: rank.CodecOf(ref.Rules)}, func(v *view) error {
		if callback = begin(v.state); callback != nil {
			return callback
		}
		from := entries.Beginning()
		for limit > 0 {
			n := min(limit, snapshotChunk)
			part := entries.Scan{Range: entries.Range{From: from, To: entries.End()}, Limit: n}
			keys, err := part.Keys(ctx, v.reader.db, v.q, v.ref.ID)
			if err != nil {
				return err
			}
			if len(keys) == 0 {
				return nil
			}
			if from, err = entries.KeyBound(keys[len(keys)-1], true); err != nil {
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

// Changes reads the change log: at most limit commits after the state at fromSeq, in order, none when there are none
// yet. Errors: ErrPeriodNotFound; ErrLogPruned when the log does not hold the commit that starts at fromSeq though the
// period is ahead of it.
func (s *Reader) Changes(ctx context.Context, periodID, fromSeq int64, limit int) ([]leaderboard.Commit, error) {
	commits, err := entries.ReadLog(ctx, s.db, s.db, periodID, fromSeq, limit, entries.DecodeChanges)
	if err != nil {
		return nil, db.Translate(ctx, "changes", err)
	}
	return commits, nil
}
