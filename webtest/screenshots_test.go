//go:build screenshots

package webtest

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"leaderboard/internal/demo"
)

// pictures is where README.md and the documents have theirs.
const pictures = "../docs/pictures"

// TestScreenshots makes the pictures of README.md and docs from the demo: `make screenshots`.
func TestScreenshots(t *testing.T) {
	if err := os.MkdirAll(pictures, 0o755); err != nil {
		t.Fatal(err)
	}
	d := running(t)
	shown := url.QueryEscape(demo.Member(demo.Shown))
	for name, look := range map[string]func(t *testing.T) *tab{
		"home":        func(t *testing.T) *tab { return open(t, desktop(), "/") },
		"board":       func(t *testing.T) *tab { return open(t, desktop(), "/boards/"+demo.Board+"?member="+shown) },
		"board-phone": func(t *testing.T) *tab { return open(t, phone().inDark(), "/boards/"+demo.Dungeon) },
		"console":     func(t *testing.T) *tab { return console(t, desktop().inDark(), d.Key, "#/boards") },
		"manual":      func(t *testing.T) *tab { return open(t, desktop(), "/docs") },
	} {
		t.Run(name, func(t *testing.T) {
			p := look(t)
			p.do(chromedp.Sleep(4 * time.Second)) // what moves has come to rest, and plots have something to show
			picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(pictures, name+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}
