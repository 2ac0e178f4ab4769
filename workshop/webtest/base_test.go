package webtest

import (
	"net/url"
	"strings"
	"testing"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/leaderboard"
)

// TestBasePath: a server below a path has pages that work, with scripts and without, follow the board, and ask for nothing that is not
// below it.
func TestBasePath(t *testing.T) {
	t.Parallel()
	d, err := apptest.StartDev("../..", "--members", "100", "--base-path", "/games")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	})
	if !strings.HasSuffix(d.URL, "/games") {
		t.Fatalf("the server says that it is at %s", d.URL)
	}
	c, err := client.New(d.URL, client.WithKey(d.Key))
	if err != nil {
		t.Fatal(err)
	}
	makeBoard(t, c, "below", leaderboard.Rules{Labels: leaderboard.Labels{"kind": "below"}}, members(60)...)
	opened := func(s screen, path string) *tab {
		p := openURL(t, s, d.URL+path)
		t.Cleanup(func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			for address := range p.answers {
				if u, err := url.Parse(address); err == nil && strings.HasPrefix(u.Scheme, "http") && !strings.HasPrefix(u.Path, "/games/") {
					t.Errorf("a page asks for %s", address)
				}
			}
		})
		return p
	}
	// Every link of the page is below the path, too.
	below := `[...document.querySelectorAll("[href], [src], [action]")].map(e => e.getAttribute("href") ?? e.getAttribute("src") ?? e.getAttribute("action")).filter(a => a.startsWith("/") && !a.startsWith("/games/")).join() === ""`

	p := opened(desktop(), "/boards/below")
	p.awaitText(".state.live", "Live")
	p.await(below)
	if _, err := c.Submit(t.Context(), "below", []leaderboard.Submission{{Member: "newcomer", Score: 999_999}}); err != nil {
		t.Fatal(err)
	}
	p.awaitText(".ranks", "newcomer")
	p.click(`.turn a[rel="next"]`)
	p.await(`location.pathname === "/games/boards/below" && location.search === "?offset=25"`)
	p.awaitText(".where", "26–50")
	eval[bool](p, `(document.querySelector(".ranking a").click(), true)`) // rows move, and a mouse may miss
	p.awaitText(".found h2", "m0")
	p.await(below)
	p.click(`.languages a[lang="de"]`)
	p.awaitText(".found", "Spieler suchen")
	p.await(`location.pathname === "/games/boards/below"`)
	p.click(".brand")
	p.awaitText("h1", "Bestenlisten")
	p.await(`document.querySelector(".cards") && ` + below)

	picture := opened(desktop(), "/boards/below")
	picture.await(`document.querySelector("meta[property='og:image']").content === location.origin + "/games/boards/below/picture.png"`)
	picture.await(`fetch("/games/boards/below/picture.png").then(r => r.ok && r.headers.get("Content-Type") === "image/png")`)

	plain := desktop()
	plain.noScript = true
	plainPage := opened(plain, "/boards/below?lang=fr")
	plainPage.awaitText(".ranks", "newcomer")
	plainPage.await(below)

	docs := opened(desktop(), "/docs/start")
	docs.awaitText("h1", "")
	docs.await(below)
	docs.click(`nav a[href="/games/docs/boards"]`)
	docs.await(`location.pathname === "/games/docs/boards" && ` + below)

	console := opened(desktop(), "/console")
	console.signIn(d.Key)
	console.awaitText("body", "below")
	console.await(below)
}
