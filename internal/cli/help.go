package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/terminal"
)

// helpTemplate is the layout of the help. The template of urfave/cli does not wrap text next to a name.
const helpTemplate = `{{wrap (printf "%s - %s" .FullName .Usage) 2}}

Usage: {{wrap .UsageText 7}}
{{- with .Description}}

{{wrap . 0}}{{end}}
{{- $column := offsetCommands .VisibleCommands 5}}{{range groups .}}

{{.Title}}:{{range .Of}}
   {{$name := join .Names ", "}}{{$name}}{{indent (subtract $column (offset $name 3)) ""}}{{wrap .Usage $column}}{{end}}{{end}}
{{- range sections .}}

{{.Title}}:{{range .Of}}
  {{wrap (entry .String) 8}}{{end}}{{end}}
`

// mainSection is the section of the options of a server that matter most.
const mainSection = "Begin with these"

// mostInOneSection is the number of options up to which the help of a command shows one list.
const mostInOneSection = 20

// The widths of help: the width of the terminal, within bounds that are good to read.
const (
	helpWidth      = 80 // without a terminal
	leastHelpWidth = 40
	mostHelpWidth  = 100
)

// printHelp prints the help of a command. It is cli.HelpPrinter.
func printHelp(w io.Writer, _ string, command any) {
	width := helpWidth
	if columns := terminal.Columns(w); columns > 0 {
		width = min(max(columns, leastHelpWidth), mostHelpWidth)
	}
	cli.DefaultPrintHelpCustom(w, helpTemplate, command, map[string]any{
		"wrapAt": func() int { return width },
		"entry":  func(flag string) string { return strings.Replace(flag, "\t", "\n", 1) },
		"groups": func(c *cli.Command) []helpGroup[*cli.Command] {
			return grouped("commands", c.VisibleCommands(), func(c *cli.Command) string { return c.Category })
		},
		"sections": func(c *cli.Command) []helpGroup[cli.Flag] {
			flags := c.VisibleFlags()
			return grouped("options", flags, func(f cli.Flag) string {
				if f, ok := f.(cli.CategorizableFlag); ok && len(flags) > mostInOneSection {
					return f.GetCategory()
				}
				return ""
			})
		},
	})
}

// helpGroup is commands or options under a title.
type helpGroup[T any] struct {
	Title string
	Of    []T
}

// grouped puts things that have one title together, in the order of the first of each; things without a title come last.
func grouped[T any](kind string, all []T, title func(T) string) (groups []helpGroup[T]) {
	var rest []T
	for _, one := range all {
		name := title(one)
		at := slices.IndexFunc(groups, func(g helpGroup[T]) bool { return g.Title == name })
		switch {
		case name == "":
			rest = append(rest, one)
		case at < 0:
			groups = append(groups, helpGroup[T]{name, []T{one}})
		default:
			groups[at].Of = append(groups[at].Of, one)
		}
	}
	switch {
	case len(rest) == 0:
		return groups
	case len(groups) > 0:
		kind = "other " + kind
	}
	return append(groups, helpGroup[T]{strings.ToUpper(kind[:1]) + kind[1:], rest})
}

// plainUsage returns the usage of a flag without the backquotes that mark the name of its value.
func plainUsage(f cli.DocGenerationFlag) string { return strings.ReplaceAll(f.GetUsage(), "`", "") }
