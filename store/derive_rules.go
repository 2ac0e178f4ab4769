package store

import (
	"context"

	"github.com/jmoiron/sqlx"

	"leaderboard"
)

// checkSources refuses sources that are derived boards themselves.
func checkSources(ctx context.Context, tx *sqlx.Tx, name string, rules *leaderboard.Rules) error {
	if rules.Derive == nil {
		return nil
	}
	names := make([]string, len(rules.Derive.From))
	for i, f := range rules.Derive.From {
		names[i] = f.Board
	}
	var derived [][]byte
	if err := tx.SelectContext(ctx, &derived, derivedQuery(names)); err != nil {
		return err
	}
	among := map[string]bool{}
	for _, n := range derived {
		among[string(n)] = true
	}
	if broken := rules.CheckSources(name, func(board string) bool { return among[board] }); broken != nil {
		return broken
	}
	return nil
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
