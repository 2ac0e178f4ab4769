package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
	"go.yaml.in/yaml/v3"

	"leaderboard/internal/terminal"
)

// contexts are servers with a name each, in the file of a user.
type contexts struct {
	Current string                   `yaml:"current,omitempty"` // "": none
	Of      map[string]serverContext `yaml:"contexts,omitempty"`
}

// serverContext is a server, with its key and its CA.
type serverContext struct {
	URL     string `yaml:"url"`
	Key     string `yaml:"key,omitempty"` // secret
	KeyFile string `yaml:"key-file,omitempty"`
	CAFile  string `yaml:"ca-file,omitempty"`
}

// String hides the key.
func (c serverContext) String() string { return c.URL }

// GoString hides the key too.
func (c serverContext) GoString() string { return c.URL }

// keyPlace says where the key is.
func (c serverContext) keyPlace() string {
	switch {
	case c.Key != "":
		return "in this file"
	case c.KeyFile != "":
		return c.KeyFile
	default:
		return "none"
	}
}

// secret returns the key, "" for none.
func (c serverContext) secret() (string, error) {
	if c.KeyFile == "" {
		return c.Key, nil
	}
	content, err := os.ReadFile(c.KeyFile)
	return strings.TrimSpace(string(content)), err
}

// contextFile returns the file of contexts, "" when the environment names no folder for it.
func (p *program) contextFile() string {
	folder := p.env("XDG_CONFIG_HOME")
	if home := p.env("HOME"); folder == "" && home != "" {
		folder = filepath.Join(home, ".config")
	}
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "leaderboard", "config.yaml")
}

// readContexts reads the file of contexts. Without a file it returns no contexts.
func (p *program) readContexts() (all contexts, err error) {
	file := p.contextFile()
	if file == "" {
		return all, nil
	}
	n, err := readYAML(file)
	if isMissing(err) {
		return all, nil
	}
	if err == nil {
		all, err = contextsOf(n)
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, err
}

func contextsOf(n *yaml.Node) (all contexts, err error) {
	parts, err := entriesOf(n, "key", []string{"current", "contexts"})
	if err != nil {
		return all, err
	}
	if current := parts["current"]; current != nil {
		if all.Current, err = textOf(current); err != nil {
			return all, err
		}
	}
	named, err := entriesOf(parts["contexts"], "name of a context", nil)
	if err != nil {
		return all, err
	}
	all.Of = map[string]serverContext{}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		texts, err := textsOf(named[name], "key", []string{"url", "key", "key-file", "ca-file"})
		if err != nil {
			return all, err
		}
		all.Of[name] = serverContext{texts["url"], texts["key"], texts["key-file"], texts["ca-file"]}
	}
	return all, nil
}

