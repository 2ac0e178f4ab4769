package webtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/demo"
	"leaderboard/leaderboard"
)

// console opens a view of the console, signed in with a key.
func console(t *testing.T, s screen, key, view string) *tab {
	t.Helper()
	p := open(t, s, "/console"+view)
	p.signIn(key)
	return p
}

// signIn waits until the console takes a key.
func (p *tab) signIn(key string) {
	p.t.Helper()
	p.fill(p.field("API key"), key)
	p.press("Sign in")
	p.await("[...document.querySelectorAll('button')].some(b => b.innerText === 'Sign out')")
}

// show leads to a view of the console and waits for its heading.
func (p *tab) show(view, heading string) {
	p.t.Helper()
	eval[bool](p, "(location.hash = "+quote(view)+") !== ''")
	p.awaitText("h1", heading)
}

// field returns a selector of the control that a label names; while a dialog is open, of a control in it.
func (p *tab) field(label string) string {
	p.t.Helper()
	find := "[...(document.querySelector('dialog[open]') ?? document).querySelectorAll('label')].find(l => l.textContent.trim() === " + quote(label) + ")"
	p.await(find + "?.control")
	return "[id=" + quote(eval[string](p, find+".control.id")) + "]"
}

// unfold opens a group of the form of a board.
func (p *tab) unfold(group string) {
	p.t.Helper()
	p.await("(() => { const e = [...document.querySelectorAll('details')].find(e => e.firstElementChild.innerText.trim() === " + quote(group) + "); if (e) e.open = true; return e })()")
}

// offers reports whether there is a button or link with this name.
func (p *tab) offers(name string) bool {
	p.t.Helper()
	return eval[bool](p, "[...document.querySelectorAll('button,a')].some(e => e.innerText.trim() === "+quote(name)+")")
}

// TestConsoleSignIn: a person signs in at the provider and lands on the requested view, is still signed in after a reload,
// and signed out after "Sign out"; a person without a role sees the reason.
func TestConsoleSignIn(t *testing.T) {
	t.Parallel()
	s := running(t)
	s.provider.SetPerson(map[string]any{"sub": "7", "email": "ada@example.com", "email_verified": true, "groups": []string{"ops"}})
	p := openURL(t, desktop(), s.front.URL+"/console#/keys")
	p.expect("request to " + s.provider.URL)
	p.press("Sign in with your account")
	p.awaitText("h1", "Keys")
	p.awaitText(".who", "ada@example.com")
	p.awaitText("tr", "session")
	p.await("![...document.querySelectorAll('tr')].some(r => r.innerText.includes('session') && r.innerText.includes('Rotate'))")
	p.do(chromedp.Reload())
	p.awaitText(".who", "ada@example.com")
	p.show("#/new-board", "New board")
	p.fill(p.field("Name"), "signed-in")
	p.press("Create board")
	p.awaitText("h1", "signed-in")
	p.show("#/audit?board=signed-in", "Audit")
	p.awaitText("summary", "person:ada@example.com")
	p.press("Sign out")
	p.awaitText("a", "Sign in with your account")
	p.do(chromedp.Reload())
	p.awaitText("a", "Sign in with your account")

	s.provider.SetPerson(map[string]any{"sub": "8"})
	p.press("Sign in with your account")
	p.awaitText("[role=alert]", "you have no role here")
	p.signIn(s.Key)
	p.awaitText(".who", "Admin")
}

// TestConsoleBoards creates, edits and deletes a board; a fault is shown next to its field, and no change is overwritten
// unseen.
func TestConsoleBoards(t *testing.T) {
	t.Parallel()
	p := console(t, desktop(), running(t).Key, "#/boards")
	p.awaitText("td", "demo")
	p.awaitText("dt", "Requests per second")
	p.expect("status of 422")
	p.expect("status of 412")

	p.press("New board")
	p.fill(p.field("Name"), "console-rules")
	p.unfold("Scoring")
	p.fill(p.field("Least score"), "9")
	p.fill(p.field("Greatest score"), "3")
	p.press("Create board")
	p.awaitText(".fault", "want at least min_score")
	p.awaitText("[role=alert]", "request")
	p.fill(p.field("Greatest score"), "9223372036854775807")
	p.press("Create board")
	p.awaitText("h1", "console-rules")

	p.show("#/boards/console-rules/rules", "Rules")
	p.fill(p.field("Title"), "<b>Rules</b>")
	p.press("Save")
	p.awaitText("[role=status]", "Saved.")
	p.press("JSON, all rules")
	p.await("document.querySelector('textarea').value.includes('\"max_score\": 9223372036854775807')")
	eval[bool](p, "(() => { const e = document.querySelector('textarea'); e.value = e.value.replace('\"best\"', '\"latest\"'); return e.dispatchEvent(new Event('input', {bubbles: true})) })()")
	p.press("Save")
	p.awaitText("[role=status]", "Saved.")
	c := admin(t)
	b, err := c.Board(t.Context(), "console-rules")
	if err != nil || b.Title != "<b>Rules</b>" || b.Policy != leaderboard.PolicyLatest || b.Limits.MaxScore == nil || *b.Limits.MaxScore != 1<<63-1 {
		t.Errorf("got %+v %v", b, err)
	}

	b.Title = "by another one"
	if _, _, err := c.PutBoard(t.Context(), "console-rules", b.Rules); err != nil {
		t.Fatal(err)
	}
	p.press("Save")
	p.press("Read it again")
	p.await("document.querySelector(" + quote(p.field("Title")) + ").value === 'by another one'")

	p.press("Delete board …")
	p.await("[...document.querySelectorAll('dialog button')].some(b => b.innerText === 'Delete for good' && b.disabled)")
	p.fill(p.field("Type console-rules to go on"), "console-rules")
	p.press("Delete for good")
	p.await("location.hash === '#/boards'")
	if _, err := c.Board(t.Context(), "console-rules"); err == nil {
		t.Error("the board is still there")
	}
}

// TestConsolePlayers: the form has the rules of players, the rules of plays only with plays, and leaves nothing behind.
func TestConsolePlayers(t *testing.T) {
	t.Parallel()
	c := admin(t)
	makeBoard(t, c, "console-players", leaderboard.Rules{Limits: leaderboard.Limits{MaxScore: new(int64(1000))}}, members(1)...)
	p := console(t, desktop(), running(t).Key, "#/boards/console-players/rules")
	p.field("Title")
	if eval[bool](p, "[...document.querySelectorAll('label')].some(l => l.innerText.includes('of a play'))") {
		t.Error("the form asks for plays where there are none")
	}
	p.expect("status of 422")
	p.unfold("Players")
	p.choose(p.field("Players submit"), "play")
	p.fill(p.field("Least time of a play"), "10m")
	p.fill(p.field("Greatest time of a play"), "10s")
	p.fill(p.field("Greatest score per second"), "50")
	p.press("Save")
	p.awaitText(".fault", "want more than min_time")
	p.fill(p.field("Least time of a play"), "5s")
	eval[bool](p, `(() => { const e = document.querySelector(`+quote(p.field("Players read"))+`); e.selectedIndex = 1; return e.dispatchEvent(new Event("change", {bubbles: true})) })()`)
	p.press("Save")
	p.awaitText("[role=status]", "Saved.")
	want := leaderboard.Players{Read: true, Submit: leaderboard.PlayersSubmitPlay, MinTime: "5s", MaxTime: "10s"}
	b, err := c.Board(t.Context(), "console-players")
	if err != nil || b.Players == nil || *b.Players != want || b.Limits.PerSecond == nil || *b.Limits.PerSecond != 50 || *b.Limits.MaxScore != 1000 {
		t.Fatalf("%+v, %v", b.Rules, err)
	}

	p.choose(p.field("Players submit"), "own") // the rules of plays go with them
	p.press("Save")
	p.awaitText("[role=status]", "Saved.")
	b, err = c.Board(t.Context(), "console-players")
	if want = (leaderboard.Players{Read: true, Submit: leaderboard.PlayersSubmitOwn}); err != nil || b.Players == nil || *b.Players != want || b.Limits.PerSecond != nil {
		t.Errorf("%+v, %v", b.Rules, err)
	}
}

