// Package apidoc makes the served forms of an OpenAPI 3 document: the document as JSON, and a page for people. It runs when the
// document changes, not when the server starts: make generate-docs writes the results.
//
// In the order of reading:
//
//	document.go  the document: reading YAML, writing JSON, finding nodes
//	types.go     schemas in words
//	words.go     texts and examples as HTML
//	page.go      the page
package apidoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is an OpenAPI 3 document.
type Document struct{ root *yaml.Node }

// Parse reads a document from YAML.
func Parse(text []byte) (*Document, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return &Document{doc.Content[0]}, nil
}

// JSON gives the document as JSON, its members in the order of the YAML.
func (d *Document) JSON() []byte { return append(appendJSON(nil, d.root), '\n') }

// appendJSON appends a node as JSON, its members in the order of the document.
func appendJSON(b []byte, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, n.Content[i].Value), ':')
			b = appendJSON(b, n.Content[i+1])
		}
		return append(b, '}')
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, item := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case yaml.AliasNode:
		return appendJSON(b, n.Alias)
	}
	return appendScalar(b, n)
}

// appendScalar appends the text of a number, true, false or null if it is valid JSON, and any other scalar as a string.
func appendScalar(b []byte, n *yaml.Node) []byte {
	switch n.ShortTag() {
	case "!!bool", "!!null":
		return append(b, n.Value...)
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return append(b, n.Value...)
		}
	}
	return appendString(b, n.Value)
}

// appendString appends s as a JSON string, without escapes for <, > and &.
func appendString(b []byte, s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // every string has a form
	return append(b, bytes.TrimRight(out.Bytes(), "\n")...)
}

// at walks down by the names of members; nil when there is no such member.
func at(n *yaml.Node, names ...string) *yaml.Node {
	for _, name := range names {
		var next *yaml.Node
		each(n, func(key string, value *yaml.Node) {
			if key == name {
				next = value
			}
		})
		if n = next; n == nil {
			return nil
		}
	}
	return n
}

// each calls fn with the members of an object, in order.
func each(n *yaml.Node, fn func(key string, value *yaml.Node)) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		fn(n.Content[i].Value, n.Content[i+1])
	}
}

func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

func text(n *yaml.Node, names ...string) string {
	if n = at(n, names...); n == nil {
		return ""
	}
	return n.Value
}

func paragraphs(s string) []string {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	return strings.Split(s, "\n\n")
}

// follow returns the node that a node refers to, or the node itself.
func (d *Document) follow(n *yaml.Node) *yaml.Node {
	ref := text(n, "$ref")
	if ref == "" {
		return n
	}
	return at(d.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}
