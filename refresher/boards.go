package refresher

import (
	"context"

	"leaderboard/cache"
	"leaderboard/leaderboard"
)

// newCronBoards returns the table of the boards with a cron expression, by id.
func newCronBoards(cfg *Config) *cache.Table[map[int64]leaderboard.Board] {
	return cache.NewTable("boards with a schedule", leaderboard.BoardsPeriod, func(ctx context.Context) (map[int64]leaderboard.Board, error) {
		listed := map[int64]leaderboard.Board{}
		return listed, cache.ReadPages(ctx, cache.PageRows, cfg.Boards.Boards, func(b *leaderboard.Board) string {
			if b.Rules.Refresh.Full != "" {
				listed[b.ID] = *b
			}
			return b.Name
		})
	}, cfg.Feed, cache.TableOptions{Log: cfg.Logger})
}
