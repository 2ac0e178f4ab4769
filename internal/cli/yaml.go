package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Files of configuration are read node by node: the decoder's errors quote values, and values may be secret.

// readYAML returns the mapping in a file, nil when the file is empty.
func readYAML(file string) (*yaml.Node, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("%s is no YAML: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	return document.Content[0], nil
}

// entriesOf returns the entries of a mapping, which may have these keys and no others, nil for any. of says what the keys are.
func entriesOf(n *yaml.Node, of string, keys []string) (map[string]*yaml.Node, error) {
	if n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want lines of the form %s: value", n.Line, of)
	}
	entries := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, line := n.Content[i].Value, n.Content[i].Line
		if _, twice := entries[key]; twice {
			return nil, fmt.Errorf("line %d: %s is there twice", line, key)
		}
		if keys != nil && !slices.Contains(keys, key) {
			return nil, fmt.Errorf("line %d: %s", line, unknown(of, key, keys))
		}
		entries[key] = n.Content[i+1]
	}
	return entries, nil
}

// unknown returns an error text for a name that is not among names.
func unknown(of, name string, names []string) string {
	text := fmt.Sprintf("unknown %s %q", of, name)
	if near := nearest(name, names); near != "" {
		text += fmt.Sprintf(": did you mean %q?", near)
	}
	return text
}

// textOf returns a value in the form of the command line: a list with commas.
func textOf(n *yaml.Node) (string, error) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return "", nil
	case n.Kind == yaml.ScalarNode:
		return n.Value, nil
	case n.Kind != yaml.SequenceNode:
		return "", fmt.Errorf("line %d: want a value, or a list of them", n.Line)
	}
	var values []string
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return "", fmt.Errorf("line %d: want a value", item.Line)
		}
		values = append(values, item.Value)
	}
	return strings.Join(values, ","), nil
}

// textsOf returns the values in a mapping.
func textsOf(n *yaml.Node, of string, keys []string) (map[string]string, error) {
	entries, err := entriesOf(n, of, keys)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if texts[key], err = textOf(entries[key]); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// configFlag names a file of settings. names returns the names of the settings.
func (p *program) configFlag(names func() []string) *checked[string] {
	return newChecked(p.mainSetting("config", "YAML `file` of settings, by the names of the flags as in listen: 127.0.0.1:8080; flags and variables win"), new(string), func(v string) (string, error) {
		n, err := readYAML(v)
		if err != nil {
			return "", err
		}
		if p.config, err = textsOf(n, "setting", names()); err != nil {
			return "", fmt.Errorf("%s: %w", v, err)
		}
		return v, nil
	})
}

// configured is a value of the file of settings, as a source of a flag. An empty one counts as not set, like a variable.
type configured struct {
	program *program
	flag    string
	used    func() // called when the flag gets its value from here
}

// Lookup returns the value; it is called for a flag that is neither on the command line nor a variable.
func (c *configured) Lookup() (string, bool) {
	value := c.program.config[c.flag]
	if value != "" {
		c.used()
	}
	return value, value != ""
}

func (c *configured) String() string   { return c.flag + " in the file of --config" }
func (c *configured) GoString() string { return c.String() }

// othersMayRead reports whether others than the owner may read a file.
func othersMayRead(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().Perm()&0o077 != 0
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
