package httpapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The page at /docs is made of the document alone: these are its parts as the template wants them.
type (
	docPage struct {
		Title, Version string
		Description    []string // paragraphs
		Tags           []docTag
		Schemas        []docSchema
		Problems       []docProblem
	}
	docTag struct {
		Name, Description string
		Operations        []docOperation
	}
	docOperation struct {
		ID, Method, Path, Summary string
		Description               []string
		Keyed, Optional           bool // a key is needed; a key is needed on private boards
		Params                    []docField
		Body                      docType
		Responses                 []docResponse
		Curl, Example             string
	}
	docResponse struct {
		Status, Description string
		Body                docType
	}
	docProblem struct{ Code, Status, Title string }
	docSchema  struct {
		Name, Description string
		Type              docType
		Fields            []docField
	}
	docField struct {
		Name, In, Description string
		Required              bool
		Type                  docType
	}
	// docType is a type in words, and the schema that it is or is made of, if it has a name.
	docType struct{ Text, Ref string }
)

func renderDocs(root *yaml.Node) ([]byte, error) {
	d := docReader{root}
	return renderPage("docs.html", d.page())
}

func problemList() []docProblem {
	var out []docProblem
	for i := range kinds {
		out = append(out, docProblem{kinds[i].code, strconv.Itoa(kinds[i].status), kinds[i].title})
	}
	return out
}

func (d docReader) page() docPage {
	p := docPage{
		Title: text(d.root, "info", "title"), Version: text(d.root, "info", "version"),
		Description: paragraphs(text(d.root, "info", "description")), Problems: problemList(),
	}
	for _, tag := range items(at(d.root, "tags")) {
		t := docTag{Name: text(tag, "name"), Description: text(tag, "description")}
		each(at(d.root, "paths"), func(path string, item *yaml.Node) {
			each(item, func(method string, op *yaml.Node) {
				if tags := items(at(op, "tags")); len(tags) > 0 && tags[0].Value == t.Name {
					t.Operations = append(t.Operations, d.operation(method, path, item, op))
				}
			})
		})
		p.Tags = append(p.Tags, t)
	}
	each(at(d.root, "components", "schemas"), func(name string, schema *yaml.Node) {
		s := docSchema{Name: name, Description: text(schema, "description"), Fields: d.fields(schema)}
		if s.Fields == nil {
			s.Type = d.typeOf(schema)
		}
		p.Schemas = append(p.Schemas, s)
	})
	return p
}

func (d docReader) operation(method, path string, item, op *yaml.Node) docOperation {
	o := docOperation{
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
			o.Params = append(o.Params, docField{
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
		r := docResponse{Status: status, Description: text(res, "description")}
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

// curl is a line to try an operation with.
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
		line += " -H 'Content-Type: application/json' -d '" + string(appendNode(nil, body)) + "'"
	}
	return line
}

func indented(example *yaml.Node) string {
	var out bytes.Buffer
	if err := json.Indent(&out, appendNode(nil, example), "", "  "); err != nil {
		return ""
	}
	return out.String()
}
