package cli

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/terminal"
)

// TestExitStatus: 2 for a command line that can never work, 1 for a command that failed, 0 otherwise.
func TestExitStatus(t *testing.T) {
	t.Parallel()
	nowhere := map[string]string{
		"LEADERBOARD_MYSQL_DSN": "root@tcp(127.0.0.1:1)/lb", "LEADERBOARD_REDIS_URL": "redis://127.0.0.1:1/0", "LEADERBOARD_URL": "http://127.0.0.1:1",
	}
	var asking sync.WaitGroup // at once, since a submit without an answer is repeated for half a minute
	defer asking.Wait()
	for line, want := range map[string]int{
		"--help":                             exitOK,
		"serve --help":                       exitOK,
		"help top":                           exitOK,
		"help nonsense":                      exitUsage,
		"help tpo":                           exitUsage,
		"tpo b":                              exitUsage,
		"top b --limt 5":                     exitUsage,
		"board help nonsense":                exitUsage,
		"version":                            exitOK,
		"":                                   exitOK,
		"--context x":                        exitOK,
		"nonsense":                           exitUsage,
		"migrate":                            exitUsage,
		"migrate sideways":                   exitUsage,
		"serve --nonsense":                   exitUsage,
		"serve --listen":                     exitUsage,
		"serve --listen x":                   exitUsage,
		"serve extra":                        exitUsage,
		"dev --members 0":                    exitUsage,
		"refresh":                            exitUsage,
		"refresh --all --kind half":          exitUsage,
		"verify b --all":                     exitUsage,
		"board put":                          exitUsage,
		"board put b --min-score low":        exitUsage,
		"board list extra":                   exitUsage,
		"submit b a":                         exitUsage,
		"top b --limit 1001":                 exitUsage,
		"rank b":                             exitUsage,
		"export":                             exitUsage,
		"export b --format xml":              exitUsage,
		"export b --json":                    exitUsage,
		"export b":                           exitFailed,
		"import b":                           exitUsage,
		"import b f --batch 0":               exitUsage,
		"import b f --retry-for 1s":          exitFailed,
		"health --listen nowhere":            exitUsage,
		"version --json=perhaps":             exitUsage,
		"migrate up":                         exitFailed,
		"migrate status":                     exitFailed,
		"migrate down":                       exitFailed,
		"key revoke k":                       exitUsage,
		"key revoke k --yes":                 exitFailed,
		"member forget a":                    exitUsage,
		"refresh --all":                      exitFailed,
		"verify b":                           exitUnknown,
		"board put b":                        exitFailed,
		"board put b --rules does-not-exist": exitFailed,
		"board show b":                       exitFailed,
		"board list":                         exitFailed,
		"board delete b":                     exitUsage,
		"board delete b --yes":               exitFailed,
		"submit b a=1":                       exitFailed,
		"top b":                              exitFailed,
		"rank b a":                           exitFailed,
		"rank b a b":                         exitFailed,
		"rank b a --around 2":                exitFailed,
		"rank b --score -5":                  exitFailed,
		"history b a":                        exitFailed,
		"history b":                          exitUsage,
		"submissions b a":                    exitFailed,
		"submissions b":                      exitUsage,
		"health --listen 127.0.0.1:1":        exitFailed,

		"verify --all --url http://127.0.0.1:1": exitUnknown, // an option wins over a variable
	} {
		asking.Go(func() {
			status, out, errOut := runWith(t, nowhere, strings.Fields(line)...)
			if status != want {
				t.Errorf("leaderboard %s: status %d, want %d: %s", line, status, want, errOut)
			}
			if (status == exitOK) != (errOut == "") || (status == exitOK) != (out != "") {
				t.Errorf("leaderboard %s: status %d, standard output %q, standard error %q", line, status, out, errOut)
			}
			if hint := strings.Contains(errOut, "Try: leaderboard"); hint != (want == exitUsage) {
				t.Errorf("leaderboard %s: points to the help: %t", line, hint)
			}
		})
	}
}

// TestCommandsAreDocumented: every command has a usage text.
func TestCommandsAreDocumented(t *testing.T) {
	for path, c := range allCommands(&program{}) {
		if c.Usage == "" {
			t.Errorf("%s has no usage line", path)
		}
	}
	want := []string{
		"dev", "context", "completion", "man", "version",
		"submit", "top", "rank", "standings", "history", "submissions", "held", "play", "distribution", "activity", "watch", "follow",
		"board", "refresh", "run", "verify", "index", "member", "remove", "hide", "restore", "hidden", "token", "issuer",
		"serve", "migrate", "status", "health", "key", "endpoint", "audit", "export", "import",
	}
	var got []string
	for _, c := range (&program{}).root().Commands {
		got = append(got, c.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("commands are %v, want %v", got, want)
	}
}

// allCommands returns the commands by their full names.
func allCommands(p *program) map[string]*cli.Command {
	all := map[string]*cli.Command{}
	var walk func(path string, c *cli.Command)
	walk = func(path string, c *cli.Command) {
		all[path] = c
		for _, sub := range c.Commands {
			walk(path+" "+sub.Name, sub)
		}
	}
	walk("leaderboard", p.root())
	return all
}

// TestHelpWithArguments: --help shows the help of a command behind its arguments and before them too.
func TestHelpWithArguments(t *testing.T) {
	t.Parallel()
	var walk func(path []string, c *cli.Command)
	walk = func(path []string, c *cli.Command) {
		for _, sub := range c.VisibleCommands() {
			walk(append(slices.Clone(path), sub.Name), sub)
		}
		if len(c.Commands) > 0 {
			return
		}
		status, want, errOut := runWith(t, nil, append(slices.Clone(path), "--help")...)
		if status != exitOK || !strings.Contains(strings.Join(strings.Fields(want), " "), "leaderboard "+strings.Join(path, " ")+" - "+c.Usage) || errOut != "" {
			t.Errorf("%q --help: status %d, %q, %q", path, status, want, errOut)
		}
		for line := range strings.SplitSeq(want, "\n") {
			if terminal.Width(line) > helpWidth {
				t.Errorf("%q: a line of %d columns: %s", path, terminal.Width(line), line)
			}
		}
		for _, args := range [][]string{{"best", "--help"}, {"best", "a=1", "-h"}, {"--help", "best"}, {"help", "--help"}} {
			status, got, errOut := runWith(t, nil, append(slices.Clone(path), args...)...)
			if status != exitOK || got != want || errOut != "" {
				t.Errorf("%q %q: status %d, %q, %q; want the help", path, args, status, got, errOut)
			}
		}
	}
	walk(nil, (&program{}).root())
}

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	env := map[string]string{"LEADERBOARD_MYSQL_DSN": "root@tcp(127.0.0.1:1)/none", "LEADERBOARD_LISTEN": l.Addr().String()}
	for _, command := range []string{"serve", "dev"} {
		status, _, errOut := runWith(t, env, command)
		if status != exitFailed || !strings.Contains(errOut, l.Addr().String()+" is in use by another program") || !strings.Contains(errOut, "--listen") {
			t.Errorf("%s: status %d, %s", command, status, errOut)
		}
	}
}
