package manual

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// reference is the path of the reference of the API. The paths of the manual's pages are below it.
const reference = "/docs"

// contents is the document whose table has the others in their order, under headings in bold. Its own page is named start.
const (
	contents = "README.md"
	start    = "start"
)

//go:embed web/page.html
var pageTemplate string

// focusable lets readers scroll wide elements by keys.
var focusable = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`)

var (
	boldRow  = regexp.MustCompile(`^\| \*\*(.+?)\*\* \|`)
	otherRow = regexp.MustCompile(`\[[^\]]+\]\(([a-z-]+)\.md\)`)
	titleRow = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fileName = regexp.MustCompile(`^[\w./-]+\.(?:md|yaml)$|^[\w.-]*/$`) // as the text of a link
	pathLink = regexp.MustCompile(`\[\.\./[^\]]*\]\(([^)]+)\)(?:, )?`)
	anyLink  = regexp.MustCompile(`\]\(([^)]+)\)`)
)

// Files that are other pages here, as documents name them: the start, and the reference of the API.
const (
	readme  = "../README.md"
	openAPI = "../api/openapi.yaml"
)

// library has the documents of a manual.
type library struct {
	fs.FS
	intro  []byte            // Markdown, the beginning of the start
	titles map[string]string // of files by their names, and of their sections: boards.md#labels
}

// section is a heading and the text below it, up to the next heading.
type section struct {
	Href  string `json:"href"`
	Title string `json:"title"`
	Under string `json:"under"` // title of the page
	Text  string `json:"text"`
}

// document is a page that is being made.
type document struct {
	Name, Title string
	file        string
	Body        template.HTML
	Headings    []heading // of the second level
	sections    []section
}

type heading struct{ ID, Title string }

// group is the documents under a heading of the menu.
type group struct {
	Title     string
	Documents []*document
}

// render makes a page of each document in files, by the last part of its path, and the data of their search: JSON, an array of
// sections. The start has intro, in the Markdown of the repository's README, above the contents. Style and script go into each page.
func render(files fs.FS, intro []byte, style, script string) (pages map[string][]byte, search []byte, err error) {
	groups, err := groupsOf(files)
	if err != nil {
		return nil, nil, err
	}
	lib := &library{files, intro, map[string]string{openAPI: "the reference"}}
	if err := lib.readTitles(); err != nil {
		return nil, nil, err
	}
	documents := lib.decisions()
	for _, g := range groups {
		documents = append(documents, g.Documents...)
	}
	page, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, nil, fmt.Errorf("manual: parse the template: %w", err)
	}
	pages, sections := map[string][]byte{}, []section{}
	for _, d := range documents {
		if err := d.read(lib); err != nil {
			return nil, nil, fmt.Errorf("manual: %s: %w", d.Name, err)
		}
		if !d.isDecision() && d.Name != start { // its contents repeat words of all other pages
			sections = append(sections, d.sections...)
		}
	}
	for _, d := range documents {
		var out bytes.Buffer
		err := page.Execute(&out, map[string]any{"Style": template.CSS(style), "Script": template.JS(script), "Groups": groups, "Page": d})
		if err != nil {
			return nil, nil, fmt.Errorf("manual: %s: %w", d.Name, err)
		}
		pages[d.Name] = out.Bytes()
	}
	search, err = json.Marshal(sections)
	return pages, search, err
}

// groupsOf returns the documents that the contents name, each once, in their order.
func groupsOf(files fs.FS) ([]*group, error) {
	table, err := fs.ReadFile(files, contents)
	if err != nil {
		return nil, fmt.Errorf("manual: %w", err)
	}
	groups, seen := []*group{{Title: "Manual", Documents: []*document{{Name: start, file: contents}}}}, map[string]bool{}
	for line := range strings.Lines(string(table)) {
		if bold := boldRow.FindStringSubmatch(line); bold != nil {
			groups = append(groups, &group{Title: strings.ToUpper(bold[1][:1]) + bold[1][1:]})
			continue
		}
		for _, link := range otherRow.FindAllStringSubmatch(line, -1) {
			if last := groups[len(groups)-1]; !seen[link[1]] {
				last.Documents, seen[link[1]] = append(last.Documents, &document{Name: link[1], file: link[1] + ".md"}), true
			}
		}
	}
	return slices.DeleteFunc(groups, func(g *group) bool { return len(g.Documents) == 0 }), nil
}

// readTitles reads the headings of all documents.
func (l *library) readTitles() error {
	note := func(name string, source []byte) {
		for _, row := range titleRow.FindAllSubmatch(source, -1) {
			title := strings.ReplaceAll(string(row[1]), "`", "")
			l.titles[name] = cmp.Or(l.titles[name], title)
			l.titles[name+"#"+slug(title)] = title
		}
	}
	note(readme, l.intro)
	return fs.WalkDir(l, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		source, err := fs.ReadFile(l, name)
		note(name, source)
		return err
	})
}

// decisions returns the documents that say why things are so. Links lead to them; the menu and the search leave them out.
func (l *library) decisions() (found []*document) {
	for _, name := range slices.Sorted(maps.Keys(l.titles)) {
		if strings.HasPrefix(name, decisions) && path.Ext(name) == ".md" {
			found = append(found, &document{Name: pageOf(name), file: name})
		}
	}
	return found
}

