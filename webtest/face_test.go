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

	"leaderboard"
	"leaderboard/pages"
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

// TestFace: an installation has a title, a logo, an accent and a footer, on what anybody sees, with scripts and without. All of it is text
// or a picture, whatever it is, fits the smallest screen, and can be read in both schemes, also in an accent that could not.
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
			p := openURL(t, c.screen, dressed(t, &pages.Face{Title: title, Accent: accent, Logo: logo, Footer: `<script>x()</script> Arcade, https://arcade.example/imprint.`})+c.path)
			p.awaitText(map[bool]string{true: ".leaders", false: ".ranking"}[isHome], "m001")
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
