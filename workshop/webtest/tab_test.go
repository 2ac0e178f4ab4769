package webtest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// maxWait is longer than anything takes on a machine that works, however busy it is.
const maxWait = 30 * time.Second

// screen is the screen of a tab.
type screen struct {
	width, height int64
	dark          bool
	noScript      bool
}

func desktop() screen { return screen{width: 1400, height: 900} }
func phone() screen   { return screen{width: 390, height: 844} }

func (s screen) inDark() screen { s.dark = true; return s }

// screens are all screens that a page is made for, by name.
func screens() map[string]screen {
	return map[string]screen{"desktop": desktop(), "desktop-dark": desktop().inDark(), "phone": phone(), "phone-dark": phone().inDark()}
}

// tab is a page in the browser, without anything that other tabs have stored.
type tab struct {
	t    *testing.T
	ctx  context.Context
	host string

	mu       sync.Mutex
	faults   []string       // the broken rules for pages
	answers  map[string]int // statuses of loaded addresses
	refusals []*network.EventResponseReceived
	expected []string // parts of faults that the test is about
}

// open opens path of the server. At the end of the test the tab has done nothing that no page may do.
func open(t *testing.T, s screen, path string) *tab {
	t.Helper()
	return openURL(t, s, running(t).URL+path)
}

// openURL opens any page of this machine.
func openURL(t *testing.T, s screen, address string) *tab {
	t.Helper()
	b, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	p := &tab{t: t, ctx: ctx, host: u.Host, answers: map[string]int{}}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		cancel()
		t.Fatal(err)
	}
	var stop func()
	p.ctx, stop = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(func() {
		if t.Failed() {
			p.shoot(filepath.Join(failures(t), strings.NewReplacer("/", "-").Replace(t.Name())+".png"))
			p.logRefusals()
		}
		stop()
		cancel()
		p.check()
	})
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	command(p, network.Enable, network.EnableParams{})
	command(p, log.Enable, cdp.Empty{})
	command(p, runtime.Enable, cdp.Empty{})
	command(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.width < 600})
	command(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	command(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: s.noScript})
	p.do(chromedp.Navigate(address))
	return p
}

// visit opens another path of the server in the same tab, and waits until that page is there.
func (p *tab) visit(path string) {
	p.t.Helper()
	p.do(chromedp.Navigate(running(p.t).URL + path))
}

// failures is where pictures of tabs go whose tests failed.
func failures(t *testing.T) string {
	dir := filepath.Join(os.TempDir(), "leaderboard-webtest")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Error(err)
	}
	return dir
}

// hear notes what the page does.
func (p *tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.fault("exception: " + (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			said, _ := json.Marshal(e.Args)
			p.fault("console: " + string(said))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.fault("log: " + e.Entry.Text + " " + e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Host != p.host && u.Scheme != "data" && u.Scheme != "blob" {
			p.fault("request to " + e.Request.URL)
		}
	case *network.EventResponseReceived:
		p.mu.Lock()
		if p.answers[e.Response.URL] = int(e.Response.Status); e.Response.Status >= http.StatusBadRequest {
			p.refusals = append(p.refusals, e)
		}
		p.mu.Unlock()
	}
}

// logRefusals logs the error answers: the time, and the text of the answer.
func (p *tab) logRefusals() {
	p.mu.Lock()
	refusals := p.refusals
	p.mu.Unlock()
	for _, e := range refusals[max(0, len(refusals)-10):] {
		said, err := chromedp.Call(p.ctx, network.GetResponseBody, network.GetResponseBodyParams{RequestID: e.RequestID})
		p.t.Logf("%v: %d for %s: %s %v", e.Response.Headers["Date"], e.Response.Status, e.Response.URL, brief(string(said.Body)), err)
	}
}

// loaded returns an address with part in it that the tab has got an answer from, or "".
func (p *tab) loaded(part string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for address := range p.answers {
		if strings.Contains(address, part) {
			return address
		}
	}
	return ""
}

func (p *tab) fault(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, what)
}

// expect lets the page do what has part in its words: the test makes it.
func (p *tab) expect(part string) { p.expected = append(p.expected, part) }

// awaitFault waits until the page has done what no page may do, with part in its words.
func (p *tab) awaitFault(part string) {
	p.t.Helper()
	for end := time.Now().Add(maxWait); ; time.Sleep(20 * time.Millisecond) {
		p.mu.Lock()
		found := strings.Contains(strings.Join(p.faults, "\n"), part)
		p.mu.Unlock()
		if found {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("the tab has not noticed %q", part)
		}
	}
}

// check fails the test if the page breaks a rule for all pages.
func (p *tab) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
next:
	for _, fault := range p.faults {
		for _, part := range p.expected {
			if strings.Contains(fault, part) {
				continue next
			}
		}
		p.t.Error(fault)
	}
}