// source returns the Markdown of a document. The start has the introduction, and the contents without documents that have no page.
func (l *library) source(d *document) ([]byte, error) {
	source, err := fs.ReadFile(l, d.file)
	if d.file != contents || err != nil {
		return source, err
	}
	var out strings.Builder
	out.Write(l.intro)
	out.WriteString("\n\n#") // the heading of the contents is one of the second level
	for row := range strings.Lines(string(source)) {
		cells := strings.SplitN(row, " | ", 2)
		if len(cells) < 2 || !anyLink.MatchString(row) {
			out.WriteString(row)
			continue
		}
		items := slices.DeleteFunc(strings.Split(strings.TrimSuffix(strings.TrimSpace(cells[1]), " |"), "; "), func(item string) bool {
			links := anyLink.FindAllStringSubmatch(item, -1)
			return len(links) > 0 && !slices.ContainsFunc(links, func(link []string) bool { return l.target(".", link[1]) != "" })
		})
		for i := range items {
			items[i] = pathLink.ReplaceAllStringFunc(items[i], func(link string) string {
				if l.target(".", pathLink.FindStringSubmatch(link)[1]) == "" {
					return ""
				}
				return link
			})
		}
		if len(items) > 0 {
			fmt.Fprintf(&out, "%s | %s |\n", cells[0], strings.Join(items, "; "))
		}
	}
	return []byte(out.String()), nil
}

// markdown reads GitHub's Markdown: with tables, and headings that have ids.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

// read makes HTML of the document.
func (d *document) read(lib *library) error {
	source, err := lib.source(d)
	if err != nil {
		return err
	}
	md, ids := markdown(), parser.NewContext(parser.WithIDs(&slugs{seen: map[string]int{}}))
	tree := md.Parser().Parse(text.NewReader(source), parser.WithContext(ids))
	if err := d.link(lib, tree, source); err != nil {
		return err
	}
	d.cut(tree, source)
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, source, tree); err != nil {
		return err
	}
	d.Body = template.HTML(focusable.Replace(out.String()))
	return nil
}

// cut removes comments, which are for tests, and lists of the document's own sections, which are in the menu, and divides the rest
// into sections.
func (d *document) cut(tree ast.Node, source []byte) {
	var next ast.Node
	for block := tree.FirstChild(); block != nil; block = next {
		next = block.NextSibling()
		if comment, ok := block.(*ast.HTMLBlock); ok && comment.HTMLBlockType == ast.HTMLBlockType2 || listsSections(block, source) {
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
		d.sections = append(d.sections, section{Href: reference + "/" + d.Name + "#" + id, Title: title, Under: d.Title})
	}
}

// listsSections reports whether a paragraph is nothing but links to sections of its document.
func listsSections(block ast.Node, source []byte) bool {
	if block.Kind() != ast.KindParagraph {
		return false
	}
	links := 0
	for n := block.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Link:
			if links++; !bytes.HasPrefix(n.Destination, []byte("#")) {
				return false
			}
		case *ast.Text:
			if strings.Trim(string(n.Segment.Value(source)), " ·") != "" {
				return false
			}
		default:
			return false
		}
	}
	return links > 1
}

// link makes links lead to pages, with titles instead of the names of files. A link to a file without a page becomes its text.
func (d *document) link(lib *library, tree ast.Node, source []byte) error {
	var pageless []ast.Node
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		file, fragment, _ := strings.Cut(path.Join(path.Dir(d.file), string(link.Destination)), "#")
		to := lib.target(path.Dir(d.file), string(link.Destination))
		if to == "" {
			pageless = append(pageless, link)
			return ast.WalkContinue, nil
		}
		link.Destination = []byte(to)
		if title := cmp.Or(lib.titles[file+"#"+fragment], lib.titles[file]); title != "" && fileName.MatchString(plain(link, source)) {
			link.RemoveChildren(link)
			link.AppendChild(link, ast.NewString([]byte(html.EscapeString(title))))
		}
		return ast.WalkContinue, nil
	})
	for _, link := range pageless {
		if file, ok := strings.CutPrefix(plain(link, source), "../"); ok {
			link.RemoveChildren(link)
			link.AppendChild(link, ast.NewString([]byte(html.EscapeString(file))))
		}
		parent := link.Parent()
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			parent.InsertBefore(parent, link, child)
		}
		parent.RemoveChild(parent, link)
	}
	return err
}

// target returns where a link of a document in a folder leads on a server, "" when the server has no such page.
func (l *library) target(folder, link string) string {
	if strings.HasPrefix(link, "#") || strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		return link
	}
	name, fragment, cut := strings.Cut(link, "#")
	name = path.Join(folder, strings.TrimPrefix(name, "docs/")) // with it in the introduction
	switch {
	case name == openAPI:
		return reference
	case name == readme:
		return reference + "/" + start
	case l.titles[name] == "":
		return ""
	}
	to := reference + "/" + pageOf(name)
	if cut {
		to += "#" + fragment
	}
	return to
}

// decisions is the folder of the documents that say why.
const decisions = "decisions/"

func (d *document) isDecision() bool { return strings.HasPrefix(d.file, decisions) }

// pageOf returns the name of the page of a document.
func pageOf(file string) string {
	switch file {
	case contents:
		return start
	case decisions + contents:
		return strings.TrimSuffix(decisions, "/")
	default:
		return strings.ReplaceAll(strings.TrimSuffix(file, ".md"), "/", "-")
	}
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
