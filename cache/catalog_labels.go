package cache

import (
	"context"
	"fmt"

	"leaderboard/leaderboard"
)

// maxSelected bounds the boards that labels select. It is more than are ranked as one, since the caller may not see all.
const maxSelected = 4 * leaderboard.MaxCombined

// selection is the labels by which boards are selected. A selection from before this process changed a board is not used.
type selection struct {
	labels string
	forgot int64
}

// Labelled returns the names of the boards that have all labels, private ones included, in order. Errors:
// ErrUnavailable, a *leaderboard.RuleError when there are too many of them.
func (c *Catalog) Labelled(ctx context.Context, labels leaderboard.Labels) ([]string, error) {
	k, err := c.chosen.get(ctx, selection{labels.String(), c.forgot.Load()}, func(ctx context.Context, k *cached[[]string]) (err error) {
		k.value, err = c.choose(ctx, labels)
		return err
	})
	if err != nil {
		return nil, err
	}
	return k.value, nil
}

func (c *Catalog) choose(ctx context.Context, labels leaderboard.Labels) ([]string, error) {
	boards, err := c.boards.BoardsLabelled(ctx, labels, "", maxSelected+1)
	if err != nil {
		return nil, err
	}
	if len(boards) > maxSelected {
		return nil, &leaderboard.RuleError{
			Code: leaderboard.CodeTooManyBoards, Detail: fmt.Sprintf("more than %d boards have these labels", maxSelected),
		}
	}
	names := make([]string, len(boards))
	for i := range boards {
		names[i] = boards[i].Name
	}
	return names, nil
}
