package webtest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// menuIsOpen and its opposite, as people see it.
const (
	menuIsOpen = "document.querySelector('#menu').checkVisibility()"
	menuFolded = "!" + menuIsOpen
)

// TestManualMenu: on a phone the text comes first and the menu when it is asked for, without scripts too.
func TestManualMenu(t *testing.T) {
	t.Parallel()
	for name, noScript := range map[string]bool{"script": false, "no script": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := phone()
			s.noScript = noScript
			p := open(t, s, "/docs")
			p.await(menuFolded)
			if top := eval[float64](p, "document.querySelector('h1').getBoundingClientRect().top"); top > 150 {
				t.Errorf("the first heading is %.0f px down", top)
			}
			p.press("Menu")
			p.await(menuIsOpen)
			p.click("#menu a[href='#getTop']")
			p.await(menuFolded)
			p.await("location.hash === '#getTop' && Math.abs(document.querySelector('#getTop').getBoundingClientRect().top) < 200")
		})
	}
}

// TestManualSearch: words find a request, and Enter goes there.
func TestManualSearch(t *testing.T) {
	t.Parallel()
	p := open(t, desktop(), "/docs")
	p.do(chromedp.KeyEvent("/"))
	p.await("document.activeElement.id === 'search-input'")
	p.fill("#search-input", "around member")
	p.awaitText("#found-0", "/v1/boards/{board}/members/{member}/around")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.await("location.hash === '#getAround' && document.querySelector('#results').hidden")
	p.fill("#search-input", "not-ranked")
	p.awaitText("#found-0", "not-ranked")
	p.fill("#search-input", "no such words anywhere")
	p.awaitText("#results", "Nothing")
}

// TestManualSearchesAll: on any page words find a request of the API and a document, by synonyms too, and lead there.
func TestManualSearchesAll(t *testing.T) {
	t.Parallel()
	p := open(t, desktop(), "/docs/boards")
	p.do(chromedp.KeyEvent("/"))
	p.await("document.activeElement.id === 'search-input'")
	p.fill("#search-input", "leaderboarddown")
	p.awaitText("#found-0", "LeaderboardDown")
	p.fill("#search-input", "reset") // a board, or a name: headings come before problems
	p.await(`(() => { const found = [...document.querySelectorAll('#results li')].map(li => li.firstChild.textContent + ', ' + li.lastChild.textContent);
		const at = t => { const i = found.findIndex(f => f.startsWith(t)); return i < 0 ? found.length : i };
		return at('Seasons and campaigns') < at('name-reset, problem') && at("Take a member's name away") < at('name-reset, problem') })()`)
	p.fill("#search-input", "ban player")
	p.awaitText("#results", "hidden")
	for question, title := range map[string]string{
		"weekly": "calendar windows", "ELO": "conditions", "rename": "Names and pictures", "rate limit": "Quotas", "timezone": "calendar windows",
	} {
		p.fill("#search-input", question)
		p.awaitText("#results", title)
	}
	p.fill("#search-input", "around member")
	p.awaitText("#found-0", "/v1/boards/{board}/members/{member}/around")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.await("location.pathname === '/docs' && location.hash === '#getAround' && document.querySelector('#search-input')")
	p.fill("#search-input", "replace a member")
	p.awaitText("#found-0", "Replace a member")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.await("location.pathname === '/docs/failover' && location.hash === '#replace-a-member'")
	p.accessible()
}

// TestManualCopies: copied text has the server and the key that the reader gave; the page shows the key nowhere.
func TestManualCopies(t *testing.T) {
	t.Parallel()
	p := open(t, desktop(), "/docs")
	// The browser has one clipboard for all tabs: the text is caught on its way there.
	eval[bool](p, `(() => { const c = navigator.clipboard, write = c.writeText.bind(c);
		c.writeText = text => { window.copied = text; return write(text) }; return true })()`)
	p.fill("#fill-server", "https://games.example/")
	p.fill("#fill-key", "hush$hush")
	p.fill("#fill-board", "my board")
	p.click("#submitScores .copy")
	p.awaitText("#submitScores .copy", "Copied")
	copied := eval[string](p, "window.copied")
	for _, want := range []string{`curl "https://games.example/v1/boards/my%20board/scores"`, `Bearer hush\$hush"`, `-d '{"entries":`} {
		if !strings.Contains(copied, want) {
			t.Errorf("%s is not in what was copied:\n%s", want, copied)
		}
	}
	if said := p.text("body"); strings.Contains(said, "hush") {
		t.Error("the page shows the key")
	}
}

// TestManualTries: a form sends the shown request, a change only after confirmation, and shows the answer to the digit.
func TestManualTries(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "tried", leaderboard.Rules{}, leaderboard.Submission{Member: "ada", Score: 1})
	p := open(t, desktop(), "/docs")
	p.fill("#fill-board", "tried")
	p.fill("#fill-key", running(t).Key)

	p.click("#submitScores .try")
	p.fill("#submitScores textarea", `{"entries":[{"member":"big","score":9007199254740993}]}`)
	p.click("#submitScores .main")
	p.awaitText("#confirm", "POST /v1/boards/tried/scores")
	p.click("#confirm-no")
	p.await("!document.querySelector('#confirm')")
	if n := total(t, "tried"); n != 1 {
		t.Errorf("%d entries after a change that was not confirmed, want 1", n)
	}
	p.click("#submitScores .main")
	p.click("#confirm-yes")
	p.awaitText("#submitScores .answer", "200 OK")
	p.awaitText("#submitScores .answer", `"score": 9007199254740993,`)

	p.click("#getTop .try")
	p.click("#getTop .main")
	p.awaitText("#getTop .answer", `"member": "ada"`)
	p.awaitText("#getTop .answer dl", "ETag")

	p.expect("404") // the browser logs what the page asked for
	p.fill("#fill-board", "no-such-board")
	p.click("#getTop .main")
	p.awaitText("#getTop .answer", "What to do")
	p.fill("#fill-board", "tried")

	p.click("#streamPage .try")
	p.click("#streamPage .main")
	p.awaitText("#streamPage .answer", "event: page")
	p.press("Stop")
	p.awaitText("#streamPage .answer", "Stopped.")
}

// total returns how many entries a board has.
func total(t *testing.T, board string) int64 {
	t.Helper()
	page, err := admin(t).Top(t.Context(), board, client.TopQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}
