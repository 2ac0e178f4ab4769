package apidoc

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fields lists the members of an object, without members of the schemas that it includes. A named schema is described in its own
// place.
func (d *Document) fields(schema *yaml.Node) []field {
	var out []field
	required := map[string]bool{}
	for _, name := range items(at(schema, "required")) {
		required[name.Value] = true
	}
	each(at(schema, "properties"), func(name string, property *yaml.Node) {
		out = append(out, field{Name: name, Description: marked(text(property, "description")), Required: required[name], Type: d.typeOf(property)})
		for _, inner := range d.fields(property) {
			inner.Name = name + "." + inner.Name
			out = append(out, inner)
		}
	})
	for i := range out {
		out[i].Required = out[i].Required || required[out[i].Name]
	}
	return out
}

// typeOf puts a schema into words.
func (d *Document) typeOf(schema *yaml.Node) typeName {
	if schema == nil {
		return typeName{}
	}
	if ref := text(schema, "$ref"); ref != "" {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		return typeName{Text: name + byDefault(schema), Ref: name}
	}
	if one := items(at(schema, "oneOf")); len(one) > 0 {
		t := d.typeOf(one[0]) // the type that may have a separate section
		for _, other := range one[1:] {
			t.Text += " or " + d.typeOf(other).Text
		}
		return t
	}
	name := text(schema, "type")
	for i, n := range items(at(schema, "type")) {
		if i > 0 {
			name += " or "
		}
		name += n.Value
	}
	t := typeName{Text: name}
	switch {
	case name == "array":
		t = d.typeOf(at(schema, "items"))
		t.Text = "array of " + t.Text
	case text(schema, "format") != "":
		t.Text += ", " + text(schema, "format")
	}
	var values []string
	for _, v := range items(at(schema, "enum")) {
		values = append(values, v.Value)
	}
	if values != nil {
		t.Text = strings.Join(values, " | ")
	}
	if least, most := text(schema, "minimum"), text(schema, "maximum"); least != "" && most != "" {
		t.Text += fmt.Sprintf(", %s to %s", least, most)
	} else if least != "" {
		t.Text += ", at least " + least
	}
	t.Text += byDefault(schema)
	return t
}

// byDefault returns the default of a schema in words, "" without a default or with an empty one.
func byDefault(schema *yaml.Node) string {
	n := at(schema, "default")
	if n == nil || (n.Kind == yaml.ScalarNode && n.Value == "") {
		return ""
	}
	return ", default " + strings.Trim(string(appendJSON(nil, n)), `"`)
}
