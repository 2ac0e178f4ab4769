package store

import (
	"context"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/sweep"
)

// BoardsLabelled lists the boards that have all these labels, in the byte order of their names, after the name given
// ("" for the first), at most limit. Without labels it lists all boards.
func (s *Boards) BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error) {
	var rows []boards.Row
	query := labelledQuery(labels, after, max(0, limit))
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(query)); err != nil {
		return nil, mysql.Translate(ctx, "boards", err)
	}
	return boards.All(rows)
}

// labelledQuery runs through the boards with the first of the labels in the order of their names, and looks up the other
// labels and the board for each. A label that a program without labels left behind has no open board, and finds nothing:
// the name may belong to another board now, but the id does not.
func labelledQuery(labels leaderboard.Labels, after string, limit int) string {
	t := &mysql.Text{}
	t.Str("SELECT " + boards.JoinedColumns + " FROM ")
	if len(labels) == 0 {
		// The names of boards being deleted begin with a tilde and so come after all others.
		t.Str("boards b WHERE b.name > ").Hex(after).Str(" AND b.name < ").Hex(sweep.DeletedMark)
		return t.Str(" AND b.state = 'open' ORDER BY b.name LIMIT ").Int(int64(limit)).String()
	}
	names := slices.Sorted(maps.Keys(labels))
	for i := range names {
		if i > 0 {
			t.Str(" STRAIGHT_JOIN ")
		}
		t.Str("board_labels l").Int(int64(i)).Str(" FORCE INDEX (PRIMARY)")
	}
	t.Str(" STRAIGHT_JOIN boards b ON b.id = l0.board_id WHERE b.state = 'open' AND l0.name > ").Hex(after)
	for i, label := range names {
		t.Str(" AND l").Int(int64(i)).Str(".label = ").Hex(label).Str(" AND l").Int(int64(i)).Str(".value = ").Hex(labels[label])
		if i > 0 {
			t.Str(" AND l").Int(int64(i)).Str(".name = l0.name AND l").Int(int64(i)).Str(".board_id = l0.board_id")
		}
	}
	return t.Str(" ORDER BY l0.name LIMIT ").Int(int64(limit)).String()
}

// setLabels writes the labels in the rules of a board to the table of labels. The board's row is locked.
func setLabels(ctx context.Context, tx *sqlx.Tx, b *leaderboard.Board, old leaderboard.Labels) error {
	if maps.Equal(old, b.Rules.Labels) {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM board_labels WHERE board_id = ?", b.ID); err != nil {
		return err
	}
	if len(b.Rules.Labels) == 0 {
		return nil
	}
	t := (&mysql.Text{}).Str("INSERT INTO board_labels (label, value, name, board_id) VALUES ")
	for i, label := range slices.Sorted(maps.Keys(b.Rules.Labels)) {
		t.Comma(i).Str("(").Hex(label).Str(",").Hex(b.Rules.Labels[label]).Str(",").Hex(b.Name).Str(",").Int(b.ID).Str(")")
	}
	_, err := tx.ExecContext(ctx, t.Str(" ON DUPLICATE KEY UPDATE board_id = VALUES(board_id)").String())
	return err
}
