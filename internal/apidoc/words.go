package apidoc

import (
	"bytes"
	"encoding/json"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// codeSpan is code in a text, escaped.
var codeSpan = regexp.MustCompile("`([^`]+)`")

// escaped returns s as the text of an element, where quotes need no escape: thousands of them would make the page longer.
func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// marked makes HTML of a text, with code elements for `code`.
func marked(s string) template.HTML {
	return template.HTML(codeSpan.ReplaceAllString(escaped(strings.TrimSpace(s)), "<code>$1</code>"))
}

func markedAll(paragraphs []string) (out []template.HTML) {
	for _, p := range paragraphs {
		out = append(out, marked(p))
	}
	return out
}

// chapters cuts a description at its headings, which are lines that begin with "## ".
func chapters(s string) (out []chapter) {
	for _, p := range paragraphs(s) {
		if title, ok := strings.CutPrefix(p, "## "); ok {
			out = append(out, chapter{ID: "about-" + strings.ReplaceAll(strings.ToLower(title), " ", "-"), Title: title})
			continue
		}
		if len(out) == 0 {
			out = append(out, chapter{})
		}
		last := &out[len(out)-1]
		last.Paragraphs = append(last.Paragraphs, marked(p))
	}
	return out
}

// curl returns a line to try an operation with. Parts that a reader may want to replace are in elements var, which name them.
func curl(o *operation, streamed bool, body *yaml.Node) template.HTML {
	path, query := escaped(o.Path), "?"
	for _, p := range slices.Concat(o.Shared, o.Params) {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", variable(p.Name, p.Example))
		case p.In == "query" && p.Example != "":
			path += query + p.Name + "=" + escaped(p.Example)
			query = "&amp;"
		}
	}
	line := "curl"
	if streamed {
		line += " -N"
	}
	if o.Method != "GET" && (o.Method != "POST" || body == nil) {
		line += " -X " + o.Method
	}
	line += ` "` + variable("server", "$SERVER") + path + `"`
	if o.Keyed {
		line += " \\\n  -H \"Authorization: Bearer " + variable("key", "$KEY") + `"`
	}
	if body != nil {
		text := strings.ReplaceAll(string(appendJSON(nil, body)), "'", `'\''`)
		line += " \\\n  -H \"Content-Type: application/json\" \\\n  -d '<span>" + escaped(text) + "</span>'"
	}
	return template.HTML(line)
}

func variable(name, value string) string {
	return `<var data-v="` + name + `">` + escaped(value) + `</var>`
}

func indented(example *yaml.Node) template.HTML {
	var out bytes.Buffer
	if err := json.Indent(&out, appendJSON(nil, example), "", "  "); err != nil {
		return ""
	}
	return template.HTML(escaped(out.String()))
}

// compact removes comments and indentation from a script, which has neither inside its strings.
func compact(script string) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}
