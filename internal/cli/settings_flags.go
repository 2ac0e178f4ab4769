package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"
)

// flags makes the command line flags of the settings named.
func (p *program) flags(names []string) []cli.Flag {
	var flags []cli.Flag
	for _, s := range settings() {
		if !slices.Contains(names, s.name) {
			continue
		}
		sources := cli.NewValueSourceChain(variableName(s.variable()))
		if s.toggle {
			flags = append(flags, &cli.BoolFlag{Name: s.name, Usage: s.usage, Sources: sources, Hidden: s.hidden, HideDefault: true})
			continue
		}
		if s.repeats {
			flags = append(flags, &cli.StringSliceFlag{Name: s.name, Usage: s.usage, Sources: sources, HideDefault: true})
			continue
		}
		flags = append(flags, &cli.StringFlag{
			Name: s.name, Usage: s.usage, Sources: sources, Hidden: s.hidden,
			DefaultText: s.fallback, HideDefault: s.fallback == "",
		})
	}
	return flags
}

// variableName shows an environment variable in the help. The value is not read through it, see readConfig.
type variableName string

// Lookup finds nothing.
func (variableName) Lookup() (string, bool) { return "", false }

// IsFromEnv makes the help show the name.
func (variableName) IsFromEnv() bool { return true }

// Key is the name.
func (v variableName) Key() string    { return string(v) }
func (v variableName) String() string { return "environment variable " + string(v) }

// GoString is String.
func (v variableName) GoString() string { return v.String() }

// readConfig reads the settings named: from the flag, else from the environment, else the default. An empty variable
// is one that is not set. All that is wrong is said at once, and never with the value of a secret.
func (p *program) readConfig(cmd *cli.Command, names []string) (config, error) {
	var cfg config
	var wrong []string
	for _, s := range settings() {
		if !slices.Contains(names, s.name) {
			continue
		}
		value, origin := s.fallback, "default of --"+s.name
		if v := p.env(s.variable()); v != "" {
			value, origin = v, s.variable()
		}
		if cmd.IsSet(s.name) {
			origin = "--" + s.name
			switch {
			case s.toggle:
				value = strconv.FormatBool(cmd.Bool(s.name))
			case s.repeats:
				value = strings.Join(cmd.StringSlice(s.name), ",")
			default:
				value = cmd.String(s.name)
			}
		}
		if value == "" && !(s.clears && cmd.IsSet(s.name)) {
			continue
		}
		if err := s.set(&cfg, value); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %s", origin, err))
		}
	}
	if wrong != nil {
		return config{}, usagef("%s", strings.Join(wrong, "\n  "))
	}
	return cfg, nil
}

// needMySQL says what to do when a command that works on MySQL was not told where it is.
func (c *config) needMySQL() error {
	if c.MySQLDSN != "" {
		return nil
	}
	return usagef("no database given: set --mysql-dsn or LEADERBOARD_MYSQL_DSN, " +
		"as in user:password@tcp(127.0.0.1:3306)/leaderboard (or try `leaderboard dev`, which brings its own)")
}
