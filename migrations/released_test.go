package migrations_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"

	"leaderboard/migrations"
)

// Files of testdata about what has been released. RELEASED=v0.1.1 and COMMIT add a release: make released.
const (
	releasesFile = "testdata/releases"     // a line each: version, commit, newest migration
	sumsFile     = "testdata/released.sum" // SHA-256 and name of every migration that was released
)

// TestReleasedMigrations: a released migration does not change, byte for byte, and no migration is put before it: databases
// already have it.
func TestReleasedMigrations(t *testing.T) {
	t.Parallel()
	releases := readLines(t, releasesFile)
	sums := map[string]string{}
	for _, line := range readLines(t, sumsFile) {
		fields := strings.Fields(line)
		sums[fields[1]] = fields[0]
	}
	if version := os.Getenv("RELEASED"); version != "" {
		releases = record(t, releases, sums, version, os.Getenv("COMMIT"))
	}
	newest := int64(0)
	for _, line := range releases {
		var version, commit string
		var number int64
		if n, err := fmt.Sscan(line, &version, &commit, &number); n != 3 || len(commit) != 40 || number < newest {
			t.Fatalf("%s: %q is not a version, a commit of 40 digits and a migration not before the last line's: %v", releasesFile, line, err)
		}
		newest = number
	}
	if err := checkReleased(os.DirFS("."), newest, sums); err != nil {
		t.Error(err)
	}
}

// checkReleased compares the migrations up to the newest released one with their sums.
func checkReleased(files fs.FS, newest int64, sums map[string]string) error {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return err
	}
	released := 0
	for _, name := range names {
		number, err := goose.NumericComponent(name)
		if err != nil {
			return err
		}
		if number > newest {
			continue
		}
		released++
		sum, err := sumOf(files, name)
		switch {
		case err != nil:
			return err
		case sums[name] == "":
			return fmt.Errorf("%s is before migration %d, which was released: give it a later number", name, newest)
		case sums[name] != sum:
			return fmt.Errorf("%s was released and is not what it was: put it back, and append a migration", name)
		}
	}
	if released != len(sums) {
		return fmt.Errorf("%d migrations were released, and %d of them are there", len(sums), released)
	}
	return nil
}

func sumOf(files fs.FS, name string) (string, error) {
	content, err := fs.ReadFile(files, name)
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}

// record adds a release to both files and returns the lines of the first.
func record(t *testing.T, releases []string, sums map[string]string, version, commit string) []string {
	t.Helper()
	if !slices.ContainsFunc(releases, func(line string) bool { return strings.HasPrefix(line, version+" ") }) {
		releases = append(releases, fmt.Sprintf("%s %s %d", version, commit, migrations.Latest()))
	}
	names, err := filepath.Glob("*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if sums[name] == "" { // the sums of released files are compared, not updated
			if sums[name], err = sumOf(os.DirFS("."), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	lines := make([]string, 0, len(sums))
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		lines = append(lines, sums[name]+"  "+name)
	}
	head := "# What has been released, oldest first: version, commit, newest migration. make released VERSION=v0.1.1 adds a line after the tag.\n"
	for file, text := range map[string]string{releasesFile: head + strings.Join(releases, "\n"), sumsFile: strings.Join(lines, "\n")} {
		if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return releases
}

// readLines returns the lines of a file without comments and empty ones; none when there is no file.
func readLines(t *testing.T, file string) []string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(content), "\n"), func(line string) bool { return line == "" || line[0] == '#' })
}

// TestCheckReleased: the faults that TestReleasedMigrations finds, once a version has been released.
func TestCheckReleased(t *testing.T) {
	t.Parallel()
	const a, b = "00001_a.sql", "00003_b.sql"
	files := fstest.MapFS{a: {Data: []byte("a")}, b: {Data: []byte("b")}}
	sums := map[string]string{}
	for name := range files {
		sum, err := sumOf(files, name)
		if err != nil {
			t.Fatal(err)
		}
		sums[name] = sum
	}
	for name, c := range map[string]struct {
		change func(fstest.MapFS)
		newest int64
		says   string
	}{
		"as they were": {func(fstest.MapFS) {}, 3, ""},
		"one appended": {func(f fstest.MapFS) { f["00004_c.sql"] = &fstest.MapFile{} }, 3, ""},
		"edited":       {func(f fstest.MapFS) { f[a] = &fstest.MapFile{Data: []byte("A")} }, 3, "append a migration"},
		"one between":  {func(f fstest.MapFS) { f["00002_c.sql"] = &fstest.MapFile{} }, 3, "give it a later number"},
		"one deleted":  {func(f fstest.MapFS) { delete(f, b) }, 3, "2 migrations were released, and 1"},
	} {
		changed := maps.Clone(files)
		c.change(changed)
		err := checkReleased(changed, c.newest, sums)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if err := checkReleased(files, 0, nil); err != nil {
		t.Errorf("nothing was released: %s", err)
	}
}
