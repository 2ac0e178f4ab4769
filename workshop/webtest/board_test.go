package webtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// members returns n of them, the first with the highest score.
func members(n int) []leaderboard.Submission {
	out := make([]leaderboard.Submission, n)
	for i := range out {
		out[i] = leaderboard.Submission{Member: fmt.Sprintf("m%03d", i+1), Score: int64(1000 - i)}
	}
	return out
}

func submit(t *testing.T, c *client.Client, board, member string, score int64) {
	t.Helper()
	if _, err := c.Submit(t.Context(), board, []leaderboard.Submission{{Member: member, Score: score}}); err != nil {
		t.Fatal(err)
	}
}

// awaitRows waits until the ranking is these cells: ranks and members, as in "1 ada".
func (p *tab) awaitRows(rows ...string) {
	p.t.Helper()
	p.await(`[...document.querySelectorAll(".podium > li, .ranking tbody tr")].map(r => r.querySelector(".rank > span:last-child").innerText + " " + r.querySelector("bdi").innerText).join("|").startsWith(` + quote(strings.Join(rows, "|")) + `)`)
}

// ties chooses how equal scores are numbered, in the menu, which is shut before and after that.
func (p *tab) ties(words string) {
	p.t.Helper()
	const link = `[...document.querySelectorAll(".menu a")].find(e => e.textContent === `
	p.await(`!` + link + quote(words) + `).checkVisibility()`)
	p.press("More choices")
	p.await(`(() => { const e = ` + link + quote(words) + `); if (!e.checkVisibility()) return false; e.click(); return true })()`)
	p.await(`!document.querySelector(".menu[open]")`)
}

// TestRowMoves: a new score moves its row on the open page, and a board that is deleted is said to be gone.
func TestRowMoves(t *testing.T) {
	t.Parallel()
	c := admin(t)
	makeBoard(t, c, "moves", leaderboard.Rules{Title: "Moves"}, members(3)...)
	p := open(t, desktop(), "/boards/moves")
	p.awaitRows("1 m001", "2 m002", "3 m003")
	p.awaitText(".state.live", "Live")
	eval[bool](p, `window.row = [...document.querySelectorAll(".podium > li")].at(-1), true`)
	submit(t, c, "moves", "m003", 9223372036854775807)
	p.awaitRows("1 m003", "2 m001", "3 m002")
	p.awaitText(".podium .score", "9,223,372,036,854,775,807")
	p.await(`document.querySelector(".podium > li") === window.row`) // it moved, it is still the same row
	submit(t, c, "moves", "new", 9007199254740993)
	p.awaitRows("1 m003", "2 new", "3 m001")
	p.awaitText(".podium .score", "9,007,199,254,740,993")
	p.awaitText(".about", "4 players")
	if err := c.DeleteBoard(t.Context(), "moves"); err != nil {
		t.Fatal(err)
	}
	p.awaitText("[role=alert]", "no public board of this name any more")
}

