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

// derivedPage is how many derived boards are read at once. Only their ids, names and sources are.
const derivedPage = 5000

// derivedBoards are the derived boards in the order of their ids.
type derivedBoards []*leaderboard.DerivedBoard

// newDerivedBoards returns the table of the derived boards.
func newDerivedBoards(cfg *Config) *cache.Table[*derivedBoards] {
	return cache.NewTable("derived boards", leaderboard.BoardsPeriod, func(ctx context.Context) (*derivedBoards, error) {
		var listed derivedBoards
		return &listed, cache.ReadPages(ctx, derivedPage, cfg.Derived.DerivedBoards, func(b **leaderboard.DerivedBoard) int64 {
			listed = append(listed, *b)
			return (*b).ID
		})
	}, cfg.Feed, cache.TableOptions{Log: cfg.Logger})
}
