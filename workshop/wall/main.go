// Command wall shows that features can be deleted: in a copy of the tree it deletes the folder of each feature with its lines in the
// list of features, vets the program and the other features with their tests, and runs the tests of the engine.
//
//	bin/testenv bin/wall [-vet] [NAME …]
//
// With -vet it vets the tests of the engine and does not run them. The engine's tests are run once for all features when nothing that they are built of has changed, since Go keeps results.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// list is the file that names the features.
const list = "internal/app/installed/features.go"

// rest is the packages that must still build without a feature, with their tests if these are about features.
func rest() []string { return []string{"./cmd/...", "./features/..."} }

// engine is the packages that name no feature.
func engine() []string {
	return []string{"./leaderboard/...", "./rank/...", "./migrations/...", "./store/...", "./cache/...", "./refresher/...", "./httpapi/..."}
}

// row is a feature in the list.
var row = regexp.MustCompile(`(?m)^\t+([a-z]+)\.Feature\(`)

func main() {
	vet := flag.Bool("vet", false, "vet the engine with its tests, and do not run them")
	flag.Parse()
	words := []string{"go", "test"}
	if *vet {
		words[1] = "vet"
	}
	if err := run(flag.Args(), append(words, engine()...)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(names, engine []string) error {
	written, err := os.ReadFile(list)
	if err != nil {
		return fmt.Errorf("run it in the root of the repository: %w", err)
	}
	if len(names) == 0 {
		names = listed(written)
	}
	folder, err := os.MkdirTemp("", "wall")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var failed []error
	for _, name := range names {
		err := without(folder, name, written, engine)
		if err != nil {
			failed = append(failed, fmt.Errorf("without %s: %w", name, err))
		}
		fmt.Printf("%-12s %s\n", name, map[bool]string{true: "can be deleted", false: "CANNOT be deleted"}[err == nil])
	}
	return errors.Join(failed...)
}

// listed returns the names of the features in the list.
func listed(written []byte) (names []string) {
	for _, found := range row.FindAllSubmatch(written, -1) {
		names = append(names, string(found[1]))
	}
	return names
}

// without tries a copy of the tree without a feature.
func without(folder, name string, written []byte, engine []string) error {
	if err := copyTree(folder); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(folder, "features", name)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, list), unlisted(written, name), 0o600); err != nil {
		return err
	}
	return errors.Join(
		command(folder, append([]string{"go", "vet"}, rest()...)...),
		command(folder, engine...),
	)
}

// unlisted returns the list without the lines of a feature.
func unlisted(written []byte, name string) []byte {
	left := slices.DeleteFunc(bytes.SplitAfter(written, []byte("\n")), func(line []byte) bool {
		text := strings.TrimSpace(string(line))
		return strings.HasPrefix(text, name+".Feature(") || strings.HasSuffix(text, `"leaderboard/features/`+name+`"`)
	})
	return bytes.Join(left, nil)
}

// copyTree makes a folder what the tree is, changes that are in no commit included.
func copyTree(folder string) error {
	return command(".", "sh", "-c", `rm -rf "$0" && mkdir -p "$0" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --no-dereference -p -t "$0"`, folder)
}

// command runs a command in a folder. Its output is the error when it fails.
func command(folder string, words ...string) error {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, out)
	}
	return nil
}