// TestArrows: a row has an arrow when its member has moved between two states of one page, for a while. Other pages,
// windows, modes, and members that are looked for, move no row.
func TestArrows(t *testing.T) {
	t.Parallel()
	c := admin(t)
	rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}}
	makeBoard(t, c, "arrows", rules, members(60)...)
	p := open(t, desktop(), "/boards/arrows")
	p.awaitRows("1 m001")
	// Rows that are lit or have an arrow at any time are recorded.
	eval[bool](p, `(() => {
		window.arrows = new Set(); window.lit = new Set()
		new MutationObserver(() => document.querySelectorAll(".moved").forEach(m => arrows.add(m.innerText + " " + m.closest("li, tr").querySelector("bdi").innerText)))
			.observe(document.querySelector(".ranks"), {childList: true, subtree: true, characterData: true})
		const animate = Element.prototype.animate
		Element.prototype.animate = function (frames, ...rest) {
			if (frames[0]?.backgroundColor) lit.add(this.querySelector("bdi").innerText)
			return animate.call(this, frames, ...rest)
		}
		return true
	})()`)
	for _, step := range [][2]string{{"Next", "26 m026"}, {"Next", "51 m051"}, {"Previous", "26 m026"}, {"First", "1 m001"}, {"Day", "1 m001"}, {"They share a rank 1, 2, 2, 4", "1 m001"}, {"Next", "26 m026"}, {"All time", "1 m001"}} {
		if strings.Contains(step[0], "rank") {
			p.ties(step[0])
		} else {
			p.press(step[0])
		}
		p.awaitRows(step[1])
	}
	p.await(`location.search === "?window=all_time&mode=tied"`)
	p.fill("#member", "m030")
	p.press("Find")
	p.awaitText(".person", "30th")
	// The next change shows that the page has come to rest: all rows that the steps light are lit.
	submit(t, c, "arrows", "m003", 5000)
	p.awaitRows("1 m003", "2 m001")
	p.await(`document.querySelector(".moved")`)
	if got := eval[string](p, `[...arrows].join() + "; " + [...lit].join()`); got != "▲2 m003; m003" {
		t.Errorf("arrows, and rows that were lit: %s; want that of m003", got)
	}
	// A board that keeps changing keeps no arrow for that.
	eval[bool](p, `(() => { const ended = setInterval(() => { if (!document.querySelector(".step-1 .moved")) { clearInterval(ended); window.faded = true } }, 50); return true })()`)
	for score := int64(1); !eval[bool](p, "!!window.faded"); score++ {
		submit(t, c, "arrows", "m010", 100+score)
		submit(t, c, "arrows", "m020", 991-score%2)
		if score > 2000 {
			t.Fatal("the arrow stays")
		}
	}
	p.press("Next")
	p.awaitRows("26 m026")
	p.await(`!document.querySelector(".moved")`)
}

// TestWindowsAndModes: a choice is shown, is in the address, and is undone by the browser's back button.
func TestWindowsAndModes(t *testing.T) {
	t.Parallel()
	c := admin(t)
	rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}}
	makeBoard(t, c, "choices", rules, leaderboard.Submission{Member: "a", Score: 9}, leaderboard.Submission{Member: "b", Score: 9}, leaderboard.Submission{Member: "c", Score: 5})
	p := open(t, desktop(), "/boards/choices")
	p.awaitRows("1 a", "2 b", "3 c")
	p.ties("They share a rank 1, 2, 2, 4")
	p.awaitRows("1 a", "1 b", "3 c")
	p.ties("They share a rank, and no rank is left out 1, 2, 2, 3")
	p.awaitRows("1 a", "1 b", "2 c")
	p.await(`location.search === "?mode=dense"`)
	p.press("Day")
	p.await(`location.search === "?window=day&mode=dense"`)
	p.awaitText(".tools option", "now")
	p.awaitText(".ends", "ends")
	eval[bool](p, `history.go(-2) ?? true`)
	p.awaitRows("1 a", "1 b", "3 c")
	p.awaitText(".menu [aria-current]", "They share a rank 1, 2, 2, 4")
	submit(t, c, "choices", "c", 7) // the stream is for the shown window
	p.await(`[...document.querySelectorAll(".podium .score")].at(-1).innerText === "7"`)
	p.ties("Who was first is ahead 1, 2, 3, 4") // the board's own way
	p.await(`location.search === ""`)
}

// TestPastPeriod: a period that is over is chosen from the list, and said to be over.
func TestPastPeriod(t *testing.T) {
	t.Parallel()
	p := open(t, desktop(), "/boards/demo?window=day")
	p.await(`document.querySelectorAll(".tools option").length > 2`)
	p.choose(".tools select", eval[string](p, `document.querySelectorAll(".tools option")[2].value`))
	p.awaitText(".state", "Over; as of")
	p.awaitText(".ends", "ended")
	p.await(`location.search.includes("period=20")`)
}

