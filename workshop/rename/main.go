// Command rename gives the module another path, wherever it stands: in go.mod files, imports, tables of imports, build
// files and documents, and its repository's address in published files.
//
//	rename FOLDER github.com/you/leaderboard
package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 3 || os.Args[2] == "" {
		fmt.Fprintln(os.Stderr, "usage: make rename MODULE=github.com/you/leaderboard")
		os.Exit(2)
	}
	changed, err := rename(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
	fmt.Printf("the module is %s: %d files changed\n", os.Args[2], changed)
}

// rename makes path the path of the module in the folder root and of the modules below it. It returns the number of changed
// files: 0 when path is its path already, or is not valid.
func rename(root, path string) (changed int, err error) {
	old, err := goCommand(root, "list", "-m")
	if err != nil || old == path {
		return 0, err
	}
	if _, err := goCommand(root, "mod", "edit", "-print", "-module="+path); err != nil {
		return 0, err
	}
	names, err := files(root)
	if err != nil {
		return 0, err
	}
	r := newRenamer(root, old, path)
	for _, name := range names {
		did, err := r.file(name)
		if err != nil {
			return changed, err
		}
		if did {
			changed++
		}
	}
	return changed, nil
}

// renamer changes the path of a module from old to path.
type renamer struct {
	root, old, path string
	below           *regexp.Regexp // old and the folder of a package below it
	word            *regexp.Regexp // old alone or with anything below it
	constant        *regexp.Regexp // the constant of that name
	repository      *regexp.Regexp // the address of its repository
	image           *regexp.Regexp // a line of values of the chart with the address of its image
}

func newRenamer(root, old, path string) *renamer {
	whole := `(^|[^\w./@-])` + regexp.QuoteMeta(old) // not the end of another path, and no package of npm
	return &renamer{
		root: root, old: old, path: path,
		below:    regexp.MustCompile(whole + `(/[\w/-]+)`),
		word:     regexp.MustCompile(`(?m)` + whole + `($|[^\w.-])`),
		constant: regexp.MustCompile(`(\bmodule\s+= ")` + regexp.QuoteMeta(old) + `"`),

		repository: regexp.MustCompile(regexp.QuoteMeta(repositoryOf(old)) + `($|[^\w-])`),
		image:      regexp.MustCompile(`(?m)^(\s+repository: )` + regexp.QuoteMeta(imageOf(old)) + `($|[^\w./-])`),
	}
}

// majorVersion is the end of the path of a module from its second major version on.
var majorVersion = regexp.MustCompile(`/v\d+$`)

// repositoryOf returns the address of the repository of a module, on a host that does not exist if its path has no host.
func repositoryOf(path string) string {
	path = majorVersion.ReplaceAllString(path, "")
	if host, _, _ := strings.Cut(path, "/"); !strings.Contains(host, ".") {
		path = "repository.example/" + path
	}
	return "https://" + path
}

// imageOf returns the address of the image of a module: at the registry of GitHub, as .github/workflows/release.yml pushes it, when the repository is there,
// else the repository's own.
func imageOf(path string) string {
	address := strings.ToLower(strings.TrimPrefix(repositoryOf(path), "https://"))
	if rest, there := strings.CutPrefix(address, "github.com/"); there {
		return "ghcr.io/" + rest
	}
	return address
}

// file renames in one file and reports whether that changed it.
func (r *renamer) file(name string) (changed bool, err error) {
	before, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	var after []byte
	switch base := filepath.Base(name); {
	case base == "go.mod" || base == ".golangci.yml": // the word has no other meaning there
		after = r.word.ReplaceAll(before, []byte("${1}"+r.path+"${2}"))
	case strings.HasSuffix(base, ".go"):
		if after, err = r.imports(name, before); err != nil {
			return false, err
		}
		after = r.constant.ReplaceAll(r.packages(after), []byte("${1}"+r.path+`"`))
	default:
		after = r.repository.ReplaceAll(r.packages(before), []byte(repositoryOf(r.path)+"${1}"))
		after = r.image.ReplaceAll(after, []byte("${1}"+imageOf(r.path)+"${2}"))
	}
	if bytes.Equal(before, after) {
		return false, nil
	}
	if err := os.WriteFile(name, after, 0o644); err != nil {
		return true, err
	}
	if filepath.Base(name) == "go.mod" { // requirements are in the order of their paths
		_, err = goCommand(filepath.Dir(name), "mod", "edit", "-fmt")
	}
	return true, err
}

// packages renames the paths of packages: packages that have a folder, since any other word may follow leaderboard/ too.
func (r *renamer) packages(text []byte) []byte {
	return r.below.ReplaceAllFunc(text, func(found []byte) []byte {
		m := r.below.FindSubmatch(found)
		if info, err := os.Stat(filepath.Join(r.root, string(m[2]))); err != nil || !info.IsDir() {
			return found
		}
		return slices.Concat(m[1], []byte(r.path), m[2])
	})
}

// imports renames the root package in the imports of a Go file.
func (r *renamer) imports(name string, text []byte) ([]byte, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	text = slices.Clone(text)
	for _, spec := range slices.Backward(parsed.Imports) {
		if spec.Path.Value == `"`+r.old+`"` {
			at := files.Position(spec.Path.Pos()).Offset
			text = slices.Replace(text, at, at+len(spec.Path.Value), []byte(`"`+r.path+`"`)...)
		}
	}
	return text, nil
}

// files lists the files below root that may have the path of the module.
func files(root string) (names []string, err error) {
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch base := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir():
			if name != root && skipped(base) {
				return filepath.SkipDir
			}
		case slices.Contains([]string{"go.mod", "Makefile", "Dockerfile", "package.json"}, base),
			slices.Contains([]string{".go", ".md", ".sh", ".yaml", ".yml"}, filepath.Ext(base)):
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// skipped are folders of foreign or generated files.
func skipped(folder string) bool {
	return folder == "bin" || folder == "dist" || folder == "node_modules" || (strings.HasPrefix(folder, ".") && folder != ".ci" && folder != ".github")
}

// goCommand runs the go command in a folder and returns its output.
func goCommand(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, problem.Bytes(), out)
	}
	return string(bytes.TrimSpace(out)), nil
}
