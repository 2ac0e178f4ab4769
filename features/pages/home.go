package pages

import (
	"net/http"
	"net/url"
	"strings"
)

// cards are the boards on a page of the public boards.
const cards = "24"

// homeView is the public boards.
type homeView struct {
	Boards []card
	Labels []string // the labels that the reader filters by
	Next   string
	Stale  bool // MySQL is away: these are the boards that the server knew last
}

// card is a board and its leaders.
type card struct {
	rules
	Top *top // nil: unknown
}

// home answers GET /.
func (h *handlers) home(w http.ResponseWriter, r *http.Request) {
	a, given := newAsker(h.api, r), r.URL.Query()
	query := url.Values{"limit": {cards}}
	for _, name := range []string{"labels", "cursor"} {
		if v := given.Get(name); v != "" {
			query.Set(name, v)
		}
	}
	var list struct {
		Boards []rules
		Next   string `json:"next_cursor"`
		Stale  bool
	}
	out, status := h.site.view(r), http.StatusOK
	out.Title, out.Told = out.SiteTitle(), a.answers
	if a.need("/v1/boards", query, &list) {
		v := &homeView{Stale: list.Stale}
		if labels := query.Get("labels"); labels != "" {
			v.Labels = strings.Split(labels, ",")
		}
		for i := range list.Boards {
			v.Boards = append(v.Boards, leaders(a, &list.Boards[i]))
		}
		if list.Next != "" {
			query.Set("cursor", list.Next)
			query.Del("limit")
			v.Next = out.place.to("/", query)
		}
		out.Home = v
	} else {
		status, out.Problem = a.worst.Status, a.worst
	}
	h.site.render(w, r, status, "home", out)
}

// leaders asks for the first three of a board.
func leaders(a *asker, b *rules) card {
	var t top
	problem, err := a.get("/v1/boards/"+url.PathEscape(b.Name)+"/top", url.Values{"limit": {"3"}, "profiles": {"true"}}, &t)
	if err != nil || problem != nil {
		return card{rules: *b}
	}
	return card{*b, &t}
}
