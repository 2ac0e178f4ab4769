package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestTargets compares the systems whose licenses are checked with the systems that goreleaser builds for, and the required
// content of an archive with the files that exist.
func TestTargets(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Builds   []struct{ Goos, Goarch, Flags, Env []string }
		Archives []struct {
			Files []struct {
				Src  string
				Info struct{ Mtime, Owner, Group string }
			}
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Builds) != 1 || len(config.Archives) != 1 {
		t.Fatalf("%d builds and %d kinds of archives, want one", len(config.Builds), len(config.Archives))
	}
	var built []string
	for _, system := range config.Builds[0].Goos {
		for _, machine := range config.Builds[0].Goarch {
			built = append(built, system+"/"+machine)
		}
	}
	if !slices.Equal(built, targets()) {
		t.Errorf("goreleaser builds for %q, licenses are those of %q", built, targets())
	}
	if b := config.Builds[0]; !slices.Contains(b.Flags, "-trimpath") || !slices.Contains(b.Env, "CGO_ENABLED=0") {
		t.Errorf("the program would hold paths, or a C library: %q %q", b.Flags, b.Env)
	}
	for _, f := range config.Archives[0].Files {
		if f.Info.Mtime == "" || f.Info.Owner == "" || f.Info.Group == "" {
			t.Errorf("%s has the time or the owner that it has here", f.Src)
		}
		if made := strings.HasPrefix(f.Src, "bin/"); !made && !strings.Contains(f.Src, "*") {
			if _, err := os.Stat(filepath.Join(root, f.Src)); err != nil {
				t.Error(err)
			}
		}
	}
}
