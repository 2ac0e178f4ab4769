package store

import (
	"context"
	"database/sql"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// Submissions returns what is recorded of a member's submissions to a board, newest first. Errors: ErrUnavailable.
func (s *Store) Submissions(ctx context.Context, q leaderboard.SubmissionsQuery) ([]leaderboard.SubmissionRecord, error) {
	rows, err := s.db.QueryContext(ctx, s.db.Limited(submissionsText(q)))
	if err != nil {
		return nil, db.Translate(ctx, "submissions", err)
	}
	defer rows.Close()
	var out []leaderboard.SubmissionRecord
	for rows.Next() {
		var (
			r                            = leaderboard.SubmissionRecord{Member: q.Member}
			at                           time.Time
			tiebreak, previous, newScore sql.NullInt64
		)
		if err := rows.Scan(&at, &r.ID, &r.Status, &r.Score, &tiebreak, &previous, &newScore, &r.Seq, &r.Code, &r.Detail, &r.Actor, &r.RequestID); err != nil {
			return nil, db.Translate(ctx, "submissions", err)
		}
		r.At = leaderboard.MicrosOf(at)
		r.Tiebreak, r.Previous, r.NewScore = given(tiebreak), given(previous), given(newScore)
		out = append(out, r)
	}
	return out, db.Translate(ctx, "submissions", rows.Err())
}

// given returns nil for NULL.
func given(v sql.NullInt64) *int64 {
	if !v.Valid {
		return nil
	}
	return &v.Int64
}

func submissionsText(q leaderboard.SubmissionsQuery) string {
	t := (&db.Text{}).Str("SELECT recorded_at, id, status, score, tiebreak, previous_score, new_score, seq, code, detail, actor, request_id")
	t.Str(" FROM submissions FORCE INDEX (submissions_member) WHERE member = ").Hex(q.Member).Str(" AND board_id = ").Int(q.BoardID)
	if q.Before > 0 {
		t.Str(" AND (recorded_at < ").Time(q.Before).Str(" OR recorded_at = ").Time(q.Before).Str(" AND id < ").Int(q.BeforeID).Str(")")
	}
	return t.Str(" ORDER BY recorded_at DESC, id DESC LIMIT ").Int(int64(max(0, q.Limit))).String()
}
