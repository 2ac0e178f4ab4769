package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// tree is a checkout whose files are moved. It knows which files there were before the step at hand.
type tree struct {
	root   string
	module string
	files  []string        // that git knows, before the moves of this step
	there  map[string]bool // those files and their folders
	moves  []move
	said   func(format string, args ...any)
}

// move takes a file or a folder, with all below it, from one path to another.
type move struct{ from, to string }

func openTree(root string, said func(string, ...any)) (*tree, error) {
	module, err := run(root, "go", "list", "-m")
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, module: strings.TrimSpace(module), said: said}
	return t, t.list()
}

// list notes which files there are.
func (t *tree) list() error {
	out, err := run(t.root, "git", "ls-files", "-z")
	if err != nil {
		return err
	}
	t.files, t.there, t.moves = nil, map[string]bool{".": true}, nil
	for name := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		t.files = append(t.files, name)
		for at := name; at != "."; at = path.Dir(at) {
			t.there[at] = true
		}
	}
	return nil
}

// in lists the files of a folder, not those of folders below it.
func (t *tree) in(dir string) (names []string) {
	for _, name := range t.files {
		if path.Dir(name) == dir {
			names = append(names, name)
		}
	}
	return names
}

// move moves what there is of the list, longest path first, and changes the paths that files say.
func (t *tree) move(moves ...move) error {
	t.moves = slices.DeleteFunc(moves, func(m move) bool { return !t.there[m.from] })
	slices.SortFunc(t.moves, func(a, b move) int { return len(b.from) - len(a.from) })
	for _, m := range t.moves {
		if err := os.MkdirAll(filepath.Join(t.root, path.Dir(m.to)), 0o755); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(t.root, m.to)); err != nil {
			if _, err := run(t.root, "git", "mv", m.from, m.to); err != nil {
				return err
			}
			continue
		}
		for _, name := range t.files { // the folder is there: what belongs into it comes one by one
			to, below := within(name, m.from, m.to)
			if !below || t.at(name) != to {
				continue
			}
			if err := os.MkdirAll(filepath.Join(t.root, path.Dir(to)), 0o755); err != nil {
				return err
			}
			if _, err := run(t.root, "git", "mv", name, to); err != nil {
				return err
			}
		}
	}
	for _, name := range t.files {
		if err := t.edit(t.at(name), func(text string) string { return t.paths(name, text) }); err != nil {
			return err
		}
	}
	return nil
}

// within returns where a path is once from has become to.
func within(name, from, to string) (string, bool) {
	if name == from {
		return to, true
	}
	rest, ok := strings.CutPrefix(name, from+"/")
	return to + "/" + rest, ok
}

// at returns where a path of before is now.
func (t *tree) at(name string) string {
	for _, m := range t.moves {
		if to, ok := within(name, m.from, m.to); ok {
			return to
		}
	}
	return name
}

// edit changes the text of a file, unless it is binary or gone.
func (t *tree) edit(name string, change func(string) string) error {
	name = filepath.Join(t.root, name)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // it is gone
	}
	before, err := os.ReadFile(name)
	if err != nil || bytes.IndexByte(before, 0) >= 0 || !utf8.Valid(before) {
		return err
	}
	after := change(string(before))
	if after == string(before) {
		return nil
	}
	return os.WriteFile(name, []byte(after), info.Mode().Perm())
}

func isPathByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80 || strings.IndexByte("_./-@*", b) >= 0
}

// paths changes the paths that the text of a file says; name is where it was.
func (t *tree) paths(name, text string) string {
	if generated(name) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		if !isPathByte(text[i]) {
			out.WriteByte(text[i])
			i++
			continue
		}
		end := i
		for end < len(text) && isPathByte(text[end]) {
			end++
		}
		before, after := text[max(0, i-3):i], byte('\n')
		if end < len(text) {
			after = text[end]
		}
		out.WriteString(t.word(name, text[i:end], before, after))
		i = end
	}
	return out.String()
}

// generated reports whether a file is made of others, or holds none of our paths.
func generated(name string) bool {
	base := path.Base(name)
	return base == "go.sum" || base == "package-lock.json" || strings.HasPrefix(name, "pages/built/") || strings.HasPrefix(name, "tools/moves/") || path.Ext(name) == ".svg"
}

