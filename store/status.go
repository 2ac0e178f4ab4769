package store

import (
	"context"

	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// FirstPeriods returns the current period of each board's first window, for BoardHealth. It begins no period, and takes one
// statement for all boards, at most mysql.MaxRows, and one for the clock. Errors: ErrUnavailable.
func (s *Boards) FirstPeriods(ctx context.Context, list []leaderboard.Board) ([]leaderboard.Period, error) {
	if len(list) == 0 {
		return nil, nil
	}
	now, err := s.db.Clock(ctx)
	if err != nil {
		return nil, mysql.Translate(ctx, "status", err)
	}
	var rows []boards.PeriodRow
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(latestPeriods(list, now))); err != nil {
		return nil, mysql.Translate(ctx, "status", err)
	}
	latest := make(map[int64]leaderboard.Period, len(rows))
	for i := range rows {
		latest[rows[i].BoardID] = rows[i].Period()
	}
	out := make([]leaderboard.Period, len(list))
	for i := range list {
		b := &list[i]
		window := b.Rules.Windows[0]
		if p, ok := latest[b.ID]; ok && p.EndsAt > now && p.Window == window {
			out[i] = p
		} else if span, ok := s.memory.Calendar(b).At(window, now); ok {
			out[i] = leaderboard.Period{
				BoardID: b.ID, Window: window, Label: span.Name, StartsAt: span.StartsAt, EndsAt: span.EndsAt,
				State: leaderboard.PeriodStateOpen, Committed: max(span.StartsAt, b.CreatedTime),
			}
		}
	}
	return out, nil
}

// latestPeriods selects the period of each board's first window that began last.
func latestPeriods(list []leaderboard.Board, now leaderboard.Micros) string {
	t := (&mysql.Text{}).Str("SELECT " + boards.PeriodColumns + " FROM (")
	for i := range list {
		if i > 0 {
			t.Str(" UNION ALL ")
		}
		t.Str("(SELECT " + boards.PeriodColumns + " FROM periods FORCE INDEX (periods_start) WHERE board_id = ").Int(list[i].ID)
		t.Str(" AND window_name = ").Hex(string(list[i].Rules.Windows[0])).Str(" AND starts_at <= ").Time(now)
		t.Str(" AND state <> 'deleting' ORDER BY starts_at DESC LIMIT 1)")
	}
	return t.Str(") latest").String()
}
