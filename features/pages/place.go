package pages

import "net/url"

// linkBase is the part of an address that all links within the pages have.
type linkBase struct {
	base string // path below which the service is; "": the root
	lang string // the language that the address names; "": none
}

// to returns the address of a page.
func (p linkBase) to(path string, v url.Values) string {
	if p.lang != "" {
		if v == nil {
			v = url.Values{}
		}
		v.Set("lang", p.lang)
	}
	return p.base + path + (&url.URL{RawQuery: v.Encode(), ForceQuery: len(v) > 0}).String()
}
