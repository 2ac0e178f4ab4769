package read

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Snapshot reads the best entries of a period, at most limit, in one state: begin gets the state first, then rows gets the
// sort keys in order, in parts of at most 1000. An error of either ends the snapshot and is returned unchanged. The
// snapshot holds a connection and, on the server, old row versions: begin and rows should be quick.
func (s *Reader) Snapshot(ctx context.Context, ref leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error {
	whole := entries.Snapshot{DB: s.db, Open: s.db.Snapshot, Period: &ref, Limit: limit}
	return whole.Read(ctx, begin, func(keys []rank.Key, _ []string) error { return rows(keys) })
}

// Changes reads the change log: at most limit commits after the state at fromSeq, in order. Errors: ErrPeriodNotFound;
// ErrLogPruned when the log does not have the commit that starts at fromSeq though the period is ahead of it.
func (s *Reader) Changes(ctx context.Context, periodID, fromSeq int64, limit int) ([]leaderboard.Commit, error) {
	commits, err := entries.ReadLog(ctx, s.db, s.db.Pool, periodID, fromSeq, limit, entries.DecodeChanges)
	if err != nil {
		return nil, mysql.Translate(ctx, "changes", err)
	}
	return commits, nil
}

// CommitsSince reads the change logs of many periods, each given once, in as few statements as possible: for each period
// the commits after a revision with at most a number of changes, but at least one commit. The Err of a part:
// ErrPeriodNotFound; ErrLogPruned as for Changes; rank.ErrDiverged when the period never had the revision, because the
// database was restored from a backup. The state at seq 0 matches whatever time is given for it. The error is about all
// parts: ErrUnavailable or ErrOverloaded.
func (s *Reader) CommitsSince(ctx context.Context, from []leaderboard.PeriodRevision, changes int) (map[int64]leaderboard.LogPart, error) {
	parts := make(map[int64]leaderboard.LogPart, len(from))
	for chunk := range slices.Chunk(from, mysql.MaxRows) {
		places := make([]entries.LogPosition, len(chunk))
		for i, r := range chunk {
			places[i] = entries.LogPosition{PeriodID: r.PeriodID, Seq: r.Seq}
		}
		read, err := entries.ReadLogs(ctx, s.db, s.db.Pool, places, changes, entries.DecodeChanges)
		if err != nil {
			return nil, mysql.Translate(ctx, "changes of several periods", err)
		}
		for _, r := range chunk {
			parts[r.PeriodID] = held(r.Revision, read[r.PeriodID])
		}
	}
	return parts, nil
}

// ChangesAfter reads the change log of one period: CommitsSince with the errors of a feed. Errors: ErrPeriodNotFound;
// ErrIncarnationChanged when the period never had the revision; ErrFeedPruned; ErrUnavailable.
func (s *Reader) ChangesAfter(ctx context.Context, from leaderboard.PeriodRevision, changes int) (leaderboard.LogPart, error) {
	parts, err := s.CommitsSince(ctx, []leaderboard.PeriodRevision{from}, changes)
	if err != nil {
		return leaderboard.LogPart{}, err
	}
	part := parts[from.PeriodID]
	switch {
	case errors.Is(part.Err, rank.ErrDiverged):
		part.Err = fmt.Errorf("%w: at seq %d of %d", leaderboard.ErrIncarnationChanged, from.Seq, part.At.Seq)
	case errors.Is(part.Err, leaderboard.ErrLogPruned):
		part.Err = fmt.Errorf("%w: at seq %d of %d", leaderboard.ErrFeedPruned, from.Seq, part.At.Seq)
	}
	return part, part.Err
}

// held returns a part of a log, or an error when it does not follow the revision.
func held(from leaderboard.Revision, part leaderboard.LogPart) leaderboard.LogPart {
	start := part.At
	if len(part.Commits) > 0 {
		start = part.Commits[0].From()
	}
	if from.Seq == 0 && start.Seq == 0 {
		from.AsOf = start.AsOf
	}
	if part.Err == nil && start != from {
		return leaderboard.LogPart{At: part.At, Closed: part.Closed, Err: fmt.Errorf("%w at seq %d", rank.ErrDiverged, from.Seq)}
	}
	return part
}
