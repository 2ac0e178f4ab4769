// Command ruleschema writes the files that are generated from the tags of leaderboard.Rules: the schemas of the rules of a
// board in api/openapi.yaml, between "# made of the rules: NAME" and "# end", and the list of fields that the console's
// form has.
//
//	go run -C workshop ./ruleschema ..
package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"leaderboard/leaderboard"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The files that are written.
const (
	contract = "/api/openapi.yaml"
	form     = "/web/src/console/lib/generated/rules.ts"
)

// run writes both files of a checkout.
func run(root string) error {
	file := root + contract
	document, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	made, err := rewrite(document)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	fields, err := formFile()
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file, made, 0o600), os.WriteFile(root+form, fields, 0o600))
}

// rewrite returns the document with the present schemas of the rules.
func rewrite(document []byte) ([]byte, error) {
	made := map[string]string{"fields": fields(), "schemas": schemas(), "patch": patch()}
	collect(made, leaderboard.RuleFields())
	place := regexp.MustCompile(`(?ms)^( *)# made of the rules: ([^\n]+)\n.*?^ *# end\n`)
	var err error
	return place.ReplaceAllFunc(document, func(was []byte) []byte {
		parts := place.FindSubmatch(was)
		indent, name := string(parts[1]), string(parts[2])
		text, known := made[name]
		if !known {
			err = fmt.Errorf("there is no rule %s", name)
		}
		return []byte(indent + "# made of the rules: " + name + "\n" + text + indent + "# end\n")
	}), err
}

// collect notes the members of each object by its pointer: in the form for sending, for reading, and for sending where null
// is not allowed.
func collect(made map[string]string, rules []leaderboard.RuleField) {
	for i := range rules {
		f := &rules[i]
		members := f.Fields
		if f.Item != nil {
			members = f.Item.Fields
		}
		for ending, w := range map[string]*writer{"": {}, " as read": {read: true}, " or null": {null: true}} {
			w.indent = 8
			for i := range members {
				w.member(&members[i])
			}
			made[f.Pointer+ending] = w.String()
		}
		collect(made, members)
	}
}

// shared returns the schemas that rules have in common with other documents, by the names of their types.
func shared() map[string]string {
	return map[string]string{
		"Order": "Order", "Policy": "Policy", "Mode": "Mode", "Window": "Window", "Visibility": "Visibility", "DeriveOp": "DeriveOp", "Aggregate": "Aggregate",
		"Overrides": "Overrides", "Display": "Display", "Face": "Face", "HoldRule": "HoldRule", "SeasonRule": "Season",
		"TiebreakField": "TiebreakFieldRules", "DeriveFrom": "DeriveFromRules",
	}
}

// shared returns the name of the schema that a rule has in common with other documents, or "".
func (w *writer) shared(f *leaderboard.RuleField) string {
	name := shared()[f.Type.Name()]
	if w.read {
		name = strings.TrimSuffix(name, "Rules") // TiebreakFieldRules are sent, a TiebreakField is read
	}
	return name
}

// fields returns the members that a board has alike in a request and in an answer.
func fields() string {
	w := writer{indent: 8}
	for _, f := range leaderboard.RuleFields() {
		switch f.Name {
		case "refresh", "limits", "tiebreak", "starts_at", "ends_at", "derive": // they are not
		default:
			w.member(&f)
		}
	}
	return w.String()
}

// schemas returns the schemas of objects that have a separate name.
func schemas() string {
	w := writer{indent: 4}
	for _, f := range leaderboard.RuleFields() {
		switch f.Type.Name() {
		case "Overrides", "Display", "Face":
			w.object(f.Type.Name(), &f)
		}
	}
	return w.String()
}

// patch returns the members of a merge patch: null gives a rule its default.
func patch() string {
	w := writer{indent: 8, patch: true}
	for _, f := range leaderboard.RuleFields() {
		w.member(&f)
	}
	return w.String()
}

// writer writes schemas as YAML.
type writer struct {
	strings.Builder
	indent int
	patch  bool // null gives a rule its default
	null   bool // null is as good as nothing
	read   bool // of an answer: nothing is left out that has a default
}

func (w *writer) line(format string, args ...any) {
	w.WriteString(strings.Repeat(" ", w.indent))
	fmt.Fprintf(w, format+"\n", args...)
}

// member writes a member of an object: in one line unless it is an object without a separate schema.
func (w *writer) member(f *leaderboard.RuleField) {
	if f.Fields != nil && (w.patch || w.shared(f) == "") {
		w.object(f.Name, f)
		return
	}
	if f.Fields != nil {
		w.line("%s: { $ref: %q }", f.Name, "#/components/schemas/"+w.shared(f))
		return
	}
	w.line("%s: { %s }", f.Name, strings.Join(w.schema(f), ", "))
}

// object writes an object with its members.
func (w *writer) object(name string, f *leaderboard.RuleField) {
	w.line("%s:", name)
	w.indent += 2
	defer func() { w.indent -= 2 }()
	w.line("type: %s", w.kind("object", f))
	if !w.patch {
		w.line("description: %s", strconv.Quote(f.Doc))
	}
	w.line("additionalProperties: false")
	var needed []string
	for i := range f.Fields {
		if needs(&f.Fields[i]) {
			needed = append(needed, f.Fields[i].Name)
		}
	}
	if needed != nil && !w.patch {
		w.line("required: [%s]", strings.Join(needed, ", "))
	}
	w.line("properties:")
	w.indent += 2
	for i := range f.Fields {
		w.member(&f.Fields[i])
	}
	w.indent -= 2
	if f.Example != "" && !w.patch {
		w.line("examples: [%s]", f.Example)
	}
}

