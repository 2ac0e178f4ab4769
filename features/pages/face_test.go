package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// encoded returns a picture of a size.
func encoded(t *testing.T, width, height int, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asPNG(out *bytes.Buffer, i image.Image) error  { return png.Encode(out, i) }
func asJPEG(out *bytes.Buffer, i image.Image) error { return jpeg.Encode(out, i, nil) }
func asGIF(out *bytes.Buffer, i image.Image) error  { return gif.Encode(out, i, nil) }

// webpOfOnePixel is a whole WebP picture.
const webpOfOnePixel = "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

// TestReadLogo: the content of a logo decides on its format, not the name of its file. A logo that is too large, not whole or of
// another format is refused with the reason.
func TestReadLogo(t *testing.T) {
	whole := encoded(t, 20, 10, asPNG)
	for name, c := range map[string]struct {
		body []byte
		want string // the extension, or a part of the error
	}{
		"PNG":          {whole, ".png"},
		"JPEG":         {encoded(t, 20, 10, asJPEG), ".jpg"},
		"WebP":         {[]byte(webpOfOnePixel), ".webp"},
		"widest":       {encoded(t, maxLogoSide, 1, asPNG), ".png"},
		"GIF":          {encoded(t, 20, 10, asGIF), "want a picture in PNG, JPEG or WebP"},
		"SVG":          {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), "want a picture in PNG, JPEG or WebP"},
		"a page":       {[]byte("<html>"), "want a picture in PNG, JPEG or WebP"},
		"nothing":      {nil, "want a picture in PNG, JPEG or WebP"},
		"not whole":    {whole[:len(whole)-20], "want a whole picture"},
		"its head":     {whole[:8], "want a whole picture"},
		"too wide":     {encoded(t, maxLogoSide+1, 1, asPNG), "it has 2049 × 1"},
		"too high":     {encoded(t, 1, maxLogoSide+1, asJPEG), "it has 1 × 2049"},
		"too large":    {append(whole, make([]byte, maxLogoBytes)...), "want a picture of 256 KiB at most"},
		"PNG, in name": {[]byte("\x89PNG\r\n\x1a\n<script>"), "want a whole picture"},
	} {
		file := filepath.Join(t.TempDir(), "logo.png")
		if err := os.WriteFile(file, c.body, 0o600); err != nil {
			t.Fatal(err)
		}
		switch logo, err := ReadLogo(file); {
		case err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file)):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		case err == nil && logo.ext != c.want:
			t.Errorf("%s is taken as %s, want %s", name, logo.ext, c.want)
		}
	}
	if _, err := ReadLogo(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("there is no such file, and no error")
	}
}

// TestFaceTexts: a title and a footer are one line of text, and an accent has one form.
func TestFaceTexts(t *testing.T) {
	for _, bad := range []string{"two\nlines", "\x00", "\xff", strings.Repeat("x", maxSiteTitle+1)} {
		if _, err := CheckTitle(bad); err == nil {
			t.Errorf("%q can be a title", bad)
		}
	}
	for _, good := range []string{"", `<b>&"'`, strings.Repeat("ü", maxSiteTitle), "👩‍🚀"} {
		if got, err := CheckTitle(good); err != nil || got != good {
			t.Errorf("%q: %q, %v", good, got, err)
		}
	}
	for _, bad := range []string{"", "red", "#fff", "#3151d3ff", "#3151dg", " #3151d3", "#3151d3\n", "#3151d3;}", "3151d3"} {
		if c, err := ParseAccent(bad); err == nil {
			t.Errorf("%q is the colour %v", bad, c)
		}
	}
}

