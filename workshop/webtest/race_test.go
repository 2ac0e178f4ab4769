package webtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/demo"
	"leaderboard/leaderboard"
)

// runners returns the text below the lines of a race: the first ten of a period with their scores, from the answer of the API.
func runners(t *testing.T, board string, q client.ReadQuery) (out []string) {
	t.Helper()
	page, err := admin(t).Top(t.Context(), board, client.TopQuery{ReadQuery: q})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Entries[:10] {
		out = append(out, e.Member)
	}
	return out
}

// rises are the heights of the lines of a race at their beginnings and at their ends.
const rises = `[...document.querySelectorAll(".race .plot g")].map(g => [...g.querySelectorAll(".way")]).filter(w => w.length).map(w => [Number(w[0].getAttribute("y1")), Number(w.at(-1).getAttribute("y2"))])`

// TestRace: the scores of the first ten of a board climb as lines, day by day where nothing is recorded, next to the ranking on wide screens without
// anything pressed and with one request. Times have labels on the axis. A board without shorter periods and without a record has no race.
func TestRace(t *testing.T) {
	t.Parallel()
	c := admin(t)
	rules := leaderboard.Rules{Policy: leaderboard.PolicySum, Windows: []leaderboard.Window{leaderboard.WindowYear, leaderboard.WindowHour}}
	makeBoard(t, c, "race-hours", rules, members(12)...)
	want := runners(t, "race-hours", client.ReadQuery{})
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "phone": phone().inDark(), "large": desktop()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, s, "/boards/demo")
			p.await(`document.querySelector(".race").scrollIntoView() || document.querySelectorAll(".race li").length === 10`)
			p.await(`document.querySelectorAll(".race .way").length > 10`)
			if got := eval[[][]float64](p, rises); !slices.ContainsFunc(got, func(line []float64) bool { return line[1] < line[0] }) || slices.ContainsFunc(got, func(line []float64) bool { return line[1] > line[0] }) {
				t.Errorf("the lines of the best scores go from and to %v", got)
			}
			p.fits()
			p.accessible()
		})
	}
	p := open(t, desktop(), "/boards/race-hours")
	p.await(`document.querySelectorAll(".race li").length === 10 || document.querySelector(".race .said")`)
	if got := eval[[]string](p, `[...document.querySelectorAll(".race li a")].map(e => new URL(e.href).searchParams.get("member"))`); len(got) > 0 && !slices.Equal(got, want) {
		t.Errorf("the race is of %q, want %q", got, want)
	}
	if top := eval[float64](p, `document.querySelector(".race").getBoundingClientRect().top`); top > 600 {
		t.Errorf("the race begins %g px down", top)
	}
	days := open(t, desktop(), "/boards/"+demo.Maze) // nothing is recorded there
	days.await(`document.querySelectorAll(".race .way").length > 10`)
	if got := eval[[][]float64](days, rises); len(got) != 10 || slices.ContainsFunc(got, func(line []float64) bool { return line[1] > line[0] }) {
		t.Errorf("the lines of the ends of days go from and to %v", got)
	}
	if days.loaded("/race") == "" || days.loaded("/ranks") != "" || days.loaded("/periods") != "" || days.loaded("/top?") != "" {
		t.Error("a race takes more than one request")
	}
	laps := open(t, desktop(), "/boards/"+demo.Laps)
	laps.await(`[...document.querySelectorAll(".race .side")].filter(e => e.textContent.includes(":")).length > 1`)
	makeBoard(t, c, "race-none", leaderboard.Rules{}, members(12)...)
	none := open(t, phone(), "/boards/race-none")
	none.await(`document.querySelector(".state.live") && document.querySelector(".ranks") && !document.querySelector(".race")`)
}

