package cli

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/leaderboard"
)

// A flag whose values are checked is a typed flag of urfave/cli with a parser of ours, which makes the messages: they name
// the wanted form, all faults are reported at once, and the value of a secret is never shown. A plain text or a switch is a
// cli.StringFlag or a cli.BoolFlag.

// setting is the part that all checked flags share.
type setting struct {
	name, usage string
	program     *program
	variable    bool   // there is an environment variable too
	goes        bool   // with the next release
	instead     string // the setting that takes its place then, "" for none
}

// option names a flag of a command.
func (p *program) option(name, usage string) setting {
	return setting{name: name, usage: usage, program: p}
}

// setting names a flag that is an environment variable too.
func (p *program) setting(name, usage string) setting {
	return setting{name: name, usage: usage, program: p, variable: true}
}

// old names a setting that goes with the next release, and the one that takes its place, "" for none. Until then it has its effect. It is in no
// help, and a server that has it says so when it starts.
func (p *program) old(name, instead string) setting {
	return setting{name: name, program: p, variable: true, goes: true, instead: instead}
}

// origin is where a setting got its value from.
type origin struct {
	setting
	place string // --flag, a variable, or a line of the file of settings
}

// typed reports whether a checked flag is on the command line, not empty.
func (p *program) typed(name string) bool { return p.given[name].place == "--"+name }

// oldGiven returns the settings that were given and go with the next release, by their names.
func (p *program) oldGiven() (out []origin) {
	for _, name := range slices.Sorted(maps.Keys(p.given)) {
		if g := p.given[name]; g.goes {
			out = append(out, g)
		}
	}
	return out
}

// checkOld fails when a setting was given together with the one that takes its place.
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
	from    func(string) // told where a text is from that is not on the command line
}

// newChecked makes a flag for *at, whose value is the default.
func newChecked[T any](s setting, at *T, parse func(string) (T, error)) *checked[T] {
	place := "--" + s.name
	f := &checked[T]{Name: s.name, Usage: s.usage, Value: *at, Destination: at, Hidden: s.goes}
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
	return newChecked(s, at, func(v string) (string, error) { return v, nil })
}

// toggle makes a switch that has a variable; one without is a cli.BoolFlag.
func toggle(s setting, at *bool) *checked[bool] {
	f := newChecked(s, at, parseSwitch)
	f.HideDefault = true
	return f
}

func parseSwitch(v string) (bool, error) {
	on, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("want true or false, not %q", v)
	}
	return on, nil
}

// choice makes a flag that takes one of several words.
func choice(s setting, at *string, allowed ...string) *checked[string] {
	f := newChecked(s, at, oneWord(allowed))
	f.Config.words = allowed
	return f
}

// oneWord returns a parser that takes one of several words.
func oneWord(allowed []string) func(string) (string, error) {
	return func(v string) (string, error) {
		if !slices.Contains(allowed, v) {
			return "", fmt.Errorf("want %s, not %q", strings.Join(allowed, " or "), v)
		}
		return v, nil
	}
}

// oneOf makes a flag that takes one of several words. The server checks them; here they are for completion.
func oneOf(s setting, at *string, words ...string) *checked[string] {
	f := text(s, at)
	f.Config.words = words
	return f
}

// wholeNumber reads a whole number of 64 bits in every form of JSON, as the API does (100.0, 1e2), and one with a plus or zeros ahead (+7, 007).
func wholeNumber(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	return leaderboard.WholeNumber([]byte(text))
}

// whole makes a flag that takes a whole number.
func whole[T int | int64](s setting, at *T, least, most T) *checked[T] {
	return newChecked(s, at, func(v string) (T, error) {
		n, ok := wholeNumber(v)
		if !ok || n < int64(least) || n > int64(most) {
			return 0, fmt.Errorf("want a whole number from %d to %d, not %q", least, most, v)
		}
		return T(n), nil
	})
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

// rate makes a flag that takes a number per second.
func rate(s setting, at *float64) *checked[float64] { return newChecked(s, at, parseRate) }

func parseRate(v string) (float64, error) {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f == 0 || f >= 0.001 && f <= 1e9) {
		return 0, fmt.Errorf("want 0 or a number from 0.001 to 1000000000, not %q", v)
	}
	return f, nil
}

// quotas makes a flag that takes a number per second for each of at, with slashes between them.
func quotas(s setting, at ...*float64) *checked[string] {
	defaults := make([]string, len(at))
	for i, f := range at {
		defaults[i] = strconv.FormatFloat(*f, 'f', -1, 64)
	}
	sample := strings.Join(defaults, "/")
	return newChecked(s, &sample, func(v string) (string, error) {
		numbers := strings.Split(v, "/")
		if len(numbers) != len(at) {
			return "", fmt.Errorf("want %d numbers such as %s, not %q", len(at), strings.Join(defaults, "/"), v)
		}
		for i, number := range numbers {
			var err error
			if *at[i], err = parseRate(number); err != nil {
				return "", err
			}
		}
		return v, nil
	})
}

// duration makes a flag that takes a duration.
func duration(s setting, at *time.Duration, least time.Duration) *checked[time.Duration] {
	return newChecked(s, at, func(v string) (time.Duration, error) {
		d, err := time.ParseDuration(v)
		if err != nil || d < least {
			return 0, fmt.Errorf("want a duration of at least %s, such as %s, not %q", least, cmp.Or(least, time.Second), v)
		}
		return d, nil
	})
}

// address makes a flag that takes an address to listen on.
func address(s setting, at *string) *checked[string] {
	return newChecked(s, at, func(v string) (string, error) {
		_, port, err := net.SplitHostPort(v)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil {
			return "", fmt.Errorf("want host:port, such as 127.0.0.1:8080 or :8080, not %q", v)
		}
		return v, nil
	})
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

// overlapFlag is of commands that put a secret in the place of another one.
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
	return &cli.StringFlag{Name: "board", Usage: "only what is of this `board`", Destination: at}
}

func allFlag(at *bool) cli.Flag {
	return &cli.BoolFlag{Name: "all", Usage: "all boards, instead of one that is named", Destination: at}
}

func (p *program) timeoutFlag(at *time.Duration) cli.Flag {
	return duration(p.option("timeout", "how long to wait for the server"), at, time.Millisecond)
}