// word changes one word of a text, if it is a path. lead is what comes before it, after the byte behind it.
func (t *tree) word(name, word, lead string, after byte) string {
	if rest, silent := strings.CutPrefix(word, "@"); silent && name == "Makefile" {
		return "@" + t.word(name, rest, "\t", after)
	}
	before := byte('\n')
	if lead != "" {
		before = lead[len(lead)-1]
	}
	body := strings.TrimRight(word, ".")
	tail := word[len(body):]
	if rest, ok := strings.CutSuffix(body, "/"); ok && tail == "..." { // ./x/...
		body, tail = rest, "/..."
	}
	if strings.HasSuffix(word, "/..") || word == ".." { // of a relative path
		body, tail = word, ""
	}
	if body == "" {
		return word
	}
	if slash, ok := strings.CutSuffix(body, "/"); ok && slash != "" {
		body, tail = slash, "/"+tail
	}
	switch {
	case body == ".." || strings.HasPrefix(body, "../"):
		return t.relative(name, body, before) + tail
	case strings.HasPrefix(body, t.module+"/"):
		if to := t.at(body[len(t.module)+1:]); to != body[len(t.module)+1:] && !strings.HasSuffix(to, ".go") {
			return t.module + "/" + to + tail
		}
	case strings.HasPrefix(body, "./"):
		if to := t.at(body[2:]); t.there[firstOf(body[2:])] && to != body[2:] && path.Ext(to) != ".go" {
			return "./" + to + tail
		}
	case before == '/' || before == '}' || before == ')':
	default:
		if to, ok := t.bare(name, body, lead, before, after); ok {
			return to + tail
		}
	}
	return word
}

// firstOf returns the path without a last part that has a wildcard.
func firstOf(name string) string {
	if i := strings.IndexByte(name, '*'); i >= 0 {
		name = path.Dir(name[:i] + "x")
	}
	return name
}

// relative returns the relative path in a file that has moved, or of what has moved.
func (t *tree) relative(name, body string, before byte) string {
	target := path.Join(path.Dir(name), body)
	if !t.there[firstOf(target)] || body == ".." && (before != '"' || target != ".") {
		return body
	}
	if path.Ext(name) == ".sh" && !strings.HasSuffix(path.Dir(name), "tools/openapi") { // the others change to the top first
		return body
	}
	to, err := filepath.Rel(path.Dir(t.at(name)), t.at(target))
	if err != nil || path.Join(path.Dir(t.at(name)), body) == t.at(target) {
		return body
	}
	return to
}

// isMutants reports whether a file lists lines to break, which are texts there.
func isMutants(name string) bool { return strings.Contains(name, "mutants/list_") }

// bare returns where a path is that is told from the top of the tree.
func (t *tree) bare(name, body, lead string, before, after byte) (string, bool) {
	to := t.at(body)
	if to == body {
		return "", false
	}
	if strings.Contains(body, "/") {
		if first, rest, _ := strings.Cut(body, "/"); !t.there[first+"/"+strings.SplitN(rest, "/", 2)[0]] && !strings.Contains(body, "*") {
			return "", false
		}
		return to, true
	}
	// A single word is a path where it cannot be another word.
	coded := path.Ext(name) == ".md" && before == '`' && after == '`'
	if body == "tools" || body == "bench" { // these are words of other things too
		coded = coded && (name == "docs/decisions/libraries.md" || name == "ARCHITECTURE.md")
	}
	quoted := path.Ext(name) == ".go" && lead != "+ \"" && before == '"' && (after == '"' || after == ' ' && !strings.Contains(body, "."))
	list := isMutants(name) || strings.Contains(name, "engines/list") || strings.HasSuffix(name, "imports_test.go") || strings.HasSuffix(name, "docs_test.go")
	row := name == ".ci/nightly" && before == '\n'
	return to, coded || quoted && list || row
}

// run runs a program in a folder and returns what it prints.
func run(dir, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args[:min(len(args), 8)], " "), err, problem.Bytes(), out)
	}
	return string(out), nil
}
