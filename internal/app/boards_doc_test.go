package app

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
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
	a := startReady(t, testenv.MySQL(t), testenv.Redis(t), func(c *Config) {
		c.MaxAge, c.standingWait = 20*time.Millisecond, apptest.MaxWait
		// As the document says, whatever the database's own clock does.
		c.clock = dbtest.ClockAt(func() leaderboard.Micros {
			return leaderboard.MicrosOf(time.Now().Add(time.Duration(offset.Load())))
		})
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
			} else if derived[of[1]] { // it follows its sources a moment later
				a.await(line, lines[i+1])
			}
		}
		got := a.Curl(line)
		if len(got) == 0 && lines[i+1] == "" {
			continue // 204
		}
		if !reflect.DeepEqual(apptest.Comparable(t, got), apptest.Comparable(t, []byte(lines[i+1]))) {
			t.Errorf("line %d: %s\n gives %s\n  want %s", i+1, line, got, lines[i+1])
		}
	}
	if ran < 4 {
		t.Errorf("the document has %d curl lines, want at least 4", ran)
	}
}

// await asks until the answer is the one wanted, or that takes too long.
func (a *testApp) await(line, want string) {
	a.T.Helper()
	for deadline := time.Now().Add(apptest.MaxWait); time.Now().Before(deadline); {
		if reflect.DeepEqual(apptest.Comparable(a.T, a.Curl(line)), apptest.Comparable(a.T, []byte(want))) {
			return
		}
		<-time.After(20 * time.Millisecond)
	}
}
