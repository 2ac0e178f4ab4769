package derived

import (
	"context"
	"reflect"

	"github.com/jmoiron/sqlx"

	"leaderboard/leaderboard"
)

// boardChanged implements store.BoardChange: it refuses boards that cannot be sources, and sources that could not have
// entries, and notes whether the board is derived. A rule that the board had already (old) is not refused because its
// sources have changed since. The next step sees a changed rule.
func (f *Stepper) boardChanged(ctx context.Context, tx *sqlx.Tx, b *leaderboard.Board, old *leaderboard.Rules) error {
	if b.Rules.Derive != nil {
		if !reflect.DeepEqual(old.Derive, b.Rules.Derive) {
			if err := f.checkSources(ctx, tx, b); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO derived_boards (board_id) VALUES (?) ON DUPLICATE KEY UPDATE board_id = VALUES(board_id)", b.ID)
		return err
	}
	if old.Derive == nil {
		return nil
	}
	for _, query := range []string{"DELETE FROM derived_sources WHERE board_id = ?", "DELETE FROM derived_boards WHERE board_id = ?"} {
		if _, err := tx.ExecContext(ctx, query, b.ID); err != nil {
			return err
		}
	}
	return nil
}

func (f *Stepper) checkSources(ctx context.Context, tx *sqlx.Tx, b *leaderboard.Board) error {
	found, err := sourceBoards(ctx, tx, f.db.Limited(sourcesQuery(b.Rules.Derive)))
	if err != nil {
		return err
	}
	find := sourcesAmong(found, f.boards.Calendar)
	if err := b.Rules.Derive.CheckKnown(find); err != nil {
		return err
	}
	return b.Rules.CheckSources(b.Name, find)
}
