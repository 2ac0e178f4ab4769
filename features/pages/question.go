package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Entries of a page, and of a page in a frame.
const (
	pageEntries  = 25
	embedEntries = 10
)

// pictureEnd is the end of the address of a board's share picture.
const pictureEnd = "/picture.png"

// question is a parsed address of a board's page. Its scripts parse the address in the same way.
type question struct {
	board                        string
	window, period, mode, member string
	offset                       int64
	limit                        int
	embed                        bool
	look                         string // of a frame: clear has no background, for overlays; dark is for dark ones
	place                        linkBase
}

func readQuestion(r *http.Request, of linkBase) question {
	v := r.URL.Query()
	q := question{place: of, board: boardIn(r), window: v.Get("window"), period: v.Get("period"), mode: v.Get("mode"), member: v.Get("member"), limit: pageEntries}
	q.embed = v.Get("embed") == "1"
	if q.embed {
		q.limit, q.look = embedEntries, look(v)
	}
	if n, err := strconv.Atoi(v.Get("limit")); err == nil && n > 0 && n <= 100 {
		q.limit = n
	}
	// A rank in the address means the page that has it.
	if n, err := strconv.ParseInt(v.Get("rank"), 10, 64); err == nil && n > 0 {
		q.offset = (n - 1) / int64(q.limit) * int64(q.limit)
	} else if n, err := strconv.ParseInt(v.Get("offset"), 10, 64); err == nil && n > 0 {
		q.offset = n
	}
	return q
}

// boardIn returns the board's name in the address of its page. A pattern of net/http would not match a slash in it,
// %2F.
func boardIn(r *http.Request) string {
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.EscapedPath(), "/boards/"), pictureEnd)
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// look parses the look of a frame.
func look(v url.Values) string {
	out := ""
	if v.Get("transparent") == "1" {
		out = "clear"
	}
	switch theme := v.Get("theme"); theme {
	case "dark", "light":
		return strings.TrimSpace(out + " " + theme)
	default:
		return out
	}
}

// path returns the address of a resource of the board in the API.
func (q *question) path(rest string) string {
	return "/v1/boards/" + url.PathEscape(q.board) + rest
}

// state returns the parameters that select the period and the ranks.
func (q *question) state(more url.Values) url.Values {
	for name, value := range map[string]string{"window": q.window, "period": q.period, "mode": q.mode} {
		if value != "" {
			more.Set(name, value)
		}
	}
	return more
}

// top returns the parameters of the page of the ranking.
func (q *question) top() url.Values {
	v := q.state(url.Values{"limit": {strconv.Itoa(q.limit)}, "profiles": {"true"}})
	if q.offset > 0 {
		v.Set("offset", strconv.FormatInt(q.offset, 10))
	}
	return v
}

// isAround reports whether the page shows the neighbours of a member: a frame does that names one.
func (q *question) isAround() bool { return q.embed && q.member != "" }

// around returns the parameters of these. The member is in the middle, with as many entries on each side as a stream sends.
func (q *question) around() url.Values {
	const most = 49
	before := min(most, (q.limit-1)/2)
	return q.state(url.Values{"before": {strconv.Itoa(before)}, "after": {strconv.Itoa(min(most, q.limit-1-before))}, "profiles": {"true"}})
}

// link returns the address of the page with another choice: pairs of names and values. Another choice begins at the
// top.
func (q *question) link(changes ...string) string {
	v := q.state(url.Values{})
	if q.member != "" {
		v.Set("member", q.member)
	}
	if q.embed {
		v.Set("embed", "1")
	}
	if q.limit != pageEntries && !q.embed || q.limit != embedEntries && q.embed {
		v.Set("limit", strconv.Itoa(q.limit))
	}
	for i := 0; i < len(changes); i += 2 {
		if v.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			v.Del(changes[i])
		}
	}
	return q.place.to("/boards/"+url.PathEscape(q.board), v)
}
