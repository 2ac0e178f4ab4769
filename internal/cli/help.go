package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/terminal"
)

// Help is ours, as that of urfave/cli has lines of any length and calls every value a string. It is asked for by --help or
// -h wherever an option may stand, before anything else is looked at, or by `help` in front of a command.

// The widths of help: what fits a terminal, within what is good to read.
const (
	helpWidth      = 80 // elsewhere than on a terminal
	leastHelpWidth = 40
	mostHelpWidth  = 100
)

// helpOn returns the command line up to the command whose help it asks for, nil if it asks for none.
func (p *program) helpOn(args []string) *typed {
	t := p.typing()
	wanted := false
	for _, word := range args {
		group := len(t.command.Commands) > 0 && len(t.args) == 0
		switch {
		case t.command.SkipFlagParsing || word == "--" && t.awaits == nil:
			return nil
		case t.awaits == nil && (word == "--help" || word == "-h"):
			return t
		case group && word == "help" && t.awaits == nil:
			wanted = true
		default:
			t.read(word)
		}
	}
	if !wanted || len(t.command.Commands) > 0 && len(t.args) > 0 { // unknownCommand names the word that is none
		return nil
	}
	return t
}

// helpEntry is an option or a command with what it is for.
type helpEntry struct{ name, about string }

// showHelp prints the help of a command, whose full name is path.
func showHelp(w io.Writer, c *cli.Command, path string) error {
	width := helpWidth
	if columns := terminal.Columns(w); columns > 0 {
		width = min(max(columns, leastHelpWidth), mostHelpWidth)
	}
	var b strings.Builder
	wrapped(&b, width, 2, path+" - "+c.Usage)
	b.WriteByte('\n')
	usage := c.UsageText
	if usage == "" {
		usage = path + " COMMAND [OPTIONS] [ARGUMENTS]"
	}
	wrapped(&b, width, 7, "Usage: "+usage)
	for paragraph := range strings.SplitSeq(c.Description, "\n") {
		if paragraph != "" {
			b.WriteByte('\n')
			wrapped(&b, width, 0, paragraph)
		}
	}
	helpSection(&b, width, "Commands:", commandEntries(c))
	options, settings := optionEntries(c)
	helpSection(&b, width, "Options:", options)
	if len(settings) > 0 {
		first, _, _ := strings.Cut(settings[0].name, " ")
		helpSection(&b, width, fmt.Sprintf("Settings, which are environment variables too, %s as %s:", first, variableName(first[2:])), settings)
	}
	if len(c.Commands) > 0 {
		b.WriteString("\n" + path + " COMMAND --help says more of one.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func commandEntries(c *cli.Command) []helpEntry {
	var entries []helpEntry
	for _, sub := range c.VisibleCommands() {
		entries = append(entries, helpEntry{sub.Name, sub.Usage})
	}
	return entries
}

// optionEntries returns the options of a command, those that have an environment variable as settings. What many commands
// have comes last.
func optionEntries(c *cli.Command) (options, settings []helpEntry) {
	for _, f := range c.Flags {
		documented, ok := f.(cli.DocGenerationFlag)
		if visible, hides := f.(cli.VisibleFlag); !ok || hides && !visible.IsVisible() {
			continue
		}
		e := helpEntry{"--" + f.Names()[0], documented.GetUsage()}
		if name := valueName(f); name != "" {
			e.name += " " + name
		}
		if documented.TakesValue() && documented.IsDefaultVisible() && documented.GetValue() != "" {
			e.about += " (default: " + documented.GetValue() + ")"
		}
		if len(documented.GetEnvVars()) > 0 {
			settings = append(settings, e)
		} else {
			options = append(options, e)
		}
	}
	slices.SortStableFunc(options, func(a, b helpEntry) int { return cmp.Compare(commonness(a), commonness(b)) })
	return options, settings
}

// commonness is greater for options that many commands have.
func commonness(e helpEntry) int {
	name, _, _ := strings.Cut(e.name, " ")
	return slices.Index([]string{"--timeout", "--json"}, name)
}

// valueName returns what stands for the value of an option in its help; "" for a switch.
func valueName(f cli.Flag) string {
	switch f := f.(type) {
	case *checked[int], *checked[int64], *checked[float64], *cli.IntFlag:
		return "N"
	case *checked[time.Duration], *cli.DurationFlag:
		return "DURATION"
	case *checked[string]:
		if words := strings.Join(f.Config.words, "|"); words != "" && len(words) <= len("incremental|recompute") {
			return words
		}
	}
	if !takesValue(f) {
		return ""
	}
	switch name := f.Names()[0]; name {
	case "mysql-dsn":
		return "DSN"
	case "url", "redis-url", "avatar-url":
		return "URL"
	case "listen", "ops-listen":
		return "HOST:PORT"
	case "key":
		return "KEY"
	case "board", "member", "window", "period", "country", "cursor", "zset":
		return strings.ToUpper(name)
	case "rules", "output", "refused", "progress", "ca-file", "tls-cert", "tls-key":
		return "FILE"
	case "dir":
		return "DIRECTORY"
	case "since", "until", "expires", "starts-at", "ends-at":
		return "TIME"
	case "cache-ttl", "record-ttl", "refresh-incremental":
		return "DURATION"
	case "refresh-full":
		return "CRON"
	case "resident-memory":
		return "BYTES"
	case "attributes":
		return "JSON"
	case "field":
		return "NAME=N"
	case "min-score", "max-score", "max-delta", "top-n":
		return "N"
	case "boards", "for", "labels", "windows", "unset", "keys", "tiebreak-fields", "trusted-proxies", "cors-origins":
		return "LIST"
	}
	return "TEXT"
}

// helpSection writes entries in two columns under a heading; none are left out with it.
func helpSection(b *strings.Builder, width int, heading string, entries []helpEntry) {
	if len(entries) == 0 {
		return
	}
	b.WriteByte('\n')
	wrapped(b, width, 0, heading)
	left := 0
	for _, e := range entries {
		if n := len(e.name); n <= width/3 {
			left = max(left, n)
		}
	}
	for _, e := range entries {
		line := fmt.Sprintf("  %-*s  ", left, e.name)
		if len(e.name) > left {
			b.WriteString("  " + e.name + "\n")
			line = strings.Repeat(" ", left+4)
		}
		wrapped(b, width, left+4, line+e.about)
	}
}

// wrapped writes a text on lines of a width; those after the first are indented.
func wrapped(b *strings.Builder, width, indent int, text string) {
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	line, empty := lead, true
	if at := min(indent, len(text)); indent > len(lead) && strings.HasSuffix(text[:at], " ") {
		line, text = text[:at], text[at:] // the name of an entry keeps its spaces
	}
	for word := range strings.FieldsSeq(text) {
		switch {
		case empty:
			line += word
		case terminal.Width(line)+1+terminal.Width(word) > width:
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", indent) + word
		default:
			line += " " + word
		}
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