// TestFindMember: rank, place, neighbours and past of a member, by its id, by a click, and by the address.
func TestFindMember(t *testing.T) {
	t.Parallel()
	c := admin(t)
	rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}}
	makeBoard(t, c, "finds", rules, members(60)...)
	p := open(t, desktop(), "/boards/finds")
	p.fill("#member", "m050")
	p.press("Find")
	p.awaitText(".person", "50th of 60")
	p.awaitText(".figures", "951")
	p.awaitText(".figures", "To rank 49")
	p.awaitText(".around", "m047")
	p.await(`document.querySelectorAll(".found .plot svg").length === 1`)
	p.awaitText(".found details", "951")
	p.await(`location.search === "?member=m050"`)
	submit(t, c, "finds", "m050", 5000)
	p.awaitText(".person", "1st of 60, top 2 %")
	p.awaitText(".since", "▲ Up 49 since the last score")
	p.press("show in the ranking")
	p.awaitText(".ranks [aria-current]", "m050")
	p.fill("#member", "nobody")
	p.press("Find")
	p.awaitText(".note", "Nobody with a score in this period has a name that begins with nobody.")
	p.press("Close")
	p.await(`location.search === ""`)
	for id, name := range map[string]string{"m041": "Ada Lovelace", "m042": "Ada Byron"} {
		if _, _, err := c.PutProfile(t.Context(), id, client.ProfileFields{DisplayName: name}); err != nil {
			t.Fatal(err)
		}
	}
	p.fill("#member", "ADA L")
	p.press("Find")
	p.await(`location.search === "?member=m041"`) // the only link with this name
	p.awaitText(".person", "Ada Lovelace")
	eval[bool](p, `(() => { window.addresses = []; for (const of of ["pushState", "replaceState"]) { const is = history[of]; history[of] = function (...to) { addresses.push(to[2]); return is.apply(this, to) } } return true })()`)
	p.fill("#member", "ada")
	p.press("Find")
	p.awaitText(".note", "Names with ada:")
	p.await(`document.querySelector(".named").innerText.includes("42nd")`)
	p.accessible()
	p.press("Ada Byron")
	p.await(`location.search === "?member=m042" && document.querySelector(".person").innerText.includes("Ada Byron")`)
	p.press("Close")
	p.fill("#member", "ada b")
	p.press("Find")
	p.await(`location.search === "?member=m042"`)
	if named := eval[string](p, `addresses.filter(a => !/^\/boards\/finds(\?member=m04[12])?$/.test(a)).join()`); named != "" {
		t.Errorf("an address holds what was typed: %s", named)
	}
	open(t, desktop(), "/boards/finds?member=ada%20l").await(`location.search === "?member=m041"`)
	plain := desktop()
	plain.noScript = true
	open(t, plain, "/boards/finds?member=ada%20l").await(`location.search === "?member=m041"`)
	p.press("Close")
	p.click(".podium > li:nth-child(3) a")
	p.awaitText(".person", "3rd of 60")
	again := open(t, phone(), "/boards/finds?member=m060")
	again.awaitText(".person", "60th of 60")
	again.fits()
	lines := open(t, phone(), "/boards/demo?member=lucky-ibex-8")
	lines.awaitText(".found", "Scores")
	if out := eval[[]string](lines, `[...document.querySelectorAll(".found .plot")].flatMap(plot => [...plot.querySelectorAll("text")].filter(e => {
		const text = e.getBoundingClientRect(), room = plot.getBoundingClientRect()
		return text.left < room.left || text.right > room.right
	}).map(e => e.textContent))`); len(out) > 0 {
		t.Errorf("cut at the edge of a plot: %q", out)
	}
}