// TestParts: addresses in a footer are links, and nothing else is.
func TestParts(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "[]",
		"© Arcade":                     "[{© } {  } {Arcade }]",
		"See https://a.example/x, now": "[{See } {  } {https://a.example/x https://a.example/x} {, } {  } {now }]",
		"javascript:alert(1) data:,x http: https://": "[{javascript:alert(1 } {) } {  } {data:,x } {  } {http: } {  } {https:// }]",
	} {
		if got := fmt.Sprint(parts(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestAccents: letters in any accent, and on its tint, are readable in both schemes, and a readable accent stays unchanged.
func TestAccents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rgb{rapid.Byte().Draw(t, "red"), rapid.Byte().Draw(t, "green"), rapid.Byte().Draw(t, "blue")}
		light, dark, style := accents(c)
		var tints [4]rgb
		if n, err := fmt.Sscanf(style, ":root{--accent:light-dark(#%02x%02x%02x,#%02x%02x%02x);--lit:light-dark(#%02x%02x%02x,#%02x%02x%02x)}\n",
			&tints[0].R, &tints[0].G, &tints[0].B, &tints[1].R, &tints[1].G, &tints[1].B, &tints[2].R, &tints[2].G, &tints[2].B, &tints[3].R, &tints[3].G, &tints[3].B); n != 12 || err != nil {
			t.Fatalf("%s: %v", style, err)
		}
		for letters, grounds := range map[rgb][]rgb{
			light: {{255, 255, 255}, {0xee, 0xf0, 0xf6}, tints[2]}, dark: {{0x18, 0x1b, 0x23}, {0x1f, 0x23, 0x2d}, tints[3]},
			{0x16, 0x18, 0x1d}: {tints[2]}, {0x5b, 0x62, 0x72}: {tints[2]}, {0xe9, 0xeb, 0xf0}: {tints[3]}, {0x9b, 0xa3, 0xb4}: {tints[3]},
		} {
			for _, ground := range grounds {
				if got := contrast(letters, ground); got < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", c.hex(), letters.hex(), ground.hex(), got)
				}
			}
		}
		if contrast(c, rgb{0xee, 0xf0, 0xf6}) > readable && light != c {
			t.Errorf("%s is made %s on light ground", c.hex(), light.hex())
		}
	})
	if got := contrast(rgb{0, 0, 0}, rgb{255, 255, 255}); got < 20.99 || got > 21.01 {
		t.Errorf("black on white has a contrast of %.2f", got)
	}
}

// TestColoursOfAccents: the colours around accents are the colours of the stylesheets.
func TestColoursOfAccents(t *testing.T) {
	css, err := os.ReadFile("../../web/src/shared/base.css")
	if err != nil {
		t.Fatal(err)
	}
	usual := usualFace()
	for name, both := range map[string][2]rgb{
		"ground": {{0xfb, 0xfb, 0xfd}, {0x10, 0x12, 0x18}}, "panel": {{0xff, 0xff, 0xff}, {0x18, 0x1b, 0x23}}, "text": {{0x16, 0x18, 0x1d}, {0xe9, 0xeb, 0xf0}},
		"faint": {{0x5b, 0x62, 0x72}, {0x9b, 0xa3, 0xb4}}, "bad": {{0xb3, 0x26, 0x1e}, {0xff, 0x8f, 0x87}}, "good": {{0x17, 0x66, 0x3a}, {0x6b, 0xd7, 0x9a}},
		"accent": {usual.light, usual.dark},
	} {
		if want := fmt.Sprintf("--%s: light-dark(%s, %s);", name, both[0].hex(), both[1].hex()); !strings.Contains(string(css), want) {
			t.Errorf("base.css has no %s: accents are made readable on other colours", want)
		}
	}
}

