package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"leaderboard/migrations"
)

// releaseVariable names the program of the last release, for trees without the history of the repository.
const releaseVariable = "LEADERBOARD_TEST_RELEASE_PROGRAM"

// lastRelease returns the version and the commit of the last line of the file of releases.
func lastRelease(t *testing.T) (version, commit string) {
	t.Helper()
	content, err := os.ReadFile("../../migrations/testdata/releases")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	if len(fields) != 3 {
		t.Fatalf("migrations/testdata/releases ends with %q", lines[len(lines)-1])
	}
	return fields[0], fields[1]
}

// releasedProgram returns the program of the last release, built of its commit, once on a machine.
func releasedProgram(t *testing.T) string {
	t.Helper()
	if program := os.Getenv(releaseVariable); program != "" {
		return program
	}
	version, commit := lastRelease(t)
	return programOf(t, "the last release ("+version+", commit "+commit+")", commit, "name the program of that release: "+releaseVariable+"=/path/to/leaderboard")
}

// programOf returns the program of a commit, built once on a machine. instead is the advice for an archive, which has no
// history.
func programOf(t *testing.T, what, commit, instead string) string {
	t.Helper()
	program := filepath.Join(buildFolder(t), "leaderboard-"+commit)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	source := t.TempDir()
	archive := filepath.Join(source, "source.tar")
	if out, err := exec.Command("git", "-C", "../..", "archive", "--output", archive, commit).CombinedOutput(); err != nil {
		t.Fatalf("the sources of %s are not here: %s\n%s\nThis test builds that version. It needs git and "+
			"the history of the repository: git fetch --unshallow; in an archive, which has none, %s", what, err, out, instead)
	}
	if out, err := exec.Command("tar", "-xf", archive, "-C", source).CombinedOutput(); err != nil {
		t.Fatalf("unpack %s: %s\n%s", archive, err, out)
	}
	buildAt(t, source, program)
	return program
}

// nextProgram returns the program of this tree with one more migration, as a change of the schema would make it: every table
// gets a column.
func nextProgram(t *testing.T) string {
	t.Helper()
	baseline, err := os.ReadFile("../../migrations/00001_baseline.sql")
	if err != nil {
		t.Fatal(err)
	}
	up, down := "", ""
	for _, m := range regexp.MustCompile(`(?m)^CREATE TABLE IF NOT EXISTS (\w+)`).FindAllStringSubmatch(string(baseline), -1) {
		up += fmt.Sprintf("ALTER TABLE %s ADD COLUMN of_next INT NOT NULL DEFAULT 0;\n", m[1])
		down += fmt.Sprintf("ALTER TABLE %s DROP COLUMN of_next;\n", m[1])
	}
	folder := buildFolder(t) // not a temporary one: Go's cache then has the builds of the same files
	migration := filepath.Join(folder, "next.sql")
	write(t, migration, "-- +goose NO TRANSACTION\n-- +goose Up\n"+up+"\n-- +goose Down\n"+down)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, "migrations", fmt.Sprintf("%05d_next.sql", migrations.Latest()+1))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{name: migration}})
	if err != nil {
		t.Fatal(err)
	}
	file, program := filepath.Join(t.TempDir(), "overlay.json"), filepath.Join(t.TempDir(), "leaderboard")
	write(t, file, string(overlay))
	buildAt(t, root, program, "-overlay", file)
	return program
}

// buildAt builds the program of a tree, without the race detector: the test is about how two versions work together.
func buildAt(t *testing.T, root, program string, flags ...string) {
	t.Helper()
	made := fmt.Sprintf("%s.%d", program, os.Getpid())
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", made}, flags...), "./cmd/leaderboard")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the program of %s: %s\n%s", root, err, out)
	}
	if err := os.Rename(made, program); err != nil {
		t.Fatal(err)
	}
}

// buildFolder returns the folder of programs that stay from one run of the tests to the next.
func buildFolder(t *testing.T) string {
	t.Helper()
	user, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(user, "leaderboard", "releases")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
