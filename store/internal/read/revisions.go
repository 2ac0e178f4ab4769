package read

import (
	"context"
	"slices"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Revisions implements feed.Source: it returns the revisions of the periods and boards that exist and of watchedTables, and the
// clock. It reads by primary key, on a separate connection. A read-only server does not count: ErrUnavailable.
func (s *Reader) Revisions(ctx context.Context, periods []int64) (map[int64]leaderboard.Revision, error) {
	found := make(map[int64]leaderboard.Revision, len(periods))
	for id := range watchedTables() {
		if slices.Contains(periods, id) {
			found[id] = leaderboard.Revision{} // its table never changed
		}
	}
	if len(periods) == 0 {
		return found, nil
	}
	rows, err := s.db.Watch.QueryContext(ctx, s.db.Limited(revisionsText(s.db.Sysdate(), periods)))
	if err != nil {
		return nil, mysql.Translate(ctx, "revisions", err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			id       int64
			r        leaderboard.Revision
			at       time.Time
			settings string
		)
		if err := rows.Scan(&id, &r.Incarnation, &r.Seq, &at, &settings); err != nil {
			return nil, mysql.Translate(ctx, "revisions", err)
		}
		if id == leaderboard.ClockPeriod {
			if err := s.db.Refuse(settings); err != nil {
				return nil, mysql.Translate(ctx, "revisions", err)
			}
		}
		r.AsOf = leaderboard.MicrosOf(at)
		found[id] = r
	}
	if err := rows.Err(); err != nil {
		return nil, mysql.Translate(ctx, "revisions", err)
	}
	return found, nil
}

// watchedTables are the tables whose versions the feed reads, by the ids that stand for them among the periods.
func watchedTables() map[int64]string {
	return map[int64]string{leaderboard.KeysPeriod: "api_keys", leaderboard.BoardsPeriod: "boards", leaderboard.TokensPeriod: "tokens"}
}

func revisionsText(clock string, periods []int64) string {
	t := (&mysql.Text{}).Str("SELECT ").Int(leaderboard.ClockPeriod).Str(" AS id, 0 AS incarnation, 0 AS last_seq, " + clock + " AS committed_at, " + mysql.ServerSettings + " AS settings")
	var boards, rows []int64
	for _, id := range periods {
		if board, ok := leaderboard.BoardOf(id); ok {
			boards = append(boards, board)
		} else {
			rows = append(rows, id)
		}
	}
	if rows != nil {
		t.Str(" UNION ALL SELECT id, incarnation, last_seq, committed_at, '' FROM periods WHERE id IN (").Ints(rows).Str(")")
	}
	if boards != nil {
		t.Str(" UNION ALL SELECT id + ").Int(leaderboard.BoardPeriod(0)).Str(", 0, version, updated_at, '' FROM boards WHERE state = 'open' AND id IN (").Ints(boards).Str(")")
	}
	for id, table := range watchedTables() {
		if slices.Contains(periods, id) {
			t.Str(" UNION ALL SELECT ").Int(id).Str(", 0, version, changed_at, '' FROM table_versions WHERE name = ").Hex(table)
		}
	}
	return t.String()
}
