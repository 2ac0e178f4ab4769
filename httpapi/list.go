package httpapi

import (
	"context"
	"net/http"
	"time"

	"leaderboard/leaderboard"
)

const (
	// maxScan bounds how many pages of boards one request looks through for boards that the caller may see.
	maxScan = 10
	// scanSize is the size of these pages after a board that the caller may not see.
	scanSize = 500
)

// AfterCursor returns the place in the cursor of a request, the zero value without a cursor. read is a method of the list, such as
// wire.List.After.
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

// BoardIDOf returns the id of the board to which a list is limited, 0 for "": the list shows all boards.
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

// SendList answers with a page of a list in the member name: up to limit of the found items, each as show returns it, and the
// cursor of the last item if more were found.
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

// SendPage answers with a part of a list in the member name, and the cursor of the next part ("": it was the last).
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
