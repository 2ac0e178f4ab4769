package app

import (
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"

	"leaderboard/internal/apptest"
	"leaderboard/internal/demo"
	"leaderboard/internal/testenv"
)

// TestReadme runs every curl line of the README against the demo board and compares the answers, except for parts that depend
// on the day, such as how much was submitted this week.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dsn, log := testenv.MySQL(t), slog.New(slog.DiscardHandler)
	if err := MigrateUntilDone(t.Context(), dsn, log); err != nil {
		t.Fatal(err)
	}
	if err := demo.Load(t.Context(), demo.Options{DSN: dsn, Members: 5000, Progress: func(int) {}, Log: log}); err != nil {
		t.Fatal(err)
	}
	a := startReady(t, dsn, testenv.Redis(t))
	lines, ran := strings.Split(string(readme), "\n"), 0
	for i, line := range lines {
		if !strings.HasPrefix(line, "$ curl ") {
			continue
		}
		ran++
		got, want := withoutSeqs(apptest.Comparable(t, a.Curl(line))), withoutSeqs(apptest.Comparable(t, []byte(lines[i+1])))
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n gives %v\n  want %v", line, got, want)
		}
	}
	if ran < 3 {
		t.Errorf("the README has %d curl lines with answers, want at least 3", ran)
	}
}

func withoutSeqs(answer any) any {
	if object, ok := answer.(map[string]any); ok {
		delete(object, "seqs")
	}
	return answer
}