// TestFace: the operator's title, footer and logo are on every page, as text; files have their types, and addresses that change
// with the content.
func TestFace(t *testing.T) {
	logo, err := newLogo(encoded(t, 20, 10, asPNG))
	if err != nil {
		t.Fatal(err)
	}
	load := func(accent color.Color) (*Site, http.Handler) {
		s, err := Load(&Options{Face: Face{Title: hostile, Accent: accent, Logo: logo, Footer: hostile + " https://arcade.example/imprint"}})
		if err != nil {
			t.Fatal(err)
		}
		return s, s.Handler(http.HandlerFunc(fakeAPI))
	}
	s, pages := load(rgb{0xff, 0xd0, 0})
	read := func(path string) (http.Header, string) {
		w := httptest.NewRecorder()
		if pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody)); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
		return w.Header(), w.Body.String()
	}
	const escaped = `&lt;/script&gt;&lt;script&gt;alert(1)`
	for _, path := range []string{"/", "/boards/demo"} {
		_, body := read(path)
		for _, want := range []string{"<bdi>" + escaped, `<footer class="footer"><bdi>` + escaped, `<a href="https://arcade.example/imprint">`, `<link rel="icon" href="` + s.face.Logo, `<img src="` + s.face.Logo, `<link rel="stylesheet" href="` + s.face.Style} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in %s", path, want, body)
			}
		}
		if strings.Contains(strings.Split(body, `<script type="application/json"`)[0], "<script>alert") || strings.Contains(body, "ZgotmplZ") {
			t.Errorf("%s: the title is no text: %s", path, body)
		}
	}
	if _, body := read("/boards/demo?embed=1"); strings.Contains(body, "footer") || !strings.Contains(body, s.face.Style) {
		t.Error("a frame has the footer of the site, or not its colours")
	}
	if _, body := read("/console"); !strings.Contains(body, s.face.Style) {
		t.Error("the console has other colours")
	}
	if h, body := read(s.face.Logo); h.Get("Content-Type") != "image/png" || body != string(logo.body) || !strings.Contains(h.Get("Cache-Control"), "immutable") {
		t.Errorf("the logo: %v", h)
	}
	if h, _ := read(s.face.Style); h.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("the style: %v", h)
	}
	before, drawn := getPicture(t, pages, "/boards/demo/picture.png")
	if rgbOf(drawn.At(5, 5)) != s.face.dark {
		t.Errorf("the edge of the picture is %v, want %v", drawn.At(5, 5), s.face.dark)
	}
	other, pages := load(rgb{0, 0x80, 0})
	if after, _ := getPicture(t, pages, "/boards/demo/picture.png"); other.face.Style == s.face.Style || after.Header().Get("ETag") == before.Header().Get("ETag") {
		t.Error("another accent has the address or the ETag of the first one")
	}
}

// hostileFace is the API with a board that has a face, with markup in its footer.
func hostileFace(face string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/boards/demo" {
			fakeAPI(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, `{"name":"demo","title":"Demo","mode":"tied","order":"desc","windows":["day"],"face":%s}`, face)
	})
}

