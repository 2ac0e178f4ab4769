package pages

import (
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// view is the data of a template.
type view struct {
	*language
	place   linkBase
	Others  []other // the languages
	Title   string
	Face    *face
	Embed   bool   // the page may be shown in a frame of another site
	Class   string // how a frame looks: clear, dark
	Entry   sources
	Problem *rejection        // a failure that the page shows; nil: none
	Board   any               // a *boardView; nil on other pages
	Home    any               // a *homeView; nil on other pages
	Shared  *shared           // for sites that show a link to the page; nil: nothing
	Told    map[string]string // answers of the API by address, for the script
}

// other is a language, and the address of this page in it.
type other struct {
	*language
	Link   string
	Chosen bool
}

// view makes the data of a page in the language of its reader.
func (s *Site) view(r *http.Request) *view {
	v := &view{language: s.languages.of(r), Face: s.face, place: linkBase{base: s.base}}
	if named := s.languages.named(r); named != nil {
		v.place.lang = named.Tag
	}
	path, query := r.URL.EscapedPath(), r.URL.Query()
	for _, l := range s.languages.all {
		v.Others = append(v.Others, other{l, linkBase{s.base, l.Tag}.to(path, query), l == v.language})
	}
	return v
}

// SiteTitle is the title of the pages.
func (v *view) SiteTitle() string {
	if v.Face.Title != "" {
		return v.Face.Title
	}
	return v.say("site.title")
}

// Header returns the links of the header.
func (v *view) Header() (out []part) {
	for _, p := range v.Face.Header {
		switch p {
		case part{Text: headerManual}:
			p = part{v.say("site.manual"), v.Path("/docs")}
		case part{Text: headerConsole}:
			p = part{v.say("site.console"), v.Path("/console")}
		}
		out = append(out, p)
	}
	return out
}

// HasManual reports whether the header leads to the manual.
func (v *view) HasManual() bool { return slices.Contains(v.Face.Header, part{Text: headerManual}) }

// Speaks is the language of the page.
func (v *view) Speaks() *language { return v.language }

// Kept is the language that links keep; "": none.
func (v *view) Kept() string { return v.place.lang }

// Words are the language, for the script.
func (v *view) Words() json.RawMessage { return v.file }

// Path returns an address without the language of the page, for the manual and the console.
func (v *view) Path(path string) string { return v.place.base + path }

// To returns the address of a page.
func (v *view) To(path string) string { return v.place.to(path, nil) }

// Page returns the address of a board's page.
func (v *view) Page(board string) string { return v.To("/boards/" + url.PathEscape(board)) }

// Labelled returns the address of the boards with a label.
func (v *view) Labelled(name, value string) string {
	to := v.place.base + "/?labels=" + url.QueryEscape(name) + ":" + url.QueryEscape(value)
	if v.place.lang != "" {
		to += "&lang=" + v.place.lang
	}
	return to
}

// Sources are links to the boards that a derived one is computed from.
func (v *view) Sources(b *rules) template.HTML {
	var out template.HTML
	for i, from := range b.Derive.From {
		if i > 0 {
			out += template.HTML(template.HTMLEscapeString(v.say("comma"))) //nolint:gosec // it is escaped
		}
		out += link(v.Page(from.Board), from.Board)
	}
	return out
}

// Part returns the name of a part of a board, by the value of its label. The script has names for countries.
func (v *view) Part(label, value string) string {
	if label == "country" && len(value) == 2 {
		return strings.ToUpper(value)
	}
	return value
}

// Kinds are the labels that the reader filters by.
func (v *view) Kinds(labels []string) string {
	out := ""
	for i, l := range labels {
		if i > 0 {
			out += v.say("home.and")
		}
		out += l
	}
	return out
}

// Values for places of texts.

func bdi(text string) template.HTML {
	return "<bdi>" + template.HTML(template.HTMLEscapeString(text)) + "</bdi>" //nolint:gosec // it is escaped
}

// link returns a link to an address that the pages made.
func link(to, text string) template.HTML {
	return template.HTML(`<a href="` + template.HTMLEscapeString(to) + `">` + template.HTMLEscapeString(text) + "</a>") //nolint:gosec // it is escaped
}

func when(at, text string) template.HTML {
	return template.HTML(`<time datetime="` + template.HTMLEscapeString(at) + `">` + template.HTMLEscapeString(text) + "</time>") //nolint:gosec // it is escaped
}
