package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/store/storetest"
)

var (
	docClock = regexp.MustCompile(`^<!-- clock: (\S+) -->$`)
	docBoard = regexp.MustCompile(`/v1/boards/([a-z0-9-]+)`)
)

// TestBoardsDocument runs every curl line of docs/boards.md from top to bottom, with the database clock as the document
// sets it, and compares the answers.
func TestBoardsDocument(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/boards.md")
	if err != nil {
		t.Fatal(err)
	}
	var offset atomic.Int64
	a := startReady(t, map[string]string{"MYSQL_DSN": testenv.MySQL(t), "REDIS_URL": testenv.Redis(t), "LOCAL_TTL": "1ms"}, func(cfg *config) {
		cfg.clock = storetest.ClockAhead(func() time.Duration { return time.Duration(offset.Load()) })
	})
	lines, ran := strings.Split(string(doc), "\n"), 0
	boards, derived := map[string]bool{}, map[string]bool{}
	for i, line := range lines {
		if at := docClock.FindStringSubmatch(line); at != nil {
			now, err := time.Parse(time.RFC3339, at[1])
			if err != nil {
				t.Fatal(err)
			}
			offset.Store(int64(time.Until(now)))
			for name := range boards {
				a.catalog.Forget(name) // it knows how much time has passed, not that the clock was set
			}
		}
		if !strings.HasPrefix(line, "$ curl ") {
			continue
		}
		ran++
		if of := docBoard.FindStringSubmatch(line); of != nil {
			boards[of[1]] = true
			if strings.Contains(line, `"derive":`) {
				derived[of[1]] = true
			} else if derived[of[1]] { // it follows its sources by itself, a moment later
				a.settle(line, lines[i+1])
			}
		}
		got := a.curl(line)
		if len(got) == 0 && lines[i+1] == "" {
			continue // 204
		}
		if !reflect.DeepEqual(comparable(t, got), comparable(t, []byte(lines[i+1]))) {
			t.Errorf("line %d: %s\n gives %s\n  want %s", i+1, line, got, lines[i+1])
		}
	}
	if ran < 4 {
		t.Errorf("the document has %d curl lines, want at least 4", ran)
	}
}

// settle asks until the answer is the one wanted, or that takes too long.
func (a *testApp) settle(line, want string) {
	a.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if reflect.DeepEqual(comparable(a.t, a.curl(line)), comparable(a.t, []byte(want))) {
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}
