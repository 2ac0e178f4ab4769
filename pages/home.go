package pages

import (
	"net/http"
	"net/url"
)

// homeView is the public boards.
type homeView struct{ Boards []struct{ Name string } }

// home answers GET /.
func (h *handlers) home(w http.ResponseWriter, r *http.Request) {
	var v homeView
	status, err := h.ask.get(r, "/v1/boards", url.Values{"limit": {"100"}}, &v)
	if err != nil {
		panic(err) // the server tells the reader and logs it
	}
	h.site.render(w, r, status, "home", view{Title: "Leaderboards", Home: v})
}
