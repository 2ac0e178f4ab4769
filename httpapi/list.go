package httpapi

import "net/http"

// Bounds of the lists of boards, periods, members and runs.
const (
	defaultList = 100
	maxList     = 1000
)

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
