package httpapi

import (
	"bytes"
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

// based adds the base path to the addresses in a page.
func based(page []byte, base string) []byte {
	if base == "" {
		return page
	}
	return bytes.ReplaceAll(page, []byte(` href="/`), []byte(` href="`+base+`/`))
}

// basedDocument replaces the root in the OpenAPI document, in JSON or in YAML, by the base path, and puts it before the types of
// problems.
func basedDocument(doc []byte, base string) []byte {
	if base == "" {
		return doc
	}
	for _, before := range []string{`"`, "- ", "type: "} { // of types, and not of the path of their pages
		doc = bytes.ReplaceAll(doc, []byte(before+"/problems/"), []byte(before+base+"/problems/"))
	}
	doc = bytes.ReplaceAll(doc, []byte(`"`+base+"/problems/{code}"), []byte(`"/problems/{code}`))
	doc = bytes.Replace(doc, []byte(`"servers":[{"url":"/"}]`), []byte(`"servers":[{"url":"`+base+`"}]`), 1)
	return bytes.Replace(doc, []byte("servers:\n  - url: /\n"), []byte("servers:\n  - url: "+base+"\n"), 1)
}
