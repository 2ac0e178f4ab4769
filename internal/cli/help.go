package cli

import (
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/terminal"
)

// helpTemplate is the layout of the help. That of urfave/cli does not wrap text beside a name.
const helpTemplate = `{{wrap (printf "%s - %s" .FullName .Usage) 2}}

Usage: {{wrap .UsageText 7}}
{{- with .Description}}

{{wrap . 0}}{{end}}
{{- if .VisibleCommands}}

Commands:{{template "visibleCommandTemplate" .}}{{end}}

Options:{{range .VisibleFlags}}
  {{wrap (entry .String) 8}}{{end}}
`

// The widths of help: that of the terminal, within bounds that are good to read.
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
	})
}

// plainUsage returns the usage of a flag without the backquotes that mark the name of its value.
func plainUsage(f cli.DocGenerationFlag) string { return strings.ReplaceAll(f.GetUsage(), "`", "") }
