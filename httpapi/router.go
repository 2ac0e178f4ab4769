package httpapi

import (
	"net/http"
	"net/url"
	"strings"
)

// maxSegments is the greatest number of segments that the path of a route has.
const maxSegments = 6

// router finds the route of a path in the table. http.ServeMux does nearly the same, but it redirects unclean paths to
// other resources, answers errors in its own words, and takes an encoded "/" that is a whole segment, which a member
// id may be, for the end of the path.
type router struct {
	byLength [maxSegments + 1][]*route
}

func newRouter(table []route) *router {
	var t router
	for i := range table {
		rt := &table[i]
		if rt.path != "/" {
			rt.segments = strings.Split(rt.path[1:], "/")
		}
		t.byLength[len(rt.segments)] = append(t.byLength[len(rt.segments)], rt)
	}
	return &t
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

// find gives the route of a method and path, or the methods that the path has, nothing when it has none.
func (t *router) find(method string, s *segments) (*route, string) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	allow := ""
	for _, rt := range t.byLength[s.n] {
		if !rt.matches(s) {
			continue
		}
		if rt.method == method {
			return rt, ""
		}
		if allow != "" {
			allow += ", "
		}
		if allow += rt.method; rt.method == http.MethodGet {
			allow += ", " + http.MethodHead
		}
	}
	return nil, allow
}

func (rt *route) matches(s *segments) bool {
	for i, want := range rt.segments {
		if want[0] != '{' && want != s.part[i] {
			return false
		}
	}
	return true
}

// pathValue is the decoded segment that stands for {name} in the route's path.
func (c *call) pathValue(name string) string {
	for i, seg := range c.route.segments {
		if len(seg) == len(name)+2 && seg[0] == '{' && seg[1:len(seg)-1] == name {
			return c.path.part[i]
		}
	}
	return ""
}