// TestConsoleStatus: a server that knows less than another, while the database is away, does not reset the shown state, and
// the build of the program is described in words.
func TestConsoleStatus(t *testing.T) {
	t.Parallel()
	p := console(t, desktop(), running(t).Key, "#/members")
	eval[bool](p, `(() => { const real = fetch; window.version = "0fc258f"; window.entries = 3000; window.stale = false; window.asked = 0
		window.fetch = async (url, ...rest) => {
			if (!String(url).includes("/v1/status")) return real(url, ...rest)
			const answer = await (await real(url, ...rest)).json()
			asked++
			Object.assign(answer.server, {version, commit: "0fc258fba903d2f1c5a8e5b1b1a5"})
			answer.boards = [{...answer.boards[0], board: "told", display_name: "", period: "all_time", entries, seq: entries, stale}]
			return new Response(JSON.stringify(answer), {headers: {"Content-Type": "application/json"}})
		}; return true })()`)
	p.show("#/boards", "Boards")
	p.awaitText("td.number", "3,000")
	p.await(`document.querySelector(".server p").innerText.includes("· commit 0fc258fba903 · up for")`)
	eval[bool](p, `(() => { window.stale = true; window.entries = 2000; window.version = "v0.1.0"; window.asked = 0; return true })()`)
	p.awaitText("td .chip", "stale")
	p.await(`document.querySelector(".server p").innerText.includes("· version v0.1.0, commit 0fc258fba903 · up for")`)
	p.awaitText("td.number", "3,000")
	p.show("#/boards/told", "told")
	p.awaitText("dl[aria-label='Health of told'] dd", "3,000")
	p.expect("404") // of the board, which there is not
	p.show("#/boards", "Boards")
	eval[bool](p, `(() => { window.stale = false; return true })()`) // the database is shown as away
	p.awaitText("td.number", "2,000")
}

// TestConsoleMembers finds a member, corrects it to the last digit, hides, restores, removes and erases it.
func TestConsoleMembers(t *testing.T) {
	t.Parallel()
	const member = `console <i>"m"`
	least := int64(10)
	makeBoard(t, admin(t), "console-members", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}, Record: leaderboard.RecordAll, Limits: leaderboard.Limits{MinScore: &least}},
		leaderboard.Submission{Member: member, Score: 1<<63 - 1}, leaderboard.Submission{Member: "console-other", Score: 50})
	p := console(t, desktop(), running(t).Key, "#/members")
	p.fill(p.field("Name or id begins with"), "console <")
	p.press("Search")
	p.press(member)
	p.awaitText("td", "9,223,372,036,854,775,807")
	p.awaitText(`td a[href$="/boards/console-members?member=console%20%3Ci%3E%22m%22"]`, "Page for players")
	p.press("console-members")
	p.awaitText("h2", "Submissions")
	p.awaitText("td", "applied")

	p.press("Set score …")
	p.fill(p.field("Score"), "3")
	p.press("Set score")
	p.awaitText("[role=alert]", "10")
	p.press("Cancel")
	p.awaitText("td", "9,223,372,036,854,775,807") // it is back
	p.press("Set score …")
	p.fill(p.field("Score"), "9007199254740993")
	p.awaitText("dialog", "is removed, then")
	p.press("Set score")
	p.awaitText("td", "9,007,199,254,740,993")
	p.awaitText("[role=status]", "Now rank 1 of 2 in all_time, as before.")

	p.press("Hide on console-members …")
	p.fill(p.field("Reason"), "too <good>")
	p.press("Hide")
	p.awaitText("p", "too <good>")
	p.press("Restore on console-members …")
	p.press("Restore")
	p.awaitText("p", "Not hidden here.")
	p.press("Hide everywhere …")
	p.fill(p.field("Reason"), "everywhere")
	p.press("Hide")
	p.press("Restore everywhere …")
	p.press("Restore")
	p.awaitText("td", "9,007,199,254,740,993")

	p.press("Remove from the board …")
	p.press("Remove")
	p.await("!document.querySelector('table').innerText.includes('9,007,199,254,740,993')")
	p.press(member)
	p.keepSaved()
	p.press("Save to a file")
	p.awaitText("[role=status]", "Saved as "+member+".json.")
	for _, part := range []string{`"member": "console <i>\"m\""`, `"score": 9223372036854775807`, `"reason": "too <good>"`} {
		p.await("window.saved.includes(" + quote(part) + ")")
	}
	p.press("Erase …")
	p.fill(p.field("Type "+member+" to go on"), member)
	p.press("Erase for good")
	p.await("!document.querySelector('dialog[open]')")
	p.awaitText("[role=status]", "Nothing of the member is left.")
}

// TestConsoleProfile changes a member's profile and takes its name away with a reason; the audit has both with the person.
func TestConsoleProfile(t *testing.T) {
	t.Parallel()
	const member = "console-named"
	s := running(t)
	if _, _, err := admin(t).PutProfile(t.Context(), member, client.ProfileFields{
		DisplayName: "<b>Bad</b>", Attributes: map[string]any{"clan": "red", "level": 7, "ratio": 0.25, "zip": "007"},
	}); err != nil {
		t.Fatal(err)
	}
	p := console(t, desktop(), s.Key, "#/members/"+member)
	p.expect("status of 422")
	p.awaitText("dd", "<b>Bad</b>")
	stored := func(name, attributes string) {
		t.Helper()
		got, err := admin(t).Profile(t.Context(), member)
		if err != nil || got.DisplayName != name || string(got.Attributes) != attributes {
			t.Errorf("%s %s is stored, %v, want %s %s", got.DisplayName, got.Attributes, err, name, attributes)
		}
	}
	p.press("Change profile …")
	p.fill(p.field("Avatar URL"), "ftp://example.org")
	p.press("Save profile")
	p.awaitText(".fault", "want an http or https URL")
	p.fill(p.field("Avatar URL"), "https://example.org/a.png")
	p.fill(p.field("Value of attribute 2"), "9007199254740993")
	p.press("Save profile")
	p.awaitText("[role=alert]", "level has too many digits")
	p.fill(p.field("Value of attribute 2"), "8")
	p.press("Remove attribute 1")
	p.press("Add attribute")
	p.fill(p.field("Name of attribute 4"), "vip")
	p.choose(p.field("Kind of attribute 4"), "boolean")
	p.fill(p.field("Value of attribute 4"), "yes")
	p.press("Save profile")
	p.awaitText("[role=alert]", "vip wants true or false.")
	p.fill(p.field("Value of attribute 4"), "true")
	p.press("Save profile")
	p.await("!document.querySelector('dialog[open]')")
	p.awaitText("dl", "https://example.org/a.png")
	stored("<b>Bad</b>", `{"level":8,"ratio":0.25,"vip":true,"zip":"007"}`)

	p.press("Take the name away …")
	p.fill(p.field("Reason"), "no <name>")
	p.press("Take the name away")
	p.await("!document.querySelector('dialog[open]')")
	p.awaitText("dl", "Taken away")
	stored("", `{"level":8,"ratio":0.25,"vip":true,"zip":"007"}`)
	p.show("#/audit?action=profile.reset&member="+member, "Audit")
	p.awaitText("summary", "env:admin")
	p.press(eval[string](p, "document.querySelector('summary').innerText.trim()"))
	p.awaitText("details", "no <name>")

	p.show("#/members/"+member, member)
	p.press("Change profile …")
	p.fill(p.field("Name"), "Good")
	p.press("Save profile")
	p.await("!document.querySelector('dialog[open]')")
	p.awaitText("dl", "Good")
	stored("Good", `{"level":8,"ratio":0.25,"vip":true,"zip":"007"}`)
}

