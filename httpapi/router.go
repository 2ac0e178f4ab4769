package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxSegments is the greatest number of segments that the path of a route has.
const maxSegments = 6

// Pattern says which requests a route takes.
type Pattern struct {
	Method   string   // GET includes HEAD
	Path     string   // as in the document
	segments []string // of path; {name} stands for any one
}

func newPattern(method, path string) Pattern {
	p := Pattern{Method: method, Path: path}
	if path != "/" {
		p.segments = strings.Split(path[1:], "/")
	}
	return p
}

func Get(path string) Pattern    { return newPattern(http.MethodGet, path) }
func Put(path string) Pattern    { return newPattern(http.MethodPut, path) }
func Post(path string) Pattern   { return newPattern(http.MethodPost, path) }
func Patch(path string) Pattern  { return newPattern(http.MethodPatch, path) }
func Delete(path string) Pattern { return newPattern(http.MethodDelete, path) }

// matches reports whether a path is of this form, which has as many segments.
func (p *Pattern) matches(s *segments) bool {
	for i, want := range p.segments {
		if want[0] != '{' && want != s.part[i] {
			return false
		}
	}
	return true
}

// has reports whether a segment stands for {name}.
func (p *Pattern) has(name string) bool { return slices.Contains(p.segments, "{"+name+"}") }

// value returns the decoded segment that stands for {name}.
func (p *Pattern) value(s *segments, name string) string {
	for i, seg := range p.segments {
		if len(seg) == len(name)+2 && seg[0] == '{' && seg[1:len(seg)-1] == name {
			return s.part[i]
		}
	}
	return ""
}

// fill returns a path of this form, with values in the places of those that stand for any.
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

// router finds the row of a path in a table of patterns. http.ServeMux does nearly the same, but it redirects unclean
// paths to other resources, answers errors in its own words, and takes an encoded "/" that is a whole segment, which a
// member id may be, for the end of the path.
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
