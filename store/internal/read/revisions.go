package read

import (
	"context"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// Revisions returns the revisions of those of the periods that exist, by primary key and on a connection of its own. It
// implements watch.Source.
func (s *Reader) Revisions(ctx context.Context, periods []int64) (map[int64]leaderboard.Revision, error) {
	found := make(map[int64]leaderboard.Revision, len(periods))
	if len(periods) == 0 {
		return found, nil
	}
	rows, err := s.db.Watch.QueryContext(ctx, s.db.Limited(revisionsText(periods)))
	if err != nil {
		return nil, db.Translate(ctx, "revisions", err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			id int64
			r  leaderboard.Revision
			at time.Time
		)
		if err := rows.Scan(&id, &r.History, &r.Seq, &at); err != nil {
			return nil, db.Translate(ctx, "revisions", err)
		}
		r.AsOf = leaderboard.MicrosOf(at)
		found[id] = r
	}
	if err := rows.Err(); err != nil {
		return nil, db.Translate(ctx, "revisions", err)
	}
	return found, nil
}

func revisionsText(periods []int64) string {
	t := (&db.Text{}).Str("SELECT id, history, last_seq, committed_at FROM periods WHERE id IN (")
	for i, id := range periods {
		t.Comma(i).Int(id)
	}
	return t.Str(")").String()
}
