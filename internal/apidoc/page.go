package apidoc

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed page.html
var pageTemplate string

// neededScope finds the scope that an operation needs in its description.
var neededScope = regexp.MustCompile(`Needs scope (\w+)`)

// Parts are the parts of a page that do not come from the document.
type Parts struct {
	Style, Script string // of the page
	Problems      []Problem
}

// Problem is a row of the page's table of problems.
type Problem struct{ Code, Status, Title string }

// The parts of the page for its template.
type (
	page struct {
		Title, Version string
		Style          template.CSS
		Script         template.JS
		Description    []chapter
		Sections       []section
		Params         []field // parameters that several operations have
		Errors         []failure
		Schemas        []object
	}
	// chapter is a heading of the description and the paragraphs under it.
	chapter struct {
		ID, Title  string
		Paragraphs []template.HTML
	}
	section struct {
		ID, Name    string
		Description template.HTML
		Operations  []operation
	}
	operation struct {
		ID, Method, Path, Summary string
		Description               []template.HTML
		Keyed, Optional           bool   // a key is needed; a key is needed on private boards
		Scope                     string // that the operation needs, if the description names it
		Params                    []field
		Shared                    []field // explained once for all
		Body                      typeName
		Answers                   []answer
		Errors                    []string // statuses
		Curl                      template.HTML
		Example                   template.HTML
	}
	answer struct {
		Status      string
		Description template.HTML
		Body        typeName
	}
	// failure is a status of problems.
	failure struct {
		Status, Words string
		Descriptions  []template.HTML
		Problems      []Problem
	}
	object struct {
		Name        string
		Description template.HTML
		Type        typeName
		Bases       []typeName // schemas whose members it has too
		Fields      []field
	}
	field struct {
		ID, Name, In string
		Description  template.HTML
		Required     bool
		Type         typeName
		Example      string
	}
	// typeName is a type in words, and the named schema that it is or is made of, if there is such a schema.
	typeName struct{ Text, Ref string }
)

// HTML renders the document as one page that loads nothing and can be read without its script.
func (d *Document) HTML(parts Parts) ([]byte, error) {
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, fmt.Errorf("parse the template: %w", err)
	}
	p := d.page(parts.Problems)
	p.Style, p.Script = template.CSS(parts.Style), template.JS(compact(parts.Script))
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	return out.Bytes(), nil
}

func (d *Document) page(problems []Problem) page {
	p := page{
		Title: text(d.root, "info", "title"), Version: text(d.root, "info", "version"),
		Description: chapters(text(d.root, "info", "description")), Errors: d.failures(problems),
	}
	for _, tag := range items(at(d.root, "tags")) {
		s := section{Name: text(tag, "name"), Description: marked(text(tag, "description"))}
		s.ID = "section-" + strings.ReplaceAll(strings.ToLower(s.Name), " ", "-")
		d.eachOperation(func(method, path string, item, op *yaml.Node) {
			if tags := items(at(op, "tags")); len(tags) > 0 && tags[0].Value == s.Name {
				s.Operations = append(s.Operations, d.operation(method, path, item, op))
			}
		})
		p.Sections = append(p.Sections, s)
	}
	each(at(d.root, "components", "parameters"), func(name string, param *yaml.Node) {
		p.Params = append(p.Params, d.param(name, param))
	})
	each(at(d.root, "components", "schemas"), func(name string, schema *yaml.Node) {
		p.Schemas = append(p.Schemas, d.object(name, schema))
	})
	return p
}

// eachOperation calls fn with the operations in the order of the document.
func (d *Document) eachOperation(fn func(method, path string, item, op *yaml.Node)) {
	each(at(d.root, "paths"), func(path string, item *yaml.Node) {
		each(item, func(method string, op *yaml.Node) {
			if at(op, "operationId") != nil {
				fn(method, path, item, op)
			}
		})
	})
}

// Examples returns the lines by which the page lets readers try operations, by the ids of the operations.
func (d *Document) Examples() map[string]string {
	lines, tag := map[string]string{}, regexp.MustCompile(`<[^>]+>`)
	d.eachOperation(func(method, path string, item, op *yaml.Node) {
		o := d.operation(method, path, item, op)
		lines[o.ID] = html.UnescapeString(tag.ReplaceAllString(string(o.Curl), ""))
	})
	return lines
}

