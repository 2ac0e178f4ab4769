package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// printChange prints the hand-written files that a commit or a range of commits touches outside of a feature's folder.
func printChange(ctx context.Context, out io.Writer, revisions, feature string) error {
	args := []string{"show", "--format=", "--name-only", "--no-renames", revisions}
	if strings.Contains(revisions, "..") {
		args = []string{"diff", "--name-only", "--no-renames", revisions}
	}
	names, err := git(ctx, args...)
	if err != nil {
		return err
	}
	engine, err := enginePackages(ctx)
	if err != nil {
		return err
	}
	files := outside(strings.Fields(names), feature)
	inEngine := 0
	for _, file := range files {
		mark := ""
		if slices.ContainsFunc(engine, func(p goPackage) bool { return p.folder == path.Dir(file) }) {
			inEngine++
			mark = "engine"
		}
		fmt.Fprintf(out, "%-8s%s\n", mark, file)
	}
	_, err = fmt.Fprintf(out, "%d hand-written files, %d of them in the engine (goals: 3, 0)\n", len(files), inEngine)
	return err
}

// outside returns the files that people wrote and that lie outside of a folder.
func outside(files []string, folder string) (kept []string) {
	for _, file := range files {
		if !isGenerated(file) && (folder == "" || !strings.HasPrefix(file, folder+"/")) {
			kept = append(kept, file)
		}
	}
	return kept
}

// isGenerated reports whether a program writes the file.
func isGenerated(file string) bool {
	for _, part := range []string{"features/pages/built/", "clients/typescript/dist/", "/generated/", "docs/pictures/", "/testdata/golden/"} {
		if strings.Contains(file, part) {
			return true
		}
	}
	switch path.Base(file) {
	case "openapi.json", "docs.html", "schema.sql", "go.sum", "package-lock.json":
		return true
	}
	return false
}

// git runs a command of git and returns its output.
func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
