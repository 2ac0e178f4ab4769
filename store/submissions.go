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

// submittedTo lists the boards with recorded submissions of a member: one step in the index for each board.
const submittedTo = "SELECT b.id AS board_id, b.name FROM boards b FORCE INDEX (PRIMARY) WHERE b.state = 'open' AND b.id > ?" +
	" AND EXISTS (SELECT 1 FROM submissions s FORCE INDEX (submissions_member) WHERE s.member = ? AND s.board_id = b.id) ORDER BY b.id LIMIT ?"

// data tells the recorded submissions of a member, by board.
func (s *Records) data(ctx context.Context, member string, tell func(leaderboard.MemberRecord) error) error {
	boardsOf := func(after int64) ([]boardVersion, error) {
		var list []boardVersion
		err := s.db.Pool.SelectContext(ctx, &list, s.db.Limited(submittedTo), after, []byte(member), DataPage)
		return list, mysql.Translate(ctx, "member data", err)
	}
	return InPages(boardsOf, func(b *boardVersion) (int64, error) {
		records := func(after leaderboard.SubmissionsQuery) ([]leaderboard.SubmissionRecord, error) {
			after.BoardID, after.Member, after.Limit = b.ID, member, DataPage
			return s.Submissions(ctx, after)
		}
		return b.ID, InPages(records, func(r *leaderboard.SubmissionRecord) (leaderboard.SubmissionsQuery, error) {
			next := leaderboard.SubmissionsQuery{Before: r.At, BeforeID: r.ID}
			return next, tell(leaderboard.MemberRecord{Submission: &leaderboard.MemberSubmission{SubmissionRecord: *r, Board: string(b.Name)}})
		})
	})
}

// forget gives a member who is erased another name in the recorded submissions.
func (s *Records) forget(ctx context.Context, member, alias []byte, steps Steps) error {
	return steps(ctx, "UPDATE submissions FORCE INDEX (submissions_member) SET member = ?, request_id = '' WHERE member = ? LIMIT ?", alias, member)
}