// TestConsoleHeld: waiting submissions are listed with their metadata as text, approved with a note, and rejected; decided
// ones are found under their state.
func TestConsoleHeld(t *testing.T) {
	t.Parallel()
	const board = "console-held"
	c, most := admin(t), int64(100)
	makeBoard(t, c, board, leaderboard.Rules{
		Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &most}}}, Metadata: &leaderboard.Metadata{MaxBytes: 100},
	}, leaderboard.Submission{Member: "ada", Score: 1})
	made, err := c.CreateKey(t.Context(), client.KeyRequest{Name: "game", Scope: leaderboard.ScopeWrite})
	if err != nil {
		t.Fatal(err)
	}
	game, err := client.New(running(t).URL, client.WithKey(made.Secret))
	if err != nil {
		t.Fatal(err)
	}
	p := console(t, desktop(), running(t).Key, "#/boards/"+board+"/held")
	p.awaitText("p", "Nothing waits.")
	entries := []leaderboard.Submission{{Member: "eve", Score: 1001, Metadata: `{"replay":"<b>r7</b>"}`}, {Member: "mal", Score: 1002}}
	if _, err := game.Submit(t.Context(), board, entries); err != nil {
		t.Fatal(err)
	}
	p.awaitText("dd", "<b>r7</b>")
	p.press("Approve eve with 1001")
	p.await("document.querySelector('dialog[open] input') !== null")
	p.fill("dialog[open] input", "seen")
	p.press("Approve")
	p.await("![...document.querySelectorAll('td')].some((td) => td.innerText === 'eve')")
	p.press("Reject mal with 1002")
	p.press("Reject")
	p.awaitText("p", "Nothing waits.")
	top, err := c.Top(t.Context(), board, client.TopQuery{})
	if err != nil || len(top.Entries) != 2 || top.Entries[0].Member != "eve" {
		t.Errorf("the top is %+v, %v", top, err)
	}
	p.choose("select", "approved")
	p.awaitText("td", "seen")
}

