package webtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// TestFaultsAreSeen opens a page that breaks every rule for pages.
func TestFaultsAreSeen(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, `<link rel="icon" href="data:,"><input><select><option>a<option>b</select><button>Break</button><p>idle</p><script>
			document.querySelector("button").onclick = () => {
				document.querySelector("p").textContent = document.querySelector("input").value + document.querySelector("select").value
				console.error("said aloud")
				new Image().src = "http://other.example/pixel"
				new Image().src = "/missing"
				setTimeout(() => { throw new Error("thrown") })
			}</script>`)
	}))
	t.Cleanup(srv.Close)
	p := openURL(t, desktop(), srv.URL+"/")
	p.fill("input", "first")
	p.fill("input", "typed ")
	p.choose("select", "b")
	p.click("p") // does nothing
	p.press("Break")
	p.awaitText("p", "typed b")
	for _, part := range []string{"said aloud", "other.example", "404", "thrown"} {
		p.expect(part)
		p.awaitFault(part)
	}
}

// TestHostileNames: names of members are text on every page, with scripts and without.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	const member = `<img src="http://other.example/x" onerror="throw 1">`
	makeBoard(t, admin(t), "hostile", leaderboard.Rules{}, leaderboard.Submission{Member: member, Score: 1})
	s := desktop()
	s.noScript = true
	open(t, s, "/boards/hostile").awaitText("body", member)
}

// makeBoard makes a public board with scores.
func makeBoard(t *testing.T, c *client.Client, name string, rules leaderboard.Rules, scores ...leaderboard.Submission) {
	t.Helper()
	rules.Visibility = leaderboard.VisibilityPublic
	if _, _, err := c.PutBoard(t.Context(), name, rules); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Submit(t.Context(), name, scores); err != nil {
		t.Fatal(err)
	}
}
