package webtest

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"

	"leaderboard/leaderboard"
)

// shownTexts is JavaScript that lists what both the server and the script write into a board's page.
const shownTexts = `[...document.querySelectorAll(".about, .ranking th, .ranking td.score, .ranking caption, .choices a, .figures dt, .figures dd, .found label, .find button:not(.quiet), .podium span, .around caption")].map(e => e.textContent.trim()).filter(t => t).join("\n")`

// TestLanguages: in each language a board's page says the same with scripts and without, with numbers as browsers write them, has all the
// plurals that browsers know, fits the smallest screen, and can be read by everybody; its links keep the language.
func TestLanguages(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "tongues", leaderboard.Rules{Labels: leaderboard.Labels{"kind": "tongues"}, Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowYear}},
		append(members(60), leaderboard.Submission{Member: "first", Score: 1234567}, leaderboard.Submission{Member: "owes", Score: -4321})...)
	for tag, number := range map[string]string{"en": "1,234,567", "de": "1.234.567", "es": "1.234.567", "fr": "1\u202f234\u202f567", "ja": "1,234,567", "pt": "1.234.567", "ar": "1,234,567"} {
		t.Run(tag, func(t *testing.T) {
			t.Parallel()
			small := screen{width: 320, height: 4000}
			path := "/boards/tongues?member=first&lang=" + tag
			p := open(t, small, path)
			p.await(`document.querySelector(".state.live") && document.querySelector(".figures") && document.querySelector(".around tr")`)
			p.await(`document.documentElement.lang === ` + quote(tag) + ` && document.documentElement.dir === ` + quote(map[bool]string{true: "rtl"}[tag == "ar"]))
			p.await(`document.querySelector(".podium .score").textContent === ` + quote(number))
			p.await(`(l => { const its = Object.keys(l.texts.members).sort().join(), has = new Intl.PluralRules(l.locale).resolvedOptions().pluralCategories.sort().join(); return its === has })(JSON.parse(document.getElementById("language").textContent))`)
			p.await(`[...document.querySelectorAll("main a[href^='/boards/'], main a[href^='/?'], .brand")].every(a => new URL(a.href).searchParams.get("lang") === ` + quote(tag) + `)`)
			p.fits()
			p.accessible()
			if faults := eval[[]string](p, faultsOfText); len(faults) > 0 {
				t.Errorf("texts at 320 px:\n%s", strings.Join(faults, "\n"))
			}
			if tag == "ar" { // the ranks are on the right
				p.await(`document.querySelector(".ranking td.rank").getBoundingClientRect().left > document.querySelector(".ranking td.score").getBoundingClientRect().left`)
			}
			plain := small
			plain.noScript = true
			server := open(t, plain, path)
			server.await(`document.querySelector(".ranking td.score")`)
			if scripts, plain := eval[string](p, shownTexts), eval[string](server, shownTexts); scripts != plain {
				t.Errorf("the script says\n%s\n\nand the server\n%s", scripts, plain)
			}
			for _, path := range []string{"/?labels=kind:tongues&lang=" + tag, "/boards/nothing-here?lang=" + tag, "/boards/tongues?embed=1&lang=" + tag} {
				other := open(t, small, path)
				other.expect("404")
				other.await(`document.documentElement.lang === ` + quote(tag) + ` && document.querySelector("h1")`)
				other.fits()
				other.accessible()
			}
		})
	}
}

// TestLanguageOfBrowser: without a language in the address the page has the browser's language, with scripts too, and the
// list at its foot leads to the present page in another language.
func TestLanguageOfBrowser(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "zungen", leaderboard.Rules{}, leaderboard.Submission{Member: "erste", Score: 1234567}, leaderboard.Submission{Member: "zweite", Score: 5})
	p := open(t, desktop(), "/docs")
	command(p, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": "de-AT,de;q=0.9,en;q=0.8"}})
	p.visit("/boards/zungen")
	p.await(`document.querySelector(".state.live")?.title.startsWith("Stand: ")`)
	p.awaitText(".about", "2 Spieler")
	p.awaitText(".ranking", "1.234.567")
	if _, err := admin(t).Submit(t.Context(), "zungen", []leaderboard.Submission{{Member: "erste", Score: 7654321}}); err != nil {
		t.Fatal(err)
	}
	p.awaitText(".ranking", "7.654.321")
	p.await(`document.querySelector(".ranking a").getAttribute("href") === "/boards/zungen?member=erste"`)
	p.click(".ranking a")
	p.awaitText(".found h2", "erste")
	p.click(`.languages a[lang="fr"]`)
	p.awaitText(".found", "Autour")
	p.await(`location.search === "?member=erste&lang=fr" && document.querySelector('.languages [aria-current]').lang === "fr"`)
}