// endpointWithEvents makes an endpoint whose receiver refuses the event of a board's creation.
func endpointWithEvents(t *testing.T, name string) {
	t.Helper()
	c := admin(t)
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(refuses.Close)
	if _, err := c.PutEndpoint(t.Context(), name, client.EndpointRequest{URL: refuses.URL, Boards: []string{"endpoint-" + name}, AllowPrivate: true}); err != nil {
		t.Fatal(err)
	}
	makeBoard(t, c, "endpoint-"+name, leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
	apptest.Eventually(t, func() string {
		e, err := c.GetEndpoint(t.Context(), name)
		if err != nil || e.LastError == nil {
			return fmt.Sprintf("the endpoint is %+v, %v", e, err)
		}
		return ""
	})
}

// attempts returns how often an event was sent.
func attempts(rc *apptest.Receiver, id string) int {
	for _, e := range rc.Events() {
		if e.ID() == id {
			return e.Attempts
		}
	}
	return 0
}

// sendsAgain has an event that was taken sent again in each way that the view of an endpoint has: alone, with all since a time, and
// after the endpoint was gone and turned on.
func (p *tab) sendsAgain(rc *apptest.Receiver, id string, gone *atomic.Bool) {
	p.t.Helper()
	again := func(do func()) {
		p.t.Helper()
		before := attempts(rc, id)
		do()
		apptest.Eventually(p.t, func() string {
			if attempts(rc, id) == before {
				return "the event has not come again"
			}
			return ""
		})
	}
	again(func() {
		p.press("Resend " + id)
		p.awaitText("[role=status]", id+" is sent once more.")
	})
	again(func() {
		p.press("Replay …")
		eval[bool](p, "(() => { const e = document.querySelector("+quote(p.field("Since (UTC)"))+"); e.value = "+quote(time.Now().UTC().Add(-time.Hour).Format("2006-01-02T15:04"))+"; return e.dispatchEvent(new Event('input', {bubbles: true})) })()")
		p.press("Send once more")
		p.awaitText("[role=status]", "1 event is sent once more.")
	})
	gone.Store(true)
	p.press("Resend " + id)
	p.awaitText("dd", "It answered 410.")
	gone.Store(false)
	again(func() {
		p.press("Change …")
		p.click(p.field("Send it events"))
		p.press("Save")
		p.awaitText("dd .chip", "on")
		p.press("Resend " + id)
	})
}

// TestConsoleEndpoints makes an endpoint, tests it, sees the deliveries to the last digit, resends, replays, changes,
// rotates and deletes; each secret is shown once, and signs the deliveries.
func TestConsoleEndpoints(t *testing.T) {
	t.Parallel()
	const name, board = "console-hooks", "console-hooks-board"
	var refuse, gone atomic.Bool
	rc := apptest.NewReceiver(t, func(*http.Request, int) int {
		switch {
		case gone.Load():
			return http.StatusGone
		case refuse.Load():
			return http.StatusTeapot
		}
		return http.StatusNoContent
	})
	p := console(t, desktop(), running(t).Key, "#/endpoints")
	p.expect("status of 422")
	p.press("New endpoint …")
	p.fill(p.field("Name"), name)
	p.fill(p.field("URL"), rc.URL)
	p.fill(p.field("Boards"), "console-hooks-*")
	p.press("Create endpoint")
	p.awaitText(".fault", "want https")
	p.click(p.field("It may have http and an address that is not public"))
	p.click(p.field("board.changed"))
	p.press("Create endpoint")
	first := p.secret()
	rc.Subscribe(func(string) string { return first })
	p.awaitText("td", "board.changed")
	p.press("New endpoint …")
	p.fill(p.field("Name"), name)
	p.fill(p.field("URL"), rc.URL)
	p.press("Create endpoint")
	p.awaitText("dialog", "There is an endpoint "+name+" already.")
	p.press("Cancel")

	p.press(name)
	p.awaitText("p", "No event was sent there")
	if shown := eval[bool](p, "document.documentElement.outerHTML.includes("+quote(first)+") || !!document.querySelector('[aria-label=Secret]')"); shown {
		t.Error("the secret is shown again")
	}
	p.press("Send a test event")
	p.awaitText("[role=status]", "The test event was taken: answered 204")
	refuse.Store(true)
	p.press("Send a test event")
	p.awaitText("[role=status]", "The test event was not taken: ")

	makeBoard(t, admin(t), board, leaderboard.Rules{Title: "<b>hooks</b>"}, leaderboard.Submission{Member: "a", Score: 1})
	p.awaitText("td", "waiting")
	p.awaitText("td", "418")
	p.awaitText("dd", "1, the oldest from")
	p.show("#/endpoints", "Endpoints")
	p.awaitText("td", "418")
	p.show("#/endpoints/"+name, name)
	refuse.Store(false)
	events := rc.Events()
	created := events[len(events)-1]
	id := created.ID()
	p.press("Resend " + id) // it is not waited for then
	p.awaitText("td", "delivered")
	p.press(id)
	p.awaitText("pre", `"change": "created"`)
	p.await("JSON.stringify(JSON.parse(document.querySelector('pre').textContent)) === JSON.stringify(" + created.Body + ")")

	p.sendsAgain(rc, id, &gone)

	p.press("Rotate the secret …")
	p.fill(p.field("Overlap"), "1h")
	p.press("Make a new secret")
	second := p.secret()
	if second == first {
		t.Error("the secret is the one before")
	}
	p.awaitText("dd", "the one before signs too until")
	rc.Subscribe(func(string) string { return second })
	p.press("Send a test event")
	p.awaitText("[role=status]", "answered 204")

	p.press("Delete …")
	p.fill(p.field("Type "+name+" to go on"), name)
	p.press("Delete")
	p.await("location.hash === '#/endpoints'")
	if _, err := admin(t).GetEndpoint(t.Context(), name); !errors.Is(err, leaderboard.ErrEndpointNotFound) {
		t.Errorf("the endpoint: %v", err)
	}
}

// TestConsoleNotify: the form sets the rule notify, changes a part of it, and takes it away.
func TestConsoleNotify(t *testing.T) {
	t.Parallel()
	const board = "console-notify"
	makeBoard(t, admin(t), board, leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
	p := console(t, desktop(), running(t).Key, "#/boards/"+board+"/rules")
	p.expect("status of 422")
	save := func(want *leaderboard.Notify) {
		t.Helper()
		p.press("Save")
		p.awaitText("[role=status]", "Saved.")
		b, err := admin(t).Board(t.Context(), board)
		if err != nil || (b.Notify == nil) != (want == nil) || want != nil && *b.Notify != *want {
			t.Errorf("got %+v, %v, want %+v", b.Notify, err, want)
		}
	}
	p.unfold("Players")
	p.choose(p.field("Tell who is passed"), "top")
	p.fill(p.field("How many are told"), "101")
	p.press("Save")
	p.awaitText(".fault", "want 1 to 100")
	p.fill(p.field("How many are told"), "5")
	save(&leaderboard.Notify{Passed: leaderboard.NotifyPassedTop, Within: 5})
	p.choose(p.field("Tell who is passed"), "friends")
	save(&leaderboard.Notify{Passed: leaderboard.NotifyPassedFriends, Within: 5})
	p.choose(p.field("Tell who is passed"), "")
	save(nil)
}

// TestConsoleReview: the form sets the rules of review, keeps unchanged ones in their order, shows the rules about players
// only where players submit, and takes the rule away.
func TestConsoleReview(t *testing.T) {
	t.Parallel()
	const board = "console-review"
	above, rate := int64(1<<53+1), int64(50)
	makeBoard(t, admin(t), board, leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
	p := console(t, desktop(), running(t).Key, "#/boards/"+board+"/rules")
	p.expect("status of 422")
	save := func(want *leaderboard.Review) {
		t.Helper()
		p.press("Save")
		p.awaitText("[role=status]", "Saved.")
		b, err := admin(t).Board(t.Context(), board)
		if err != nil || !reflect.DeepEqual(b.Review, want) {
			t.Errorf("got %+v, %v, want %+v", b.Review, err, want)
		}
	}
	p.field("Hold scores better than")
	if eval[bool](p, "[...document.querySelectorAll('label')].some(l => /per second|players submit/.test(l.innerText) && l.innerText.startsWith('Hold'))") {
		t.Error("the form asks for what players submit where they do not")
	}
	p.unfold("Review")
	p.fill(p.field("Hold the first places"), "1001")
	p.press("Save")
	p.awaitText(".fault", "want 1 to 1000")
	if n := eval[int](p, "document.querySelectorAll('.fault').length"); n != 1 {
		t.Errorf("%d fields are said to be wrong", n)
	}
	p.fill(p.field("Hold the first places"), "")
	p.fill(p.field("Hold scores better than"), fmt.Sprint(above))
	save(&leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &above}}})
	p.choose(p.field("Players submit"), "play")
	p.fill(p.field("Hold scores per second above"), fmt.Sprint(rate))
	p.choose(p.field("Hold what players submit"), string(leaderboard.HoldByPlayers))
	p.fill(p.field("Held for"), "1m")
	p.press("Save")
	p.awaitText(".fault", "want a duration from 1h to 90d")
	p.fill(p.field("Held for"), "7d")
	save(&leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &above}, {PerSecond: &rate}, {By: leaderboard.HoldByPlayers}}, Expire: "7d"})
	p.choose(p.field("Players submit"), "none") // the rules about them go with it
	save(&leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &above}}, Expire: "7d"})
	p.fill(p.field("Hold scores better than"), "")
	save(nil)

	other := int64(5)
	kept := leaderboard.Rules{Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{RankWithin: 3}, {Above: &above}, {Above: &other}}}}
	if _, _, err := admin(t).PutBoard(t.Context(), board, kept); err != nil {
		t.Fatal(err)
	}
	p.show("#/boards", "Boards")
	p.show("#/boards/"+board+"/rules", board)
	p.fill(p.field("Hold the first places"), "4")
	kept.Review.Hold[0].RankWithin = 4
	save(kept.Review)
}

