package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/app"
)

func (p *program) manCommand() *cli.Command {
	return p.leaf("man", "print the manual page: leaderboard man | man -l -", "", func(context.Context, []string) error {
		return writeManual(p.out, p.root(), app.ReadBuildInfo().Version)
	})
}

// manual is a page in the macros of man(7), made of the help of all commands.
type manual struct {
	strings.Builder
	settings []helpEntry // of all commands, each once
	known    map[string]bool
}

// writeManual writes the page of a program. It says nothing of when and where, so that a version has one page.
func writeManual(w io.Writer, root *cli.Command, version string) error {
	m := &manual{known: map[string]bool{}}
	m.macro("TH", strings.ToUpper(root.Name), "1", "", root.Name+" "+version, "")
	m.macro("SH", "NAME")
	m.text(root.Name + " - " + root.Usage)
	m.macro("SH", "SYNOPSIS")
	m.text(root.Name + " COMMAND [OPTIONS] [ARGUMENTS]")
	m.macro("SH", "DESCRIPTION")
	m.paragraphs(root.Description)
	m.macro("PP")
	m.text("Settings that many commands have are explained once, in their own section.")
	m.macro("SH", "COMMANDS")
	for _, c := range root.VisibleCommands() {
		m.command(c, root.Name+" "+c.Name)
	}
	m.macro("SH", "SETTINGS")
	for _, e := range m.settings {
		m.entry(e)
	}
	m.macro("SH", "EXIT STATUS")
	for _, e := range []helpEntry{
		{"0", "done"},
		{"1", "failed"},
		{"2", "wrong usage"},
		{"3", "done, but for lines of an import that were refused"},
		{"4", "a comparison found no difference and could not compare everything"},
		{"130, 143", "ended by Ctrl-C, or by SIGTERM"},
	} {
		m.entry(e)
	}
	_, err := io.WriteString(w, m.String())
	return err
}

// command writes what the help of a command says, or of those below it. What settings are for is kept for later.
func (m *manual) command(c *cli.Command, path string) {
	if len(c.Commands) > 0 {
		for _, sub := range c.VisibleCommands() {
			m.command(sub, path+" "+sub.Name)
		}
		return
	}
	m.macro("SS", c.UsageText)
	m.text(strings.ToUpper(c.Usage[:1]) + c.Usage[1:] + ".")
	m.paragraphs(c.Description)
	options, settings := optionEntries(c)
	for _, e := range options {
		m.entry(e)
	}
	var names []string
	for _, e := range settings {
		name, _, _ := strings.Cut(e.name, " ")
		names = append(names, name)
		if !m.known[name] {
			m.known[name] = true
			m.settings = append(m.settings, e)
		}
	}
	if len(names) > 0 {
		m.macro("PP")
		m.text("Settings: " + strings.Join(names, ", ") + ".")
	}
}

// entry writes an option or a setting with what it is for.
func (m *manual) entry(e helpEntry) {
	m.macro("TP")
	m.WriteString(`\fB` + roff(e.name) + `\fR` + "\n")
	m.text(e.about)
}

// paragraphs writes a text of several.
func (m *manual) paragraphs(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			m.macro("PP")
			m.text(line)
		}
	}
}

// macro writes a line that is no text.
func (m *manual) macro(name string, args ...string) {
	m.WriteString("." + name)
	for _, arg := range args {
		fmt.Fprintf(m, ` "%s"`, strings.ReplaceAll(roff(arg), `"`, `\(dq`))
	}
	m.WriteByte('\n')
}

// text writes a line of text.
func (m *manual) text(line string) { m.WriteString(`\&` + roff(line) + "\n") }

// roff returns a text that means itself, in ASCII.
func roff(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '\\':
			b.WriteString(`\e`)
		case c == '-':
			b.WriteString(`\-`)
		case c > unicode.MaxASCII:
			fmt.Fprintf(&b, `\[u%04X]`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
