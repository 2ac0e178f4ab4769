package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"leaderboard/api"
	"leaderboard/internal/wire"
)

// maxSegments is the greatest number of segments that the path of a route has.
const maxSegments = 6

// Pattern is an operation in the form of a server: it decides which requests a route takes.
type Pattern struct {
	api.Operation
	Params   []string    // of the query, as a problem names them; set by New, like known and segments
	known    []api.Param // the parameters that any server may have
	segments []string    // of Path
}

// complete reads the path and the parameters. optional are the optional parameters that this server has, in their order.
func (p *Pattern) complete(optional []string) {
	if p.Path != "/" {
		p.segments = strings.Split(p.Path[1:], "/")
	}
	p.known = api.ParamsOf(p.Query)
	for i := range p.known {
		if !p.known[i].Optional {
			p.Params = append(p.Params, p.known[i].Name)
		}
	}
	for _, name := range optional {
		if slices.ContainsFunc(p.known, func(one api.Param) bool { return one.Name == name && one.Optional }) {
			p.Params = append(p.Params, name)
		}
	}
	if !p.AnyQuery() {
		p.Params = append(p.Params, wire.NumbersParam)
	}
}

// matches reports whether a path is of this form, which has as many segments.
func (p *Pattern) matches(s *segments) bool {
	for i, want := range p.segments {
		if want[0] != '{' && want != s.part[i] {
			return false
		}
	}
	return true
}

// value returns the decoded segment that stands for {name}.
func (p *Pattern) value(s *segments, name string) string {
	for i, seg := range p.segments {
		if len(seg) == len(name)+2 && seg[0] == '{' && seg[1:len(seg)-1] == name {
			return s.part[i]
		}
	}
	return ""
}

// fill returns a path of this form, with values for its variable segments.
func (p *Pattern) fill(values ...string) (s segments) {
	s.n = copy(s.part[:], p.segments)
	for i := range s.n {
		if s.part[i][0] == '{' {
			s.part[i], values = values[0], values[1:]
		}
	}
	return s
}

// segments are the parts of a path, percent-decoded.
type segments struct {
	n    int
	part [maxSegments]string
}

// split cuts an escaped path. A path that no route has (empty, . and .. segments, too many) is not ok.
func (s *segments) split(path string) (ok bool) {
	if path == "/" {
		return true
	}
	for path != "" {
		if path[0] != '/' || s.n == maxSegments {
			return false
		}
		part := path[1:]
		if i := strings.IndexByte(part, '/'); i >= 0 {
			part = part[:i]
		}
		path = path[1+len(part):]
		if part == "" || part == "." || part == ".." {
			return false
		}
		if strings.IndexByte(part, '%') >= 0 {
			var err error
			if part, err = url.PathUnescape(part); err != nil {
				return false
			}
		}
		s.part[s.n] = part
		s.n++
	}
	return s.n > 0
}

// router finds the row of a path in a table of patterns. http.ServeMux does nearly the same, but it redirects unclean paths to
// other resources, answers errors in its own words, and takes an encoded "/" that is a whole segment, which a member id may be,
// for the end of the path.
type router struct {
	byLength [maxSegments + 1][]numbered
}

type numbered struct {
	*Pattern
	row int
}

// add gives the router the next row of the table.
func (t *router) add(p *Pattern, row int) {
	t.byLength[len(p.segments)] = append(t.byLength[len(p.segments)], numbered{p, row})
}

// find returns the row for a method and path. Without one it is -1, with the methods that the path has, if any.
func (t *router) find(method string, s *segments) (row int, allow string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, p := range t.byLength[s.n] {
		if !p.matches(s) {
			continue
		}
		if p.Method == method {
			return p.row, ""
		}
		if allow != "" {
			allow += ", "
		}
		if allow += p.Method; p.Method == http.MethodGet {
			allow += ", " + http.MethodHead
		}
	}
	return -1, allow
}