// TestConsoleBoardForm: the form sets start and end, seasons, retention and fields, changes and removes them; a fault is
// shown next to its control, and untouched values stay exact to the microsecond.
func TestConsoleBoardForm(t *testing.T) {
	t.Parallel()
	const board = "console-form"
	at := func(text string) leaderboard.Micros {
		var m leaderboard.Micros
		if err := m.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return m
	}
	pointer := func(text string) *leaderboard.Micros { m := at(text); return &m }
	p := console(t, desktop(), running(t).Key, "#/new-board")
	p.expect("status of 422")
	p.fill(p.field("Name"), board)
	p.choose(p.field("First submissions at (UTC)"), "2026-11-01T00:00")
	p.choose(p.field("Last submissions before (UTC)"), "2026-10-01T10:30:15")
	p.click(p.field("by seasons"))
	p.unfold("Periods")
	p.press("Add season")
	p.fill(p.field("Name of season 1"), "autumn")
	p.choose(p.field("Start of season 1"), "2026-11-01T00:00")
	p.choose(p.field("End of season 1"), "2026-12-01T00:00")
	p.unfold("Scoring")
	p.press("Add field")
	p.fill(p.field("Name of field 1"), "level")
	p.fill(p.field("Bits of field 1"), "20")
	p.press("Add field")
	p.fill(p.field("Name of field 2"), "deaths")
	p.choose(p.field("Order of field 2"), "asc")
	p.fill(p.field("Closed periods kept: season"), "4")
	p.unfold("Page")
	p.fill(p.field("Accent of its page"), "#b3261e")
	p.fill(p.field("Logo of its page"), "Logo.png")
	p.fill(p.field("Footer of its page"), "<b>Rules</b>")
	p.press("Create board")
	p.awaitText("main", "want the name of a picture")
	p.fill(p.field("Logo of its page"), "logo.png")
	p.press("Create board")
	p.awaitText(".fault", "starts_at")
	p.choose(p.field("Last submissions before (UTC)"), "2027-10-01T10:30:15")
	p.press("Create board")
	p.awaitText("h1", board)
	want := leaderboard.Rules{
		Face:     &leaderboard.Face{Accent: "#b3261e", Logo: "logo.png", Footer: "<b>Rules</b>"},
		StartsAt: pointer("2026-11-01T00:00:00Z"), EndsAt: pointer("2027-10-01T10:30:15Z"), Keep: map[leaderboard.Window]int{leaderboard.WindowSeason: 4},
		Seasons: []leaderboard.SeasonRule{{Name: "autumn", StartsAt: at("2026-11-01T00:00:00Z"), EndsAt: at("2026-12-01T00:00:00Z")}},
		Tiebreak: leaderboard.Tiebreak{Order: leaderboard.OrderDesc, Fields: []leaderboard.TiebreakField{
			{Name: "level", Bits: 20, Order: leaderboard.OrderDesc}, {Name: "deaths", Bits: 16, Order: leaderboard.OrderAsc},
		}},
	}
	check := func() {
		t.Helper()
		got := rulesOf(t, board)
		if !reflect.DeepEqual(got.StartsAt, want.StartsAt) || !reflect.DeepEqual(got.EndsAt, want.EndsAt) || !reflect.DeepEqual(got.Seasons, want.Seasons) || !maps.Equal(got.Keep, want.Keep) || !reflect.DeepEqual(got.Face, want.Face) || !reflect.DeepEqual(got.Tiebreak, want.Tiebreak) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	check()

	want.StartsAt = pointer("2026-11-01T00:00:00.000007Z") // to the microsecond, which the form does not change
	changed := rulesOf(t, board)
	changed.StartsAt = want.StartsAt
	if _, _, err := admin(t).PutBoard(t.Context(), board, changed); err != nil {
		t.Fatal(err)
	}
	p.show("#/boards/"+board+"/rules", board)
	p.press("Add season")
	p.fill(p.field("Name of season 2"), "winter")
	p.choose(p.field("Start of season 2"), "2026-12-01T00:00:01")
	p.choose(p.field("End of season 2"), "2027-01-01T00:00")
	p.press("Remove field 1")
	p.choose(p.field("Last submissions before (UTC)"), "")
	p.fill(p.field("Closed periods kept: season"), "")
	p.fill(p.field("Accent of its page"), "")
	p.fill(p.field("Logo of its page"), "")
	p.fill(p.field("Parts of its page"), "country")
	p.press("Save")
	p.awaitText("[role=status]", "Saved.")
	want.Face = &leaderboard.Face{Parts: "country", Footer: "<b>Rules</b>"}
	want.EndsAt, want.Keep, want.Tiebreak.Fields = nil, nil, want.Tiebreak.Fields[1:]
	want.Seasons = append(want.Seasons, leaderboard.SeasonRule{Name: "winter", StartsAt: at("2026-12-01T00:00:01Z"), EndsAt: at("2027-01-01T00:00:00Z")})
	check()
}

// TestConsoleFormIsWhole: each rule is in the form, which says of all of them what JSON does.
func TestConsoleFormIsWhole(t *testing.T) {
	t.Parallel()
	const rules = `{
  "title": "All of it", "order": "asc", "policy": "sum", "mode": "dense", "windows": ["day", "season"], "time_zone": "Europe/Berlin", "visibility": "private", "top_n": 7,
  "refresh": {"full": "0 4 * * *", "incremental": "20s", "dynamic": "900/1"}, "cache_ttl": "2h", "limits": {"min_score": 1, "max_score": 9223372036854775807, "max_delta": 3, "per_second": 4},
  "tiebreak": {"order": "asc", "fields": [{"name": "level", "bits": 20, "order": "asc"}]}, "starts_at": "2026-11-01T00:00:00.000007Z", "ends_at": "2027-11-01T00:00:00Z",
  "seasons": [{"name": "autumn", "starts_at": "2026-11-01T00:00:00Z", "ends_at": "2026-12-01T00:00:00Z"}],
  "derive": {"from": [{"board": "demo", "window": "day", "period": "previous", "weight": -2}], "last": "7d", "op": "intersect", "aggregate": "max"}, "keep": {"day": 90},
  "display": {"kind": "duration", "decimals": 3, "unit": "s"}, "face": {"accent": "#b3261e", "logo": "logo.png", "parts": "country", "footer": "Rules"}, "labels": {"type": "moba"},
  "strict_ids": true, "resident": "always", "record": "all", "record_ttl": "3h", "overrides": {"keys": ["env:write"], "ops": ["latest", "sum"], "keep_time": true},
  "players": {"read": true, "submit": "play", "min_time": "1s", "max_time": "2m"}, "notify": {"passed": "top", "within": 3}, "metadata": {"max_bytes": 100},
  "review": {"hold": [{"above": 5}, {"rank_within": 6}, {"per_second": 7}, {"by": "players"}], "expire": "7d"}
}`
	p := console(t, desktop(), running(t).Key, "#/new-board")
	p.press("JSON, all rules")
	p.choose(p.field("Rules"), rules)
	p.press("Form")
	p.field("Title")
	places := eval[[]string](p, `[...document.querySelectorAll("[data-at]")].filter(e => e.querySelector("input, select")).map(e => e.dataset.at.replace(/\/\d+(?=\/)/g, "/*").replace(/^\/keep\/.*/, "/keep/*"))`)
	var look func(fields []leaderboard.RuleField)
	look = func(fields []leaderboard.RuleField) {
		for _, f := range fields {
			if f.Item != nil && f.Item.Fields != nil {
				f.Fields = f.Item.Fields
			}
			look(f.Fields)
			if f.Fields == nil && !slices.Contains(places, f.Pointer) && !slices.Contains(places, f.Pointer+"/*") {
				t.Errorf("%s is not in the form", f.Pointer)
			}
		}
	}
	look(leaderboard.RuleFields())

	p.press("JSON, all rules")
	var got, want bytes.Buffer
	if err := errors.Join(json.Compact(&got, []byte(eval[string](p, "document.querySelector('textarea').value"))), json.Compact(&want, []byte(rules))); err != nil || got.String() != want.String() {
		t.Errorf("the form makes of it\n%s\nwant\n%s\n%v", &got, &want, err)
	}
}

// TestConsoleFormFaults: an invalid number is reported before the form becomes JSON, a fault of a rule of review is shown,
// and the header does not lie on the label of a field that must be filled in.
func TestConsoleFormFaults(t *testing.T) {
	t.Parallel()
	p := console(t, phone(), running(t).Key, "#/new-board")
	p.unfold("Scoring")
	p.fill(p.field("Least score"), "1.5")
	p.press("JSON, all rules")
	p.awaitText("[role=alert]", "Least score: want a whole number, not 1.5")
	p.fill(p.field("Least score"), "1")
	p.press("JSON, all rules")
	p.choose(p.field("Rules"), `{"review": {"hold": [{"rank_within": 0}]}}`)
	p.press("Form")
	p.fill(p.field("Name"), "form-faults")
	p.expect("status of 422")
	p.press("Create board")
	p.awaitText("[role=alert]", "/review/hold/0")
	for _, group := range []string{"Players", "Review", "Page", "Storage"} {
		p.unfold(group)
	}
	p.fill(p.field("Name"), "")
	p.await("scrollTo(0, 9999) || scrollY > 0")
	p.press("Create board")
	p.await("document.activeElement.matches(" + quote(p.field("Name")) + ")")
	p.await("scrollY > 0 && document.querySelector('.bar').getBoundingClientRect().bottom <= document.activeElement.labels[0].getBoundingClientRect().top")
}

// TestConsolePresets: a new board begins with the rules of a preset, and keeps the title that was written.
func TestConsolePresets(t *testing.T) {
	t.Parallel()
	season := []leaderboard.Window{leaderboard.WindowSeason, leaderboard.WindowAllTime}
	for preset, fits := range map[string]func(r *leaderboard.Rules) bool{
		"High score": func(r *leaderboard.Rules) bool {
			return r.Order == leaderboard.OrderDesc && r.Policy == leaderboard.PolicyBest
		},
		"Time trial": func(r *leaderboard.Rules) bool {
			return r.Order == leaderboard.OrderAsc && r.Display.Kind == leaderboard.DisplayKindDuration
		},
		"Season points": func(r *leaderboard.Rules) bool { return slices.Equal(r.Windows, season) && len(r.Seasons) == 1 },
		"Streak": func(r *leaderboard.Rules) bool {
			return r.Policy == leaderboard.PolicyLatest && r.Display.Unit == "days"
		},
		"Sales": func(r *leaderboard.Rules) bool {
			return r.Policy == leaderboard.PolicySum && r.Visibility == leaderboard.VisibilityPrivate
		},
	} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			board := "preset-" + strings.ToLower(strings.ReplaceAll(preset, " ", "-"))
			p := console(t, phone(), running(t).Key, "#/new-board")
			p.fill(p.field("Title"), "Mine")
			p.press(preset)
			p.fill(p.field("Name"), board)
			p.press("Create board")
			p.awaitText("h1", board)
			if r := rulesOf(t, board); r.Title != "Mine" || !fits(&r) {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// rulesOf returns the rules of a board.
func rulesOf(t *testing.T, board string) leaderboard.Rules {
	t.Helper()
	b, err := admin(t).Board(t.Context(), board)
	if err != nil {
		t.Fatal(err)
	}
	return b.Rules
}

// TestConsoleDerivedForm: the form makes a board a derived one, and changes its sources. A board with entries must stay
// derived, which the form says.
func TestConsoleDerivedForm(t *testing.T) {
	t.Parallel()
	const board, derived = "console-source", "console-derived"
	autumn := leaderboard.SeasonRule{Name: "autumn", StartsAt: 1_000_000, EndsAt: leaderboard.MaxTime}
	makeBoard(t, admin(t), board, leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowSeason}, Seasons: []leaderboard.SeasonRule{autumn}}, leaderboard.Submission{Member: "a", Score: 1})
	p := console(t, desktop(), running(t).Key, "#/new-board")
	p.expect("status of 422")
	save := func() {
		t.Helper()
		p.press("Save")
		p.awaitText("[role=status]", "Saved.")
	}
	p.fill(p.field("Name"), derived)
	p.unfold("Scoring")
	p.press("Add source")
	p.fill(p.field("Board of source 1"), board)
	p.fill(p.field("Weight of source 1"), "-2")
	p.choose(p.field("Window of source 1"), "season")
	p.fill(p.field("Period of source 1"), "autumn")
	p.press("Add source")
	p.fill(p.field("Board of source 2"), "demo")
	p.choose(p.field("Which members"), "intersect")
	p.choose(p.field("How scores are joined"), "max")
	p.fill(p.field("The last periods"), "101d")
	p.press("Create board")
	p.awaitText(".fault", "hours, days or weeks")
	p.fill(p.field("The last periods"), "")
	p.press("Create board")
	p.awaitText("h1", derived)
	minus, one := int64(-2), int64(1)
	from := []leaderboard.DeriveFrom{{Board: board, Window: leaderboard.WindowSeason, Period: "autumn", Weight: &minus}, {Board: "demo", Period: leaderboard.CurrentPeriod, Weight: &one}}
	if got, want := rulesOf(t, derived).Derive, (&leaderboard.Derive{From: from, Op: leaderboard.DeriveOpIntersect, Aggregate: leaderboard.AggregateMax}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	p.show("#/boards/"+derived+"/rules", derived)
	p.press("Remove source 1")
	p.choose(p.field("Period of source 1"), "")
	p.fill(p.field("The last periods"), "7d")
	save()
	if got, want := rulesOf(t, derived).Derive, (&leaderboard.Derive{From: from[1:], Last: "7d", Op: leaderboard.DeriveOpIntersect, Aggregate: leaderboard.AggregateMax}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	apptest.Eventually(t, func() string {
		page, err := admin(t).Top(t.Context(), derived, client.TopQuery{})
		if err != nil || page.Total == 0 {
			return fmt.Sprintf("the derived board has %d entries, %v", page.Total, err)
		}
		return ""
	})
	p.expect("status of 409")
	p.press("Remove source 1")
	p.press("Save")
	p.awaitText("[role=alert]", "cannot be taken away")
}

// TestConsoleMany hides and shows again members that are ticked in a list, and finds a board and a member by name in the box of the header.
func TestConsoleMany(t *testing.T) {
	t.Parallel()
	c := admin(t)
	makeBoard(t, c, "console-many", leaderboard.Rules{Title: "Crowded house"}, members(12)...)
	if _, _, err := c.PutProfile(t.Context(), "m007", client.ProfileFields{DisplayName: "Séverine Manyfold"}); err != nil {
		t.Fatal(err)
	}
	p := console(t, desktop(), running(t).Key, "#/boards/console-many")
	for _, m := range []string{"m001", "m002"} {
		p.awaitText("td", m)
		p.click(`[aria-label="Choose ` + m + `"]`)
	}
	p.awaitText(".many", "2 chosen on console-many")
	p.press("Hide …")
	p.fill(p.field("Reason"), "bots")
	p.press("Hide")
	p.await(`!document.querySelector("table").innerText.includes("m001") && !document.querySelector("table").innerText.includes("m002")`)
	p.accessible()
	p.show("#/members", "Members")
	for _, m := range []string{"m001", "m002"} {
		p.click(`[aria-label="Choose ` + m + ` on console-many"]`)
	}
	p.press("Restore …")
	p.press("Restore")
	p.await(`!document.querySelector("[aria-label='Choose m001 on console-many']")`)
	if hidden, err := c.Member(t.Context(), "console-many", "m001", client.ReadQuery{}); err != nil || hidden.Rank != 1 {
		t.Errorf("%+v, %v", hidden, err)
	}
	const box = "[aria-label='Find a board or a member']"
	p.fill(box, "crowded")
	p.press("console-many Crowded house")
	p.await(`location.hash === "#/boards/console-many"`)
	p.fill(p.field("Member"), "manyfold")
	p.press("Look up")
	p.await(`location.hash.startsWith("#/members/m007/console-many")`)
	p.awaitText("h1", "m007 Séverine Manyfold on console-many")
	p.accessible()
	for words, view := range map[string]string{"crowded HOUSE": "#/boards/console-many", "séverine manyfold": "#/members/m007", "nobody so": "#/members?q=nobody+so"} {
		p.fill(box, words)
		p.do(chromedp.KeyEvent(kb.Enter))
		p.await("location.hash === " + quote(view))
	}
}

// TestConsoleIsLeft leaves a view while what its dialog does is under way: it is done, and no script fails.
func TestConsoleIsLeft(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "console-left", leaderboard.Rules{}, leaderboard.Submission{Member: "leaver", Score: 1})
	p := console(t, desktop(), running(t).Key, "#/members/leaver/console-left")
	eval[bool](p, `(() => { const real = fetch; window.fetch = async (url, init) => { const answer = await real(url, init);
		if (init?.method === "DELETE") await new Promise((go) => { window.answer = go }); return answer }; return true })()`)
	p.press("Remove …")
	p.press("Remove")
	p.await("window.answer")
	p.show("#/members", "Members")
	eval[bool](p, "(answer(), new Promise((go) => setTimeout(() => go(true), 200)))")
	if _, err := admin(t).Member(t.Context(), "console-left", "leaver", client.ReadQuery{}); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("who was removed: %v", err)
	}
}

// TestConsoleRuns rebuilds a copy and follows the run, compares it, and shows a difference.
func TestConsoleRuns(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "console-runs", leaderboard.Rules{TopN: 5}, members(200)...)
	p := console(t, desktop(), running(t).Key, "#/boards/console-runs/runs")
	p.press("Rebuild …")
	p.press("Rebuild")
	p.awaitText("[aria-label='The rebuild asked for']", "done")
	p.press("Verify")
	p.awaitText("[role=status]", "Equal at state 200: the copy in Redis has the top 105 of the 200 entries of the period, which were compared.")
	eval[bool](p, `(() => { const real = fetch; window.fetch = (url, ...rest) => String(url).includes("/verify") ? Promise.resolve(new Response(
		'{"equal":false,"seq":7,"checked":2,"total":3,"difference":{"rank":2,"copy":null,"truth":{"member":"lost","score":9223372036854775807,"tiebreak":0,"created_time":"2026-11-20T13:00:00.000000Z"}}}',
		{headers: {"Content-Type": "application/json"}})) : real(url, ...rest); return true })()`)
	p.press("Verify")
	p.awaitText("[role=status]", "Different at state 7, after 2 equal entries.")
	p.awaitText("[role=status]", "First difference at rank 2")
	p.awaitText("[role=status] tr", "9,223,372,036,854,775,807")
	p.show("#/runs", "Runs")
	p.awaitText("td", "console-runs")
}

