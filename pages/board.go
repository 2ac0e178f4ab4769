package pages

import (
	"net/http"
	"net/url"
)

// boardView is a board as readers without JavaScript see it.
type boardView struct {
	Name string
	Top  top
}

// top is the answer of GET …/top, as far as it is shown.
type top struct {
	Window, Period, Mode string
	Total                int64
	AsOf                 string `json:"as_of"`
	Stale                bool
	Entries              []topEntry
}

type topEntry struct {
	Member  string
	Score   int64
	Strict  int64 `json:"strict_rank"`
	Tied    int64 `json:"tied_rank"`
	Profile *struct {
		DisplayName string `json:"display_name"`
	}
}

// Name is what a member is called.
func (e *topEntry) Name() string {
	if e.Profile != nil && e.Profile.DisplayName != "" {
		return e.Profile.DisplayName
	}
	return e.Member
}

// board answers GET /boards/{board}.
func (h *handlers) board(w http.ResponseWriter, r *http.Request) {
	v := boardView{Name: r.PathValue("board")}
	status, err := h.ask.get(r, "/v1/boards/"+url.PathEscape(v.Name)+"/top", url.Values{"limit": {"25"}, "profiles": {"true"}}, &v.Top)
	if err != nil {
		panic(err) // the server tells the reader and logs it
	}
	out := view{Title: v.Name, Embed: r.URL.Query().Get("embed") == "1"}
	if status == http.StatusOK {
		out.Board = v
	}
	h.site.render(w, r, status, "board", out)
}
