package read

import (
	"context"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// PageBetween reads a page of several boards, and calls between when its transaction has begun.
func (s *Reader) PageBetween(
	ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedQuery, between func(),
) (page *leaderboard.CombinedPage, err error) {
	err = s.combined(ctx, periods, q.Mode, q.Around, func(c *rank.Combined) (err error) {
		between()
		page, err = c.Page(ctx, &q)
		return err
	})
	return page, err
}
