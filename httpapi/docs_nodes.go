package httpapi

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// docReader reads the nodes of an OpenAPI 3 document.
type docReader struct{ root *yaml.Node }

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

// follow gives what a node refers to, or the node.
func (d docReader) follow(n *yaml.Node) *yaml.Node {
	ref := text(n, "$ref")
	if ref == "" {
		return n
	}
	return at(d.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}
