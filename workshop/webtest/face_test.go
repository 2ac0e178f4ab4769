package webtest

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"leaderboard/features/pages"
	"leaderboard/leaderboard"
)

// dressed returns the address of the pages with a face, in front of the server that all tests share.
func dressed(t *testing.T, face *pages.Face) string {
	t.Helper()
	site, err := pages.Load(&pages.Options{Face: *face})
	if err != nil {
		t.Fatal(err)
	}
	of, err := url.Parse(running(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	api := httputil.NewSingleHostReverseProxy(of)
	mux := http.NewServeMux()
	mux.Handle("/v1/", api)
	mux.Handle("/", site.Handler(api))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestFace: an installation has a title, a logo, an accent and a footer, on all public pages, with scripts and without. All
// of it is text or a picture, whatever it is, fits the smallest screen, and can be read in both schemes, also in an accent
// that could not.
func TestFace(t *testing.T) {
	t.Parallel()
	makeBoard(t, admin(t), "faced", leaderboard.Rules{Labels: leaderboard.Labels{"kind": "faced"}}, members(30)...)
	picture := image.NewRGBA(image.Rect(0, 0, 300, 60))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(color.RGBA{200, 30, 30, 255}), image.Point{}, draw.Src)
	var body bytes.Buffer
	if err := png.Encode(&body, picture); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "logo")
	if err := os.WriteFile(file, body.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	logo, err := pages.ReadLogo(file)
	if err != nil {
		t.Fatal(err)
	}
	const title = `<b onload="x()">Arcade&Halle of Kleinmachnow-Süd, the oldest`
	small, plain := screen{width: 320, height: 640}, screen{width: 320, height: 640, noScript: true}
	for name, c := range map[string]struct {
		accent, path string
		screen
	}{
		"bright": {"#ffd000", "/boards/faced?member=m004", desktop()}, "bright, small": {"#ffd000", "/?labels=kind:faced", small}, "bright, in dark": {"#ffd000", "/boards/faced", small.inDark()},
		"black": {"#000000", "/boards/faced?member=m004", desktop().inDark()}, "without scripts": {"#6a5acd", "/boards/faced?member=m004", plain}, "without scripts, all": {"#6a5acd", "/?labels=kind:faced", plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			accent, err := pages.ParseAccent(c.accent)
			if err != nil {
				t.Fatal(err)
			}
			isHome := c.path[1] == '?'
			p := openURL(t, c.screen, dressed(t, &pages.Face{Title: title, Accent: accent, Logo: logo, Header: "manual, console, Shop https://arcade.example/", Footer: `<script>x()</script> Arcade, https://arcade.example/imprint.`})+c.path)
			p.awaitText(map[bool]string{true: ".leaders", false: ".ranks"}[isHome], "m001")
			p.await(`document.querySelector(".brand").innerText.trim() === ` + quote(title))
			p.await(`document.querySelector(".brand img").naturalWidth === 300 && document.querySelector(".brand img").getBoundingClientRect().width <= 100`)
			p.await(`document.querySelector(".footer").innerText.startsWith("<script>x()</script> Arcade, https") && document.querySelector(".footer a").href === "https://arcade.example/imprint"`)
			if isHome {
				p.await(`document.title === ` + quote(title) + ` && document.querySelector("h1").innerText === ` + quote(title) + ` && document.querySelector('main a[href="/docs/start"]') && document.querySelector('main a[href="/docs"]')`)
			}
			p.fits()
			if !c.noScript {
				p.accessible()
			}
		})
	}
}

// TestBoardFace: a board has its own accent, logo and footer on its page, which override the installation's; they fit the
// smallest screen, and can be read in both schemes, whatever they are.
func TestBoardFace(t *testing.T) {
	t.Parallel()
	picture := image.NewRGBA(image.Rect(0, 0, 400, 100))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(color.RGBA{30, 30, 200, 255}), image.Point{}, draw.Src)
	var body bytes.Buffer
	if err := png.Encode(&body, picture); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "arcade.png"), body.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	logos, err := pages.ReadLogos(folder)
	if err != nil {
		t.Fatal(err)
	}
	for accent, board := range map[string]string{"#ffd000": "own-bright", "#000000": "own-black", "#fFffFf": "own-white"} {
		makeBoard(t, admin(t), board, leaderboard.Rules{Title: "The arcade of Kleinmachnow-Süd, and the oldest", Face: &leaderboard.Face{
			Accent: accent, Logo: "arcade.png", Footer: `<img src=x onerror="throw 1"> Rules: https://arcade.example/rules`,
		}}, members(30)...)
	}
	at := dressed(t, &pages.Face{Header: "manual", Footer: "The house", Logos: logos})
	small, plain := screen{width: 320, height: 640}, screen{width: 320, height: 640, noScript: true}
	for name, c := range map[string]struct {
		board string
		screen
	}{
		"bright": {"own-bright?member=m004", screen{width: 1400, height: 900}}, "bright, small": {"own-bright?member=m004", small}, "bright, in dark": {"own-bright?member=m004", small.inDark()},
		"black, in dark": {"own-black", desktop().inDark()}, "white": {"own-white", small}, "white, in dark": {"own-white", small.inDark()}, "in a frame": {"own-bright?embed=1", small}, "without scripts": {"own-bright", plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openURL(t, c.screen, at+"/boards/"+c.board)
			p.awaitText(".ranks", "m001")
			if !c.noScript {
				p.await(`document.querySelector(".state.live")`)
			}
			p.await(`document.querySelector(".logo").naturalWidth === 400 && document.querySelector(".logo").getBoundingClientRect().width <= 130`)
			if name == "in a frame" {
				p.await(`!document.querySelector(".footer")`)
			} else {
				p.await(`document.querySelector(".footer").innerText.startsWith("<img src=x onerror") && document.querySelector(".footer a").href === "https://arcade.example/rules" && document.querySelector(".footer").innerText.includes("The house")`)
			}
			usual := map[bool]string{true: "rgb(141, 164, 255)", false: "rgb(49, 81, 211)"}[c.dark]
			p.await(`(a => { document.body.append(a); a.href = "/"; const c = getComputedStyle(a).color; a.remove(); return c !== ` + quote(usual) + ` })(document.createElement("a"))`)
			p.fits()
			if !c.noScript {
				p.accessible()
			}
		})
	}
	other := openURL(t, desktop(), at+"/")
	other.await(`document.querySelector(".footer").innerText.startsWith("The house") && getComputedStyle(document.querySelector("main a")).color === "rgb(49, 81, 211)"`)
}
