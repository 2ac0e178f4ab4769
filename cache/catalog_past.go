package cache

import (
	"context"

	"leaderboard/leaderboard"
)

// pastPeriods is the key of kept past periods: the period with a name, or a number of periods before a moment.
type pastPeriods struct {
	of     int64 // boardListing.serial: when the board is read again, the periods are too
	window leaderboard.Window
	name   string
	before leaderboard.Micros
	limit  int
}

// PeriodsBefore lists the periods of a board's window that begin before a moment, the latest first, at most limit. Periods
// that never had an entry are left out. Errors: ErrBoardNotFound, ErrUnavailable.
func (c *Catalog) PeriodsBefore(ctx context.Context, board string, w leaderboard.Window, before leaderboard.Micros, limit int) ([]leaderboard.Period, error) {
	of, err := c.lookUp(ctx, board)
	if err != nil {
		return nil, err
	}
	l := of.value
	list, err := c.past.get(ctx, pastPeriods{of: l.serial, window: w, before: before, limit: limit}, func(ctx context.Context, k *cached[[]leaderboard.Period]) (err error) {
		k.value, err = c.boards.PeriodsBefore(ctx, l.Board.ID, w, before, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list.value, nil
}