// TestBoardFace: a board's accent, logo and footer are on its page, as text and pictures, together with the footer of the
// installation, and on no other page. A missing logo, and an ill-formed accent, are ignored.
func TestBoardFace(t *testing.T) {
	logo, err := newLogo(encoded(t, 20, 10, asPNG))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(&Options{Base: "/games", Face: Face{Accent: rgb{0, 0x80, 0}, Footer: "The house", Logos: Logos{"arcade.png": logo}}})
	if err != nil {
		t.Fatal(err)
	}
	footer, _ := json.Marshal(hostile + " https://arcade.example/rules")
	own := s.Handler(hostileFace(`{"accent":"#FFD000","logo":"arcade.png","footer":` + string(footer) + `}`))
	read := func(pages http.Handler, path string) (*http.Response, string) {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		return w.Result(), w.Body.String()
	}
	light, dark, style := accents(rgb{0xff, 0xd0, 0})
	sheet := "/games/assets/" + accentFile(rgb{0xff, 0xd0, 0}, style)
	_, body := read(own, "/boards/demo")
	for _, want := range []string{
		`<link rel="stylesheet" href="` + sheet + `">`, `data-logo="` + s.face.logos["arcade.png"] + `"`, `<img class="logo" src="` + s.face.logos["arcade.png"] + `" alt="">`,
		`<footer class="footer"><p><bdi>&lt;/script&gt;&lt;script&gt;`, `<a href="https://arcade.example/rules" rel="nofollow">`, "<bdi>The house</bdi>", "fill='%23" + light.hex()[1:],
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(strings.Split(body, `<script type="application/json"`)[0], "<script>alert") || strings.Contains(body, s.face.Style) || strings.Contains(body, "ZgotmplZ") {
		t.Errorf("the footer is no text, or there are two accents: %s", body)
	}
	if _, body := read(own, "/boards/demo?embed=1"); strings.Contains(body, "rules") && strings.Contains(body, "<footer") || !strings.Contains(body, sheet) || !strings.Contains(body, `<img class="logo"`) {
		t.Errorf("a frame: %s", body)
	}
	if _, body := read(own, "/"); strings.Contains(body, sheet) || !strings.Contains(body, s.face.Style) {
		t.Errorf("the other pages: %s", body)
	}
	if r, body := read(own, strings.TrimPrefix(sheet, "/games")); r.StatusCode != http.StatusOK || body != style || r.Header.Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(r.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %s %s", sheet, r.Status, body)
	}
	if _, drawn := getPicture(t, own, "/boards/demo/picture.png"); rgbOf(drawn.At(5, 5)) != dark {
		t.Errorf("the edge of the picture is %v, want %v", drawn.At(5, 5), dark)
	}
	for _, path := range []string{"accent-ffd000.css", "accent-ffd000-00000000.css", "accent-FFD000" + strings.TrimPrefix(accentFile(rgb{0xff, 0xd0, 0}, style), "accent-ffd000"), "accent-ffd00-.css", "accent-.css", "accent-%2e%2e.css"} {
		if r, _ := read(own, "/assets/"+path); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	for _, face := range []string{`{"logo":"other.png"}`, `{"accent":"red;}","logo":"../arcade.png"}`, `null`} {
		_, body := read(s.Handler(hostileFace(face)), "/boards/demo")
		if strings.Contains(body, `class="logo"`) || !strings.Contains(body, s.face.Style) || strings.Contains(body, "<p><bdi>") {
			t.Errorf("%s: %s", face, body)
		}
	}
}

// TestReadLogos: pictures of boards are the files of a folder, with names that rules can have, up to a bound. A file that is no
// picture stops the start.
func TestReadLogos(t *testing.T) {
	whole := encoded(t, 20, 10, asPNG)
	for name, c := range map[string]struct {
		files map[string][]byte
		want  string // a part of the error; "": none
	}{
		"none":          {nil, ""},
		"two":           {map[string][]byte{"a.png": whole, "b": []byte(webpOfOnePixel), ".hidden": []byte("x")}, ""},
		"a capital":     {map[string][]byte{"A.png": whole}, "not \"A.png\""},
		"SVG":           {map[string][]byte{"a.png": whole, "b.svg": []byte("<svg/>")}, "b.svg"},
		"a hundred one": {manyLogos(whole), "100 pictures at most"},
	} {
		folder := t.TempDir()
		for file, body := range c.files {
			if err := os.WriteFile(filepath.Join(folder, file), body, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		logos, err := ReadLogos(folder)
		if c.want == "" && (err != nil || len(logos) != max(0, len(c.files)-1)) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %d, %v, want %q", name, len(logos), err, c.want)
		}
	}
}

// manyLogos returns one more than there may be.
func manyLogos(body []byte) map[string][]byte {
	out := map[string][]byte{}
	for i := range maxLogos + 1 {
		out[fmt.Sprintf("%03d.png", i)] = body
	}
	return out
}

// TestHeader: the header of an installation has the operator's links, in the language of the reader, and no others.
func TestHeader(t *testing.T) {
	read := func(header, path string) string {
		site, err := Load(&Options{Face: Face{Header: header}, Base: "/games"})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		site.Handler(http.HandlerFunc(fakeAPI)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		body := w.Body.String()
		_, nav, _ := strings.Cut(body, `<header class="masthead">`)
		nav, _, _ = strings.Cut(nav, "</header>")
		if isHome := path[1] == '?'; strings.Contains(body, "/docs") != strings.Contains(header, "manual") || isHome && strings.Contains(body, `/docs/start`) != strings.Contains(header, "manual") {
			t.Errorf("%q, %s: %s", header, path, body)
		}
		_, nav, _ = strings.Cut(nav, "</a>")
		return strings.TrimSpace(nav)
	}
	for _, path := range []string{"/?lang=de", "/boards/demo?lang=de"} {
		for header, want := range map[string]string{
			"":       "",
			"manual": `<nav aria-label="Website"><a href="/games/docs">Handbuch</a></nav>`,
			"console, The <shop> https://shop.example/a?b, Play http://127.0.0.1:1/": `<nav aria-label="Website"><a href="/games/console">Konsole</a><a href="https://shop.example/a?b">The &lt;shop&gt;</a><a href="http://127.0.0.1:1/">Play</a></nav>`,
		} {
			if got := read(header, path); got != want {
				t.Errorf("%q, %s: %s", header, path, got)
			}
		}
	}
	for _, refused := range []string{"handbook", "Shop", "https://shop.example/", "Shop javascript:alert(1)", "manual,", "manual\nconsole", "Shop //shop.example/"} {
		if _, err := CheckHeader(refused); err == nil {
			t.Errorf("%q is taken", refused)
		}
	}
}

// TestBoardParts: the page of a board, and of each part of it, has links to all of them, sorted by the value of their label; the
// script is sent only these. Without an answer of the API the page has no such links.
func TestBoardParts(t *testing.T) {
	site, err := Load(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	asked, fails := "", false
	pages := site.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/boards/demo":
			_, _ = fmt.Fprint(w, `{"name":"demo","windows":["day"],"labels":{"part-of":"all","country":"de"},"face":{"parts":"country"}}`)
		case r.URL.Path == "/v1/boards" && !fails:
			asked = r.URL.RawQuery
			_, _ = fmt.Fprint(w, `{"boards":[{"name":"x","title":"unsaid","labels":{"part-of":"all","country":"gb"}},{"name":"demo","labels":{"country":"de"}},{"name":"other","labels":{"part-of":"all"}}]}`)
		case r.URL.Path == "/v1/boards":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			fakeAPI(w, r)
		}
	}))
	read := func(path string) string {
		w := httptest.NewRecorder()
		if pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody)); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
		return w.Body.String()
	}
	body := read("/boards/demo?mode=tied&window=day&member=ada")
	const choices = `<li><a href="/boards/all?mode=tied">Everybody</a></li><li><a href="/boards/demo?mode=tied" aria-current="true">DE</a></li><li><a href="/boards/x?mode=tied">GB</a></li></ul>`
	if !strings.Contains(body, choices) || asked != "labels=part-of%3Aall&limit=250" {
		t.Errorf("asked for %s: %s", asked, body)
	}
	if !strings.Contains(body, `data-parts="[{&#34;value&#34;:&#34;&#34;,&#34;board&#34;:&#34;all&#34;},{&#34;value&#34;:&#34;de&#34;,&#34;board&#34;:&#34;demo&#34;},`) || strings.Contains(body, "unsaid") {
		t.Errorf("the script is sent %s", body)
	}
	if asked = ""; strings.Contains(read("/boards/demo?embed=1"), "data-parts") || asked != "" {
		t.Error("a frame has the choice")
	}
	if fails = true; strings.Contains(read("/boards/demo"), "data-parts") || strings.Contains(read("/boards/demo"), "Everybody</a>") {
		t.Error("there is a choice without an answer")
	}
}
