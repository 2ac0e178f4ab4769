package app

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/store/storetest/dbtest"
)

// TestDatabaseClockLeaps: the clock of the database leaps by an hour or a year and comes back (promise F4). Every submission is
// accepted at once, in every window; reads are right a second later; the periods before the leap are current again, with the
// entries in their order of arrival; a run records that they were opened again; and forced rebuilds work. The clock is the store's
// hook and, where libfaketime is installed, also the clock of a real MySQL.
func TestDatabaseClockLeaps(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ahead atomic.Int64
			leapAll(t, dsn(t), func(d time.Duration) { ahead.Store(int64(d)) }, func(c *Config) {
				c.clock = dbtest.ClockAhead(func() time.Duration { return time.Duration(ahead.Load()) })
			})
		})
	}
	if dsn, leap, ok := testenv.LeapingMySQL(t); ok {
		leapAll(t, dsn, leap, func(c *Config) { c.Migrate = true })
	}
}

// leapAll has the clock leap by each length of time, there and back.
func leapAll(t *testing.T, dsn string, set func(ahead time.Duration), change func(*Config)) {
	l := &leaping{set: set}
	l.base = 30*time.Minute - time.Since(time.Now().Truncate(time.Hour)) // half an hour from the ends of any period
	set(l.base)
	l.testApp = startReady(t, dsn, testenv.Redis(t), change)
	l.Ask(201, "PUT", "/v1/boards/steady", `{"windows":["hour"]}`)
	const year = 365 * 24 * time.Hour
	for leap, by := range map[string]time.Duration{"hour-ahead": time.Hour, "year-ahead": year, "hour-behind": -time.Hour, "year-behind": -year} {
		l.leap(t, leap, by)
	}
}

// leaping is a server whose database has a clock that leaps.
type leaping struct {
	*testApp
	base time.Duration
	set  func(ahead time.Duration)
}

// leap has the clock leap while two boards are in use. One of them is neither read nor written meanwhile.
func (l *leaping) leap(t *testing.T, name string, by time.Duration) {
	if by > 0 { // a period that was written to is found by its name at once
		l.Ask(200, "GET", "/v1/boards/steady/top", "")
		l.set(l.base + by)
		l.five("steady", name)
		hour := time.Now().Add(l.base + by).UTC().Format("2006-01-02T15")
		l.Ask(200, "GET", "/v1/boards/steady/top?min_seq=1&period="+hour, "")
		l.set(l.base)
	}
	boards := []string{name + "-busy", name + "-idle"}
	before := map[string]string{}
	for _, b := range boards {
		l.Ask(201, "PUT", "/v1/boards/"+b, `{"windows":["all_time","hour","year"]}`)
		l.five(b, "ada")
		for _, w := range []string{"all_time", "hour", "year"} {
			before[b+w] = l.Ask(200, "GET", "/v1/boards/"+b+"/top?window="+w, "").Text("period")
		}
	}
	l.set(l.base + by)
	l.five(boards[0], "bob")
	if err := l.store.Housekeeping.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.shows(t, boards[0], "all_time", "all_time", "ada bob")
	l.set(l.base)
	for _, b := range boards {
		l.five(b, "cem")
		if l.Ask(200, "POST", "/v1/boards/"+b+"/rebuild?wait=30s", `{"window":"hour"}`).Text("state") != "done" {
			t.Errorf("%s: the rebuild is not done", b)
		}
	}
	l.shows(t, boards[0], "all_time", "all_time", "ada bob cem")
	l.shows(t, boards[1], "all_time", "all_time", "ada cem")
	reopened := 0
	for _, b := range boards {
		for _, w := range []string{"hour", "year"} {
			members := "ada cem"
			if w == "year" && by.Abs() == time.Hour && b == boards[0] {
				members = "ada bob cem" // the leap did not lead out of it
			}
			l.shows(t, b, w, before[b+w], members)
		}
		runs := l.Ask(200, "GET", "/v1/runs?board="+b, "")
		reopened += strings.Count(runs.List("runs", "reason"), "clock")
	}
	want := 0
	if by > 0 {
		want = 2 // hours
	}
	if by > time.Hour {
		want = 4 // and years
	}
	if reopened != want {
		t.Errorf("%s: %d periods were opened again, want %d", name, reopened, want)
	}
}

// five submits a score of 5 for a member.
func (l *leaping) five(board, member string) {
	l.T.Helper()
	l.Ask(200, "POST", "/v1/boards/"+board+"/scores", fmt.Sprintf(`{"entries":[{"member":%q,"score":5}]}`, member))
}

// shows waits until a window's current period is the one expected, with these members, best first, in an answer that is
// not stale.
func (l *leaping) shows(t *testing.T, board, window, period, members string) {
	t.Helper()
	apptest.Eventually(t, func() string {
		status, body := l.Get("/v1/boards/" + board + "/top?window=" + window)
		got := string(body)
		for _, want := range []string{`"stale":false`, fmt.Sprintf(`"period":%q`, period), fmt.Sprintf(`"total":%d`, len(strings.Fields(members)))} {
			if status != 200 || !strings.Contains(got, want) {
				return fmt.Sprintf("%s of %s: %d %s, want %s", window, board, status, got, want)
			}
		}
		for i, m := range strings.Fields(members) {
			if !strings.Contains(got, fmt.Sprintf(`{"rank":%d,"member":%q`, i+1, m)) {
				return fmt.Sprintf("%s of %s: %s, want %s", window, board, got, members)
			}
		}
		return ""
	})
}
