package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"leaderboard/internal/app/installed"
)

// TestListed: the wall finds every feature of the program in its list, and takes all lines of one out of it.
func TestListed(t *testing.T) {
	written, err := os.ReadFile(filepath.Join("../..", list))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range installed.Features() {
		want = append(want, f.Name)
	}
	if got := listed(written); !slices.Equal(got, want) {
		t.Fatalf("in the list are %q, the program has %q", got, want)
	}
	for _, name := range want {
		left := unlisted(written, name)
		if n := bytes.Count(written, []byte("\n")) - bytes.Count(left, []byte("\n")); n != 2 || bytes.Contains(left, []byte(name+".Feature(")) {
			t.Errorf("%s: %d lines are taken out, want its import and its row", name, n)
		}
	}
}
