package cache

import (
	"context"

	"leaderboard"
)

// periodList is what a list of periods is kept under. Another period begins, or one ends, with a listing of another
// moment.
type periodList struct {
	board  int64
	window leaderboard.Window
	before leaderboard.Micros
	limit  int
	clock  leaderboard.Micros // of the listing
}

// PeriodsBefore lists the periods of a board's window that begin before a moment, the latest first, at most limit. Those
// in which nobody played are none of them. Errors: ErrBoardNotFound, ErrUnavailable.
func (c *Catalog) PeriodsBefore(ctx context.Context, board string, w leaderboard.Window, before leaderboard.Micros, limit int) ([]leaderboard.Period, error) {
	l, err := c.lookUp(ctx, board, 0)
	if err != nil {
		return nil, err
	}
	key := periodList{l.Board.ID, w, before, limit, l.Clock}
	list, ok := c.lists.fresh(key, 0)
	if !ok {
		list, err = c.lists.get(ctx, key, 0, func(ctx context.Context, _ int64) (*[]leaderboard.Period, error) {
			periods, err := c.boards.PeriodsBefore(ctx, l.Board.ID, w, before, limit)
			return &periods, err
		})
	}
	if err != nil {
		return nil, err
	}
	return *list, nil
}
