package read

import (
	"context"

	"leaderboard"
)

// PageBetween reads a page of several boards, and calls between when its transaction has begun.
func (s *Reader) PageBetween(
	ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedQuery, between func(),
) (page *leaderboard.CombinedPage, err error) {
	err = s.merge(ctx, periods, q.Mode, func(m *combined) (err error) {
		between()
		page, err = m.page(ctx, q)
		return err
	})
	return page, err
}
