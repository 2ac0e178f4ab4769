package cli

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/leaderboard"
)

// completionScripts only ask `completion words` for suggestions. The scripts of urfave/cli need bash-completion, evaluate the typed
// text, and know neither the values of options nor boards.
//
//go:embed completion
var completionScripts embed.FS

func (p *program) completionCommand() *cli.Command {
	shell := func(name, usage string) *cli.Command {
		return p.leaf("completion "+name, usage, "", func(context.Context, []string) error {
			script, err := completionScripts.ReadFile("completion/" + name)
			if err == nil {
				_, err = p.out.Write(script)
			}
			return err
		})
	}
	return group("completion", "print a script that completes commands, options and boards in a shell",
		shell("bash", "for bash; in ~/.bashrc: source <(leaderboard completion bash)"),
		shell("zsh", "for zsh; in ~/.zshrc, after compinit: source <(leaderboard completion zsh)"),
		shell("fish", "for fish: leaderboard completion fish > ~/.config/fish/completions/leaderboard.fish"),
		&cli.Command{
			Name: "words", Usage: "print the words that may stand at the cursor, for a script", Hidden: true,
			SkipFlagParsing: true, HideHelp: true, HideHelpCommand: true,
			Action: func(ctx context.Context, cmd *cli.Command) error {
				args := cmd.Args().Slice()
				if len(args) < 2 {
					return classify(cmd, usagef("want a shell and the words up to the cursor"))
				}
				for _, s := range p.complete(ctx, args[1:]) {
					if _, err := fmt.Fprintln(p.out, s.line(args[0])); err != nil {
						return err
					}
				}
				return nil
			},
		})
}

// suggestion is a word that may stand where the cursor is.
type suggestion struct{ word, about string }

// fileNames is the suggestion that makes a shell complete names of files.
const fileNames = ":files"

// line writes a suggestion as the script of a shell reads it.
func (s suggestion) line(shell string) string {
	word := s.word
	if shell == "zsh" && word != fileNames {
		word = strings.ReplaceAll(word, ":", `\:`)
	}
	switch {
	case s.about == "" || shell == "bash":
		return word
	case shell == "zsh":
		return word + ":" + s.about
	default:
		return word + "\t" + s.about
	}
}

// typed is a command line up to the cursor.
type typed struct {
	command *cli.Command
	options map[string]string // by name, with their values
	args    []string
	awaits  cli.Flag // the option whose value comes next, or nil
}

// read takes a word.
func (t *typed) read(word string) {
	if t.awaits != nil {
		if word != "=" { // at which bash ends a word
			t.options[t.awaits.Names()[0]], t.awaits = word, nil
		}
		return
	}
	if name, value, valued := strings.Cut(strings.TrimLeft(word, "-"), "="); strings.HasPrefix(word, "-") {
		t.options[name] = value
		if f := findFlag(t.command, name); f != nil && hasValue(f) && !valued {
			t.awaits = f
		}
		return
	}
	if inner := t.command.Command(word); inner != nil {
		t.command = inner
		return
	}
	t.args = append(t.args, word)
}

func hasValue(f cli.Flag) bool {
	documented, ok := f.(cli.DocGenerationFlag)
	return ok && documented.TakesValue()
}

// complete returns suggestions for the last of words.
func (p *program) complete(ctx context.Context, words []string) []suggestion {
	t := &typed{command: p.root(), options: map[string]string{}}
	last := len(words) - 1
	for _, word := range words[:last] {
		t.read(word)
	}
	current := words[last]
	name, value, valued := strings.Cut(current, "=")
	switch {
	case t.awaits != nil:
		return startingWith(strings.TrimPrefix(current, "="), p.valuesOf(ctx, t, t.awaits))
	case strings.HasPrefix(current, "-") && valued:
		var found []suggestion
		if f := findFlag(t.command, strings.TrimLeft(name, "-")); f != nil {
			for _, s := range startingWith(value, p.valuesOf(ctx, t, f)) {
				found = append(found, suggestion{name + "=" + s.word, s.about})
			}
		}
		return found
	case strings.HasPrefix(current, "-"):
		return startingWith(current, t.optionsLeft())
	case len(t.command.Commands) > 0:
		var found []suggestion
		for _, c := range t.command.VisibleCommands() {
			found = append(found, suggestion{c.Name, c.Usage})
		}
		return startingWith(current, found)
	default:
		return startingWith(current, p.argumentsOf(ctx, t))
	}
}

