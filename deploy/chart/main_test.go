package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// TestPack: a packed chart is the chart of the version, with all of its files, and is the same bytes of files with other times.
func TestPack(t *testing.T) {
	at := time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)
	other := filepath.Join(t.TempDir(), "leaderboard")
	if err := os.CopyFS(other, os.DirFS("../helm/leaderboard")); err != nil {
		t.Fatal(err)
	}
	var first []byte
	for _, folder := range []string{"../helm/leaderboard", other} {
		name, err := pack(folder, filepath.Join(t.TempDir(), "dist", "chart"), "v1.2.3", at)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = content
		}
		if filepath.Base(name) != "leaderboard-1.2.3.tgz" || !bytes.Equal(content, first) {
			t.Errorf("%s has %d bytes, before %d", name, len(content), len(first))
		}
	}
	chart, err := loader.LoadArchive(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	of, err := loader.LoadDir("../helm/leaderboard")
	if err != nil {
		t.Fatal(err)
	}
	if m := chart.Metadata; m.Version != "1.2.3" || m.AppVersion != "v1.2.3" || len(chart.Templates) != len(of.Templates) || len(chart.Files) != len(of.Files) || chart.Schema == nil {
		t.Errorf("%+v, %d templates, %d files", m, len(chart.Templates), len(chart.Files))
	}
	for version, want := range map[string]string{
		"v0.1.1-12-gabcdef0-dirty": "leaderboard-0.1.1-12-gabcdef0-dirty.tgz", "abcdef0": "leaderboard-" + of.Metadata.Version + ".tgz", "": "leaderboard-" + of.Metadata.Version + ".tgz",
	} {
		if name, err := pack("../helm/leaderboard", t.TempDir(), version, at); err != nil || filepath.Base(name) != want {
			t.Errorf("version %q: %s, want %s; %v", version, name, want, err)
		}
	}
}
