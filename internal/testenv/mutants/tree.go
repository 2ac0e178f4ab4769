package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// serverVariable names the program that the tests of e2e start.
const serverVariable = "LEADERBOARD_E2E_PROGRAM"

// stopLimit is how long a test program may take to end when it is interrupted.
const stopLimit = 40 * time.Second

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

// program is the test program of a package of the tree.
type program struct {
	dir  string // where it is run
	path string
	env  []string
	id   string // changes with what it does
}

// build builds the test program of a package, and the server for e2e.
func (t *tree) build(ctx context.Context, dir string) (*program, error) {
	out := filepath.Join(t.dir, ".mutants")
	p := &program{dir: filepath.Join(t.dir, filepath.FromSlash(dir)), path: filepath.Join(out, "test"), env: os.Environ()}
	if err := t.goTool(ctx, "test", "-c", "-trimpath", "-o", p.path, "./"+dir); err != nil {
		return nil, err
	}
	made := []string{p.path}
	if dir == "e2e" {
		server := filepath.Join(out, "server")
		if err := t.goTool(ctx, "build", "-buildvcs=false", "-trimpath", "-o", server, "./cmd/leaderboard"); err != nil {
			return nil, err
		}
		made, p.env = append(made, server), append(p.env, serverVariable+"="+server)
	}
	var err error
	p.id, err = identify(made)
	return p, err
}

func (t *tree) goTool(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// identify hashes programs.
func identify(programs []string) (string, error) {
	sum := sha256.New()
	for _, path := range programs {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// test runs tests of the program and returns what they wrote, with an error when they failed.
func (p *program) test(ctx context.Context, pattern string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout+stopLimit) // the program ends itself at its limit
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, "-test.run="+pattern, "-test.timeout="+timeout.String(), "-test.failfast")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopLimit
	cmd.Dir, cmd.Env = p.dir, p.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err == nil && slices.ContainsFunc(strings.Split(out.String(), "\n"), func(line string) bool { return strings.Contains(line, "no tests to run") }) {
		err = fmt.Errorf("no test is called %s", pattern)
	}
	return out.String(), err
}