// TestHistogram: all bars of a histogram are whole, an outlier does not squeeze all others into one bar and is described in
// words, and the labels of the axis can be read, for scores of any size.
func TestHistogram(t *testing.T) {
	t.Parallel()
	c := admin(t)
	spread := func(n int, from, step int64) []leaderboard.Submission {
		out := make([]leaderboard.Submission, n)
		for i := range out {
			out[i] = leaderboard.Submission{Member: fmt.Sprintf("m%03d", i), Score: from + int64(i)*step}
		}
		return out
	}
	one := func(score int64) leaderboard.Submission {
		return leaderboard.Submission{Member: fmt.Sprintf("far%d", score), Score: score}
	}
	for name, scores := range map[string][]leaderboard.Submission{
		"plain":  spread(60, 1000, 37),
		"small":  spread(3, -1, 1),
		"whole":  spread(60, -9223372036854775807, 312000000000000000),
		"last":   spread(60, 9223372036854770000, 7),
		"digits": spread(60, 1234000, 1),
		"above":  append(spread(60, 1000, 37), one(9223372036854775807)),
		"below":  append(spread(9, 1000, 37), one(-7500000000000000000)),
	} {
		board := "histogram-" + name
		makeBoard(t, c, board, leaderboard.Rules{}, scores...)
		for _, width := range []int64{1400, 320} {
			t.Run(fmt.Sprint(name, " ", width), func(t *testing.T) {
				t.Parallel()
				p := open(t, screen{width: width, height: 900}, "/boards/"+board)
				p.await(`document.querySelectorAll(".plot rect").length > 2`)
				type drawn struct {
					Bars, Whole, Filled int
					Labels              []string
					Faults              []string
				}
				got := eval[drawn](p, `(() => {
					const box = e => e.getBoundingClientRect(), plot = document.querySelector(".plot svg"), frame = document.querySelector(".plot")
					const bars = [...plot.querySelectorAll("rect")], labels = [...plot.querySelectorAll("text:not(.side)")], faults = []
					const inside = (e, of) => box(e).left >= box(of).left - .1 && box(e).right <= box(of).right + .1
					for (const t of plot.querySelectorAll("text")) if (!inside(t, frame)) faults.push("outside: " + t.textContent)
					labels.forEach((t, i) => i > 0 && box(t).left < box(labels[i-1]).right + 2 && faults.push("overlaps: " + t.textContent))
					const widest = Math.max(...bars.map(b => box(b).width))
					return {Bars: bars.length, Whole: bars.filter(b => inside(b, plot) && box(b).width > .99 * widest).length,
						Filled: bars.filter(b => box(b).height > 1).length, Labels: labels.map(t => t.textContent), Faults: faults}
				})()`)
				t.Logf("%+v", got)
				if got.Whole != got.Bars || got.Filled < min(8, len(scores)) || len(got.Labels) < 2 || len(got.Faults) > 0 {
					t.Errorf("%+v", got)
				}
				switch name {
				case "above":
					p.awaitText(".cut", "1 player has more, up to 9,223,372,036,854,775,807.")
				case "below":
					p.awaitText(".cut", "1 player has less, down to -7,500,000,000,000,000,000.")
				default:
					p.await(`!document.querySelector(".cut")`)
				}
				p.fits()
				p.accessible()
			})
		}
	}
}

// TestTurnPages: deeper than the top by pages, and straight to a rank.
func TestTurnPages(t *testing.T) {
	t.Parallel()
	c := admin(t)
	makeBoard(t, c, "turns", leaderboard.Rules{}, members(60)...)
	p := open(t, desktop(), "/boards/turns")
	p.awaitRows("1 m001")
	p.press("Next")
	p.awaitRows("26 m026")
	p.await(`location.search === "?offset=25"`)
	p.awaitText(".where", "26–50 of 60")
	p.press("Last")
	p.awaitRows("51 m051")
	p.press("First")
	p.awaitRows("1 m001")
	p.fill(".turn input", "30")
	p.press("Go")
	p.awaitRows("26 m026")
	eval[bool](p, `history.back() ?? true`)
	p.awaitRows("1 m001")
}

// TestWithoutScripts: the plain page has the same ranking, and links for the rest.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	c := admin(t)
	rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}}
	makeBoard(t, c, "plain", rules, members(30)...)
	s := phone()
	s.noScript = true
	p := open(t, s, "/boards/plain")
	p.awaitText(".ranking", "m025")
	p.fits()
	p.click("a[rel=next]")
	p.awaitText(".ranking", "m030")
	p.click(".choices a[href*=day]")
	p.awaitText(".periods", "20")
	p.fill("#member", "m030")
	p.click(".find button")
	p.awaitText(".around", "m027")
	p.awaitText(".figures", "971")
}