// needs reports whether an object has to have a member, because it says nothing without.
func needs(f *leaderboard.RuleField) bool {
	inner := strings.Count(f.Pointer, "/") > 1 && !strings.HasPrefix(f.Pointer, "/refresh/")
	return inner && !f.Optional && f.Default == ""
}

// kind returns a type, in a patch with null for its default.
func (w *writer) kind(name string, f *leaderboard.RuleField) string {
	if (w.patch || w.null) && !needs(f) {
		return "[" + name + `, "null"]`
	}
	return name
}

// schema returns the parts of a schema.
func (w *writer) schema(f *leaderboard.RuleField) (parts []string) {
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	text := w.description(f)
	if w.patch {
		text = ""
	}
	switch kind := f.Type.Kind(); {
	case w.shared(f) != "":
		ref := fmt.Sprintf("$ref: %q", "#/components/schemas/"+w.shared(f))
		if w.patch && f.Name != "" {
			ref = "oneOf: [{ " + ref + ` }, { type: "null" }]`
		}
		add("%s", ref)
	case f.Type == reflect.TypeFor[leaderboard.Micros]() && !w.patch:
		add("$ref: %q", "#/components/schemas/Time")
	case f.Type == reflect.TypeFor[leaderboard.Micros]():
		add("type: %s", w.kind("string", f))
		add("format: date-time")
	case kind == reflect.String:
		add("type: %s", w.kind("string", f))
		w.text(f, add)
	case kind == reflect.Bool:
		add("type: %s", w.kind("boolean", f))
	case kind == reflect.Slice:
		add("type: %s", w.kind("array", f))
		add("items: { %s }", strings.Join((&writer{read: w.read}).schema(f.Item), ", "))
		if f.Items != nil && f.Items[0] > 0 {
			add("minItems: %d", f.Items[0])
		} else if w.read && f.Optional {
			add("minItems: 1") // an empty list is left out
		}
		if f.Items != nil {
			add("maxItems: %d", f.Items[1])
		}
		if w.patch {
			text = "Replaced as a whole."
		} else if f.Item.Type.Kind() == reflect.String {
			add("uniqueItems: true")
		}
	case kind == reflect.Map:
		add("type: %s", w.kind("object", f))
		if w.patch {
			text = "By name; null takes one away."
		} else {
			add("%s", names(f))
		}
		value := *f.Item
		value.Optional = true // in a patch null takes it away
		add("additionalProperties: { %s }", strings.Join(w.schema(&value), ", "))
	default:
		add("type: %s", w.kind("integer", f))
		number(f, add)
	}
	if text != "" {
		add("description: %s", strconv.Quote(text))
	}
	if f.Example != "" && !w.patch {
		add("examples: [%s]", f.Example)
	}
	return parts
}

// text adds the bounds of a text.
func (w *writer) text(f *leaderboard.RuleField, add func(string, ...any)) {
	switch {
	case f.Words != nil:
		words := f.Words
		if f.Type == reflect.TypeFor[leaderboard.DisplayKind]() {
			words = append([]string{`""`}, words...) // as it always was
		}
		if w.patch && !needs(f) {
			words = append(words[:len(words):len(words)], "null")
		}
		add("enum: [%s]", strings.Join(words, ", "))
	case f.Pattern != "" && f.Optional && f.Name != "": // an item is never empty
		add("pattern: %q", "^$|"+f.Pattern)
	case f.Pattern != "":
		add("pattern: %q", f.Pattern)
	case f.Bytes > 0:
		add("maxLength: %d", f.Bytes)
	case f.Default != "" && !f.Optional && !w.read:
		add("minLength: 1")
	}
}

// number adds the bounds of a number.
func number(f *leaderboard.RuleField, add func(string, ...any)) {
	if f.Type.Kind() == reflect.Int64 {
		add("format: int64")
	}
	if f.Bounds == nil {
		return
	}
	add("minimum: %d", f.Bounds[0])
	if f.Bounds[1] != 1<<63-1 {
		add("maximum: %d", f.Bounds[1])
	}
}

// names returns which names a map has.
func names(f *leaderboard.RuleField) string {
	if f.Type.Key() != reflect.TypeFor[leaderboard.Window]() {
		return fmt.Sprintf("maxProperties: %d, propertyNames: { pattern: %q }", f.Items[1], f.Item.Pattern)
	}
	var ending []string
	for _, window := range leaderboard.Windows()[1:] {
		ending = append(ending, string(window))
	}
	return "propertyNames: { enum: [" + strings.Join(ending, ", ") + "] }"
}

// description returns the sentences about a rule, with its length and its default.
func (w *writer) description(f *leaderboard.RuleField) string {
	text := f.Doc
	if f.Bytes > 0 {
		text += fmt.Sprintf(" At most %d bytes.", f.Bytes)
	}
	if f.Default != "" && !w.read {
		text += " " + f.Default + " when left out."
	}
	return text
}
