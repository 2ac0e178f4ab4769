package httpapi

import (
	"errors"

	"leaderboard"
)

// seen is what the last view of a call was of.
type seen struct {
	period int64 // id, 0 when none was found
	minSeq int64 // as asked for
}

// reading is a handler that uses view. The catalog knows a board by heart for a moment. When the board was deleted and
// made anew through another server, or its windows were changed, the period that it names does not have what the caller
// has seen already: that is not the caller's error, and the question is put once more, to the right period.
func reading(handle func(*call) error) func(*call) error {
	return func(c *call) error {
		err := handle(c)
		if err != nil && c.moved(err) {
			return handle(c)
		}
		return err
	}
}

// moved says whether an error may come from what the catalog no longer holds to be true. A period that is not found in
// the catalog itself is looked for again only for a caller who knows a seq of it: names that no period can have are not
// to reach MySQL.
func (c *call) moved(err error) bool {
	ahead, lost := errors.Is(err, leaderboard.ErrSeqAhead), errors.Is(err, leaderboard.ErrPeriodNotFound)
	if !ahead && !lost || c.seen.period == 0 && c.seen.minSeq == 0 {
		return false
	}
	switch err := c.api.cfg.Catalog.Renew(c.ctx, c.pathValue("board")); {
	case errors.Is(err, leaderboard.ErrBoardNotFound):
		return true
	case err != nil:
		return false
	}
	ref, _, err := c.resolve(c.text("window"), c.text("period"))
	return err != nil || ref.ID != c.seen.period
}
