package records

import (
	"context"
	"database/sql"
	"time"

	"leaderboard/api"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// Store is the submissions to boards that record them. All methods may be called concurrently.
type Store struct {
	db     *mysql.DB
	boards *store.Boards
	alone  func(ctx context.Context, ask func(context.Context) error) error
}

// NewStore returns the recorded submissions of a database, and of its boards. alone runs a question to the database in a separate slot.
func NewStore(db *mysql.DB, boards *store.Boards, alone func(ctx context.Context, ask func(context.Context) error) error) *Store {
	return &Store{db, boards, alone}
}

// Submissions returns the recorded submissions of a member to a board, newest first. Errors: ErrUnavailable.
func (s *Store) Submissions(ctx context.Context, q SubmissionsQuery) ([]SubmissionRecord, error) {
	rows, err := s.db.Pool.QueryContext(ctx, s.db.Limited(submissionsText(q)))
	if err != nil {
		return nil, mysql.Translate(ctx, "submissions", err)
	}
	defer rows.Close()
	var out []SubmissionRecord
	for rows.Next() {
		var (
			r               = SubmissionRecord{Member: q.Member}
			at              time.Time
			request, result sql.RawBytes
		)
		if err := rows.Scan(&at, &r.ID, &r.Actor, &request, &result); err != nil {
			return nil, mysql.Translate(ctx, "submissions", err)
		}
		if err := readRecord(result, &r); err != nil {
			return nil, err
		}
		r.At, r.RequestID = leaderboard.MicrosOf(at), requestIDOf(request)
		out = append(out, r)
	}
	return out, mysql.Translate(ctx, "submissions", rows.Err())
}

func submissionsText(q SubmissionsQuery) string {
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

// recordedBoard is a board with records.
type recordedBoard struct {
	ID   int64  `db:"board_id"`
	Name []byte `db:"name"`
}

// data lists the recorded submissions of a member, by board.
func (s *Store) data(ctx context.Context, member string, tell func(any) error) error {
	boardsOf := func(after int64) ([]recordedBoard, error) {
		var list []recordedBoard
		err := s.db.Pool.SelectContext(ctx, &list, s.db.Limited(submittedTo), after, []byte(member), store.DataPage)
		return list, mysql.Translate(ctx, "member data", err)
	}
	return store.InPages(boardsOf, func(b *recordedBoard) (int64, error) {
		records := func(after SubmissionsQuery) ([]SubmissionRecord, error) {
			after.BoardID, after.Member, after.Limit = b.ID, member, store.DataPage
			return s.Submissions(ctx, after)
		}
		return b.ID, store.InPages(records, func(r *SubmissionRecord) (SubmissionsQuery, error) {
			next := SubmissionsQuery{Before: r.At, BeforeID: r.ID}
			return next, tell(api.MemberDataSubmission{Board: string(b.Name), SubmissionRecord: showSubmission(r)})
		})
	})
}

// forget gives a member who is erased another name in the recorded submissions.
func (s *Store) forget(ctx context.Context, member, alias []byte, steps store.Steps) error {
	return steps(ctx, "UPDATE submissions FORCE INDEX (submissions_member) SET member = ?, request_id = '' WHERE member = ? LIMIT ?", alias, member)
}
