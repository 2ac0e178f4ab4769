package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
)

// TestArchiveLinks: documents in an archive link to files that are in it too.
func TestArchiveLinks(t *testing.T) {
	t.Parallel()
	names := archived(t)
	dead, err := deadLinks(os.DirFS(root), names)
	if err != nil {
		t.Fatal(err)
	}
	if len(dead) > 0 {
		t.Errorf(".goreleaser.yaml leaves out what documents link to:\n%s", strings.Join(dead, "\n"))
	}
	if len(names) < 50 || !slices.Contains(names, "docs/pictures/board.png") {
		t.Errorf("of the repository an archive has only %q", names)
	}
}

// archived lists the files of the repository that are in an archive, each once.
func archived(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Archives []struct{ Files []struct{ Src string } }
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range config.Archives[0].Files {
		if strings.HasPrefix(f.Src, "bin/") { // made, not in the repository
			continue
		}
		found := matches(t, f.Src)
		if len(found) == 0 {
			t.Errorf("%s names no file", f.Src)
		}
		for _, name := range found {
			if slices.Contains(names, name) {
				t.Errorf("%s is in an archive twice", name)
			}
			names = append(names, name)
		}
	}
	return names
}

// matches lists the files that a pattern of goreleaser names, in which ** is any folders, or none.
func matches(t *testing.T, pattern string) []string {
	t.Helper()
	whole, _, _ := strings.Cut(pattern, "*")
	if whole == pattern {
		if _, err := os.Stat(path.Join(root, pattern)); err != nil {
			return nil
		}
		return []string{pattern}
	}
	expression := strings.NewReplacer(`\*\*/`, `(.*/)?`, `\*`, `[^/]*`).Replace(regexp.QuoteMeta(pattern))
	wanted := regexp.MustCompile("^" + expression + "$")
	folder := path.Dir(whole + "x")
	below, err := fs.Sub(os.DirFS(root), folder)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filesIn(below)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range files {
		if name = path.Join(folder, name); wanted.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

// TestDeadLinks shows that TestArchiveLinks can say no.
func TestDeadLinks(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"a.md":   {Data: []byte("[b](docs/b.md#x) [c](docs/c.md) [web](https://x.example/y) [here](#a) ![p](docs/p.png) `[code](no.md)`\n```\n[fence](no.md)\n```\n")},
		"docs/b": {}, "docs/b.md": {Data: []byte("[up](../a.md) [out](../main.go)")},
	}
	names, err := filesIn(files)
	if err != nil {
		t.Fatal(err)
	}
	dead, err := deadLinks(files, names)
	if want := []string{"a.md: docs/c.md", "a.md: docs/p.png", "docs/b.md: ../main.go"}; err != nil || !slices.Equal(dead, want) {
		t.Errorf("%q, %v, want %q", dead, err, want)
	}
}
