package cache

import (
	"cmp"
	"slices"

	"leaderboard/leaderboard"
)

// Known returns the boards that are known here for which want is true, as the last reading found them, with names after the one
// given, in the order of their bytes, at most limit. It asks neither MySQL nor Redis.
func (c *Catalog) Known(after string, limit int, want func(*leaderboard.Board) bool) []leaderboard.Board {
	var found []leaderboard.Board
	now := c.now()
	for _, k := range c.listings.kept.All() {
		b := &k.value.Board
		if b.Name > after && k.usable(now) && want(b) {
			found = append(found, *b)
		}
	}
	slices.SortFunc(found, func(a, b leaderboard.Board) int { return cmp.Compare(a.Name, b.Name) })
	return found[:min(limit, len(found))]
}

// KnownPeriod returns the period of a board's first window that was current when the board was found last; ok is false when
// the board is not known here, or has no such period. It asks neither MySQL nor Redis.
func (c *Catalog) KnownPeriod(board string) (p leaderboard.Period, ok bool) {
	k, ok := c.listings.kept.Get(board)
	if !ok {
		return p, false
	}
	current := k.value.current(k.value.Board.Rules.Windows[0])
	if current == nil {
		return p, false
	}
	return *current, true
}