// command sends a command of the protocol to the browser.
func command[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	out, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// do takes steps one after another.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// eval returns the value of a JavaScript expression, also of a promise.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	out, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %s", brief(expression), err)
	}
	return out
}

// await waits until a JavaScript expression holds, on this page or on a page that it leads to.
func (p *tab) await(expression string) {
	p.t.Helper()
	for end := time.Now().Add(maxWait); ; {
		ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if ok && err == nil {
			return
		}
		if time.Now().After(end) || p.ctx.Err() != nil {
			p.t.Fatalf("%s does not come to hold: %v; the page says\n%s", expression, err, p.text("body"))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// brief returns the beginning of a long text.
func brief(s string) string { return s[:min(len(s), 300)] }

// awaitText waits until an element that a selector finds has a text in it.
func (p *tab) awaitText(selector, text string) {
	p.t.Helper()
	p.await("[...document.querySelectorAll(" + quote(selector) + ")].some(e => e.textContent.includes(" + quote(text) + "))")
}

// text returns the readable text of the first element that a selector finds.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return eval[string](p, "document.querySelector("+quote(selector)+")?.innerText ?? ''")
}

// click clicks the first element that a selector finds, when it is there.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.await("document.querySelector(" + quote(selector) + ")")
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// press clicks the button or link with this name, in the moment in which it is found: a page may be drawn again at any
// time.
func (p *tab) press(name string) {
	p.t.Helper()
	find := "[...document.querySelectorAll('button,a,[role=button],[role=tab],summary')].find(e => (e.ariaLabel ?? e.innerText).trim() === " + quote(name) + " && e.checkVisibility() && !e.disabled)"
	p.await("(() => { const e = " + find + "; e?.click(); return e })()")
}

// fill types into the first field that a selector finds, replacing its content.
func (p *tab) fill(selector, text string) {
	p.t.Helper()
	p.await("(() => { const e = document.querySelector(" + quote(selector) + "); if (e) { e.value = ''; e.dispatchEvent(new Event('input', {bubbles: true})) } return e })()")
	p.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// choose sets a <select>.
func (p *tab) choose(selector, value string) {
	p.t.Helper()
	p.await("(() => { const e = document.querySelector(" + quote(selector) + "); if (e) { e.value = " + quote(value) + "; e.dispatchEvent(new Event('input', {bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})) } return e })()")
}

// shoot takes a picture of the whole page.
func (p *tab) shoot(file string) {
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Logf("no picture: %s", err)
		return
	}
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		p.t.Error(err)
		return
	}
	p.t.Logf("the page: %s", file)
}

// fits fails the test when the page is wider than the screen.
func (p *tab) fits() {
	p.t.Helper()
	if over := eval[int](p, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		wide := eval[string](p, "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).slice(0, 5).map(e => e.tagName + '.' + e.className).join(' ')")
		p.t.Errorf("the page is %d px wider than the screen: %s", over, wide)
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s) // of a string: cannot fail
	return string(b)
}
