// Package manual makes the pages of the manual of documents in Markdown.
package manual

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Base is the path of the reference of the API, above those of the pages.
const Base = "/docs"

// contents is the document whose table has the others in their order, under headings in bold. Its own page is named start.
const (
	contents = "README.md"
	start    = "start"
)

//go:embed page.html
var pageTemplate string

// focusable lets what is wider than the screen be scrolled by keys.
var focusable = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`)

var (
	boldRow  = regexp.MustCompile(`^\| \*\*(.+?)\*\* \|`)
	otherRow = regexp.MustCompile(`\[[^\]]+\]\(([a-z-]+)\.md\)`)
)

// Page is a document as a page.
type Page struct {
	Name string // last part of its path
	HTML []byte
}

// Section is a heading and the text below it, up to the next heading.
type Section struct {
	Href  string `json:"href"`
	Title string `json:"title"`
	Under string `json:"under"` // title of the page
	Text  string `json:"text"`
}

// Manual is all pages, and what a search looks through.
type Manual struct {
	Pages  []Page
	Search []byte // JSON, an array of Section
}

// document is a page that is being made.
type document struct {
	Name, Title string
	Body        template.HTML
	Headings    []heading // of the second level
	sections    []Section
}

type heading struct{ ID, Title string }

// group is the documents under a heading of the menu.
type group struct {
	Title     string
	Documents []*document
}

// New makes the manual of the documents in files. Style and script go into each page.
func New(files fs.FS, style, script string) (*Manual, error) {
	groups, err := groupsOf(files)
	if err != nil {
		return nil, err
	}
	page, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, fmt.Errorf("manual: parse the template: %w", err)
	}
	m, sections := &Manual{}, []Section{}
	for _, g := range groups {
		for _, d := range g.Documents {
			if err := d.read(files); err != nil {
				return nil, fmt.Errorf("manual: %s: %w", d.Name, err)
			}
			sections = append(sections, d.sections...)
		}
	}
	for _, g := range groups {
		for _, d := range g.Documents {
			var out bytes.Buffer
			err := page.Execute(&out, map[string]any{"Style": template.CSS(style), "Script": template.JS(script), "Groups": groups, "Page": d})
			if err != nil {
				return nil, fmt.Errorf("manual: %s: %w", d.Name, err)
			}
			m.Pages = append(m.Pages, Page{d.Name, out.Bytes()})
		}
	}
	m.Search, err = json.Marshal(sections)
	return m, err
}

// groupsOf returns the documents that the contents name, each once, in their order.
func groupsOf(files fs.FS) ([]*group, error) {
	table, err := fs.ReadFile(files, contents)
	if err != nil {
		return nil, fmt.Errorf("manual: %w", err)
	}
	groups, seen := []*group{{Title: "Manual", Documents: []*document{{Name: start}}}}, map[string]bool{}
	for line := range strings.Lines(string(table)) {
		if bold := boldRow.FindStringSubmatch(line); bold != nil {
			groups = append(groups, &group{Title: strings.ToUpper(bold[1][:1]) + bold[1][1:]})
			continue
		}
		for _, link := range otherRow.FindAllStringSubmatch(line, -1) {
			if last := groups[len(groups)-1]; !seen[link[1]] {
				last.Documents, seen[link[1]] = append(last.Documents, &document{Name: link[1]}), true
			}
		}
	}
	return groups, nil
}

// markdown is GitHub's: with tables, and headings that have ids.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

// read makes HTML of the document.
func (d *document) read(files fs.FS) error {
	name := d.Name + ".md"
	if d.Name == start {
		name = contents
	}
	source, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	md, ids := markdown(), parser.NewContext(parser.WithIDs(&slugs{seen: map[string]int{}}))
	tree := md.Parser().Parse(text.NewReader(source), parser.WithContext(ids))
	if err := d.walk(files, tree, source); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, source, tree); err != nil {
		return err
	}
	d.Body = template.HTML(focusable.Replace(out.String()))
	return nil
}

// walk collects the sections of a document, and makes its links lead to pages.
func (d *document) walk(files fs.FS, tree ast.Node, source []byte) error {
	var words []ast.Node // links to what has no page
	var next ast.Node
	for block := tree.FirstChild(); block != nil; block = next {
		next = block.NextSibling()
		if html, ok := block.(*ast.HTMLBlock); ok && html.HTMLBlockType == ast.HTMLBlockType2 { // a comment, for tests
			tree.RemoveChild(tree, block)
			continue
		}
		h, ok := block.(*ast.Heading)
		if !ok {
			if n := len(d.sections); n > 0 {
				d.sections[n-1].Text += plain(block, source) + "\n"
			}
			continue
		}
		title, id := plain(h, source), idOf(h)
		switch {
		case d.Title == "":
			d.Title = title
		case h.Level == 2:
			d.Headings = append(d.Headings, heading{id, title})
		}
		d.sections = append(d.sections, Section{Href: Base + "/" + d.Name + "#" + id, Title: title, Under: d.Title})
	}
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			if to := target(files, string(link.Destination)); to != "" {
				link.Destination = []byte(to)
			} else {
				words = append(words, link)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, link := range words {
		parent := link.Parent()
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			parent.InsertBefore(parent, link, child)
		}
		parent.RemoveChild(parent, link)
	}
	return err
}

// target returns where a link of a document leads on a server, "" when the server has no such page.
func target(files fs.FS, link string) string {
	if strings.HasPrefix(link, "#") || strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		return link
	}
	name, fragment, cut := strings.Cut(link, "#")
	if _, err := fs.Stat(files, name); err != nil {
		return ""
	}
	to := Base + "/" + strings.TrimSuffix(name, ".md")
	if name == contents {
		to = Base + "/" + start
	}
	if cut {
		to += "#" + fragment
	}
	return to
}

func idOf(h *ast.Heading) string {
	id, _ := h.AttributeString("id")
	value, _ := id.([]byte)
	return string(value)
}

// plain returns the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				out.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					out.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := 0; entering && i < n.Lines().Len(); i++ {
				line := n.Lines().At(i)
				out.Write(line.Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				out.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(out.String())
}