// writeContexts replaces the file of contexts, which only its owner may read.
func (p *program) writeContexts(all *contexts) error {
	file := p.contextFile()
	if file == "" {
		return errors.New("there is no place for contexts: set HOME or XDG_CONFIG_HOME")
	}
	content, err := yaml.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(file), ".config-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = next.Write(content)
	if err = errors.Join(err, next.Close()); err == nil {
		err = os.Rename(next.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}

// find returns a context.
func (all *contexts) find(name string) (serverContext, error) {
	c, ok := all.Of[name]
	if ok {
		return c, nil
	}
	names := slices.Sorted(maps.Keys(all.Of))
	if len(names) == 0 {
		return c, fmt.Errorf("there is no context %q: `leaderboard context set %[1]s --url URL` makes it", name)
	}
	return c, errors.New(unknown("context", name, names))
}

func (p *program) contextFlag(at *string) *checked[string] {
	return text(p.setting("context", "`name` of a server with its key, see leaderboard context; flags win, and variables win over the context in use"), at)
}

// orContext makes a flag take its value from a context: the context of --context goes before the environment, the context in use
// after it.
func (r *remote) orContext(f *checked[string]) *checked[string] {
	source := func(chosen bool) cli.ValueSource { return &contextValue{r, f.Name, chosen, f.Config.from} }
	f.Sources.Chain = slices.Concat([]cli.ValueSource{source(true)}, f.Sources.Chain, []cli.ValueSource{source(false)})
	return f
}

// contextValue is a value of a context, as a source of a flag.
type contextValue struct {
	remote *remote
	flag   string
	chosen bool         // on the command line
	from   func(string) // hears where the value is from
}

// Lookup returns the value. The key and the CA of a context are for its own server only.
func (v *contextValue) Lookup() (string, bool) {
	r := v.remote
	if v.chosen != r.typed("context") || v.flag != "url" && r.place == nil {
		return "", false
	}
	if v.flag == "url" {
		r.place = r.findContext()
	}
	if r.place == nil {
		return "", false
	}
	value := r.place.URL
	switch v.flag {
	case "key":
		value = r.keyOf(r.place)
	case "ca-file":
		value = r.place.CAFile
	}
	v.from("context " + r.context)
	return value, value != ""
}

func (v *contextValue) String() string   { return "--" + v.flag + " of a context" }
func (v *contextValue) GoString() string { return v.String() }

// findContext returns the context of --context, otherwise the one in use, nil for none. An error becomes a fault of the command
// line.
func (r *remote) findContext() *serverContext {
	all, err := r.readContexts()
	if err == nil {
		r.context = cmp.Or(r.context, all.Current)
		if r.context == "" {
			return nil
		}
		var c serverContext
		if c, err = all.find(r.context); err == nil {
			return &c
		}
	}
	r.faults = append(r.faults, err.Error())
	return nil
}

// keyOf returns the key of a context.
func (r *remote) keyOf(c *serverContext) string {
	key, err := c.secret()
	if err != nil {
		r.faults = append(r.faults, fmt.Sprintf("context %s: key-file: %s", r.context, err))
	}
	if file := cmp.Or(c.KeyFile, r.contextFile()); key != "" && othersMayRead(file) {
		r.say("leaderboard: others may read %s, which has a key: chmod 600 %[1]s", file)
	}
	return key
}

func (p *program) contextCommand() *cli.Command {
	return group("context", "contexts: servers with their keys, by names, in a file of yours",
		p.contextListCommand(), p.contextSetCommand(), p.contextUseCommand(), p.contextRemoveCommand())
}

// contextView is a context for output, without its key.
type contextView struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	URL     string `json:"url"`
	Key     string `json:"key"` // where it is
	CAFile  string `json:"ca_file,omitempty"`
}

func (p *program) contextListCommand() *cli.Command {
	json := false
	return p.leaf("context list", "list the contexts; keys are not shown", "", func(context.Context, []string) error {
		all, err := p.readContexts()
		if err != nil {
			return err
		}
		views := []contextView{}
		t := terminal.NewTable(p.out, "IN USE", "NAME", "URL", "KEY", "CA")
		for _, name := range slices.Sorted(maps.Keys(all.Of)) {
			c, mark := all.Of[name], ""
			if name == all.Current {
				mark = "*"
			}
			views = append(views, contextView{name, name == all.Current, c.URL, c.keyPlace(), c.CAFile})
			t.Cells(mark, terminal.Printable(name), terminal.Printable(c.URL), terminal.Printable(c.keyPlace()), terminal.Printable(cmp.Or(c.CAFile, "-")))
		}
		if json {
			return terminal.PrintJSON(p.out, views)
		}
		return t.Flush()
	}, jsonFlag(&json))
}

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func (p *program) contextSetCommand() *cli.Command {
	r, given := p.remote(), serverContext{}
	return p.leaf("context set", "make or change a context by flags alone, not by variables; the first context is in use at once", "NAME",
		func(_ context.Context, args []string) error {
			all, err := p.readContexts()
			if err != nil {
				return err
			}
			c, known := all.Of[args[0]]
			if err := p.change(&c, &r, &given); err != nil {
				return err
			}
			switch {
			case !contextName.MatchString(args[0]):
				return usagef("want a name of letters, digits, dots, - and _, not %q", args[0])
			case c.URL == "":
				return usagef("want the server, as in: leaderboard context set %s --url https://scores.example", args[0])
			case !known && len(all.Of) == 0:
				all.Current, all.Of = args[0], map[string]serverContext{}
			}
			all.Of[args[0]] = c
			if err := p.writeContexts(&all); err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.out, "%s is %s, key: %s\n", args[0], terminal.Printable(c.URL), terminal.Printable(c.keyPlace()))
			return err
		},
		r.orBefore(p.urlFlag(&r.url)), r.orBefore(p.keyFlag(&r.key)),
		text(p.option("key-file", "`file` that has the key, read at each use; - reads the key from standard input into the file of contexts"), &given.KeyFile),
		r.caFlag(&given.CAFile),
	)
}

// change applies the flags to a context.
func (p *program) change(c *serverContext, r *remote, given *serverContext) error {
	if p.typed("key") && p.typed("key-file") {
		return usagef("give --key or --key-file, not both")
	}
	if p.typed("url") {
		if r.url != c.URL { // a key is for its server
			*c = serverContext{}
		}
		c.URL = r.url
	}
	switch {
	case p.typed("key"):
		c.Key, c.KeyFile = r.key, ""
	case p.typed("key-file") && given.KeyFile == "-":
		content, err := io.ReadAll(io.LimitReader(p.in, 4096))
		if err != nil {
			return err
		}
		key, err := parseKey(strings.TrimSpace(string(content)))
		if err != nil {
			return usagef("standard input: %s", err)
		}
		c.Key, c.KeyFile = key, ""
	case p.typed("key-file"):
		file, err := filepath.Abs(given.KeyFile)
		if err != nil {
			return err
		}
		c.Key, c.KeyFile = "", file
	}
	if p.typed("ca-file") {
		file, err := filepath.Abs(given.CAFile)
		if err != nil {
			return err
		}
		c.CAFile = file
	}
	return nil
}

func (p *program) contextUseCommand() *cli.Command {
	return p.leaf("context use", "use a context where neither --context nor a variable names a server", "NAME", func(_ context.Context, args []string) error {
		all, err := p.readContexts()
		if err != nil {
			return err
		}
		c, err := all.find(args[0])
		if err != nil {
			return err
		}
		all.Current = args[0]
		if err := p.writeContexts(&all); err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%s is in use: %s\n", args[0], terminal.Printable(c.URL))
		return err
	})
}

func (p *program) contextRemoveCommand() *cli.Command {
	return p.leaf("context remove", "remove a context, with its key if that is in the file of contexts", "NAME", func(_ context.Context, args []string) error {
		all, err := p.readContexts()
		if err != nil {
			return err
		}
		if _, err := all.find(args[0]); err != nil {
			return err
		}
		delete(all.Of, args[0])
		if all.Current == args[0] {
			all.Current = ""
		}
		if err := p.writeContexts(&all); err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%s is removed\n", args[0])
		return err
	})
}