// TestPastScores: next to the ranks of a member in past periods are its scores, which rise where they are greater, with an
// axis.
func TestPastScores(t *testing.T) {
	t.Parallel()
	member := demo.Member(demo.Shown) // who plays each day
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "large": desktop().inDark()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, s, "/boards/demo?window=day&member="+member)
			p.await(`document.querySelector(".found [aria-label^='Score in ']")`)
			p.await(`(() => {
				const dots = [...document.querySelectorAll(".found [aria-label^='Score in '] circle")].map(e => Number(e.getAttribute("cy")))
				const scores = [...document.querySelectorAll(".found details tbody td:last-child")].map(e => Number(e.textContent.replaceAll(",", ""))).reverse()
				return dots.length > 1 && dots.length === scores.length && dots.every((a, i) => dots.every((b, j) => Math.sign(a - b) === Math.sign(scores[j] - scores[i])))
			})()`)
			p.await(`[...document.querySelectorAll(".found [aria-label^='Score in '] .side")].filter(e => e.textContent).length > 1`)
			p.fits()
			p.accessible()
		})
	}
}

// TestRecordedRace: a board without days or hours has the race of its records: the places of the first ten at moments,
// equal to the API's answer; before anything is recorded the page says when it begins.
func TestRecordedRace(t *testing.T) {
	t.Parallel()
	c := admin(t)
	rules := leaderboard.Rules{Policy: leaderboard.PolicySum, Record: leaderboard.RecordApplied, Visibility: leaderboard.VisibilityPublic}
	if _, _, err := c.PutBoard(t.Context(), "race-recorded", rules); err != nil {
		t.Fatal(err)
	}
	second := slices.Clone(members(12))
	slices.Reverse(second)
	for i := range second {
		second[i].Score = int64(i * 1000) // the last become the first
	}
	// None of them is near one of the twelve moments, which move on between one answer and the next.
	submitAgo(t, "race-recorded", map[int][]leaderboard.Submission{600: members(12)[:4], 290: members(12), 30: second})
	race, err := c.Race(t.Context(), "race-recorded", client.RaceQuery{})
	if err != nil || len(race.Runners) != 10 || len(race.Moments) != 12 {
		t.Fatalf("%+v, %v", race, err)
	}
	points := 0
	var want []string
	for i, r := range race.Runners {
		points += len(r.Points)
		if want = append(want, r.Member); *r.Places[11] != i+1 {
			t.Errorf("now %s is at place %d, want %d", r.Member, *r.Places[11], i+1)
		}
	}
	if points < 60 || points == 120 {
		t.Fatalf("the race has %d points", points)
	}
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "phone": phone().inDark(), "large": desktop()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, s, "/boards/race-recorded")
			p.await(`document.querySelector(".race").scrollIntoView() || document.querySelectorAll(".race li").length === 10`)
			p.await(fmt.Sprintf(`document.querySelectorAll(".race .way").length === %d`, points-len(race.Runners)))
			if got := eval[[]string](p, `[...document.querySelectorAll(".race li a")].map(e => new URL(e.href).searchParams.get("member"))`); !slices.Equal(got, want) {
				t.Errorf("the race is of %q, want %q", got, want)
			}
			p.fits()
			p.accessible()
		})
	}
	rules.Record = leaderboard.RecordNone
	makeBoard(t, c, "race-later", rules, members(3)...)
	rules.Record = leaderboard.RecordAll
	if _, _, err := c.PutBoard(t.Context(), "race-later", rules); err != nil {
		t.Fatal(err)
	}
	for lang, text := range map[string]string{"en": "It begins with the next submission", "de": "Es beginnt mit der nächsten Einreichung", "ar": "يبدأ مع الإرسال التالي"} {
		p := open(t, phone(), "/boards/race-later?lang="+lang)
		p.await(`document.querySelector(".race").scrollIntoView() || true`)
		p.awaitText(".race", text)
		p.fits()
	}
	// Records do not belong to a season that is over.
	now := leaderboard.MicrosOf(time.Now())
	const day = 86_400_000_000
	rules.Windows = []leaderboard.Window{leaderboard.WindowSeason}
	rules.Seasons = []leaderboard.SeasonRule{{Name: "old", StartsAt: now - 9*day, EndsAt: now - day}, {Name: "new", StartsAt: now - day, EndsAt: now + 9*day}}
	old := now - 2*day
	makeBoard(t, c, "race-season", rules, leaderboard.Submission{Member: "was", Score: 1, CreatedTime: &old}, leaderboard.Submission{Member: "is", Score: 2})
	p := open(t, desktop(), "/boards/race-season")
	p.awaitText(".race li", "is")
	open(t, desktop(), "/boards/race-season?period=old").await(`document.body.textContent.includes("0 players") && !document.querySelector(".race")`)
}