func (d *Document) object(name string, schema *yaml.Node) object {
	s := object{Name: name, Description: marked(text(schema, "description")), Fields: d.fields(schema)}
	for _, base := range items(at(schema, "allOf")) {
		s.Bases = append(s.Bases, d.typeOf(base))
	}
	if s.Fields == nil && s.Bases == nil {
		s.Type = d.typeOf(schema)
	}
	return s
}

func (d *Document) operation(method, path string, item, op *yaml.Node) operation {
	o := operation{
		ID: text(op, "operationId"), Method: strings.ToUpper(method), Path: path, Summary: text(op, "summary"),
		Description: markedAll(paragraphs(text(op, "description"))),
	}
	if security := items(at(op, "security")); len(security) > 0 {
		o.Optional = len(security[0].Content) == 0
		o.Keyed = !o.Optional
	}
	if m := neededScope.FindStringSubmatch(text(op, "description")); m != nil {
		o.Scope = m[1]
	}
	for _, list := range []*yaml.Node{at(item, "parameters"), at(op, "parameters")} {
		for _, p := range items(list) {
			if ref := text(p, "$ref"); ref != "" {
				o.Shared = append(o.Shared, d.param(ref[strings.LastIndexByte(ref, '/')+1:], d.follow(p)))
			} else {
				o.Params = append(o.Params, d.param("", p))
			}
		}
	}
	body := at(op, "requestBody", "content", "application/json")
	o.Body = d.typeOf(at(body, "schema"))
	streamed := false
	each(at(op, "responses"), func(status string, res *yaml.Node) {
		if status >= "400" && text(res, "$ref") != "" {
			o.Errors = append(o.Errors, status)
			return
		}
		res = d.follow(res)
		a := answer{Status: status, Description: marked(text(res, "description"))}
		each(at(res, "content"), func(kind string, media *yaml.Node) {
			streamed = streamed || kind == "text/event-stream"
			a.Body = d.typeOf(at(media, "schema"))
			if example := at(media, "example"); example != nil && status < "300" {
				o.Example = indented(example)
			}
		})
		o.Answers = append(o.Answers, a)
	})
	o.Curl = curl(&o, streamed, at(body, "example"))
	return o
}

// param returns a parameter; name is the name of its component, "" if it is not a component.
func (d *Document) param(name string, p *yaml.Node) field {
	f := field{
		Name: text(p, "name"), In: text(p, "in"), Description: marked(text(p, "description")),
		Required: text(p, "required") == "true", Type: d.typeOf(at(p, "schema")), Example: text(p, "example"),
	}
	if name != "" {
		f.ID = "p-" + strings.TrimSuffix(name, "Param")
	}
	if examples := items(at(d.follow(at(p, "schema")), "examples")); f.Example == "" && f.In == "path" && len(examples) > 0 {
		f.Example = examples[0].Value
	}
	return f
}

// failures lists the statuses of problems, each with the descriptions of all operations' answers.
func (d *Document) failures(problems []Problem) []failure {
	var out []failure
	find := func(status string) *failure {
		i, found := slices.BinarySearchFunc(out, status, func(f failure, status string) int { return strings.Compare(f.Status, status) })
		if !found {
			out = slices.Insert(out, i, failure{Status: status})
		}
		return &out[i]
	}
	for _, p := range problems {
		f := find(p.Status)
		f.Problems = append(f.Problems, p)
	}
	d.eachOperation(func(_, _ string, _, op *yaml.Node) {
		each(at(op, "responses"), func(status string, res *yaml.Node) {
			if status < "400" || text(res, "$ref") == "" {
				return
			}
			f, said := find(status), marked(text(d.follow(res), "description"))
			if !slices.Contains(f.Descriptions, said) {
				f.Descriptions = append(f.Descriptions, said)
			}
		})
	})
	for i := range out {
		status, _ := strconv.Atoi(out[i].Status) // 0 has no text
		out[i].Words = http.StatusText(status)
	}
	return out
}
