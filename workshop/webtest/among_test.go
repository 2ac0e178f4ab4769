package webtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"leaderboard/leaderboard"
)

// awaitOverall waits until the page shows these among friends: place, name and rank on the board.
func (p *tab) awaitOverall(rows string) {
	p.t.Helper()
	p.await(`[...document.querySelectorAll(".podium > li, .ranking tbody tr")].map(r => r.querySelector(".rank > span:last-child").innerText + " " + r.querySelector("bdi").innerText + " " + r.querySelector(".overall")?.innerText.replace("Overall ", "")).join("|") === ` + quote(rows))
}

// TestAmongFriends: a player with a token sees only friends and itself, each with its place among them and its rank on the
// board; the address keeps the choice over a reload, and the view follows the scores. Nobody else gets this choice.
func TestAmongFriends(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]screen{"small": {width: 320, height: 700}, "large": desktop(), "dark": desktop().inDark()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, board := admin(t), "among-"+name
			me := "me-" + board
			makeBoard(t, c, board, leaderboard.Rules{Title: "Among"}, append(members(60), leaderboard.Submission{Member: me, Score: 970})...)
			if _, err := c.PutFriends(t.Context(), me, []string{"m002", "m010", "m055", "nobody"}); err != nil {
				t.Fatal(err)
			}
			p := open(t, on, "/boards/"+board+"?mode=tied#token="+tokenOf(t, me, board, time.Hour))
			p.awaitRows("1 m001", "2 m002")
			p.press("Friends")
			p.awaitOverall(fmt.Sprintf("1 m002 2|2 m010 10|3 %s 31|4 m055 56", me))
			p.awaitYou("3 " + me + " You")
			p.awaitText(".about", "61 players, 4 in your circle of friends")
			p.await(`location.search === "?mode=tied&among=friends" && document.querySelector(".podium .step-1").innerText.includes("m002") && !document.querySelector(".race")`)
			p.await(`[...document.querySelectorAll(".podium .you .overall")].filter(e => e.checkVisibility()).map(e => e.innerText).join() === "Overall 31"`)
			p.await(`[...document.querySelectorAll(".ranking td.overall, .ranking small.overall")].filter(e => e.checkVisibility()).map(e => e.innerText).join() === ` + quote(map[bool]string{true: "Overall 56", false: "56"}[name == "small"]))
			p.await(`document.querySelector(".podium .you bdi").getBoundingClientRect().width > 50`)
			p.fits()
			p.accessible()
			submit(t, c, board, "m055", 5000)
			p.awaitOverall(fmt.Sprintf("1 m055 1|2 m002 3|3 m010 11|4 %s 32", me))
			p.do(chromedp.Reload())
			p.await(`document.querySelector(".choices [aria-current][href*=friends]")`)
			p.awaitOverall(fmt.Sprintf("1 m055 1|2 m002 3|3 m010 11|4 %s 32", me))
			p.press("Everybody")
			p.awaitRows("1 m055", "2 m001")
			p.await(`location.search === "?mode=tied" && !document.querySelector(".overall")`)
			eval[bool](p, `history.back() ?? true`)
			p.awaitRows("1 m055", "2 m002")

			anybody := open(t, on, "/boards/"+board+"?among=friends")
			anybody.awaitRows("1 m055", "2 m001")
			anybody.await(`document.querySelector(".state.live") && !document.querySelector(".choices [href*=friends]")`)
		})
	}
}

