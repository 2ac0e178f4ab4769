package records

import (
	"context"
	"database/sql"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Activity counts the recorded submissions to a board hour by hour, in one state. It reads at most q.Records records, from
// the newest on. Errors: ErrUnavailable.
func (s *Store) Activity(ctx context.Context, q ActivityQuery) (Activity, error) {
	out, err := s.activity(ctx, q)
	return out, mysql.Translate(ctx, "activity", err)
}

func (s *Store) activity(ctx context.Context, q ActivityQuery) (out Activity, err error) {
	now, err := s.db.Clock(ctx)
	if err != nil {
		return out, err
	}
	tx, err := s.db.Snapshot(ctx)
	if err != nil {
		return out, err
	}
	defer func() { _ = tx.Rollback() }() // it only reads
	period, err := s.boards.PeriodAt(ctx, tx, q.BoardID, q.Window, now)
	if err != nil {
		return out, err
	}
	count, n := CountActivity(now, q.Hours, &period), 0
	add := func(r *SubmissionRecord) {
		if n++; n <= q.Records {
			count.Add(r)
		} else {
			count.Cut(r)
		}
	}
	if err := eachRecord(ctx, tx, s.db.Limited(recordsText(q.BoardID, ">=", count.Since(), q.Records+1)), add); err != nil {
		return out, err
	}
	err = eachRecord(ctx, tx, s.db.Limited(recordsText(q.BoardID, "<", count.Since(), 1)), count.Before)
	return count.Counted(), err
}

// eachRecord calls do with the records that a statement selects.
func eachRecord(ctx context.Context, tx *sql.Tx, query string, do func(*SubmissionRecord)) error {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			r      SubmissionRecord
			at     time.Time
			result sql.RawBytes
		)
		if err := rows.Scan(&at, &result); err != nil {
			return err
		}
		if err := readRecord(result, &r); err != nil {
			return err
		}
		r.At = leaderboard.MicrosOf(at)
		do(&r)
	}
	return rows.Err()
}

// recordsText selects the newest records of a board since a moment, or before it.
func recordsText(board int64, operator string, at leaderboard.Micros, limit int) string {
	t := (&mysql.Text{}).Str("SELECT recorded_at, result FROM submissions FORCE INDEX (PRIMARY) WHERE board_id = ").Int(board)
	return t.Str(" AND recorded_at " + operator + " ").Time(at).Str(" ORDER BY recorded_at DESC, id DESC LIMIT ").Int(int64(max(0, limit))).String()
}

// Race returns the recorded scores of members at moments since a period began. It looks up one record for each member and
// moment. Errors: ErrPeriodNotFound, ErrUnavailable.
func (s *Store) Race(ctx context.Context, q RaceQuery) (out Race, err error) {
	if len(q.Members) == 0 {
		return out, nil
	}
	err = s.alone(ctx, func(ctx context.Context) error {
		out, err = s.race(ctx, q)
		return err
	})
	return out, err
}

func (s *Store) race(ctx context.Context, q RaceQuery) (out Race, err error) {
	period, err := s.boards.Period(ctx, q.PeriodID)
	if err != nil {
		return out, err
	}
	var (
		oldest sql.NullTime
		clock  time.Time
	)
	if err := s.db.Pool.QueryRowContext(ctx, s.db.Limited(oldestText(s.db.Sysdate(), &period, q.Members))).Scan(&oldest, &clock); err != nil {
		return out, mysql.Translate(ctx, "race", err)
	}
	if !oldest.Valid {
		return out, nil
	}
	since, now := leaderboard.MicrosOf(oldest.Time), leaderboard.MicrosOf(clock)
	step := max(1, (now-since)/leaderboard.RaceMoments)
	for i := range leaderboard.Micros(leaderboard.RaceMoments - 1) {
		out.Moments = append(out.Moments, since+(i+1)*step)
	}
	out.Moments = append(out.Moments, max(now, since+leaderboard.RaceMoments*step))
	out.Scores, err = s.scoresAt(ctx, &period, q.Members, out.Moments)
	return out, mysql.Translate(ctx, "race", err)
}

// scoresAt returns the scores that members had at moments.
func (s *Store) scoresAt(ctx context.Context, p *leaderboard.Period, members []string, moments []leaderboard.Micros) ([][]*int64, error) {
	out := make([][]*int64, len(members))
	for i := range out {
		out[i] = make([]*int64, len(moments))
	}
	rows, err := s.db.Pool.QueryContext(ctx, s.db.Limited(scoresText(p, members, moments)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			r              SubmissionRecord
			member, moment int
			result         sql.RawBytes
		)
		if err := rows.Scan(&member, &moment, &result); err != nil {
			return nil, err
		}
		if err := readRecord(result, &r); err != nil {
			return nil, err
		}
		out[member][moment] = r.NewScore
	}
	return out, rows.Err()
}

// recordsOf begins the selection of a member's records of a period.
func recordsOf(t *mysql.Text, what string, p *leaderboard.Period, member string) *mysql.Text {
	t.Str("(SELECT " + what + " FROM submissions FORCE INDEX (submissions_member) WHERE member = ").Hex(member)
	return t.Str(" AND board_id = ").Int(p.BoardID).Str(" AND recorded_at >= ").Time(p.StartsAt)
}

// oldestText selects when the first record of members was made, and the time now.
func oldestText(now string, p *leaderboard.Period, members []string) string {
	t := (&mysql.Text{}).Str("SELECT MIN(recorded_at), " + now + " FROM (")
	for i, member := range members {
		if i > 0 {
			t.Str(" UNION ALL ")
		}
		recordsOf(t, "recorded_at", p, member).Str(" ORDER BY recorded_at, id LIMIT 1)")
	}
	return t.Str(") oldest").String()
}

// scoresText selects the last record of each member before or at each moment.
func scoresText(p *leaderboard.Period, members []string, moments []leaderboard.Micros) string {
	t := (&mysql.Text{}).Str("SELECT member_at, moment_at, result FROM (")
	for i, member := range members {
		for j, at := range moments {
			if i+j > 0 {
				t.Str(" UNION ALL ")
			}
			what := (&mysql.Text{}).Int(int64(i)).Str(" AS member_at, ").Int(int64(j)).Str(" AS moment_at, result").String()
			recordsOf(t, what, p, member).Str(" AND recorded_at <= ").Time(at).Str(" ORDER BY recorded_at DESC, id DESC LIMIT 1)")
		}
	}
	return t.Str(") latest").String()
}
