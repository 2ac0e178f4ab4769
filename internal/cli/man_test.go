package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"
)

// TestManual: the manual page has every command, option and setting, and nothing in it is taken for a macro.
func TestManual(t *testing.T) {
	t.Parallel()
	p := &program{env: func(string) string { return "" }}
	var out bytes.Buffer
	if err := writeManual(&out, p.root(), "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	page := strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "", `\[u2026]`, "…").Replace(out.String())
	commands := 0
	var look func(c *cli.Command)
	look = func(c *cli.Command) {
		for _, sub := range c.VisibleCommands() {
			look(sub)
		}
		if len(c.Commands) > 0 {
			return
		}
		commands++
		_, section, ok := strings.Cut(page, ".SS \""+strings.ReplaceAll(c.UsageText, `"`, `\(dq`)+"\"\n")
		if section, _, _ = strings.Cut(section, "\n.S"); !ok || !strings.Contains(section, c.Usage[1:]) {
			t.Errorf("the page lacks %s", c.UsageText)
		}
		options, settings := optionEntries(c)
		for _, e := range options {
			if !strings.Contains(section+"\n", "\n.TP\n\\fB"+e.name+"\\fR\n"+e.about+"\n") {
				t.Errorf("%s: the page lacks %s", c.UsageText, e.name)
			}
		}
		for _, e := range settings {
			if name, _, _ := strings.Cut(e.name, " "); !strings.Contains(section, name) || strings.Count(page, "\n\\fB"+e.name+"\\fR\n") != 1 {
				t.Errorf("%s: the page lacks %s, or has it twice", c.UsageText, e.name)
			}
		}
	}
	look(p.root())
	if commands < 30 || !strings.Contains(page, `"leaderboard v1.2.3"`) {
		t.Errorf("found %d commands, the walk is broken", commands)
	}
	for line := range strings.Lines(out.String()) {
		macro := strings.TrimSpace(strings.SplitN(line+" ", " ", 2)[0])
		switch macro {
		case ".TH", ".SH", ".SS", ".PP", ".TP":
		default:
			if !strings.HasPrefix(line, `\`) {
				t.Errorf("man would not read this as text: %s", line)
			}
		}
	}
}