// TestEmbed: the small page stands in a frame of another site, and no other page does.
func TestEmbed(t *testing.T) {
	t.Parallel()
	c := admin(t)
	makeBoard(t, c, "framed", leaderboard.Rules{}, members(30)...)
	p := open(t, screen{width: 320, height: 500}, "/boards/framed?embed=1&transparent=1&theme=dark")
	p.awaitRows("1 m001")
	submit(t, c, "framed", "m030", 5000)
	p.awaitRows("1 m030")
	p.fits()
	p.await(`!document.querySelector("form, nav, header") && getComputedStyle(document.documentElement).backgroundColor === "rgba(0, 0, 0, 0)"`)
	p.await(`document.querySelectorAll(".ranking tbody tr").length === 10`)

	here := running(t).URL
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<link rel="icon" href="data:,"><iframe src="`+here+`/boards/framed`+map[bool]string{true: "?embed=1"}[r.URL.Path == "/embed"]+`" onload="document.title = 'framed'"></iframe>`)
	}))
	t.Cleanup(site.Close)
	framed := openURL(t, desktop(), site.URL+"/embed")
	framed.expect("request to " + here)
	framed.await(`document.title === "framed"`)
	whole := openURL(t, desktop(), site.URL+"/whole")
	whole.expect("request to " + here)
	whole.expect("frame-ancestors")
	whole.awaitFault("frame-ancestors")
}

// TestNotThere: who follows a link to a board that is not there, or not public, sees that.
func TestNotThere(t *testing.T) {
	t.Parallel()
	c := admin(t)
	if _, _, err := c.PutBoard(t.Context(), "private", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"private", "absent"} {
		p := open(t, desktop(), "/boards/"+name)
		p.expect("404")
		p.awaitText("main", "There is no public board of this name.")
	}
}

// TestHome: a card moves to the latest event, and leads to its board, whose labels lead back where other boards have them.
func TestHome(t *testing.T) {
	t.Parallel()
	c := admin(t)
	rules := leaderboard.Rules{Title: "A card of its own", Labels: leaderboard.Labels{"kind": "card", "only": "here"}}
	makeBoard(t, c, "card", rules, members(4)...)
	makeBoard(t, c, "card-too", leaderboard.Rules{Labels: leaderboard.Labels{"kind": "card"}}, members(1)...)
	p := open(t, desktop(), "/?labels=kind:card")
	p.awaitText(".card", "4 players")
	submit(t, c, "card", "m004", 5000)
	p.awaitText(".leaders li:first-child", "m004")
	p.click(".card h2 a")
	p.awaitRows("1 m004")
	if shown := p.text(".labels"); shown != "kind: card" {
		t.Errorf("labels %q: one of them leads to other boards", shown)
	}
	p.press("kind: card")
	p.awaitText(".card", "A card of its own")
}

// TestNamesFit: names in all scripts, long ones and hostile ones are text that stays in its place, on every page that
// shows them.
func TestNamesFit(t *testing.T) {
	t.Parallel()
	c := admin(t)
	scores := members(2)
	for i, name := range []string{strings.Repeat("W", 64), "محمد بن موسى الخوارزمي", "דנה כהן", strings.Repeat("世界", 10), "👩‍👩‍👧‍👦🏳️‍🌈", `<img src="http://other.example/y" onerror="throw 1">`, "{{7*7}}${7*7}", "Z\u0335\u0322a\u0337\u0321l\u0336go"} {
		scores = append(scores, leaderboard.Submission{Member: name, Score: 9e18 - int64(i)})
		if _, _, err := c.PutProfile(t.Context(), name, client.ProfileFields{DisplayName: name + `<b>"'&`, AvatarURL: "http://other.example/avatar.svg"}); err != nil {
			t.Fatal(err)
		}
	}
	const title = `<script>throw 1</script> كأس العالم ` // and a long word
	rules := leaderboard.Rules{Title: title + strings.Repeat("x", 100), Labels: leaderboard.Labels{"kind": "names"}, Windows: []leaderboard.Window{leaderboard.WindowDay, leaderboard.WindowAllTime}}
	makeBoard(t, c, "names", rules, scores...)
	for name, s := range screens() {
		for _, path := range []string{"/boards/names?member=" + strings.Repeat("W", 64), "/boards/names?embed=1", "/?labels=kind:names"} {
			t.Run(name+" "+path[:12], func(t *testing.T) {
				t.Parallel()
				p := open(t, s, path)
				p.awaitText("h1, h2", title)
				p.awaitText("bdi", `<b>"'&`)
				if strings.Contains(path, "member") {
					p.await(`document.querySelector(".found .plot svg")`)
				}
				// A phone zooms out of content that is too wide, so the window is no measure.
				p.await(`document.documentElement.scrollWidth <= document.documentElement.clientWidth`)
				p.accessible()
			})
		}
	}
}

