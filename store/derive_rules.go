package store

import (
	"context"
	"reflect"

	"github.com/jmoiron/sqlx"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// checkSources refuses sources that cannot be any, or could have no entries. The rule that the board has already, old, is
// not held against what has become of its sources since.
func (s *Store) checkSources(ctx context.Context, tx *sqlx.Tx, name string, old, rules *leaderboard.Rules) error {
	if rules.Derive == nil || reflect.DeepEqual(old.Derive, rules.Derive) {
		return nil
	}
	boards, err := s.sourceBoards(ctx, tx, rules.Derive)
	if err != nil {
		return err
	}
	find, err := s.sourcesAmong(boards)
	if err != nil {
		return err
	}
	return rules.CheckSources(name, find)
}

// sourceBoards are the boards that a rule names, as far as they exist.
func (s *Store) sourceBoards(ctx context.Context, q db.Querier, rule *leaderboard.Derive) ([]leaderboard.Board, error) {
	t := (&db.Text{}).Str("SELECT " + boardColumns + " FROM boards WHERE state = 'open' AND name IN (")
	for i, f := range rule.From {
		t.Comma(i).Hex(f.Board)
	}
	rows, err := q.QueryContext(ctx, s.db.Limited(t.Str(")").String()))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var boards []leaderboard.Board
	for rows.Next() {
		var r boardRow
		if err := rows.Scan(&r.ID, &r.Name, &r.Version, &r.Rules, &r.Created, &r.Updated); err != nil {
			return nil, err
		}
		b, err := r.board()
		if err != nil {
			return nil, err
		}
		boards = append(boards, b)
	}
	return boards, rows.Err()
}

// sourcesAmong finds sources among boards.
func (s *Store) sourcesAmong(boards []leaderboard.Board) (leaderboard.FindSource, error) {
	sources := make(map[string]leaderboard.SourceBoard, len(boards))
	for i := range boards {
		b := &boards[i]
		cal, err := s.calendar(b)
		if err != nil {
			return nil, err
		}
		sources[b.Name] = leaderboard.SourceBoard{
			Windows: b.Rules.Windows, Calendar: cal, CreatedTime: b.CreatedTime, Derived: b.Rules.Derive != nil,
		}
	}
	return func(name string) (leaderboard.SourceBoard, bool) {
		b, ok := sources[name]
		return b, ok
	}, nil
}

// setDerived lists a board among the derived ones, or no longer. Its row is locked. That its rule is another one now is
// seen by the next step.
func setDerived(ctx context.Context, tx *sqlx.Tx, b *leaderboard.Board) error {
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
