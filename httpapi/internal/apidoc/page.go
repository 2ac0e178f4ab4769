package apidoc

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed page.html
var pageTemplate string

// Problem is a row of the page's table of problems.
type Problem struct{ Code, Status, Title string }

// The parts of the page as its template wants them.
type (
	page struct {
		Title, Version string
		Style          template.CSS
		Description    []string // paragraphs
		Sections       []section
		Schemas        []object
		Problems       []Problem
	}
	section struct {
		Name, Description string
		Operations        []operation
	}
	operation struct {
		ID, Method, Path, Summary string
		Description               []string
		Keyed, Optional           bool // a key is needed; a key is needed on private boards
		Params                    []field
		Body                      typeName
		Responses                 []response
		Curl, Example             string
	}
	response struct {
		Status, Description string
		Body                typeName
	}
	object struct {
		Name, Description string
		Type              typeName
		Fields            []field
	}
	field struct {
		Name, In, Description string
		Required              bool
		Type                  typeName
	}
	// typeName is a type in words, and the schema that it is or is made of, if that has a name.
	typeName struct{ Text, Ref string }
)

// HTML renders the document as one page that loads nothing: style is its CSS, problems are listed at its end.
func (d *Document) HTML(style string, problems []Problem) ([]byte, error) {
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, fmt.Errorf("parse the template: %w", err)
	}
	p := d.page()
	p.Style, p.Problems = template.CSS(style), problems
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("render the page: %w", err)
	}
	return out.Bytes(), nil
}

func (d *Document) page() page {
	p := page{
		Title: text(d.root, "info", "title"), Version: text(d.root, "info", "version"),
		Description: paragraphs(text(d.root, "info", "description")),
	}
	for _, tag := range items(at(d.root, "tags")) {
		t := section{Name: text(tag, "name"), Description: text(tag, "description")}
		each(at(d.root, "paths"), func(path string, item *yaml.Node) {
			each(item, func(method string, op *yaml.Node) {
				if tags := items(at(op, "tags")); len(tags) > 0 && tags[0].Value == t.Name {
					t.Operations = append(t.Operations, d.operation(method, path, item, op))
				}
			})
		})
		p.Sections = append(p.Sections, t)
	}
	each(at(d.root, "components", "schemas"), func(name string, schema *yaml.Node) {
		s := object{Name: name, Description: text(schema, "description"), Fields: d.fields(schema)}
		if s.Fields == nil {
			s.Type = d.typeOf(schema)
		}
		p.Schemas = append(p.Schemas, s)
	})
	return p
}

func (d *Document) operation(method, path string, item, op *yaml.Node) operation {
	o := operation{
		ID: text(op, "operationId"), Method: strings.ToUpper(method), Path: path, Summary: text(op, "summary"),
		Description: paragraphs(text(op, "description")),
	}
	if security := items(at(op, "security")); len(security) > 0 {
		o.Optional = len(security[0].Content) == 0
		o.Keyed = !o.Optional
	}
	for _, list := range []*yaml.Node{at(item, "parameters"), at(op, "parameters")} {
		for _, p := range items(list) {
			p = d.follow(p)
			o.Params = append(o.Params, field{
				Name: text(p, "name"), In: text(p, "in"), Description: text(p, "description"),
				Required: text(p, "required") == "true", Type: d.typeOf(at(p, "schema")),
			})
		}
	}
	body := at(op, "requestBody", "content", "application/json")
	o.Body = d.typeOf(at(body, "schema"))
	o.Curl = curl(o.Method, path, o.Keyed, at(body, "example"))
	each(at(op, "responses"), func(status string, res *yaml.Node) {
		res = d.follow(res)
		r := response{Status: status, Description: text(res, "description")}
		each(at(res, "content"), func(_ string, media *yaml.Node) {
			r.Body = d.typeOf(at(media, "schema"))
			if example := at(media, "example"); example != nil && status < "300" {
				o.Example = indented(example)
			}
		})
		o.Responses = append(o.Responses, r)
	})
	return o
}

// curl returns a line to try an operation with.
func curl(method, path string, keyed bool, body *yaml.Node) string {
	path = strings.NewReplacer("{board}", "demo", "{member}", "u1", "{score}", "90", "{id}", "1", "{code}", "not-ranked").Replace(path)
	line := "curl -s"
	if method != "GET" {
		line += " -X " + method
	}
	line += " $SERVER" + path
	if keyed {
		line += " -H \"Authorization: Bearer $KEY\""
	}
	if body != nil {
		line += " -H 'Content-Type: application/json' -d '" + string(appendJSON(nil, body)) + "'"
	}
	return line
}

func indented(example *yaml.Node) string {
	var out bytes.Buffer
	if err := json.Indent(&out, appendJSON(nil, example), "", "  "); err != nil {
		return ""
	}
	return out.String()
}
