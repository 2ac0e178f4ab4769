package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"
)

// TestManual: the manual page has every command and option, and no text in it is read as a macro.
func TestManual(t *testing.T) {
	t.Parallel()
	root := (&program{env: func(string) string { return "" }}).root()
	root.Version = "v1.2.3"
	var out bytes.Buffer
	if err := writeManual(&out, root); err != nil {
		t.Fatal(err)
	}
	page := strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "").Replace(out.String())
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
		_, section, ok := strings.Cut(page, ".SS "+c.UsageText+"\n")
		if section, _, _ = strings.Cut(section, "\n.S"); !ok || !strings.Contains(section, c.Usage) {
			t.Errorf("the page lacks %s", c.UsageText)
		}
		for _, f := range c.VisibleFlags() {
			name, about, _ := strings.Cut(f.String(), "\t")
			if !strings.Contains(section+"\n", "\n.TP\n\\fB"+name+"\\fR\n"+about+"\n") {
				t.Errorf("%s: the page lacks %s", c.UsageText, name)
			}
		}
	}
	look(root)
	if commands < 30 || !strings.Contains(page, `"leaderboard v1.2.3"`) {
		t.Errorf("found %d commands, the walk is broken", commands)
	}
	for line := range strings.Lines(out.String()) {
		macro := strings.TrimSpace(strings.SplitN(line+" ", " ", 2)[0])
		switch macro {
		case ".TH", ".SH", ".SS", ".PP", ".TP":
		default:
			if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
				t.Errorf("man would not read this as text: %s", line)
			}
		}
	}
}
