package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestVersionIsLinked builds the program with the variables that Makefile, Dockerfile and .goreleaser.yaml set, and asks it.
func TestVersionIsLinked(t *testing.T) {
	t.Parallel()
	set := regexp.MustCompile(`-X (\S+?)=`)
	manual := regexp.MustCompile(`(?m)^.* -o bin/leaderboard-host .*$`) // prints the manual, and is in no archive
	var variables []string
	for _, file := range []string{"../../Makefile", "../../Dockerfile", "../../.goreleaser.yaml"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range set.FindAllStringSubmatch(manual.ReplaceAllString(string(content), ""), -1) {
			names = append(names, m[1])
		}
		if len(names) != 2 || (variables != nil && !slices.Equal(names, variables)) {
			t.Fatalf("%s sets %q, want version and commit, as Makefile does: %q", file, names, variables)
		}
		variables = names
	}
	program := filepath.Join(t.TempDir(), "leaderboard")
	flags := "-X " + variables[0] + "=v1.2.3 -X " + variables[1] + "=0badcab"
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "-ldflags", flags, "../../cmd/leaderboard").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, ask := range []string{"--version", "version"} {
		out, err := exec.CommandContext(t.Context(), program, ask).CombinedOutput()
		if want := "leaderboard version v1.2.3 (0badcab), " + runtime.Version() + "\n"; err != nil || string(out) != want {
			t.Errorf("leaderboard %s: %q, %v; want %q", ask, out, err, want)
		}
	}
}

// TestImageIsLabelled: the labels of the image come from the same arguments.
func TestImageIsLabelled(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, final, _ := strings.Cut(string(content), "\nFROM gcr.io/distroless")
	for _, want := range []string{"ARG VERSION COMMIT\n", "org.opencontainers.image.version=$VERSION", "org.opencontainers.image.revision=$COMMIT"} {
		if !strings.Contains(final, want) {
			t.Errorf("the last stage of the Dockerfile lacks %s", want)
		}
	}
}
