package derived

import (
	"context"
	"reflect"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/boards"
)

// CheckSources refuses boards that cannot be sources, and sources that could not have entries. A rule that the board has
// already (old) is not refused because its sources have changed since.
func CheckSources(ctx context.Context, d *mysql.DB, tx *sqlx.Tx, m *boards.Cache, name string, old, rules *leaderboard.Rules) error {
	if rules.Derive == nil || reflect.DeepEqual(old.Derive, rules.Derive) {
		return nil
	}
	found, err := sourceBoards(ctx, tx, d.Limited(sourcesQuery(rules.Derive)))
	if err != nil {
		return err
	}
	find := sourcesAmong(m, found)
	if err := rules.Derive.CheckKnown(find); err != nil {
		return err
	}
	return rules.CheckSources(name, find)
}

// SetDerived adds a board to the derived ones, or removes it. Its row is locked. The next step sees a changed rule.
func SetDerived(ctx context.Context, tx *sqlx.Tx, b *leaderboard.Board) error {
	if b.Rules.Derive != nil {
		_, err := tx.ExecContext(ctx, "INSERT INTO derived_boards (board_id) VALUES (?) ON DUPLICATE KEY UPDATE board_id = VALUES(board_id)", b.ID)
		return err
	}
	for _, query := range []string{"DELETE FROM derived_sources WHERE board_id = ?", "DELETE FROM derived_boards WHERE board_id = ?"} {
		if _, err := tx.ExecContext(ctx, query, b.ID); err != nil {
			return err
		}
	}
	return nil
}

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

// sourcesAmong finds sources among boards.
func sourcesAmong(m *boards.Cache, found []leaderboard.Board) leaderboard.FindSource {
	sources := make(map[string]leaderboard.SourceBoard, len(found))
	for i := range found {
		b := &found[i]
		sources[b.Name] = leaderboard.SourceBoard{
			Windows: b.Rules.Windows, Calendar: m.Calendar(b), CreatedTime: b.CreatedTime, Derived: b.Rules.Derive != nil,
		}
	}
	return func(name string) (leaderboard.SourceBoard, bool) {
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