// startingWith returns the suggestions that begin with a word.
func startingWith(word string, all []suggestion) []suggestion {
	return slices.DeleteFunc(all, func(s suggestion) bool { return s.word != fileNames && !strings.HasPrefix(s.word, word) })
}

// optionsLeft returns the options that are not on the line yet.
func (t *typed) optionsLeft() []suggestion {
	found := []suggestion{{"--help", "show help"}}
	for _, f := range t.command.Flags {
		name := f.Names()[0]
		_, given := t.options[name]
		visible, ok := f.(cli.VisibleFlag)
		if documented, about := f.(cli.DocGenerationFlag); about && (!given || name == "field") && (!ok || visible.IsVisible()) {
			found = append(found, suggestion{"--" + name, plainUsage(documented)})
		}
	}
	return found
}

// argumentsOf returns suggestions for the next argument.
func (p *program) argumentsOf(ctx context.Context, t *typed) []suggestion {
	names := strings.Fields(strings.NewReplacer(oneOrAll, "BOARD", "[", "", "]", "").Replace(t.command.ArgsUsage))
	_, all := t.options["all"]
	switch n := len(t.args); {
	case n >= len(names) || n > 0 && names[1] == "|":
		return nil
	case names[n] == "BOARD" && !all:
		return p.boardNames(ctx, t)
	case names[n] == "FILE":
		return []suggestion{{word: fileNames}}
	}
	return nil
}

// valuesOf returns suggestions for the value of an option.
func (p *program) valuesOf(ctx context.Context, t *typed, f cli.Flag) []suggestion {
	var words []string
	if chosen, ok := f.(*checked[string]); ok {
		words = chosen.Config.words
	}
	switch f.Names()[0] {
	case "board":
		return p.boardNames(ctx, t)
	case "window":
		for _, w := range leaderboard.Windows() {
			words = append(words, string(w))
		}
	case "period":
		words = []string{"current", "previous"}
	case "context":
		all, _ := p.readContexts()
		words = slices.Sorted(maps.Keys(all.Of))
	case "rules", "output", "config", "key-file", "refused", "progress", "ca-file", "tls-cert", "tls-key", "dir":
		words = []string{fileNames}
	}
	var found []suggestion
	for _, word := range words {
		found = append(found, suggestion{word: word})
	}
	return found
}

const (
	completionTimeout = time.Second // for the names of boards
	completionBoards  = 1000        // that are suggested at most
)

// givenTo returns a function that finds an option of a server where a command would: on the command line, in the environment or in
// a context.
func (p *program) givenTo(r *remote, t *typed) func(option string) string {
	chosen := t.options["context"]
	r.context = cmp.Or(chosen, p.env(variableName("context")))
	if t.options["url"] == "" && (chosen != "" || p.env(variableName("url")) == "") {
		r.place = r.findContext()
	}
	return func(option string) string {
		of, variable := "", p.env(variableName(option))
		if r.place != nil {
			key, _ := r.place.secret()
			of = map[string]string{"url": r.place.URL, "key": key, "ca-file": r.place.CAFile}[option]
		}
		if chosen != "" {
			return cmp.Or(t.options[option], of, variable)
		}
		return cmp.Or(t.options[option], variable, of)
	}
}

// boardNames asks for the names of boards, on the server that the command would ask.
func (p *program) boardNames(ctx context.Context, t *typed) []suggestion {
	r := p.remote()
	given := p.givenTo(&r, t)
	var err error
	if r.url, err = parseURL(cmp.Or(given("url"), r.url)); err != nil {
		return nil
	}
	if file := given("ca-file"); file != "" {
		if r.roots, err = parseCAFile(file); err != nil {
			return nil
		}
	}
	r.key, r.timeout = given("key"), completionTimeout
	c, err := r.connect()
	if err != nil {
		return nil
	}
	var found []suggestion
	for b, err := range c.Boards(ctx, nil) {
		if err != nil {
			break
		}
		if leaderboard.CheckBoardName(b.Name) == nil { // the shell would take others apart
			found = append(found, suggestion{b.Name, printableTitle(b.Title)})
		}
		if len(found) == completionBoards {
			break
		}
	}
	return found
}

// printableTitle returns a title that is fit for a line of suggestions.
func printableTitle(title string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, title)
}
