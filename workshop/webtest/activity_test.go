package webtest

import (
	"database/sql"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// submitAgo submits scores, and sets the ages of their records: by minutes ago.
func submitAgo(t *testing.T, board string, ago map[int][]leaderboard.Submission) {
	t.Helper()
	sockets, err := filepath.Glob(filepath.Join(running(t).Dir, "data", "*", "server.sock"))
	if err != nil || len(sockets) != 1 {
		t.Fatalf("sockets of the database: %v, %v", sockets, err)
	}
	db, err := sql.Open("mysql", "root@unix("+sockets[0]+")/leaderboard")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	minutes := make([]int, 0, len(ago))
	for m := range ago {
		minutes = append(minutes, m)
	}
	slices.Sort(minutes)
	slices.Reverse(minutes)
	c := admin(t)
	for _, m := range minutes {
		if _, err := c.Submit(t.Context(), board, ago[m]); err != nil {
			t.Fatal(err)
		}
		// Records that were moved already are older than an hour or have another place now.
		move := "UPDATE submissions s JOIN boards b ON b.id = s.board_id SET s.recorded_at = s.recorded_at - INTERVAL ? MINUTE, s.request_id = x'01' WHERE b.name = ? AND s.request_id <> x'01'"
		if _, err := db.ExecContext(t.Context(), move, m, board); err != nil {
			t.Fatal(err)
		}
	}
}

// activityOf returns the API's answer about the latest 24 hours of a board, the newest first, and as the rows of a table.
func activityOf(t *testing.T, board string) (hours []client.ActivityHour, rows []string) {
	t.Helper()
	a, err := admin(t).Activity(t.Context(), board, 24)
	if err != nil || len(a.Hours) != 24 {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, h := range a.Hours {
		entries := "–"
		if h.Entries != nil {
			entries = strconv.FormatInt(*h.Entries, 10)
		}
		rows = append(rows, fmt.Sprintf("%s|%d|%d|%d|%s", h.StartsAt.Format("01-02 15:04"), h.Submissions, h.Applied, h.NewMembers, entries))
	}
	return a.Hours, rows
}

// TestConsoleActivity: submissions, new members and members of each hour as bars, as a line and as a table, which say what the
// API says; members and changes of each period; without rules that make them, which these are.
func TestConsoleActivity(t *testing.T) {
	t.Parallel()
	c, key := admin(t), running(t).Key
	rules := leaderboard.Rules{Record: leaderboard.RecordAll, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}}
	past := map[int][]leaderboard.Submission{600: members(7), 130: append(members(7), leaderboard.Submission{Member: "late", Score: 3}), 0: {{Member: "later", Score: 9}}}
	for _, board := range []string{"console-activity", "console-removed"} {
		if _, _, err := c.PutBoard(t.Context(), board, rules); err != nil {
			t.Fatal(err)
		}
		submitAgo(t, board, past)
	}
	hours, rows := activityOf(t, "console-activity")
	counted := 0
	for _, h := range hours {
		counted += h.Submissions
	}
	if counted != 16 || *hours[0].Entries != 9 || *hours[23].Entries != 0 {
		t.Fatalf("%q", rows)
	}
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "phone": phone().inDark(), "large": desktop()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := console(t, s, key, "#/boards/console-activity/activity?hours=24")
			p.await(`document.querySelectorAll("figure rect").length > 48`)
			p.press("The same as a table")
			got := eval[[]string](p, `[...document.querySelectorAll("section:first-of-type tbody tr")].map(r => [...r.cells].map(c => c.innerText).join("|"))`)
			hours, want := activityOf(t, "console-activity")
			if hours[0].StartsAt.Format("01-02 15:04") != strings.Split(got[0], "|")[0] { // an hour has passed meanwhile
				want = append(want[1:], got[23])
				hours = append(hours[1:], client.ActivityHour{})
			}
			if !slices.Equal(got, want) {
				t.Errorf("the table says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			barsOf(p, hours)
			p.await(`document.querySelector("[role=img][aria-label='Members over 24 hours: from 0 to 9']")`)
			p.await(`document.querySelector("[role=img][aria-label^='Members of each day: 9 in ']")`)
			p.fits()
			p.accessible()
			if over := eval[[]string](p, faultsOfText); len(over) > 0 {
				t.Errorf("texts are outside, or on each other: %q", over)
			}
		})
	}
	makeBoard(t, c, "console-quiet", leaderboard.Rules{}, members(2)...)
	p := console(t, desktop(), key, "#/boards/console-quiet/activity")
	p.awaitText("section", "This board does not record submissions, so nobody counts them: set record to applied or all in its rules.")
	p.awaitText("section", "The board has no hours, days or other periods that end")
	p.click("section .empty a")
	p.awaitText("h1", "Rules")

	// Other changes of the period are shown.
	if _, err := c.RemoveMember(t.Context(), "console-removed", "late", client.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	p.show("#/boards/console-removed/activity", "Activity")
	p.awaitText("section", "How many members there were before ")
}

// TestConsoleBusy: of a board with more records than are read the view shows the hours that are known, and the rule that
// counts the others.
func TestConsoleBusy(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "console-busy", leaderboard.Rules{Record: leaderboard.RecordAll}, members(3)...)
	p := console(t, phone(), running(t).Key, "#/members")
	eval[bool](p, `(() => { const real = fetch; window.hours = 1
		window.fetch = async (url, ...rest) => {
			const answer = await real(url, ...rest)
			if (!String(url).includes("/activity")) return answer
			const told = await answer.json()
			return new Response(JSON.stringify({...told, hours: told.hours.slice(0, hours), partial: true}), {headers: {"Content-Type": "application/json"}})
		}; return true })()`)
	const said = "More than 100,000 submissions are recorded: hours before these are not counted. With the window hour in its rules the board counts them as they come."
	p.show("#/boards/console-busy/activity", "Activity")
	p.awaitText(".warn", said)
	p.await(`document.querySelectorAll("figure").length === 3 && document.querySelectorAll("figure:first-of-type rect").length === 1`)
	p.fits()
	eval[bool](p, `(window.hours = 0, true)`) // not even this hour
	p.show("#/boards/console-busy/rules", "Rules")
	p.show("#/boards/console-busy/activity", "Activity")
	p.awaitText(".warn", said)
	p.await(`document.querySelectorAll("figure").length === 0`)
}