// TestTitleOnPhones: the title of the site is on one line on the smallest screen, in the language with the longest one too.
func TestTitleOnPhones(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "titled", leaderboard.Rules{}, members(3)...)
	for _, path := range []string{"/boards/titled", "/?labels=kind:titled", "/boards/titled?lang=de"} {
		small := open(t, screen{width: 320, height: 700}, path)
		small.await(`document.querySelector(".brand bdi").getBoundingClientRect().height < 30`)
	}
}

// TestNewRowsHaveNames: where members have names, a row that comes up never shows an id before its name, however often
// profiles were requested recently; a member without a name is shown by its id in the end.
func TestNewRowsHaveNames(t *testing.T) {
	t.Parallel()
	c, board := admin(t), "new-rows"
	name := func(member string) {
		if _, _, err := c.PutProfile(t.Context(), member, client.ProfileFields{DisplayName: "Name of " + member}); err != nil {
			t.Fatal(err)
		}
	}
	name("named-0")
	makeBoard(t, c, board, leaderboard.Rules{}, leaderboard.Submission{Member: "named-0", Score: 1})
	p := open(t, desktop(), "/boards/"+board)
	p.awaitRows("1 Name of named-0")
	eval[bool](p, `(() => { window.shown = []; new MutationObserver(() => shown.push(...[...document.querySelectorAll(".ranking bdi")].map(e => e.textContent))).observe(document.querySelector("main"), {subtree: true, childList: true, characterData: true}); return true })()`)
	for i := 1; i <= 3; i++ {
		member := fmt.Sprint("named-", i)
		name(member)
		submit(t, c, board, member, int64(i+1))
		p.awaitRows(fmt.Sprint("1 Name of ", member))
	}
	submit(t, c, board, "plain", 99)
	p.awaitRows("1 plain", "2 Name of named-3")
	if shown := eval[string](p, `shown.filter(t => t.startsWith("named-")).join(" ")`); shown != "" {
		t.Errorf("ids were shown: %s", shown)
	}
}

// TestShare: the button Share has the picture of the shown entries and copies its address, which names the member and not
// the reader; Escape shuts the menu, and leads back to its button.
func TestShare(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "shares", leaderboard.Rules{Title: "Shares"}, members(30)...)
	for name, s := range map[string]screen{"small": {width: 320, height: 640}, "large": desktop(), "dark": phone().inDark()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, s, "/boards/shares?member=m023&mode=tied#token=x.y&member=m001")
			p.expect("401") // the error of the token, which is invalid
			p.awaitText(".person", "m023")
			eval[bool](p, `(() => { window.copied = ""; Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { copied = text }}}); return true })()`)
			p.press("Share")
			p.await(`document.querySelector(".share img")?.naturalWidth === 1200`)
			p.await(`new URL(document.querySelector(".share a[download]").href).search === "?mode=tied&member=m023"`)
			p.press("Copy the link")
			p.awaitText(".share button", "Copied")
			if copied := eval[string](p, "copied"); copied != running(t).URL+"/boards/shares?mode=tied&member=m023" {
				t.Errorf("copied: %s", copied)
			}
			p.fits()
			p.accessible()
			p.do(chromedp.KeyEvent(kb.Escape))
			p.await(`!document.querySelector(".menu[open]") && document.activeElement === document.querySelector(".menu summary")`)
		})
	}
}
