package cli

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/settings"
	"leaderboard/leaderboard"
)

// givenRules is the body of PUT and PATCH /v1/boards/{board}, with the rules that flags gave. The server checks it.
type givenRules map[string]any

// set puts a value at the place of a rule.
func (g *givenRules) set(pointer string, value any) {
	if *g == nil {
		*g = givenRules{}
	}
	object := *g
	names := strings.Split(pointer, "/")[1:]
	for _, name := range names[:len(names)-1] {
		inner, ok := object[name].(givenRules)
		if !ok {
			inner = givenRules{}
			object[name] = inner
		}
		object = inner
	}
	object[names[len(names)-1]] = value
}

// MarshalJSON writes {} when no rule was given.
func (g givenRules) MarshalJSON() ([]byte, error) {
	if g == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]any(g))
}

// ruleFlags returns the flags of all rules that have a flag.
func (p *program) ruleFlags(given *givenRules) []cli.Flag {
	return p.flagsOfRules(given, leaderboard.RuleFields())
}

func (p *program) flagsOfRules(given *givenRules, fields []leaderboard.RuleField) (flags []cli.Flag) {
	for i := range fields {
		f := &fields[i]
		if f.Flag != "" {
			flags = append(flags, p.ruleFlag(given, f))
		}
		flags = append(flags, p.flagsOfRules(given, f.Fields)...)
	}
	return flags
}

// ruleFlag returns the flag of a rule, which puts its value into the rules.
func (p *program) ruleFlag(given *givenRules, f *leaderboard.RuleField) cli.Flag {
	option := p.option(f.Flag, ruleUsage(f))
	switch f.Pointer {
	case "/labels":
		option.usage = labelsUsage
		return ruleValue(option, given, f, leaderboard.ParseLabels)
	case "/mode":
		option.usage = modeUsage
		return ruleValue(option, given, f, settings.OneOf(f.Words))
	case "/review/hold":
		option.usage = "which submissions wait for an admin, as above:SCORE, rank_within:N, per_second:N or by:players separated by commas; none when left out"
		return ruleValue(option, given, f, parseHoldRules)
	case "/tiebreak/fields":
		option.usage = "fields of the tiebreak, the first decides first, as NAME:BITS or NAME:BITS:ORDER separated by commas: level:20,paid:1,deaths:16:asc"
		return ruleValue(option, given, f, parseTiebreakFields)
	}
	switch kind := f.Type.Kind(); {
	case f.Type == reflect.TypeFor[leaderboard.Micros](), kind == reflect.String:
		return ruleValue(option, given, f, func(v string) (string, error) { return v, nil })
	case kind == reflect.Bool:
		flag := newChecked(option, new(bool), func(v string) (bool, error) {
			on, err := settings.Switch(v)
			given.set(f.Pointer, on)
			return on, err
		})
		flag.HideDefault = true
		return flag
	case kind == reflect.Slice:
		return ruleValue(option, given, f, func(v string) ([]string, error) { return strings.Split(v, ","), nil })
	}
	return ruleValue(option, given, f, parseNumber)
}

// ruleValue makes a flag whose text parse turns into the value of a rule.
func ruleValue[T any](s setting, given *givenRules, f *leaderboard.RuleField, parse func(string) (T, error)) *checked[string] {
	flag := newChecked(s, new(string), func(v string) (string, error) {
		value, err := parse(v)
		given.set(f.Pointer, value)
		return v, err
	})
	flag.Config.words = f.Words // for completion: the server checks them
	return flag
}

// ruleUsage makes the help of a flag: the first sentence about the rule, the words that it may be, and the default.
func ruleUsage(f *leaderboard.RuleField) string {
	usage, _, _ := strings.Cut(f.Doc, ". ")
	usage = strings.TrimSuffix(usage, ".")
	if first, size := utf8.DecodeRuneInString(usage); !strings.HasPrefix(usage, "IANA") {
		usage = string(unicode.ToLower(first)) + usage[size:]
	}
	words := f.Words
	if f.Item != nil {
		words = f.Item.Words
	}
	usage, more, has := strings.Cut(usage, "; ")
	said := func(word string) bool { return strings.Contains(usage, word) }
	if n := len(words); n > 1 && (!said(words[0]) || !said(words[n-1])) {
		usage += ": " + strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	if f.Item != nil {
		usage += ", separated by commas"
	}
	if f.Bounds != nil {
		usage += ", " + leaderboard.RangeText(f.Bounds)
	}
	if f.Type == reflect.TypeFor[leaderboard.Micros]() {
		usage += ", RFC 3339"
	}
	if has {
		usage += "; " + more
	}
	if f.Default != "" {
		usage += " (default: " + f.Default + ")"
	}
	return usage
}

// tiebreakField is a tiebreak field in the rules of a board.
type tiebreakField struct {
	Name  string `json:"name"`
	Bits  int    `json:"bits"`
	Order string `json:"order,omitempty"`
}

func parseNumber(v string) (int64, error) {
	n, ok := settings.WholeNumber(v)
	if !ok {
		return 0, fmt.Errorf("want a whole number, not %q", v)
	}
	return n, nil
}

// parseTiebreakFields reads NAME:BITS and NAME:BITS:ORDER, separated by commas.
func parseTiebreakFields(v string) ([]tiebreakField, error) {
	var fields []tiebreakField
	for field := range strings.SplitSeq(v, ",") {
		parts := strings.Split(field, ":")
		if len(parts) < 2 || len(parts) > 3 {
			return nil, fmt.Errorf("want NAME:BITS or NAME:BITS:ORDER, as in level:20,deaths:16:asc, not %q", field)
		}
		bits, ok := settings.WholeNumber(parts[1])
		if !ok {
			return nil, fmt.Errorf("want a whole number of bits, as in level:20, not %q", field)
		}
		fields = append(fields, tiebreakField{Name: parts[0], Bits: int(bits), Order: strings.Join(parts[2:], "")})
	}
	return fields, nil
}
