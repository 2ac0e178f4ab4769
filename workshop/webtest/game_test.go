package webtest

import (
	"strings"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// TestGame: a visitor enters a name, plays for ten seconds on a page of another origin and lands on the board by it; a second play is the same
// visitor's, and a score that nobody can reach is refused.
func TestGame(t *testing.T) {
	t.Parallel()
	d := running(t)
	p := openURL(t, desktop(), d.Game)
	p.expect("request to " + d.URL)
	if suggested := eval[string](p, `document.querySelector("#name").value`); len(strings.Fields(suggested)) != 2 {
		t.Errorf("the suggested name is %q", suggested)
	}
	p.accessible()
	p.fits()
	p.fill("#name", " ")
	p.press("Play")
	p.awaitText("#said", "The board wants a name.")
	p.fill("#name", "Grace Hopper")
	p.await(`document.querySelector("iframe").src.endsWith("/board")`) // who leads so far
	began := time.Now()
	p.press("Play")
	for range 12 {
		p.press("★")
	}
	p.awaitText("#score", "12")
	p.awaitText("#said", "12 caught. You are number")
	if took := time.Since(began); took < 10*time.Second {
		t.Errorf("the play took %s", took)
	}

	// The board has the score, and does not treat the reader as another player.
	visitor := eval[string](p, `fetch("/token", {method: "POST", body: new URLSearchParams({name: "Grace Hopper"})}).then(r => r.json()).then(t => t.member)`)
	e, err := admin(t).Member(t.Context(), "demo-game", visitor, client.ReadQuery{})
	if err != nil || e.Score != 12 {
		t.Errorf("%s has %+v, %v", visitor, e, err)
	}
	if of, err := admin(t).Member(t.Context(), "demo-game", visitor, client.ReadQuery{Profiles: true}); err != nil || of.Profile == nil || of.Profile.DisplayName != "Grace Hopper" {
		t.Errorf("the player is called %+v, %v", of.Profile, err)
	}
	p.await(`document.querySelector("#board a").href === ` + quote(d.URL+"/boards/demo-game"))
	p.accessible()
	elsewhere := openURL(t, desktop(), d.Game)
	elsewhere.expect("request to " + d.URL)
	if other := eval[string](elsewhere, `fetch("/token", {method: "POST", body: new URLSearchParams({name: "Grace Hopper"})}).then(r => r.json()).then(t => t.member)`); other == visitor {
		t.Error("two visitors are one player")
	}

	p.press("Play again")
	p.press("★")
	eval[bool](p, `(() => { for (let i = 0; i < 500; i++) document.querySelector("#star").click(); return true })()`)
	p.awaitText("#said", "the score may be 5 for each second of the play")
}

// TestGameTime: the service does not believe that a play is over before its time, whatever the page does.
func TestGameTime(t *testing.T) {
	t.Parallel()
	d := running(t)
	token, err := admin(t).CreateToken(t.Context(), client.TokenRequest{Member: "hasty", Boards: []string{"demo-game"}})
	if err != nil {
		t.Fatal(err)
	}
	player, err := client.New(d.URL, client.WithKey(token.Token))
	if err != nil {
		t.Fatal(err)
	}
	play, err := player.BeginPlay(t.Context(), "demo-game")
	if err != nil {
		t.Fatal(err)
	}
	r, err := player.Submit(t.Context(), "demo-game", []leaderboard.Submission{{Member: "hasty", Score: 1}}, client.SubmitOptions{Play: play.Play})
	if err != nil || r.Results[0].Error == nil || r.Results[0].Error.Code() != leaderboard.CodePlayTime {
		t.Errorf("%+v, %v", r, err)
	}
}