// barsOf fails the test unless the bars of the first plot are as high as the submissions of the hours, the newest first.
func barsOf(p *tab, hours []client.ActivityHour) {
	p.t.Helper()
	heights := eval[[]float64](p, `[...document.querySelector("figure").querySelectorAll("rect")].map(e => Number(e.getAttribute("height")))`)
	slices.Reverse(heights)
	if len(heights) != len(hours) {
		p.t.Fatalf("%d bars, want %d", len(heights), len(hours))
	}
	full := slices.Max(heights)
	for i, h := range hours {
		if want := full * float64(h.Submissions) / 8; math.Abs(heights[i]-want) > 0.5 {
			p.t.Errorf("hour %d with %d submissions is %g high, want %g", i, h.Submissions, heights[i], want)
		}
	}
}

// TestConsoleGauges: the counters of the server with axes: numbers from 0, times, the least and the greatest.
func TestConsoleGauges(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "large": desktop().inDark()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := console(t, s, running(t).Key, "#/boards")
			p.await(`document.querySelectorAll(".server .plot").length === 4 && document.querySelectorAll(".server .plot .way").length > 4`)
			axis := eval[[]string](p, `[...document.querySelector(".server .plot").querySelectorAll("text")].map(e => e.textContent)`)
			if len(axis) < 4 || axis[0] != "0" || !strings.HasSuffix(axis[len(axis)-2], " UTC") {
				t.Errorf("the axes say %q", axis)
			}
			for i := range 2 {
				if at := axis[len(axis)-2+i]; strings.Count(at, ":") != 2 {
					t.Errorf("%q is no time", at)
				}
			}
			bounds := eval[[]string](p, `[...document.querySelectorAll(".server .bounds")].map(e => e.innerText)`)
			for _, b := range bounds {
				least, most, ok := strings.Cut(strings.TrimPrefix(b, "least "), " · most ")
				low, err1 := strconv.ParseFloat(strings.ReplaceAll(least, ",", ""), 64)
				high, err2 := strconv.ParseFloat(strings.ReplaceAll(most, ",", ""), 64)
				if !ok || err1 != nil || err2 != nil || low > high {
					t.Errorf("bounds %q", b)
				}
			}
			if len(bounds) != 4 {
				t.Errorf("bounds %q", bounds)
			}
			p.await(`document.querySelector(".server [role=img]").getAttribute("aria-label").startsWith("Requests per second since ")`)
			p.fits()
			p.accessible()
			if over := eval[[]string](p, faultsOfText); len(over) > 0 {
				t.Errorf("texts are outside, or on each other: %q", over)
			}
		})
	}
}