// TestConsoleImportMetadata: the metadata of a file come in with their digits, of CSV and of JSON lines.
func TestConsoleImportMetadata(t *testing.T) {
	t.Parallel()
	ctx, c := t.Context(), admin(t)
	makeBoard(t, c, "console-metadata", leaderboard.Rules{Metadata: &leaderboard.Metadata{MaxBytes: 200}}, leaderboard.Submission{Member: "first", Score: 1})
	p := console(t, desktop(), running(t).Key, "#/boards/console-metadata/import")
	for name, content := range map[string]string{
		"a.csv":   "member,score,metadata\nada,1,\"{\"\"n\"\": 12345678901234567890.50}\"\nbob,2,\ncyd,3,5\n",
		"b.jsonl": `{"member":"dan","score":4,"metadata":{"n":12345678901234567890.50}}` + "\n" + `{"member":"eve","score":5,"metadata":7}` + "\n",
	} {
		dropFile(p, name, content)
		p.press("Import into console-metadata")
		p.awaitText("[role=status]", "1 refused")
		p.awaitText("tr", "want a JSON object")
		p.press("Import another file")
	}
	for _, member := range []string{"ada", "dan"} {
		a, err := c.Do(ctx, client.Request{Method: "GET", Path: client.Path("boards", "console-metadata", "members", member), Query: url.Values{"metadata": {"true"}}})
		if err != nil || !strings.Contains(string(a.Body), `"metadata":{"n":12345678901234567890.50}`) {
			t.Errorf("%s: %s, %v", member, a.Body, err)
		}
	}
}

