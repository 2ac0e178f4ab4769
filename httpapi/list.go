package httpapi

import (
	"context"
	"net/http"
	"time"

	"leaderboard/leaderboard"
)

const (
	// maxScan bounds how many pages of boards one request looks through for those that the caller may see.
	maxScan = 10
	// scanSize is how long they are once there are boards that the caller may not.
	scanSize = 500
)

// AfterCursor returns what the cursor of a request continues after, the zero value without one. read is a method of the list, such
// as wire.List.After.
func AfterCursor[T any](c *Call, read func(cursor string) (T, bool)) (after T) {
	if cursor := c.Params.Text("cursor"); cursor != "" {
		var ok bool
		if after, ok = read(cursor); !ok {
			c.Params.BadCursor()
		}
	}
	return after
}

// BoardFinder finds boards as Boards does.
type BoardFinder interface {
	Board(ctx context.Context, name string) (leaderboard.Board, error)
}

// BoardIDOf returns the id of the board of which a list shows a part, 0 with "": it shows all.
func BoardIDOf(c *Call, boards BoardFinder, name string) (int64, error) {
	if name == "" {
		return 0, nil
	}
	if leaderboard.CheckBoardName(name) != nil {
		return 0, leaderboard.ErrBoardNotFound
	}
	b, err := boards.Board(c.Ctx, name)
	return b.ID, err
}

// SendList answers with a page of a list, the member name: as show has them, up to limit of the items that were found, and when
// there are more the cursor behind the last of the page.
func SendList[T, J any](c *Call, name string, found []T, limit int, show func(*T) J, cursor func(last *T) string) error {
	next := ""
	if len(found) > limit {
		found = found[:limit]
		next = cursor(&found[limit-1])
	}
	items := make([]J, len(found))
	for i := range found {
		items[i] = show(&found[i])
	}
	return SendPage(c, name, items, next)
}

// SendPage answers with a part of a list, the member name, and the cursor of what follows ("": nothing does).
func SendPage[J any](c *Call, name string, items []J, next string) error {
	out := map[string]any{name: append([]J{}, items...)} // not null
	if next != "" {
		out["next_cursor"] = next
	}
	return c.SendJSON(http.StatusOK, out)
}

// Moment returns a moment for a document.
func Moment(m leaderboard.Micros) *time.Time {
	t := m.Time()
	return &t
}

// GivenMoment returns a moment for a document, nil for zero.
func GivenMoment(m leaderboard.Micros) *time.Time {
	if m == 0 {
		return nil
	}
	return Moment(m)
}

// Given returns nil for zero.
func Given[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
