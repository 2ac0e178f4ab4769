package app

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// TestReadme runs every curl line of the README against the demo board and compares the answers.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	a := startReady(t, testenv.MySQL(t), testenv.Redis(t))
	if err := a.LoadDemo(t.Context(), 5000, func(int) {}); err != nil {
		t.Fatal(err)
	}
	lines, ran := strings.Split(string(readme), "\n"), 0
	for i, line := range lines {
		if !strings.HasPrefix(line, "$ curl ") {
			continue
		}
		ran++
		got, want := apptest.Comparable(t, a.Curl(line)), apptest.Comparable(t, []byte(lines[i+1]))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n gives %v\n  want %v", line, got, want)
		}
	}
	if ran < 4 {
		t.Errorf("the README has %d curl lines with answers, want at least 4", ran)
	}
}
