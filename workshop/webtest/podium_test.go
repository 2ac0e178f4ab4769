package webtest

import (
	"testing"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// podiumOf is JavaScript for who stands on the podium, from the left to the right, each with the rank.
const podiumOf = `[...document.querySelectorAll(".podium > li")].sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left)
	.map(e => e.querySelector("b").innerText + " " + e.querySelector("bdi").innerText).join("|")`

// TestPodium: the first three stand on a podium, the first in the middle and highest, with scripts and without; it follows the ranking, is read in
// order, and leads to the members. The table has the others. Other pages of the ranking, frames, and boards with fewer members have no podium.
func TestPodium(t *testing.T) {
	t.Parallel()
	c := admin(t)
	makeBoard(t, c, "podium", leaderboard.Rules{}, members(30)...)
	makeBoard(t, c, "podium-two", leaderboard.Rules{}, members(2)...)
	makeBoard(t, c, "podium-three", leaderboard.Rules{}, members(3)...)
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "phone": phone().inDark(), "large": desktop(), "without scripts": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			p := open(t, s, "/boards/podium")
			p.await(podiumOf + ` === "2 m002|1 m001|3 m003"`)
			p.await(`(() => {
				const top = n => document.querySelector(".podium .step-" + n + " b").getBoundingClientRect().top
				return top(1) < top(2) && top(2) < top(3) && document.querySelectorAll(".podium a").length === 3
			})()`)
			p.awaitRows("1 m001", "2 m002", "3 m003", "4 m004")
			p.await(`document.querySelector(".ranking tbody tr").innerText.includes("m004")`)
			p.fits()
			if !s.noScript {
				p.accessible()
			}
			three := open(t, s, "/boards/podium-three")
			three.awaitRows("1 m001", "2 m002", "3 m003")
			three.await(`!document.querySelector(".ranking").checkVisibility()`)
			for _, path := range []string{"/boards/podium?offset=25", "/boards/podium?embed=1", "/boards/podium-two"} {
				other := open(t, s, path)
				other.awaitText(".ranking", map[bool]string{true: "m030", false: "m002"}[path == "/boards/podium?offset=25"])
				other.await(`!document.querySelector(".podium")`)
			}
		})
	}
	p := open(t, desktop(), "/boards/podium?mode=tied")
	p.await(podiumOf + ` === "2 m002|1 m001|3 m003"`)
	submit(t, c, "podium", "m030", 1000)
	p.await(podiumOf + ` === "1 m030|1 m001|3 m002"`)
	p.press("Next")
	p.await(`!document.querySelector(".podium")`)
	p.press("First")
	p.await(`document.querySelector(".podium")`)
}

// TestPlacesOnPhones: a phone shows the first five places of a board without scrolling, and the smallest one three, with names that have two words,
// windows, and labels.
func TestPlacesOnPhones(t *testing.T) {
	t.Parallel()
	c := admin(t)
	for _, m := range members(3) {
		if _, _, err := c.PutProfile(t.Context(), "places-"+m.Member, client.ProfileFields{DisplayName: "Nimble Otter " + m.Member, Attributes: map[string]any{"country": "TR"}}); err != nil {
			t.Fatal(err)
		}
	}
	scores := members(30)
	for i := range scores[:3] {
		scores[i].Member = "places-" + scores[i].Member
	}
	rules := leaderboard.Rules{Title: "Star Runner", Labels: leaderboard.Labels{"game": "places"}, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay, leaderboard.WindowWeek}}
	makeBoard(t, c, "places", rules, scores...)
	makeBoard(t, c, "places-too", leaderboard.Rules{Labels: rules.Labels}, members(1)...)
	for _, c := range []struct {
		screen
		places int
	}{{screen{width: 390, height: 844}, 5}, {screen{width: 320, height: 640}, 3}, {screen{width: 390, height: 844, noScript: true}, 5}} {
		p := open(t, c.screen, "/boards/places")
		p.awaitText(".podium", "Nimble Otter m001")
		if !c.noScript {
			p.awaitText(".state.live", "Live")
		}
		p.awaitText(".labels", "game: places")
		if seen := eval[int](p, `[...document.querySelectorAll(".podium > li, .ranking tbody tr")].filter(e => e.getBoundingClientRect().bottom <= innerHeight).length`); seen < c.places {
			t.Errorf("%d × %d, without scripts %t: %d places are seen, want %d", c.width, c.height, c.noScript, seen, c.places)
		}
	}
}
