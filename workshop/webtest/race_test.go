package webtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// raceOf returns the members of a race and the ranks that it shows of each, from answers of the API: of the first ten of a day, in it and in
// the days before it, the oldest first.
func raceOf(t *testing.T, board, until string) (members, rows []string) {
	t.Helper()
	c := admin(t)
	var last client.Page
	var days []map[string]string
	for p, err := range c.Periods(t.Context(), board, leaderboard.WindowDay) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Period > until || p.Total == 0 || len(days) == 12 {
			continue
		}
		page, err := c.Top(t.Context(), board, client.TopQuery{ReadQuery: client.ReadQuery{Window: leaderboard.WindowDay, Period: p.Period}})
		if err != nil {
			t.Fatal(err)
		}
		if len(days) == 0 {
			last = page
		}
		ranks := map[string]string{}
		for _, e := range page.Entries {
			ranks[e.Member] = strconv.FormatInt(e.Rank, 10)
		}
		days = append(days, ranks)
	}
	slices.Reverse(days)
	for _, e := range last.Entries {
		var ranks []string
		for _, day := range days {
			if day[e.Member] == "" {
				day[e.Member] = "–"
			}
			ranks = append(ranks, day[e.Member])
		}
		members, rows = append(members, e.Member), append(rows, strings.Join(ranks, " · "))
	}
	if len(rows) != 10 || len(days) < 2 {
		t.Fatalf("the demo has a race of %d members over %d days", len(rows), len(days))
	}
	return members, rows
}

// lastClosed returns the last day of a board that is over.
func lastClosed(t *testing.T, board string) string {
	t.Helper()
	for p, err := range admin(t).Periods(t.Context(), board, leaderboard.WindowDay) {
		if err != nil {
			t.Fatal(err)
		}
		if p.State == leaderboard.PeriodStateClosed {
			return p.Period
		}
	}
	t.Fatalf("no day of %s is over", board)
	return ""
}

// TestRace: the first ten of a period and their ranks in earlier periods, as lines and as a table, equal to the API's
// answer. A board without periods has no race.
func TestRace(t *testing.T) {
	t.Parallel()
	c, yesterday := admin(t), lastClosed(t, "demo")
	_, want := raceOf(t, "demo", yesterday)
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "phone": phone().inDark(), "large": desktop()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, s, "/boards/demo?window=day&period="+yesterday)
			p.press("The race of the first ten")
			p.awaitText(".race td", want[0])
			if got := eval[[]string](p, `[...document.querySelectorAll(".race td:last-child")].map(e => e.innerText)`); !slices.Equal(got, want) {
				t.Errorf("the race is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			dots, lines := 0, 0
			for _, row := range want {
				ranks := strings.Split(row, " · ")
				for i, r := range ranks {
					if r != "–" {
						dots++
					}
					if i > 0 && r != "–" && ranks[i-1] != "–" {
						lines++
					}
				}
			}
			if got := eval[[]int](p, `[document.querySelectorAll(".race .plot circle").length, document.querySelectorAll(".race .plot .way").length]`); !slices.Equal(got, []int{dots, lines}) {
				t.Errorf("%d dots and lines are drawn, want %d and %d", got, dots, lines)
			}
			if space := eval[float64](p, `(() => {
				const race = document.querySelector(".race"), box = e => e.getBoundingClientRect()
				return box(race).top - box(race.previousElementSibling).bottom
			})()`); space > 20 {
				t.Errorf("%g px are empty above the race", space)
			}
			p.fits()
			p.accessible()
		})
	}
	makeBoard(t, c, "race-none", leaderboard.Rules{}, members(12)...)
	makeBoard(t, c, "race-first", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowYear}}, members(12)...)
	p := open(t, phone(), "/boards/race-first")
	p.press("The race of the first ten")
	p.awaitText(".race", "It begins with the second period")
	none := open(t, phone(), "/boards/race-none")
	none.await(`document.querySelector(".state.live") && document.querySelector(".ranks") && !document.querySelector(".race")`)
}

// TestPastScores: next to the ranks of a member in past periods are its scores, which rise where they are greater, with an
// axis.
func TestPastScores(t *testing.T) {
	t.Parallel()
	members, rows := raceOf(t, "demo", lastClosed(t, "demo"))
	at := slices.IndexFunc(rows, func(row string) bool { return strings.Count(row, "–") <= strings.Count(row, "·")-1 })
	if at < 0 {
		t.Fatalf("nobody was among the first ten on two days: %q", rows)
	}
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "large": desktop().inDark()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, s, "/boards/demo?window=day&member="+members[at])
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
	race, err := c.Race(t.Context(), "race-recorded")
	if err != nil || len(race.Runners) != 10 || len(race.Moments) != 12 {
		t.Fatalf("%+v, %v", race, err)
	}
	var want []string
	dots := 0
	for i, r := range race.Runners {
		var places []string
		for _, p := range r.Places {
			if p == nil {
				places = append(places, "–")
				continue
			}
			dots++
			places = append(places, strconv.Itoa(*p))
		}
		if want = append(want, strings.Join(places, " · ")); *r.Places[11] != i+1 {
			t.Errorf("now %s is at place %d, want %d", r.Member, *r.Places[11], i+1)
		}
	}
	if !strings.Contains(strings.Join(want, "\n"), "–") || dots < 60 {
		t.Fatalf("the race is\n%s", strings.Join(want, "\n"))
	}
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "phone": phone().inDark(), "large": desktop()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, s, "/boards/race-recorded")
			p.press("The race of the first ten")
			p.awaitText(".race th", "Places among each other")
			if got := eval[[]string](p, `[...document.querySelectorAll(".race td:last-child")].map(e => e.innerText)`); !slices.Equal(got, want) {
				t.Errorf("the race is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			p.await(fmt.Sprintf(`document.querySelectorAll(".race .plot circle").length === %d`, dots))
			if broken := eval[int](p, `[...document.querySelectorAll(".race bdi")].filter(e => e.getClientRects().length > 1).length`); broken > 0 {
				t.Errorf("%d short names are on more than one line", broken)
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
		p.click(".race summary")
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
	p := open(t, phone(), "/boards/race-season")
	p.press("The race of the first ten")
	p.awaitText(".race td", "is")
	p = open(t, phone(), "/boards/race-season?period=old")
	p.press("The race of the first ten")
	p.awaitText(".race", "This race cannot be shown.")
}
