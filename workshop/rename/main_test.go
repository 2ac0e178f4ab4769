package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// path is another path of the module.
const path = "example.org/you/rankings"

// TestRename renames a copy of everything, builds, vets and tests it under the new path, and renames it back.
func TestRename(t *testing.T) {
	t.Setenv("GOFLAGS", "-trimpath") // files built in another folder are used again
	root := copied(t)
	before := contents(t, root)
	old := run(t, root, "list", "-m")

	if n, err := rename(root, "not a path"); err == nil || n != 0 || !maps.Equal(contents(t, root), before) {
		t.Errorf("a path with spaces: %d files changed, %v", n, err)
	}
	if n, err := rename(root, path); err != nil || n < 300 {
		t.Fatalf("%d files changed, %v", n, err)
	}
	renamed := contents(t, root)
	for name, want := range map[string]string{
		"/clients/typescript/package.json":     `"git+https://example.org/you/rankings.git"`,
		"/docs/clients.md":                     `from "@leaderboard/client"`, // which npm has
		"/.goreleaser.yaml":                    "homepage: https://example.org/you/rankings #",
		"/deploy/helm/leaderboard/Chart.yaml":  "home: https://example.org/you/rankings #",
		"/deploy/helm/leaderboard/values.yaml": "repository: example.org/you/rankings #",
		"/Dockerfile":                          "source=https://example.org/you/rankings ",
	} {
		if !strings.Contains(renamed[name], want) {
			t.Errorf("%s has no %s", name, want)
		}
	}
	run(t, root, "build", "-o", os.DevNull, "./...")
	run(t, root, "vet", "./...")
	workshop := filepath.Join(root, "workshop")
	run(t, workshop, "vet", "./...")
	run(t, workshop, "test", "./rules") // its tables of imports and its documents
	if n, err := rename(root, path); err != nil || n != 0 || !maps.Equal(contents(t, root), renamed) {
		t.Errorf("to the path that it has: %d files changed, %v", n, err)
	}
	if _, err := rename(root, old); err != nil || !maps.Equal(contents(t, root), before) {
		t.Errorf("renamed back it is not what it was: %v", err)
	}
}

// copied copies everything into a folder, which it returns.
func copied(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range contents(t, "../..") {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o755); err != nil { // scripts stay programs
			t.Fatal(err)
		}
	}
	return root
}

// run runs the go command.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := goCommand(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// contents reads all files below root, by name.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	read := map[string]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && skipped(entry.Name()):
			return filepath.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(name)
		read[strings.TrimPrefix(name, root)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestRepositoryOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"leaderboard":                   "https://repository.example/leaderboard",
		"github.com/you/leaderboard":    "https://github.com/you/leaderboard",
		"github.com/you/leaderboard/v2": "https://github.com/you/leaderboard",
		"example.org/v2/ranks":          "https://example.org/v2/ranks",
	} {
		if got := repositoryOf(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestImageOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"leaderboard":                   "repository.example/leaderboard",
		"github.com/You/leaderboard/v2": "ghcr.io/you/leaderboard",
		"example.org/you/rankings":      "example.org/you/rankings",
	} {
		if got := imageOf(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
