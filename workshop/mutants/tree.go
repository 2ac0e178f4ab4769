package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"leaderboard/workshop/program"
)

// tree is a copy of the source tree.
type tree struct{ dir string }

// copyTree copies the sources below root into a temporary folder.
func copyTree(root string) (*tree, error) {
	dir, err := os.MkdirTemp("", "leaderboard-mutants-")
	if err != nil {
		return nil, err
	}
	t := &tree{dir}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch to := filepath.Join(dir, rel); {
		case entry.IsDir() && rel != "." && (strings.HasPrefix(rel, ".") || rel == "bin" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(to, 0o755)
		case entry.Type().IsRegular():
			return copyFile(path, to)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return t, nil
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

func (t *tree) remove() { _ = os.RemoveAll(t.dir) }

// build builds the test program of a package of the tree.
func (t *tree) build(ctx context.Context, dir string) (program.Program, error) {
	return program.Build(ctx, filepath.Join(t.dir, filepath.FromSlash(dir)), filepath.Join(t.dir, ".mutants", "test"), "", "-trimpath")
}
