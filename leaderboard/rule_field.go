package leaderboard

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// RuleField is the parsed tags of a member of Rules. They are checked, and the flag, the schema, the description and
// the place in the console's form are generated from them:
//
//	json     the name, and whether it may be left out (omitempty, omitzero)
//	doc      its meaning, in sentences; the first one stands alone
//	flag     the flag of the command line, "" for none
//	label    the name in the console's form, when it is not the name in other letters
//	group    the heading in the console's form, one of RuleGroups; inside an object, by default the object's
//	default  the value when it is left out, in words
//	words    the values that a text may have, separated by commas
//	range    the least and the greatest number, as in "1,100"; "1," has no greatest
//	bytes    how long a text may be
//	pattern  a regular expression that a text matches
//	want     the valid values, in words, as in "a colour such as #3151d3"; needed with a pattern
//	example  a value, as YAML has it
//	items    how many items a list may have, as in "1,8"
type RuleField struct {
	Name     string // in its object; "" for an item of a list or a map
	Pointer  string // JSON pointer, with * for an item: /limits/min_score, /review/hold/*/by
	Type     reflect.Type
	Optional bool // it may be left out, or empty

	Doc, Flag, Label, Group, Default, Pattern, Want, Example string

	Words  []string
	Bounds *[2]int64 // of a number
	Bytes  int       // of a text; 0: any
	Items  *[2]int64 // of a list

	Fields []RuleField // of an object
	Item   *RuleField  // of a list or a map

	index   int // of the member in its struct
	matches *regexp.Regexp
}

// ruleFields is never changed.
var ruleFields = fieldsOf("", "", reflect.TypeFor[Rules]())

// RuleGroups returns the headings of the console's form, in its order.
func RuleGroups() []string {
	return []string{"Scoring", "Periods", "Players", "Review", "Page", "Storage"}
}

// RuleFields returns the rules of a board in the order of Rules. They must not be changed.
func RuleFields() []RuleField { return ruleFields }

// fieldsOf reads the tags of a struct, whose members are in a group unless they say otherwise. It panics for a tag that says nothing.
func fieldsOf(pointer, group string, t reflect.Type) (out []RuleField) {
	for i := range t.NumField() {
		member := t.Field(i)
		name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		f := RuleField{
			Name: name, Type: member.Type, Doc: member.Tag.Get("doc"), Flag: member.Tag.Get("flag"), Default: member.Tag.Get("default"),
			Pattern: member.Tag.Get("pattern"), Want: member.Tag.Get("want"), Example: member.Tag.Get("example"), index: i,
			Label: cmp.Or(member.Tag.Get("label"), strings.ReplaceAll(strings.ToUpper(name[:1])+name[1:], "_", " ")),
			Group: cmp.Or(member.Tag.Get("group"), group),
		}
		f.Optional = options != ""
		f.complete(pointer+"/"+name, member.Tag)
		if f.Words != nil && f.Default != "" && !slices.Contains(f.Words, f.Default) {
			panic("the default of " + f.Pointer + " is none of its words: " + f.Default)
		}
		if !slices.Contains(RuleGroups(), f.Group) {
			panic("the group of " + f.Pointer + " is none of " + strings.Join(RuleGroups(), ", ") + ": " + f.Group)
		}
		out = append(out, f)
	}
	return out
}

