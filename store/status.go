package store

import (
	"context"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/boards"
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

// derivedLags asks, for each source of a derived board, when the first change was committed that the board does not reflect;
// NULL when it reflects all.
const derivedLags = "SELECT s.board_id, TIMESTAMPDIFF(MICROSECOND, IF(p.last_seq > s.seq, COALESCE(" +
	"(SELECT c.committed_at FROM changes c WHERE c.period_id = s.source_period_id AND c.last_seq > s.seq ORDER BY c.last_seq LIMIT 1), p.committed_at), NULL), "

// DerivedLags returns, by the id of a derived board, the age of the oldest change of its sources that it does not reflect, 0
// when it reflects all. It takes one statement for all boards. Boards whose entries are being computed are left out. Errors:
// ErrUnavailable.
func (s *Boards) DerivedLags(ctx context.Context, ids []int64) (map[int64]time.Duration, error) {
	lags := make(map[int64]time.Duration, len(ids))
	if len(ids) == 0 {
		return lags, nil
	}
	t := (&mysql.Text{}).Str(derivedLags + s.db.Sysdate() + ") AS lag_us FROM derived_boards d JOIN derived_sources s ON s.board_id = d.board_id" +
		" LEFT JOIN periods p ON p.id = s.source_period_id WHERE d.rule_hash <> '' AND d.board_id IN (").Ints(ids).Str(")")
	var rows []struct {
		Board int64  `db:"board_id"`
		Lag   *int64 `db:"lag_us"`
	}
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(t.String())); err != nil {
		return nil, mysql.Translate(ctx, "status", err)
	}
	for _, r := range rows {
		lag := lags[r.Board]
		if r.Lag != nil {
			lag = max(lag, time.Duration(*r.Lag)*time.Microsecond)
		}
		lags[r.Board] = lag
	}
	return lags, nil
}
