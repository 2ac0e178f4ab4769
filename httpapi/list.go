package httpapi

import (
	"context"
	"net/http"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Bounds of the lists of boards, periods, members and runs.
const (
	defaultList = 100
	maxList     = 1000
)

// Bounds of a search of members.
const (
	defaultFound = 20
	maxFound     = 100
)

const (
	// maxScan bounds how many pages of boards one request looks through for those that the caller may see.
	maxScan = 10
	// scanSize is how long they are once there are boards that the caller may not.
	scanSize = 500
)

// afterCursor returns what the cursor of a request continues after, the zero value without one. read is a method of the list, such
// as wire.List.After.
func afterCursor[T any](c *call, read func(cursor string) (T, bool)) (after T) {
	if cursor := c.text("cursor"); cursor != "" {
		var ok bool
		if after, ok = read(cursor); !ok {
			c.bad = append(c.bad, wire.BadCursor())
		}
	}
	return after
}

// boardFinder finds boards as Boards does.
type boardFinder interface {
	Board(ctx context.Context, name string) (leaderboard.Board, error)
}

// boardIDOf returns the id of the board of which a list shows a part, 0 with "": it shows all.
func boardIDOf(c *call, boards boardFinder, name string) (int64, error) {
	if name == "" {
		return 0, nil
	}
	if leaderboard.CheckBoardName(name) != nil {
		return 0, leaderboard.ErrBoardNotFound
	}
	b, err := boards.Board(c.ctx, name)
	return b.ID, err
}

// sendList answers with a page of a list, the member name: as show has them, up to limit of the items that were found, and when
// there are more the cursor behind the last of the page.
func sendList[T, J any](c *call, name string, found []T, limit int, show func(*T) J, cursor func(last *T) string) error {
	next := ""
	if len(found) > limit {
		found = found[:limit]
		next = cursor(&found[limit-1])
	}
	return sendPage(c, name, found, show, next)
}

// sendPage answers with a part of a list, and the cursor of what follows ("": nothing does).
func sendPage[T, J any](c *call, name string, found []T, show func(*T) J, next string) error {
	out := map[string]any{}
	if next != "" {
		out["next_cursor"] = next
	}
	items := make([]J, len(found))
	for i := range found {
		items[i] = show(&found[i])
	}
	out[name] = items
	return c.sendJSON(http.StatusOK, out)
}

// given returns nil for zero.
func given[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
