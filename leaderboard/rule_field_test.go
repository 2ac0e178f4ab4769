package leaderboard

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestRuleFields: each rule has a description, and no two rules have the same flag.
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
		"no group": struct {
			S string `json:"s"`
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			group := RuleGroups()[0]
			if name == "no group" {
				group = ""
			}
			defer func() {
				if recover() == nil {
					t.Error("it is taken")
				}
			}()
			fieldsOf("", group, reflect.TypeOf(rules))
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
	for pointer, r := range map[string]Rules{ // also behind what a list may have today
		"/overrides/ops/3": {Overrides: &Overrides{Ops: []Policy{PolicyBest, PolicyLatest, PolicySum, "new"}}}, "/windows/8": {Windows: append(Windows(), "decade")},
		"/keep": {Keep: map[Window]int{WindowDay: 1, "decade": 3}},
	} {
		r = r.WithDefaults()
		if got := r.UnknownWord(); got != pointer {
			t.Errorf("the first is %q, want %s", got, pointer)
		}
	}
	r.Order = "up"
	if got := r.UnknownWord(); got != "/order" {
		t.Errorf("the first is %s", got)
	}
}

// TestTagsAgree: where the code counts or names what a tag says, both say the same.
func TestTagsAgree(t *testing.T) {
	fields := map[string]*RuleField{}
	var note func([]RuleField)
	note = func(list []RuleField) {
		for i := range list {
			f := &list[i]
			fields[f.Pointer] = f
			note(f.Fields)
			if f.Item != nil {
				fields[f.Item.Pointer] = f.Item
				note(f.Item.Fields)
			}
		}
	}
	note(RuleFields())
	for pointer, most := range map[string]int64{"/top_n": MaxTopN, "/notify/within": MaxNotifyWithin, "/metadata/max_bytes": MaxMetadata, "/derive/from/*/weight": MaxWeight, "/tiebreak/fields/*/bits": MaxTiebreakBits} {
		if got := fields[pointer].Bounds[1]; got != most {
			t.Errorf("%s: the tag says %d, the code %d", pointer, got, most)
		}
	}
	for pointer, most := range map[string]int{"/derive/from": MaxSources, "/seasons": MaxSeasons, "/overrides/keys": MaxOverrideKeys, "/review/hold": MaxHoldRules, "/labels": MaxLabels, "/tiebreak/fields": MaxTiebreakFields, "/windows": len(Windows()), "/overrides/ops": len(policies())} {
		if got := fields[pointer].Items[1]; got != int64(most) {
			t.Errorf("%s: the tag says %d, the code %d", pointer, got, most)
		}
	}
	var windows, of []string
	for _, w := range Windows() {
		windows = append(windows, string(w))
	}
	for _, p := range policies() {
		of = append(of, string(p))
	}
	for pointer, words := range map[string][]string{"/windows/*": windows, "/derive/from/*/window": windows, "/policy": of, "/overrides/ops/*": of} {
		if got := fields[pointer].Words; !slices.Equal(got, words) {
			t.Errorf("%s: the tag says %v, the code %v", pointer, got, words)
		}
	}
}
