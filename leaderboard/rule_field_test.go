package leaderboard

import (
	"reflect"
	"strings"
	"testing"
)

// TestRuleFields: each rule says what it is, and no two have one flag.
func TestRuleFields(t *testing.T) {
	flags := map[string]string{}
	var look func([]RuleField)
	look = func(fields []RuleField) {
		for i := range fields {
			f := &fields[i]
			if f.Name == "" || len(f.Doc) < len("Its own.") || !strings.HasSuffix(f.Doc, ".") {
				t.Errorf("%s: name %q, doc %q: want a name and sentences", f.Pointer, f.Name, f.Doc)
			}
			if other, twice := flags[f.Flag]; twice && f.Flag != "" {
				t.Errorf("--%s is the flag of %s and of %s", f.Flag, other, f.Pointer)
			}
			flags[f.Flag] = f.Pointer
			if f.Pattern != "" && f.Want == "" {
				t.Errorf("%s has a pattern, and does not say in words what it wants", f.Pointer)
			}
			look(f.Fields)
			if f.Item != nil {
				look(f.Item.Fields)
			}
		}
	}
	look(RuleFields())
	if len(flags) < 40 {
		t.Errorf("%d flags, want one of each rule", len(flags))
	}
}

// TestWrongTags: a tag that says nothing ends the program when it starts, and so every test. That no name is there twice, go vet says.
func TestWrongTags(t *testing.T) {
	type inner struct {
		N int `json:"n" range:"5,1"`
	}
	for name, rules := range map[string]any{
		"bounds turned round": struct{ In *inner }{},
		"no number": struct {
			N int `json:"n" bytes:"many"`
		}{},
		"no expression": struct {
			S string `json:"s" pattern:"("`
		}{},
		"no word that is the default": struct {
			W string `json:"w" words:"on,off" default:"no"`
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it is taken")
				}
			}()
			fieldsOf("", reflect.TypeOf(rules))
		})
	}
}

// TestUnknownWord: of each rule with words another word is found.
func TestUnknownWord(t *testing.T) {
	r := Rules{Review: &Review{Hold: []HoldRule{{By: "x"}}}, Overrides: &Overrides{Ops: []Policy{PolicyBest, "x"}}, Derive: &Derive{From: []DeriveFrom{{Window: "x"}}}}.WithDefaults()
	var found []string
	checkFields(func(pointer, _ string, _ ...any) { found = append(found, pointer) }, reflect.ValueOf(&r).Elem(), ruleFields, "", true)
	if got, want := strings.Join(found, " "), "/derive/from/0/window /overrides/ops/1 /review/hold/0/by"; got != want {
		t.Errorf("unknown are %s, want %s", got, want)
	}
	r.Order = "up"
	if got := r.UnknownWord(); got != "/order" {
		t.Errorf("the first is %s", got)
	}
}
