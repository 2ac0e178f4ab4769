package cache

import (
	"cmp"
	"slices"

	"leaderboard"
)

// Known returns the boards that are known here for which want is true, as they were found last, with names after that one,
// in the order of their bytes, at most limit. Nobody is asked.
func (c *Catalog) Known(after string, limit int, want func(*leaderboard.Board) bool) []leaderboard.Listing {
	var found []leaderboard.Listing
	now := c.now()
	for _, h := range c.kept.kept.all() {
		b := &h.value.Board
		if b.Name > after && h.age(now) <= catalogLimit && h.value.usable(now) && want(b) {
			found = append(found, h.value.Listing)
		}
	}
	slices.SortFunc(found, func(a, b leaderboard.Listing) int { return cmp.Compare(a.Board.Name, b.Board.Name) })
	return found[:min(limit, len(found))]
}

// KnownPeriod returns the period of a board's first window that was current when the board was found last; ok is false when
// the board is not known here, or has none. Nobody is asked.
func (c *Catalog) KnownPeriod(board string) (p leaderboard.Period, ok bool) {
	h, ok := c.kept.kept.get(board)
	if !ok {
		return p, false
	}
	current := h.value.current(h.value.Board.Rules.Windows[0])
	if current == nil {
		return p, false
	}
	return *current, true
}
