package pages

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/sfnt"
)

// site makes the pages with an API.
func site(t *testing.T, api http.HandlerFunc) (*Site, http.Handler) {
	t.Helper()
	s, err := Load(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, s.Handler(api)
}

// getPicture asks for a picture.
func getPicture(t *testing.T, pages http.Handler, path string) (*httptest.ResponseRecorder, image.Image) {
	t.Helper()
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/png" {
		t.Fatalf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
	}
	drawn, err := png.Decode(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return w, drawn
}

// TestPicture: a board has a picture of the size that sites need, with another ETag for a member. A picture that cannot be shown
// has the status of the API.
func TestPicture(t *testing.T) {
	_, pages := site(t, fakeAPI)
	board, drawn := getPicture(t, pages, "/boards/demo/picture.png")
	if b := drawn.Bounds(); b.Dx() != 1200 || b.Dy() != 630 {
		t.Errorf("the picture is %v", b)
	}
	lit := func(i image.Image, r image.Rectangle) (n int) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if red, green, blue, _ := i.At(x, y).RGBA(); red+green+blue > 3*0x9000 {
					n++
				}
			}
		}
		return n
	}
	title, margin := image.Rect(pictureMargin, 60, pictureWidth-pictureMargin, 140), image.Rect(pictureWidth-pictureMargin+4, 20, pictureWidth, pictureHeight)
	if n := lit(drawn, title); n < 1000 {
		t.Errorf("the title has %d pixels", n)
	}
	if n := lit(drawn, margin); n != 0 {
		t.Errorf("%d pixels are in the margin", n)
	}
	member, of := getPicture(t, pages, "/boards/demo/picture.png?member=ada")
	foot := image.Rect(0, pictureHeight-100, pictureWidth, pictureHeight)
	if lit(drawn, foot) != 0 || lit(of, foot) < 500 || board.Header().Get("ETag") == member.Header().Get("ETag") {
		t.Errorf("the member has %d pixels, without one there are %d", lit(of, foot), lit(drawn, foot))
	}
	r := httptest.NewRequest(http.MethodGet, "/boards/demo/picture.png", http.NoBody)
	r.Header.Set("If-None-Match", board.Header().Get("ETag"))
	w := httptest.NewRecorder()
	if pages.ServeHTTP(w, r); w.Code != http.StatusNotModified {
		t.Errorf("the same picture again: %d", w.Code)
	}
	for path, status := range map[string]int{"/boards/none/picture.png": 404, "/boards/private/picture.png": 404, "/boards/busy/picture.png": 503, "/boards/demo/picture.png?member=nobody": 404} {
		w := httptest.NewRecorder()
		if pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody)); w.Code != status || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestPictureFlood: one state is drawn once for all its requests, and the kept pictures are bounded.