// dropFile drops a file onto the import of the console.
func dropFile(p *tab, name, content string) {
	p.t.Helper()
	p.await("document.querySelector('.drop')")
	eval[bool](p, "(() => { const d = new DataTransfer(); d.items.add(new File(["+quote(content)+"], "+quote(name)+")); return document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: d, bubbles: true, cancelable: true})) ?? true })()")
}

// TestConsoleImport drops a file: valid lines are imported, invalid ones are reported, and the same file again changes
// nothing.
func TestConsoleImport(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "console-import", leaderboard.Rules{Policy: leaderboard.PolicySum}, leaderboard.Submission{Member: "ada", Score: 1})
	p := console(t, desktop(), running(t).Key, "#/boards/console-import/import")
	drop := func(name, content string) {
		t.Helper()
		dropFile(p, name, content)
		p.press("Import into console-import")
	}
	const file = "\ufeffmember,score\r\nada,70\r\n\"dan, \"\"the\"\" man\",9223372036854775807\r\ncyd,7.5\r\n'=1,5\r\nx\"y,1\r\nlast,-3"
	drop("june.csv", file)
	p.awaitText("[role=status]", "Done: 4 applied, 0 unchanged, 2 refused")
	p.awaitText("tr", "want a whole number")
	p.awaitText("tr", "inside of a field")
	p.press("Import another file")
	drop("june.csv", file)
	p.awaitText("[role=status]", "Done: 0 applied, 0 unchanged, 2 refused, 4 counted before by an earlier request")
	p.press("Import another file")
	drop("july.jsonl", "{\"member\":\"eve\",\"score\":9007199254740993,\"rank\":1}\n\n{\"member\":\"eve\",\"score\":1.5}\n")
	p.awaitText("[role=status]", "Done: 1 applied, 0 unchanged, 1 refused")

	p.press("Import another file")
	drop("excel.csv", "\"member\";\"score\"\r\n\"ada\";1\r\n")
	p.awaitText("body", "The columns are separated by semicolons")

	p.show("#/boards/console-import/export", "Export")
	p.keepSaved()
	p.press("Export to a file")
	p.awaitText("[role=status]", "Saved: 5 of 5 entries")
	for _, line := range []string{`"dan, ""the"" man",9223372036854775807,`, ",eve,9007199254740993,", ",ada,71,", ",'=1,5,", ",last,-3,"} {
		p.await("window.saved.includes(" + quote(line) + ")")
	}
}

// keepSaved puts what the page saves as a file from now on into window.saved.
func (p *tab) keepSaved() {
	p.t.Helper()
	eval[bool](p, "(() => { const real = URL.createObjectURL; URL.createObjectURL = b => { b.text().then(t => window.saved = t); return real.call(URL, b) }; return true })()")
}

