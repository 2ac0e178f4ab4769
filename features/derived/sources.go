package derived

import (
	"context"

	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// sourcesQuery finds the boards that a rule names, as far as they exist.
func sourcesQuery(rule *leaderboard.Derive) string {
	t := (&mysql.Text{}).Str("SELECT " + boards.Columns + " FROM boards WHERE state = 'open' AND name IN (")
	for i, f := range rule.From {
		t.Comma(i).Hex(f.Board)
	}
	return t.Str(")").String()
}

// sourceBoards reads the answer to sourcesQuery.
func sourceBoards(ctx context.Context, q mysql.Querier, query string) ([]leaderboard.Board, error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []boards.Row
	for rows.Next() {
		var r boards.Row
		if err := rows.Scan(r.Dest()...); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return boards.All(found)
}

// sourcesAmong finds sources among boards. calendar returns the calendar of a board.
func sourcesAmong(found []leaderboard.Board, calendar func(*leaderboard.Board) leaderboard.Calendar) findSource {
	sources := make(map[string]sourceBoard, len(found))
	for i := range found {
		b := &found[i]
		sources[b.Name] = sourceBoard{b.Rules.Windows, calendar(b), b.CreatedTime, b.Rules.Derive != nil}
	}
	return func(name string) (sourceBoard, bool) {
		b, ok := sources[name]
		return b, ok
	}
}

// periodKey is how a period is found.
type periodKey struct {
	board    int64
	window   leaderboard.Window
	startsAt leaderboard.Micros
}

const selectStates = "SELECT id, board_id, window_name, starts_at, last_seq, entry_count FROM periods"

// placesQuery finds periods by their places.
func placesQuery(places []periodKey) string {
	t := (&mysql.Text{}).Str(selectStates + " FORCE INDEX (periods_start) WHERE state <> 'deleting' AND (")
	for i, at := range places {
		if i > 0 {
			t.Str(" OR ")
		}
		t.Str("(board_id = ").Int(at.board).Str(" AND window_name = ").Hex(string(at.window)).Str(" AND starts_at = ").Time(at.startsAt).Str(")")
	}
	return t.Str(")").String()
}
