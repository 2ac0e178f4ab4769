package webtest

import (
	"testing"

	"leaderboard/leaderboard"
)

// podiumOf is JavaScript for who stands on the podium, from the left to the right, each with the rank.
const podiumOf = `[...document.querySelectorAll(".podium > div")].sort((a, b) => a.getBoundingClientRect().left - b.getBoundingClientRect().left)
	.map(e => e.querySelector("b").innerText + " " + e.querySelector("bdi").innerText).join("|")`

// TestPodium: the first three stand on a podium, the first in the middle and highest, with scripts and without; it follows the ranking.
// Readers of the screen have the table alone. Other pages of the ranking, frames, and boards with fewer members have none.
func TestPodium(t *testing.T) {
	t.Parallel()
	c := admin(t)
	makeBoard(t, c, "podium", leaderboard.Rules{}, members(30)...)
	makeBoard(t, c, "podium-two", leaderboard.Rules{}, members(2)...)
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "phone": phone().inDark(), "large": desktop(), "without scripts": {width: 390, height: 844, noScript: true}} {
		t.Run(name, func(t *testing.T) {
			p := open(t, s, "/boards/podium")
			p.await(podiumOf + ` === "2 m002|1 m001|3 m003"`)
			p.await(`(() => {
				const top = n => document.querySelector(".podium .step-" + n + " b").getBoundingClientRect().top
				return top(1) < top(2) && top(2) < top(3) && document.querySelector(".podium").ariaHidden === "true" && !document.querySelector(".podium a, .podium button")
			})()`)
			p.fits()
			if !s.noScript {
				p.accessible()
			}
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