// TestConsoleKeys makes, changes, rotates and revokes a key; actions that a key may not do are not offered to a person who
// signs in with it.
func TestConsoleKeys(t *testing.T) {
	t.Parallel()
	const name = "console <b>key"
	makeBoard(t, admin(t), "console-keys", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
	p := console(t, desktop(), running(t).Key, "#/keys")
	p.expect("status of 422")
	p.expect("status of 401")
	p.press("New key …")
	p.fill(p.field("Name"), name)
	p.fill(p.field("Boards"), "GAME!")
	p.press("Create key")
	p.awaitText(".fault", "/boards/0")
	p.fill(p.field("Boards"), "console-keys")
	p.press("Create key")
	first := p.secret()
	p.press("Change " + name)
	p.fill(p.field("Requests per second"), "50")
	p.press("Save")
	p.await("!document.querySelector('dialog[open]')")
	p.press("Rotate " + name)
	p.press("Make a new secret")
	second := p.secret()
	if first == second {
		t.Error("the secret is the one before")
	}

	p.press("Sign out")
	p.do(chromedp.Reload())
	p.signIn(second)
	p.show("#/boards/console-keys", "console-keys")
	p.do(chromedp.Reload()) // the browser has the key, and no script reads it
	p.awaitText("h1", "console-keys")
	if kept := eval[string](p, "document.cookie + JSON.stringify([{...localStorage}, {...sessionStorage}])"); strings.Contains(kept, second) || kept != "[{},{}]" {
		t.Errorf("a script reads %s", kept)
	}
	p.awaitText("td", "a")
	if !p.offers("Import") || p.offers("Rules") || p.offers("Keys") || p.offers("Export") {
		t.Error("a key for writing is offered something else")
	}
	p.show("#/keys", "Nothing here")

	p.press("Sign out")
	p.signIn(running(t).Key)
	p.show("#/keys", "Keys")
	p.awaitText(".faint", "The audit calls everybody who has it env:admin")
	p.press("Revoke " + name)
	p.fill(p.field("Type "+name+" to go on"), name)
	p.press("Revoke for good")
	p.awaitText("td", "revoked")
	p.show("#/audit?action=key.revoke", "Audit")
	p.awaitText("summary", "key.revoke")
	p.press("Sign out")
	p.fill(p.field("API key"), second)
	p.press("Sign in")
	p.awaitText("[role=alert]", "request")
}

// TestConsoleKeyForSomeBoards: an admin of some boards sees what its key does not cover, and no forbidden request is sent.
// After a failed request nothing is shown as loading.
func TestConsoleKeyForSomeBoards(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "console-some", leaderboard.Rules{}, leaderboard.Submission{Member: "a", Score: 1})
	made, err := admin(t).CreateKey(t.Context(), client.KeyRequest{Name: "some boards", Scope: leaderboard.ScopeAdmin, Boards: []string{"console-some*"}})
	if err != nil {
		t.Fatal(err)
	}
	p := console(t, desktop(), made.Secret, "#/boards")
	p.show("#/members", "Members")
	p.awaitText("p", "The list is for keys of all boards")
	p.show("#/members/a", "a")
	p.awaitText("h2", "Entries")
	p.show("#/members/a/console-some", "a on console-some")
	p.awaitText("p", "Not hidden here.")
	if eval[bool](p, "!!document.querySelector('[role=alert]')") {
		t.Errorf("a key for some boards sees a problem: %s", p.text("[role=alert]"))
	}
	p.expect("status of 404")
	p.show("#/boards/console-some-none/periods", "Periods")
	p.awaitText("[role=alert]", "404")
	p.await("!document.querySelector('.loading')")
}

// secret returns the secret that is shown once, and dismisses it.
func (p *tab) secret() string {
	p.t.Helper()
	p.await("document.querySelector('input[aria-label=Secret]')")
	text := eval[string](p, "document.querySelector('input[aria-label=Secret]').value")
	p.press("Done")
	return text
}

// TestConsoleAudit filters the audit and shows the old next to the new state, to the last digit.
func TestConsoleAudit(t *testing.T) {
	t.Parallel()
	c := admin(t)
	most := int64(9007199254740993)
	makeBoard(t, c, "console-audit", leaderboard.Rules{Limits: leaderboard.Limits{MaxScore: &most}}, leaderboard.Submission{Member: "a", Score: 1})
	makeBoard(t, c, "console-audit", leaderboard.Rules{Title: "<b>now</b>"}, leaderboard.Submission{Member: "a", Score: 1})
	p := console(t, desktop(), running(t).Key, "#/audit")
	p.fill(p.field("Board"), "console-audit")
	p.choose(p.field("Action"), "board.update")
	p.press("Show")
	p.await("location.hash.includes('board=console-audit') && document.querySelectorAll('summary').length === 1")
	p.click("summary")
	p.awaitText("tr", "/limits/max_score9007199254740993–")
	p.awaitText("tr", "/title(empty)<b>now</b>")
	eval[bool](p, "history.back() ?? true")
	p.await("document.querySelectorAll('summary').length > 1")

	const title = "Each word stands in a line as long as the screen has room for it"
	makeBoard(t, c, "console-audit-of-a-long-name", leaderboard.Rules{Title: title}, leaderboard.Submission{Member: "a", Score: 1})
	if err := c.DeleteBoard(t.Context(), "console-audit-of-a-long-name"); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{390, 320} {
		p := console(t, screen{width: width, height: 844}, running(t).Key, "#/audit?action=board.delete&board=console-audit-of-a-long-name")
		p.click("summary")
		p.awaitText("tr", title)
		if narrow := eval[string](p, `[...document.querySelectorAll("summary > *, tr > *")].filter(e => e.checkVisibility() && e.innerText && e.getBoundingClientRect().width < Math.min(120, e.innerText.length * 5)).map(e => e.innerText).join("|")`); narrow != "" {
			t.Errorf("%d px: a few letters a line: %s", width, narrow)
		}
		p.fits()
		p.accessible()
	}
}

// TestConsoleViews: no view is wider than its screen, tables that are say that they scroll, axe finds nothing serious, and the focus is on the heading.
func TestConsoleViews(t *testing.T) {
	t.Parallel()
	views := [][2]string{
		{"#/boards/demo", "demo"},
		{"#/boards", "Boards"},
		{"#/boards/demo/periods", "Periods"},
		{"#/boards/demo/rules", "Rules"},
		{"#/boards/demo/runs", "Copy and runs"},
		{"#/boards/demo/import", "Import"},
		{"#/boards/demo/export", "Export"},
		{"#/boards/demo/held", "Review"},
		{"#/new-board", "New board"},
		{"#/members?q=a", "Members"},
		{"#/runs", "Runs"},
		{"#/endpoints", "Endpoints"},
		{"#/endpoints/views", "views"},
		{"#/keys", "Keys"},
		{"#/audit", "Audit"},
		{"#/members/" + demo.Member(demo.Shown), demo.Member(demo.Shown)},
		{"#/members/" + demo.Member(demo.Shown) + "/demo", "demo"},
	}
	endpointWithEvents(t, "views")
	for name, s := range map[string]screen{"desktop": desktop(), "phone dark": phone().inDark(), "narrow": {width: 320, height: 640}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := console(t, s, running(t).Key, "#/boards")
			for _, v := range views {
				p.show(v[0], v[1])
				p.await("document.activeElement === document.querySelector('h1') && !document.querySelector('.loading')")
				p.fits()
				p.accessible()
				// A table or a row of tabs shows when it has hidden parts.
				p.await("[...document.querySelectorAll('.scroll')].every(e => e.scrollWidth <= e.clientWidth + 1 || e.previousElementSibling?.innerText.startsWith('Scroll sideways') && e.matches('.more'))")
				p.await("[...document.querySelectorAll('nav')].every(e => e.scrollWidth <= e.clientWidth + 1)")
			}
		})
	}
}