// TestAmongManyFriends: friends have pages, on which the own entry stays in view. The page says so if a player has no friends.
// After the end of the token it shows everybody, as with a token for other boards.
func TestAmongManyFriends(t *testing.T) {
	t.Parallel()
	const board, me = "among-many", "me-among-many"
	c := admin(t)
	makeBoard(t, c, board, leaderboard.Rules{}, append(members(80), leaderboard.Submission{Member: me, Score: 1})...)
	var friends []string
	for i := range 60 {
		friends = append(friends, fmt.Sprintf("m%03d", i+20))
	}
	if _, err := c.PutFriends(t.Context(), me, friends); err != nil {
		t.Fatal(err)
	}
	token := tokenOf(t, me, board, time.Hour)
	p := open(t, screen{width: 320, height: 700}, "/boards/"+board+"?among=friends&lang=ar#token="+token)
	p.await(`document.querySelector("tfoot .you .rank").innerText.trim() === "61" && document.querySelector("tfoot .overall").innerText === "81"`)
	p.fits()
	p.accessible()
	p.expect("401") // as below
	p = open(t, screen{width: 320, height: 700}, "/boards/"+board+"?among=friends#token="+token)
	p.awaitRows("1 m020", "2 m021")
	p.awaitText(".where", "1–25 of 61")
	p.press("Next")
	p.awaitRows("26 m045")
	p.await(`location.search === "?among=friends&offset=25"`)
	p.click("tfoot .you a")
	p.awaitRows("51 m070")
	p.await(`document.querySelector("tbody .you") && !document.querySelector("tfoot")`)
	p.awaitText(".where", "51–61 of 61")

	p.expect("401")
	endTokens(t, c, me)
	p.awaitText("[role=status]", "Your sign-in has ended")
	p.awaitRows("1 m001")
	p.await(`location.search === "" && !document.querySelector(".problem")`)

	none := open(t, desktop(), "/boards/"+board+"?among=friends#token="+tokenOf(t, "m003", board, time.Hour))
	none.awaitOverall("1 m003 3")
	none.awaitText(".note", "No friends of yours are known here.")

	other := open(t, desktop(), "/boards/"+board+"?among=friends#token="+tokenOf(t, "m004", "other", time.Hour))
	other.expect("403")
	other.awaitRows("1 m001")
	other.await(`!document.querySelector(".choices [href*=friends]")`)
}

// TestParts: the page of a board leads to the pages of its parts, by name in the language of the page, and from there back
// and to others, with scripts and without. A derived board of a country has its own exact ranks.
func TestParts(t *testing.T) {
	t.Parallel()
	c, none := admin(t), int64(0)
	face := &leaderboard.Face{Parts: "country"}
	makeBoard(t, c, "parted", leaderboard.Rules{Title: "Parted", Face: face}, members(30)...)
	makeBoard(t, c, "parted-members-de", leaderboard.Rules{}, members(30)[3:6]...)
	label := func(country string) leaderboard.Labels {
		return leaderboard.Labels{"country": country, leaderboard.PartOf: "parted"}
	}
	for _, country := range []string{"de", "gb"} {
		rules := leaderboard.Rules{Visibility: leaderboard.VisibilityPublic, Face: face, Labels: label(country), Derive: &leaderboard.Derive{
			Op: leaderboard.DeriveOpIntersect, From: []leaderboard.DeriveFrom{{Board: "parted"}, {Board: "parted-members-" + country, Weight: &none}},
		}}
		if _, _, err := c.PutBoard(t.Context(), "parted-"+country, rules); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := c.PutBoard(t.Context(), "parted-hidden", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate, Labels: label("fr")}); err != nil {
		t.Fatal(err)
	}
	options := func(want string) string {
		return `[...document.querySelector(".tools select").options].map(o => o.text).join() === ` + quote(want)
	}
	for name, on := range map[string]screen{"small": {width: 320, height: 700}, "large": {width: 1400, height: 900}} {
		p := open(t, on, "/boards/parted?mode=tied&lang=de")
		p.await(options("Alle,Deutschland,Vereinigtes Königreich"))
		p.fits()
		p.accessible()
		p.choose(".tools select", "parted-de")
		p.await(`location.pathname + location.search === "/boards/parted-de?mode=tied&lang=de"`)
		p.awaitRows("1 m004", "2 m005", "3 m006")
		p.await(options("Alle,Deutschland,Vereinigtes Königreich") + ` && document.querySelector(".tools select").value === "parted-de"`)
		p.choose(".tools select", "parted")
		p.awaitRows("1 m001")
		on.noScript = true
		plain := open(t, on, "/boards/parted-de?mode=tied")
		plain.await(`[...document.querySelectorAll(".periods a")].map(a => a.innerText + (a.ariaCurrent ?? "")).join() === "Everybody,DEtrue,GB" && document.querySelector(".periods a").getAttribute("href") === "/boards/parted?mode=tied"`)
		plain.fits()
		if t.Failed() {
			t.Fatal(name)
		}
	}
}
