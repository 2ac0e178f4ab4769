package webtest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// faultsOfText is JavaScript that lists texts which go beyond the screen, and pairs of texts that stand on each other. Text
// that an element around it cuts off is not visible, and does not count.
const faultsOfText = `(() => {
	const seen = [], faults = []
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let node; (node = walker.nextNode()); ) {
		const e = node.parentElement
		if (!node.data.trim() || !e.checkVisibility({visibilityProperty: true}) || e.closest(".hidden, .skip, script, noscript, option")) continue
		const range = document.createRange()
		range.selectNodeContents(node)
		for (const line of range.getClientRects()) {
			let [left, right, top, bottom] = [line.left, line.right, line.top, line.bottom]
			for (let of = e; of !== document.body; of = of.parentElement) {
				if (getComputedStyle(of).overflowX === "visible") continue
				const box = of.getBoundingClientRect();
				[left, right, top, bottom] = [Math.max(left, box.left), Math.min(right, box.right), Math.max(top, box.top), Math.min(bottom, box.bottom)]
			}
			if (right - left > 1 && bottom - top > 1) seen.push({text: node.data.trim().slice(0, 40), node, left, right, top: top + 3, bottom: bottom - 3})
		}
	}
	seen.forEach((a, i) => {
		if (a.left < 0 || a.right > document.documentElement.clientWidth + .5) faults.push("outside: " + a.text)
		for (const b of seen.slice(i + 1)) {
			if (a.node !== b.node && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom && b.top < a.bottom) faults.push(a.text + " on " + b.text)
		}
	})
	return faults
})()`

// brokenScores is JavaScript that lists the long numbers which are seen on more than one line.
const brokenScores = `[...document.querySelectorAll("td, dd, span")].filter(e => e.children.length === 0 && /^-?[0-9,]{15,}$/.test(e.textContent.trim()) && e.checkVisibility()).filter(e => {
	const range = document.createRange()
	range.selectNodeContents(e)
	return new Set([...range.getClientRects()].map(r => r.top)).size > 1
}).map(e => e.closest("[class]").className + ": " + e.textContent)`

// makeWide makes a board with the longest scores and a long name.
func makeWide(t *testing.T, board string) {
	t.Helper()
	c := admin(t)
	const name = "Bartholomäus Maximilian von und zu Hohenschwangau der Dritte"
	if _, _, err := c.PutProfile(t.Context(), board+"-first", client.ProfileFields{DisplayName: name}); err != nil {
		t.Fatal(err)
	}
	rules := leaderboard.Rules{Title: "Wide", Labels: leaderboard.Labels{"kind": board}, Windows: []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowAllTime}}
	makeBoard(t, c, board, rules, append(members(60), leaderboard.Submission{Member: board + "-first", Score: 9223372036854775807}, leaderboard.Submission{Member: strings.Repeat("W", 64), Score: -9223372036854775808})...)
}

// TestNarrow: at 320 px with the longest scores and a long name nothing is wider than the screen, no texts overlap, each
// score is on one line, and the shown part of the name identifies the member. The screen is so high that nothing is pinned
// to its edges.
func TestNarrow(t *testing.T) {
	t.Parallel()
	makeWide(t, "narrow")
	for _, path := range []string{"/boards/narrow", "/boards/narrow?member=narrow-first", "/boards/narrow?offset=50", "/boards/narrow?embed=1", "/?labels=kind:narrow"} {
		for name, noScript := range map[string]bool{"": false, " without scripts": true} {
			t.Run(path+name, func(t *testing.T) {
				t.Parallel()
				p := open(t, screen{width: 320, height: 4000, noScript: noScript}, path)
				p.awaitText("main", map[bool]string{true: "-9,223,372,036,854,775,808", false: "9,223,372,036,854,775,807"}[strings.Contains(path, "offset")])
				if !noScript && strings.Contains(path, "member") {
					p.awaitText("details", "9,223,372,036,854,775,807")
				}
				p.fits()
				if broken := eval[[]string](p, brokenScores); len(broken) > 0 {
					t.Errorf("scores on more than one line at 320 px:\n%s", strings.Join(broken, "\n"))
				}
				if faults := eval[[]string](p, faultsOfText); len(faults) > 0 {
					t.Errorf("texts at 320 px:\n%s", strings.Join(faults, "\n"))
				}
				p.await(`[...document.querySelectorAll(".ranking bdi, .around bdi, .leaders bdi")].every(e => e.getBoundingClientRect().width >= Math.min(40, e.scrollWidth))`)
			})
		}
	}
}

// TestPrint: on paper a board is its name, the period and the table, whose head is on each page and whose rows are whole; it is light, and
// has nothing to press.
func TestPrint(t *testing.T) {
	t.Parallel()
	makeWide(t, "paper")
	for name, noScript := range map[string]bool{"with scripts": false, "without scripts": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := screen{width: 760, height: 900, dark: true, noScript: noScript}
			p := open(t, s, "/boards/paper?limit=60&mode=tied&member=m002")
			p.awaitText(".ranking", "m059")
			p.awaitText(".around", "m002")
			command(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
			p.await(`matchMedia("print").matches`)
			if shown := eval[string](p, `[...document.querySelectorAll(".masthead, .tools, .periods, .turn, input, select, button")].filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 80)).join("\n")`); shown != "" {
				t.Errorf("on paper is\n%s", shown)
			}
			p.await(`document.querySelector(".ranking caption").getBoundingClientRect().width > 100 && document.querySelector(".ranking caption").innerText.startsWith("Wide: Day, ")`)
			p.await(`getComputedStyle(document.querySelector(".ranking thead")).display === "table-header-group"`)
			p.await(`[...document.querySelectorAll(".ranking tbody tr")].every(r => getComputedStyle(r).breakInside === "avoid")`)
			p.await(`getComputedStyle(document.querySelector(".ranks")).backgroundColor === "rgb(255, 255, 255)"`)
			if faults := eval[[]string](p, faultsOfText); len(faults) > 0 {
				t.Errorf("texts on paper:\n%s", strings.Join(faults, "\n"))
			}
			pdf := command(p, page.PrintToPDF, page.PrintToPDFParams{})
			if n := bytes.Count(pdf.Data, []byte("/Type /Page\n")); n < 2 || n > 4 {
				t.Errorf("60 rows take %d pages", n)
			}
		})
	}
}
