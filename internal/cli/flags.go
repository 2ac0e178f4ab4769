package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/api"
	"leaderboard/internal/settings"
)

// A flag whose values are checked is a typed flag of urfave/cli with a parser of ours, which makes the messages: they name
// the wanted form, all faults are reported at once, and the value of a secret is never shown. A plain text or a switch is a
// cli.StringFlag or a cli.BoolFlag.

// setting is the part that all checked flags share.
type setting struct {
	name, usage string
	section     string // of the help of a command with many options
	program     *program
	variable    bool   // there is an environment variable too
	hidden      bool   // in no help
	goes        bool   // ends with the next release: it still works, and a server that has it logs this at its start
	instead     string // the setting that replaces it, "" for none
}

// option names a flag of a command.
func (p *program) option(name, usage string) setting {
	return setting{name: name, usage: usage, program: p}
}

// setting names a flag that is an environment variable too.
func (p *program) setting(name, usage string) setting {
	return setting{name: name, usage: usage, program: p, variable: true}
}

// mainSetting names a setting that help shows first.
func (p *program) mainSetting(name, usage string) setting {
	return setting{name: name, usage: usage, section: mainSection, program: p, variable: true}
}

// origin is where a setting got its value from.
type origin struct {
	setting
	place string // --flag, a variable, or a line of the file of settings
}

// typed reports whether a checked flag is on the command line, not empty.
func (p *program) typed(name string) bool { return p.given[name].place == "--"+name }

// oldGiven returns the given settings that end with the next release, by their names.
func (p *program) oldGiven() (out []origin) {
	for _, name := range slices.Sorted(maps.Keys(p.given)) {
		if g := p.given[name]; g.goes {
			out = append(out, g)
		}
	}
	return out
}

// checkOld fails if a setting was given together with its successor.
func (p *program) checkOld() error {
	for _, g := range p.oldGiven() {
		if by, both := p.given[g.instead]; both {
			return usagef("%s and %s: the second takes the place of the first, give it alone", g.place, by.place)
		}
	}
	return nil
}

// checked is a typed flag that reads its values with a function.
type checked[T any] = cli.FlagBase[T, parser[T], *parsed[T]]

// parser turns the text of a flag into its value.
type parser[T any] struct {
	parse   func(string) (T, error)
	reject  func(error)  // reports a text that parse refused
	taken   func()       // notes that a text was accepted
	words   []string     // for completion; nil: any text
	emptied bool         // an empty text is parsed too; otherwise it leaves the default
	from    func(string) // hears the source of a text that is not on the command line
}

// newChecked makes a flag for *at, whose value is the default.
func newChecked[T any](s setting, at *T, parse func(string) (T, error)) *checked[T] {
	place := "--" + s.name
	f := &checked[T]{Name: s.name, Usage: s.usage, Value: *at, Destination: at, Hidden: s.hidden, Category: s.section}
	f.Config = parser[T]{parse: parse, reject: func(err error) {
		s.program.faults = append(s.program.faults, fmt.Sprintf("%s: %s", place, err))
	}, taken: func() {
		if s.program.given == nil {
			s.program.given = map[string]origin{}
		}
		s.program.given[s.name] = origin{s, place}
	}, from: func(other string) { place = other }}
	if s.variable {
		name := variableName(s.name)
		f.Sources = cli.NewValueSourceChain(
			&variable{name, s.program.env, func() { place = name }},
			&configured{s.program, s.name, func() { place = s.name + " in the file of --config" }},
		)
	}
	return f
}

