package webtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// tokenOf returns a token of a member for a board.
func tokenOf(t *testing.T, member, board string, ttl time.Duration) string {
	t.Helper()
	token, err := admin(t).CreateToken(t.Context(), client.TokenRequest{Member: member, Boards: []string{board}, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return token.Token
}

// awaitYou waits until the marked rows are these: rank and member.
func (p *tab) awaitYou(rows string) {
	p.t.Helper()
	p.await(`[...document.querySelectorAll(".podium .you, .ranking .you")].map(r => r.querySelector(".rank > span:last-child").innerText + " " + r.querySelector("bdi").innerText + " " + r.querySelector(".badge").innerText).join("|") === ` + quote(rows))
}

// TestYou: a token marks the own row, which is pinned when it is on another page, and goes with the member; the address has no token.
func TestYou(t *testing.T) {
	t.Parallel()
	c := admin(t)
	makeBoard(t, c, "you", leaderboard.Rules{Title: "You", Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}}, members(40)...)
	token := tokenOf(t, "m030", "you", time.Hour)
	p := open(t, phone(), "/boards/you?mode=tied#token="+token)
	p.awaitYou("30 m030 You")
	p.await(`document.querySelector("tfoot .you")`)
	p.fits()
	p.accessible()
	if address := eval[string](p, "location.href"); address != running(t).URL+"/boards/you?mode=tied" {
		t.Errorf("the address is %s", address)
	}
	if sent := p.loaded(token); sent != "" {
		t.Errorf("the token is in the address %s", sent)
	}
	p.click("tfoot .you a") // to the own page of the ranking
	p.await(`document.querySelector("tbody .you") && !document.querySelector("tfoot")`)
	p.press("First")
	p.await(`document.querySelector("tfoot .you")`)
	submit(t, c, "you", "m030", 5000)
	p.awaitRows("1 m030", "2 m001")
	p.awaitYou("1 m030 You")
	p.await(`!document.querySelector("tfoot")`)

	// Another address of the same tab: the token is kept, and the shown entries are of the selected window.
	p.visit("/boards/you?window=day&limit=5&mode=strict")
	p.awaitYou("1 m030 You")
	if stored := eval[string](open(t, desktop(), "/boards/you"), `JSON.stringify(sessionStorage)`); stored != "{}" {
		t.Errorf("another tab has %s", stored)
	}
}

// TestYouEnds: a page whose token has ended says so and becomes a public page; a later token of the site around it counts.
func TestYouEnds(t *testing.T) {
	t.Parallel()
	c := admin(t)
	makeBoard(t, c, "ends", leaderboard.Rules{}, members(3)...)
	p := open(t, desktop(), "/boards/ends#token="+tokenOf(t, "m002", "ends", time.Hour))
	p.expect("401")
	p.awaitYou("2 m002 You")
	endTokens(t, c, "m002")
	submit(t, c, "ends", "m003", 5000)
	p.awaitText("[role=status]", "Your sign-in has ended: this is what everybody sees.")
	p.awaitYou("")
	submit(t, c, "ends", "m001", 6000)
	p.awaitRows("1 m001", "2 m003", "3 m002")
	if stored := eval[string](p, `JSON.stringify(sessionStorage)`); stored != "{}" {
		t.Errorf("kept: %s", stored)
	}
	eval[bool](p, `location.hash = "#token=`+tokenOf(t, "m003", "ends", time.Hour)+`", true`)
	p.awaitYou("2 m003 You")
	p.await(`!document.querySelector(".own")`)

	none := open(t, desktop(), "/boards/ends#token=nonsense&member=m001")
	none.expect("401")
	none.awaitText(".own", "Your sign-in has ended")
	none.awaitRows("1 m001")
}

// endTokens ends the tokens of a member.
func endTokens(t *testing.T, c *client.Client, member string) {
	t.Helper()
	if _, err := c.BarMember(t.Context(), member); err != nil {
		t.Fatal(err)
	}
}

// TestYouInFrame: a site shows the small page with its player marked. No other test ends the tokens of this member.
func TestYouInFrame(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "framedyou", leaderboard.Rules{}, members(30)...)
	here := running(t).URL
	frame := here + "/boards/framedyou?embed=1#token=" + tokenOf(t, "m021", "framedyou", time.Hour)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<link rel="icon" href="data:,"><iframe src="`+frame+`" width="320" height="600"></iframe>`)
	}))
	t.Cleanup(site.Close)
	p := openURL(t, desktop(), site.URL)
	p.expect("request to " + here)
	for end := time.Now().Add(maxWait); p.loaded("/v1/boards/framedyou/members/m021") == ""; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the page in the frame does not ask for its player")
		}
	}
	small := open(t, screen{width: 320, height: 500}, strings.TrimPrefix(frame, here))
	small.awaitYou("21 m021 You")
	small.fits()
}

// TestYouOnPrivateBoard: where the rules let players read, a private board shows a player the own entry and its neighbours;
// anybody else, and a player whose token has ended, sees that there is no public board.
func TestYouOnPrivateBoard(t *testing.T) {
	t.Parallel()
	c := admin(t)
	rules := leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate, Players: &leaderboard.Players{Read: true}}
	if _, _, err := c.PutBoard(t.Context(), "secret", rules); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Submit(t.Context(), "secret", members(30)); err != nil {
		t.Fatal(err)
	}
	token := tokenOf(t, "m020", "secret", time.Hour)
	p := open(t, desktop(), "/boards/secret#token="+token)
	p.expect("404") // of the page itself
	p.expect("401")
	p.awaitRows("15 m015", "16 m016", "17 m017", "18 m018", "19 m019", "20 m020")
	p.awaitYou("20 m020 You")
	p.awaitText(".about", "30 players")
	p.accessible()
	submit(t, c, "secret", "m020", 5000)
	p.awaitRows("1 m020", "2 m001")

	fresh := open(t, desktop(), "/boards/secret#token="+tokenOf(t, "nobody", "secret", time.Hour))
	fresh.expect("404")
	fresh.awaitText("[role=status]", "You have no entry here yet.")

	endTokens(t, c, "m020")
	p.awaitText("[role=status]", "Your sign-in has ended")
	p.awaitYou("")
	for address, text := range map[string]string{"#token=" + token: "Your sign-in has ended", "": "There is no public board of this name.", "#token=" + tokenOf(t, "m020", "you", time.Hour): "There is no public board of this name."} {
		q := open(t, desktop(), "/boards/secret"+address)
		q.expect("404")
		q.expect("401")
		q.awaitText("main", text)
		q.awaitText("main", "There is no public board of this name.")
		q.awaitYou("")
	}
}

// TestSharedLink: who opens a link to a member sees the member and an empty search, and is nobody: not on this visit, nor on the next one. Only
// the button makes the reader a member.
func TestSharedLink(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "shared-link", leaderboard.Rules{}, members(60)...)
	for name, on := range map[string]screen{"small": {width: 320, height: 640}, "large": desktop()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, on, "/boards/shared-link?member=m023")
			p.awaitText(".person", "m023")
			p.awaitText(".person", "23rd of 60")
			p.await(`document.querySelector("#member").value === ""`)
			p.press("Find yourself")
			p.await(`document.activeElement === document.querySelector("#member")`)
			p.fits()
			p.accessible()
			p.visit("/boards/shared-link")
			if !eval[bool](p, `localStorage.length === 0`) {
				t.Error("the device keeps who was shown")
			}
			p.await(`document.querySelector(".state.live")`)
			p.awaitRows("1 m001")
			p.awaitYou("")
			p.await(`!document.querySelector(".mine")`)
			eval[bool](p, `history.back() ?? true`)
			p.press("This is me")
			p.awaitYou("23 m023 You")
			p.await(`!document.querySelector(".found .else")`)
		})
	}
	plain := open(t, screen{width: 390, height: 844, noScript: true}, "/boards/shared-link?member=m023")
	plain.awaitText(".person", "23rd of 60")
	plain.await(`document.querySelector("#member").value === ""`)
}

// TestRemembered: a device remembers whose row is marked, by a button, says how far it has moved since the last visit, and forgets it. Looking
// for somebody else changes nothing of that.
func TestRemembered(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]screen{"small": {width: 320, height: 600}, "large": {width: 1400, height: 900}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, board := admin(t), "remembered-"+name
			makeBoard(t, c, board, leaderboard.Rules{}, members(60)...)
			p := open(t, on, "/boards/"+board+"?member=m030")
			p.expect("404") // of who is not there
			p.press("This is me")
			p.awaitYou("30 m030 You")
			p.awaitText(".mine", "m030 is you on this device, 30 of 60")
			eval[bool](p, `(document.querySelector(".ranking").scrollIntoView(), true)`)
			p.await(`document.querySelector("tfoot .you td").getBoundingClientRect().bottom <= innerHeight`) // at the edge, while its place is below that
			if !eval[bool](p, `document.querySelector(".ranking").getBoundingClientRect().bottom > innerHeight`) {
				t.Error("the whole table fits, so nothing is pinned")
			}
			p.fits()
			p.accessible()
			p.press("Next")
			p.awaitRows("26 m026")
			p.await(`document.querySelector("tbody .you") && !document.querySelector("tfoot")`)
			p.press("Next")
			p.await(`document.querySelector(".ahead .you")`) // it is on a page before this one
			p.visit("/")                                     // who looks at the board sees each move, and has seen it
			submit(t, c, board, "m030", 986)
			p.visit("/boards/" + board)
			p.awaitText(".mine", "▲ Up 14 since your last visit")
			p.awaitYou("16 m030 You")
			p.fill("#member", "nobody")
			p.press("Find")
			p.awaitText(".note", "Nobody here has a name that begins with nobody.")
			p.fill("#member", "m002")
			p.press("Find")
			p.awaitText(".person", "2nd of 60")
			p.awaitYou("16 m030 You")
			p.press("This is me")
			p.awaitYou("2 m002 You")
			p.await(`JSON.parse(localStorage.getItem("me ` + board + `")).member === "m002"`)
			p.press("Forget me")
			p.awaitYou("")
			p.await(`localStorage.getItem("me ` + board + `") === null`)
		})
	}
}

// TestNeighboursInFrame: a frame that names a member shows its neighbours and follows it, and the top as long as it has no entry.
func TestNeighboursInFrame(t *testing.T) {
	t.Parallel()
	c := admin(t)
	makeBoard(t, c, "neighbours", leaderboard.Rules{}, members(60)...)
	p := open(t, screen{width: 320, height: 500}, "/boards/neighbours?embed=1&member=m030&limit=5")
	p.awaitRows("28 m028", "29 m029", "30 m030", "31 m031", "32 m032")
	p.awaitText(".ranking [aria-current]", "m030")
	p.fits()
	submit(t, c, "neighbours", "m030", 5000)
	p.awaitRows("1 m030", "2 m001", "3 m002", "4 m003", "5 m004")
	none := open(t, screen{width: 320, height: 500}, "/boards/neighbours?embed=1&member=newcomer&limit=5")
	none.expect("404")
	none.awaitRows("1 m030", "2 m001")
	submit(t, c, "neighbours", "newcomer", 6000)
	none.awaitRows("1 newcomer", "2 m030")
}