// complete parses the tags that are lists or numbers, and the inner fields.
func (f *RuleField) complete(pointer string, tag reflect.StructTag) {
	f.Pointer = pointer
	if words := tag.Get("words"); words != "" {
		f.Words = strings.Split(words, ",")
	}
	f.Bounds, f.Items = bounds(pointer, tag.Get("range")), bounds(pointer, tag.Get("items"))
	if bytes := tag.Get("bytes"); bytes != "" {
		f.Bytes = int(number(pointer, bytes))
	}
	if f.Pattern != "" {
		f.matches = regexp.MustCompile(f.Pattern)
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t, f.Type = t.Elem(), t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		f.Fields = fieldsOf(pointer, f.Group, t)
	case reflect.Slice, reflect.Map:
		// Words, bounds and a pattern are about the items.
		f.Item = &RuleField{Type: t.Elem(), Group: f.Group, Words: f.Words, Bounds: f.Bounds, Pattern: f.Pattern, Want: f.Want, matches: f.matches}
		f.Item.complete(pointer+"/*", "")
		f.Item.Words, f.Item.Bounds, f.Words, f.Bounds, f.Pattern = f.Words, f.Bounds, nil, nil, ""
		if f.Item.Bounds != nil || f.Item.Pattern != "" {
			f.Want = "" // the item's own Want applies
		} else {
			f.Item.Want = ""
		}
	}
}

// bounds parses the bounds of a range; nil: no bound.
func bounds(pointer, text string) *[2]int64 {
	if text == "" {
		return nil
	}
	least, most, _ := strings.Cut(text, ",")
	out := [2]int64{number(pointer, least), 1<<63 - 1}
	if most != "" {
		out[1] = number(pointer, most)
	}
	if out[0] > out[1] {
		panic("the range of " + pointer + " is turned round: " + text)
	}
	return &out
}

func number(pointer, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("a tag of " + pointer + ": " + err.Error())
	}
	return n
}

// checkFields reports the violations of the tags. With words it reports only values outside of their enums.
func checkFields(fail failFunc, v reflect.Value, fields []RuleField, pointer string, words bool) {
	for i := range fields {
		f := &fields[i]
		f.check(fail, v.Field(f.index), pointer+"/"+f.Name, words)
	}
}

func (f *RuleField) check(fail failFunc, v reflect.Value, pointer string, words bool) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	} else if f.Optional && v.IsZero() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		checkFields(fail, v, f.Fields, pointer, words)
	case reflect.String:
		f.checkText(fail, v.String(), pointer, words)
	case reflect.Int, reflect.Int64:
		if n := v.Int(); !words && f.Bounds != nil && (n < f.Bounds[0] || n > f.Bounds[1]) {
			fail(pointer, "want %s", cmp.Or(f.Want, RangeText(f.Bounds)))
		}
	case reflect.Slice:
		n := int64(v.Len())
		if !words && !f.checkItems(fail, n, pointer) {
			n = min(n, f.Items[1]) // a list of all faults would be longer than the list itself
		}
		for i := range int(n) {
			f.Item.check(fail, v.Index(i), pointer+"/"+strconv.Itoa(i), words)
		}
	case reflect.Map:
		if !words && !f.checkItems(fail, int64(v.Len()), pointer) {
			return
		}
		keys := slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, key := range keys {
			f.Item.check(fail, v.MapIndex(key), pointer+"/"+pointerEscape(key.String()), words)
		}
	}
}

// checkItems reports whether a list or a map has an allowed number of items.
func (f *RuleField) checkItems(fail failFunc, n int64, pointer string) bool {
	if f.Items == nil || n >= f.Items[0] && n <= f.Items[1] {
		return true
	}
	fail(pointer, "want %s", cmp.Or(f.Want, strings.Replace(RangeText(f.Items), "0 to", "at most", 1)))
	return false
}

func (f *RuleField) checkText(fail failFunc, text, pointer string, words bool) {
	if f.Words != nil {
		checkOneOf(fail, pointer, text, f.Words...)
	}
	if words {
		return
	}
	if f.Bytes > 0 && (len(text) > f.Bytes || !utf8.ValidString(text)) {
		fail(pointer, "want at most %d bytes of UTF-8", f.Bytes)
	}
	if f.matches != nil && !f.matches.MatchString(text) {
		fail(pointer, "want %s", f.Want)
	}
}

// RangeText returns a range in words: 1 to 100, or 1 or more.
func RangeText(b *[2]int64) string {
	if b[1] == 1<<63-1 {
		return fmt.Sprintf("%d or more", b[0])
	}
	return fmt.Sprintf("%d to %d", b[0], b[1])
}