func TestPictureFlood(t *testing.T) {
	s, pages := site(t, fakeAPI)
	var asking sync.WaitGroup
	var got atomic.Int64
	for range 60 {
		asking.Go(func() {
			w := httptest.NewRecorder()
			pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/boards/demo/picture.png", http.NoBody))
			if w.Code == http.StatusOK {
				got.Add(1)
			} else if w.Code != http.StatusServiceUnavailable { // on a machine so busy that one takes two seconds
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	asking.Wait()
	if n := s.painter.drawn.Load(); n != 1 || got.Load() == 0 {
		t.Errorf("%d pictures were drawn for one, %d of 60 got it", n, got.Load())
	}
	for i := range 3 * maxPictures {
		s.painter.kept.Put(fmt.Sprint(i), 100, nil)
	}
	if n := len(s.painter.kept.All()); n > maxPictures {
		t.Errorf("%d pictures are kept", n)
	}
	<-s.painter.token // another one is drawn, and takes its time
	r := httptest.NewRequest(http.MethodGet, "/boards/demo/picture.png?member=ada", http.NoBody)
	w := httptest.NewRecorder()
	if pages.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("while another one is drawn: %d %v", w.Code, w.Header())
	}
}

// TestLetters: the embedded fonts have each letter of Latin, Greek and Cyrillic text; a font of the server has others. A name with
// a letter that no font has gives way to the id.
func TestLetters(t *testing.T) {
	fonts, err := loadTypefaces(nil)
	if err != nil {
		t.Fatal(err)
	}
	const letters = "ABCXYZabcxyz0123456789 ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿ ĀăĄćČĐęĚĞğİıŁłŃňŐőŒœŘřŚšŞŢťŮůŰűŹżŽž" +
		"ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώ ЁЂЄІЇЙАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюяёђєіїґҐ" + "…,.−-·%"
	for name, of := range map[string][]*sfnt.Font{"regular": fonts.regular, "bold": fonts.bold} {
		var buf sfnt.Buffer
		for _, r := range letters {
			if at, err := of[0].GlyphIndex(&buf, r); err != nil || at == 0 {
				t.Errorf("%s has no %c", name, r)
			}
		}
	}
	for name, want := range map[string]string{"Ada Łukasz": "Ada Łukasz", "Άδα": "Άδα", "ゆうた": "m1", "a\u202eb": "a\u202eb"} {
		if got := fonts.legible(name, "m1"); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
	if more, err := loadTypefaces(gomono.TTF); err != nil || len(more.regular) != 2 || len(more.bold) != 2 {
		t.Errorf("another font: %v", err)
	}
	if _, err := loadTypefaces([]byte("no font")); err == nil {
		t.Error("what is no font is taken for one")
	}
}

// TestWholeOrNot: a picture never says a part of a score, and has no boxes: signs and names that no font has are left out.
func TestWholeOrNot(t *testing.T) {
	fonts, err := loadTypefaces(nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, texts := range map[string][]string{
		"Rocket Rosa": {"🚀 Rocket Rosa 🚀", "m1"}, "m1": {"高橋", "m1"}, "": {"高橋", "王"}, "demo": {"👩‍👩‍👧‍👦🏳️‍🌈", "demo"}, "Zażółć": {"Zażółć"}, "Café": {"Café"},
	} {
		if got := fonts.first(texts...); got != want {
			t.Errorf("%q are shown as %q, want %q", texts, got, want)
		}
	}
	e := &easel{on: image.NewRGBA(image.Rect(0, 0, pictureWidth, pictureHeight)), fonts: fonts, text: image.White.C}
	const end = pictureWidth - pictureMargin
	for score, want := range map[string]bool{"9": true, "-9,223,372,036,854,775,808": true, "-9,223,372,036,854,775,808 kilograms": true, strings.Repeat("9", 80): false} {
		clear(e.on.Pix)
		from := e.score(score, 400, 100)
		drawn := slices.ContainsFunc(e.on.Pix, func(v uint8) bool { return v > 0 })
		if drawn != want || from < 400 || (from == end) == want {
			t.Errorf("%q is drawn %t from %d, want %t", score, drawn, from, want)
		}
	}
	if e.err != nil {
		t.Error(e.err)
	}
}

// TestPictureOfMember: the picture shows the member's avatar if that is a picture, and otherwise the drawing that the pages have.
func TestPictureOfMember(t *testing.T) {
	own := image.NewRGBA(image.Rect(0, 0, 8, 8))
	fill(own, 0, 0, 8, 8, rgb{1, 2, 3})
	var body bytes.Buffer
	if err := png.Encode(&body, own); err != nil {
		t.Fatal(err)
	}
	fonts, err := loadTypefaces(nil)
	if err != nil {
		t.Fatal(err)
	}
	of := newAvatar("ada")
	for picture, want := range map[string]rgb{"data:image/png;base64," + base64.StdEncoding.EncodeToString(body.Bytes()): {1, 2, 3}, "data:image/png;base64,AAAA": hsl(draws("ada").hue, draws("ada").light), "/own.png": hsl(draws("ada").hue, draws("ada").light)} {
		e := &easel{on: image.NewRGBA(image.Rect(0, 0, 64, 64)), fonts: fonts}
		e.avatar(&person{Member: "ada", Picture: picture}, 0, 0)
		if got := rgbOf(e.on.At(32, 32)); got != want { // the middle is always filled
			t.Errorf("%.30s: the middle is %v, want %v (%s)", picture, got, want, of.Fill)
		}
	}
	if got := hsl(120, 50); got != (rgb{48, 207, 48}) { // as browsers compute hsl(120 62% 50%)
		t.Errorf("a green is %v", got)
	}
}

// TestFit: a text that is too long is cut and says so; letters that turn the direction of text are left out.
func TestFit(t *testing.T) {
	fonts, err := loadTypefaces(nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPen(image.NewRGBA(image.Rect(0, 0, 10, 10)), fonts.bold, 44, image.White)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"ada": "ada", "a\u202eb\nc": "abc"} {
		if got := string(p.fit(text, 500)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	parts := regexp.MustCompile(`\b(2|20|202|5|5,|5,0|5,00)…`) // parts of numbers
	for room := range 600 {
		if got := string(p.fit("Cup 2026 · 5,001 players", room)); parts.MatchString(got) {
			t.Errorf("%d pixels: %q", room, got)
		}
	}
	if got := p.fit(strings.Repeat("W", 100), 500); p.width(got) > 500 || got[len(got)-1] != '…' || len(got) < 5 {
		t.Errorf("a long name: %q", string(got))
	}
}

// TestShared: a board's page names its picture by an absolute address. It does not repeat an ill-formed host.
func TestShared(t *testing.T) {
	_, pages := site(t, fakeAPI)
	for host, want := range map[string]string{
		"scores.example": `<meta property="og:image" content="http://scores.example/boards/demo/picture.png?member=`, `a"><script>`: "",
	} {
		r := httptest.NewRequest(http.MethodGet, "/boards/demo?member=ada", http.NoBody)
		r.Host = host
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		if body := w.Body.String(); !strings.Contains(body, want) || strings.Contains(body, "og:") != (want != "") {
			t.Errorf("%s: %s", host, body)
		}
	}
	all, err := loadLanguages(DefaultLanguage)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int64]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 113: "113th", 603: "603rd", 5021: "5,021st"} {
		if got := all.english.Ordinal(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}
