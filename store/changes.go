package store

import (
	"context"
	"database/sql"
	"fmt"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// Changes reads the change log: at most limit commits behind the state at fromSeq, in order, none when there are none
// yet. Errors: ErrPeriodNotFound; ErrLogPruned when the log does not hold the commit that starts at fromSeq though the
// period is ahead of it.
func (s *Store) Changes(ctx context.Context, periodID, fromSeq int64, limit int) ([]leaderboard.Commit, error) {
	commits, err := s.logOf(ctx, s.db, periodID, fromSeq, limit, decodeChanges)
	if err != nil {
		return nil, db.Translate(ctx, "changes", err)
	}
	return commits, nil
}

// decoder reads the payload of a row of the log.
type decoder func(payload []byte, firstSeq, lastSeq int64) ([]leaderboard.Change, error)

func (s *Store) logOf(ctx context.Context, q db.Querier, periodID, fromSeq int64, limit int, decode decoder) ([]leaderboard.Commit, error) {
	rows, err := q.QueryContext(ctx, s.db.Limited("SELECT p.last_seq, c.first_seq, c.last_seq, c.prev_committed_at,"+
		" c.committed_at, c.entry_count, c.payload FROM periods p LEFT JOIN changes c ON c.period_id = p.id AND c.last_seq > ?"+
		" WHERE p.id = ? AND p.state <> 'deleting' ORDER BY c.last_seq LIMIT ?"), fromSeq, periodID, max(1, limit))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var commits []leaderboard.Commit
	seq, found := int64(0), false
	for rows.Next() {
		var (
			first, last, count sql.NullInt64
			prev, committed    sql.NullTime
			payload            []byte
		)
		if err := rows.Scan(&seq, &first, &last, &prev, &committed, &count, &payload); err != nil {
			return nil, err
		}
		found = true
		if !last.Valid {
			break
		}
		c := leaderboard.Commit{
			PeriodID: periodID, FirstSeq: first.Int64, LastSeq: last.Int64,
			PrevCommittedAt: leaderboard.MicrosOf(prev.Time), CommittedAt: leaderboard.MicrosOf(committed.Time), EntryCount: count.Int64,
		}
		if c.Changes, err = decode(payload, c.FirstSeq, c.LastSeq); err != nil {
			return nil, fmt.Errorf("period %d, commit %d: %w", periodID, c.LastSeq, err)
		}
		commits = append(commits, c)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if !found {
		return nil, leaderboard.ErrPeriodNotFound
	}
	if (len(commits) == 0 && seq > fromSeq) || (len(commits) > 0 && commits[0].FromSeq() != fromSeq) {
		return nil, fmt.Errorf("%w: nothing starts at %d, the period is at %d", leaderboard.ErrLogPruned, fromSeq, seq)
	}
	return commits, nil
}
