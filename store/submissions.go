package store

import (
	"context"
	"database/sql"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/internal/stored"
	"leaderboard/leaderboard"
)

// Submissions returns the recorded submissions of a member to a board, newest first. Errors: ErrUnavailable.
func (s *Records) Submissions(ctx context.Context, q leaderboard.SubmissionsQuery) ([]leaderboard.SubmissionRecord, error) {
	rows, err := s.db.Pool.QueryContext(ctx, s.db.Limited(submissionsText(q)))
	if err != nil {
		return nil, mysql.Translate(ctx, "submissions", err)
	}
	defer rows.Close()
	var out []leaderboard.SubmissionRecord
	for rows.Next() {
		var (
			r               = leaderboard.SubmissionRecord{Member: q.Member}
			at              time.Time
			request, result sql.RawBytes
		)
		if err := rows.Scan(&at, &r.ID, &r.Actor, &request, &result); err != nil {
			return nil, mysql.Translate(ctx, "submissions", err)
		}
		if err := stored.ReadRecord(result, &r); err != nil {
			return nil, err
		}
		r.At, r.RequestID = leaderboard.MicrosOf(at), stored.RequestID(request)
		out = append(out, r)
	}
	return out, mysql.Translate(ctx, "submissions", rows.Err())
}

func submissionsText(q leaderboard.SubmissionsQuery) string {
	t := (&mysql.Text{}).Str("SELECT recorded_at, id, actor, request_id, result")
	t.Str(" FROM submissions FORCE INDEX (submissions_member) WHERE member = ").Hex(q.Member).Str(" AND board_id = ").Int(q.BoardID)
	if q.Before > 0 {
		t.Str(" AND (recorded_at < ").Time(q.Before).Str(" OR recorded_at = ").Time(q.Before).Str(" AND id < ").Int(q.BeforeID).Str(")")
	}
	return t.Str(" ORDER BY recorded_at DESC, id DESC LIMIT ").Int(int64(max(0, q.Limit))).String()
}