// variableName returns the environment variable of a flag.
func variableName(flag string) string {
	return "LEADERBOARD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// variable is an environment variable as a source of a flag; an empty one counts as not set. cli.EnvVars would accept
// empty ones, and reads the environment of the process only.
type variable struct {
	name string
	env  func(string) string
	used func() // called when the flag gets its value from here
}

// Lookup returns the value of the variable; it is called for a flag that is not on the command line.
func (v *variable) Lookup() (string, bool) {
	value := v.env(v.name)
	if value != "" {
		v.used()
	}
	return value, value != ""
}

// IsFromEnv makes the help show the name.
func (*variable) IsFromEnv() bool { return true }

// Key returns the name.
func (v *variable) Key() string { return v.name }

func (v *variable) String() string   { return "environment variable " + v.name }
func (v *variable) GoString() string { return v.String() }

// parsed is the value of a checked flag.
type parsed[T any] struct {
	parser[T]
	at *T
}

// Create makes the value of a flag, with its default.
func (*parsed[T]) Create(fallback T, at *T, with parser[T]) cli.Value {
	*at = fallback
	return &parsed[T]{with, at}
}

// Set reads a text. A wrong one is reported by reject and is no error to urfave/cli, which would show it.
func (v *parsed[T]) Set(text string) error {
	if text == "" && !v.emptied {
		return nil
	}
	got, err := v.parse(text)
	if err != nil {
		v.reject(err)
		return nil
	}
	*v.at = got
	v.taken()
	return nil
}

// Get returns the value.
func (v *parsed[T]) Get() any { return *v.at }

// IsBoolFlag reports whether the flag is a switch, which has no argument.
func (v *parsed[T]) IsBoolFlag() bool { _, ok := any(*v.at).(bool); return ok }

func (v *parsed[T]) String() string { return v.ToString(*v.at) }

// ToString shows a default: durations without the units that are zero.
func (*parsed[T]) ToString(v T) string {
	if d, ok := any(v).(time.Duration); ok {
		text := d.String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return text
	}
	return fmt.Sprint(v)
}

// text makes a flag that takes every text.
func text(s setting, at *string) *checked[string] {
	return newChecked(s, at, settings.Text)
}

// toggle makes a switch that has a variable; without a variable, use cli.BoolFlag.
func toggle(s setting, at *bool) *checked[bool] {
	f := newChecked(s, at, settings.Switch)
	f.HideDefault = true
	return f
}

// choice makes a flag that takes one of several words.
func choice(s setting, at *string, allowed ...string) *checked[string] {
	f := newChecked(s, at, settings.OneOf(allowed))
	f.Config.words = allowed
	return f
}

// oneOf makes a flag that takes one of several words. The server checks them; here they are for completion.
func oneOf(s setting, at *string, words ...string) *checked[string] {
	f := text(s, at)
	f.Config.words = words
	return f
}

// whole makes a flag that takes a whole number.
func whole[T int | int64](s setting, at *T, least, most T) *checked[T] {
	return newChecked(s, at, settings.Whole(least, most))
}

// within makes a flag that takes the whole number of a parameter of an operation, and has its default.
func within[T int | int64](s setting, at *T, operation, param string) *checked[T] {
	of := api.FindParam(api.ParamsOf(api.OperationOf(operation).Query), param)
	*at = T(of.Number)
	return whole(s, at, T(of.Bounds[0]), T(of.Bounds[1]))
}

// optional makes a flag optional: *at is nil unless it is given.
func optional[T any](f *checked[T], at **T) *checked[T] {
	parse := f.Config.parse
	f.HideDefault = true
	f.Config.parse = func(v string) (T, error) {
		got, err := parse(v)
		if err == nil {
			*at = &got
		}
		return got, err
	}
	return f
}

// duration makes a flag that takes a duration.
func duration(s setting, at *time.Duration, least time.Duration) *checked[time.Duration] {
	return newChecked(s, at, settings.Duration(least))
}

// custom makes a flag whose text parse turns into *at.
func custom[T any](s setting, at *T, parse func(string) (T, error)) *checked[string] {
	return newChecked(s, new(string), func(v string) (string, error) {
		got, err := parse(v)
		if err == nil {
			*at = got
		}
		return v, err
	})
}

// Flags of several families of commands.

// overlapFlag is for commands that replace a secret.
func overlapFlag(at *time.Duration) cli.Flag {
	return &cli.DurationFlag{
		Name: "overlap", Usage: "how long the secret before it is taken too (default: 0s; of token rotate 24h)", Destination: at, Value: *at, HideDefault: true,
	}
}

func jsonFlag(at *bool) cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "answer in JSON, for machines", Destination: at}
}

// boardFlag narrows a list to one board. The board that a command works on is an argument instead.
func boardFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "board", Usage: "only this `board`", Destination: at}
}

func allFlag(at *bool) cli.Flag {
	return &cli.BoolFlag{Name: "all", Usage: "all boards, instead of one that is named", Destination: at}
}

func (p *program) timeoutFlag(at *time.Duration) cli.Flag {
	return duration(p.option("timeout", "how long to wait for the server"), at, time.Millisecond)
}
