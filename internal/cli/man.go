package cli

import (
	"context"
	"io"
	"strings"
	"text/template"

	"github.com/urfave/cli/v3"
)

func (p *program) manCommand() *cli.Command {
	return p.leaf("man", "print the manual page: leaderboard man | man -l -", "", func(context.Context, []string) error {
		return writeManual(p.out, p.root())
	})
}

// manualTemplate is the manual page in the macros of man(7). It has no date and no path: a version has one page.
const manualTemplate = `.TH LEADERBOARD 1 "" "{{text .Name}} {{text .Version}}"
.SH NAME
{{text .Name}} \- {{text .Usage}}
.SH SYNOPSIS
{{text .UsageText}}
.SH DESCRIPTION
{{text .Description}}
.SH COMMANDS
{{- block "commands" .VisibleCommands}}{{range .}}{{if .VisibleCommands}}{{template "commands" .VisibleCommands}}{{else}}
.SS {{text .UsageText}}
{{text .Usage}}.
{{- range .VisibleFlags}}
.TP
{{entry .String}}{{end}}{{end}}{{end}}{{end}}
.SH EXIT STATUS
.TP
0
done
.TP
1
failed
.TP
2
wrong usage
.TP
3
done, but for lines of an import that were refused
.TP
4
a comparison found no difference and could not compare everything
.TP
130, 143
ended by Ctrl\-C, or by SIGTERM
`

// writeManual writes the manual page of a program, made of the help of all commands.
func writeManual(w io.Writer, root *cli.Command) error {
	roff := strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", "\n.PP\n\\&")
	text := func(s string) string { return `\&` + roff.Replace(s) }
	page, err := template.New("").Funcs(template.FuncMap{"text": text, "entry": func(flag string) string {
		name, about, _ := strings.Cut(flag, "\t")
		return `\fB` + roff.Replace(name) + `\fR` + "\n" + text(about)
	}}).Parse(manualTemplate)
	if err != nil {
		return err
	}
	return page.Execute(w, root)
}
