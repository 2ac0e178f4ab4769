package app

import (
	"context"
	"errors"
	"log/slog"

	"leaderboard/cache"
	"leaderboard/cache/topn"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// boards is the boards and their periods. A change through this process is known here at once.
type boards struct {
	*store.Boards
	catalog  *cache.Catalog
	listings *topn.Listings // nil without Redis
	gate     gate
	log      *slog.Logger
}

// Board finds a board; for a name that the catalog knows to be free there is no question.
func (b boards) Board(ctx context.Context, name string) (leaderboard.Board, error) {
	if _, err := b.catalog.Board(ctx, name); errors.Is(err, leaderboard.ErrBoardNotFound) {
		return leaderboard.Board{}, err
	}
	return through(ctx, b.gate, func(ctx context.Context) (leaderboard.Board, error) { return b.Boards.Board(ctx, name) })
}

// BoardsLabelled lists boards.
func (b boards) BoardsLabelled(ctx context.Context, labels leaderboard.Labels, after string, limit int) ([]leaderboard.Board, error) {
	return through(ctx, b.gate, func(ctx context.Context) ([]leaderboard.Board, error) {
		return b.Boards.BoardsLabelled(ctx, labels, after, limit)
	})
}

// Periods lists the periods of a board.
func (b boards) Periods(ctx context.Context, boardID int64, window leaderboard.Window, before int64, limit int) ([]leaderboard.Period, error) {
	return through(ctx, b.gate, func(ctx context.Context) ([]leaderboard.Period, error) {
		return b.Boards.Periods(ctx, boardID, window, before, limit)
	})
}

// ChangeBoard changes a board, here and in Redis.
func (b boards) ChangeBoard(ctx context.Context, name string, change leaderboard.RulesChange) (leaderboard.Board, bool, error) {
	defer b.catalog.Forget(name)
	board, created, err := b.Boards.ChangeBoard(ctx, name, change)
	if err == nil && b.listings != nil {
		b.outdated(ctx, name, func(ctx context.Context) error { return b.listings.Changed(ctx, &board) })
	}
	return board, created, err
}

// DeleteBoard deletes a board, here and in Redis.
func (b boards) DeleteBoard(ctx context.Context, name string) error {
	defer b.catalog.Forget(name)
	err := b.Boards.DeleteBoard(ctx, name)
	if err == nil && b.listings != nil {
		b.outdated(ctx, name, func(ctx context.Context) error { return b.listings.Deleted(ctx, name) })
	}
	return err
}

// outdated passes a change of a board on to Redis, at best effort.
func (b boards) outdated(ctx context.Context, name string, tell func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), redisHealthLimit)
	defer cancel()
	if err := tell(ctx); err != nil {
		b.log.WarnContext(ctx, "Redis has an old copy of a board: a server that starts while MySQL is away may use it", "board", name, "error", err)
	}
}
