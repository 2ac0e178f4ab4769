package httpapi

import (
	"net/http"
	"net/url"
	"strings"
)

// atRoot are the paths that stay at the root of the server too: orchestrators know the process, not an address of the site.
func atRoot(path string) bool { return path == "/livez" || path == "/readyz" || path == "/metrics" }

// below returns a request without the base path; nil: its path is not below base.
func below(base string, r *http.Request) *http.Request {
	path, ok := strings.CutPrefix(r.URL.Path, base)
	if !ok || !strings.HasPrefix(path, "/") {
		if atRoot(r.URL.Path) {
			return r
		}
		return nil
	}
	raw, ok := strings.CutPrefix(r.URL.RawPath, base)
	if r.URL.RawPath != "" && !ok { // the base itself is escaped
		return nil
	}
	out := new(http.Request)
	*out = *r
	out.URL = new(url.URL)
	*out.URL = *r.URL
	out.URL.Path, out.URL.RawPath = path, raw
	return out
}
