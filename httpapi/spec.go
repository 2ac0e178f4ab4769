package httpapi

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/http"
	"strconv"

	"go.yaml.in/yaml/v3"
)

//go:embed openapi.yaml
var openAPIDocument []byte

// spec is the document in the forms it is served in, made once.
type spec struct {
	json []byte
	html []byte
}

func loadSpec() *spec {
	root, err := parseDocument(openAPIDocument)
	if err != nil {
		panic("httpapi: the embedded document: " + err.Error())
	}
	html, err := renderDocs(root)
	if err != nil {
		panic("httpapi: the page of the embedded document: " + err.Error())
	}
	return &spec{json: append(appendNode(nil, root), '\n'), html: html}
}

func parseDocument(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return doc.Content[0], nil
}

// appendNode appends a YAML node as JSON, its members in the order of the document.
func appendNode(b []byte, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, n.Content[i].Value), ':')
			b = appendNode(b, n.Content[i+1])
		}
		return append(b, '}')
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, item := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendNode(b, item)
		}
		return append(b, ']')
	case yaml.AliasNode:
		return appendNode(b, n.Alias)
	}
	switch n.ShortTag() {
	case "!!int", "!!bool", "!!null":
		if n.ShortTag() != "!!int" || isJSONInteger(n.Value) {
			return append(b, n.Value...)
		}
	case "!!float":
		if _, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return append(b, n.Value...)
		}
	}
	return appendString(b, n.Value)
}

func isJSONInteger(s string) bool {
	_, ok := parseInteger(s)
	return ok
}

// openAPI answers GET /openapi.json.
func openAPI(c *call) error {
	c.w.Header().Set("Cache-Control", "no-cache")
	c.send(http.StatusOK, typeJSON, c.api.spec.json)
	return nil
}

// docs answers GET /docs.
func docs(c *call) error {
	c.sendPage(http.StatusOK, c.api.spec.html)
	return nil
}

// home sends a browser to the documentation.
func home(c *call) error {
	c.w.Header().Set("Location", "/docs")
	c.status = http.StatusFound
	c.w.WriteHeader(http.StatusFound)
	return nil
}

// sendPage answers with HTML that may load nothing and run nothing.
func (c *call) sendPage(status int, html []byte) {
	h := c.w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	c.send(status, "text/html; charset=utf-8", html)
}
