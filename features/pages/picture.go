package pages

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Pixels of a share picture, as sites that show links want it.
const (
	pictureWidth  = 1200
	pictureHeight = 630
	pictureMargin = 70
)

// picture is the content of a share picture.
type picture struct {
	Site         string // title of the pages
	Logo         string // the address of the picture next to Site; "": none
	logo         []byte
	Title, About string
	Rows         []pictureRow // three at most
	Stripe       rgb          // along the edge at the top
	Shown        *person      // a member, the subject of Does: "is 603rd of 5,001"; nil: none
	Does         string
}

// person is a member with the avatar.
type person struct {
	Name    string // "": no font has the letters
	Member  string // by which the avatar is drawn
	Picture string // the member's own, in data:
}

type pictureRow struct {
	person

	Rank  int64
	Score string
}

// typefaces are fonts of regular and of bold text. The first font with a letter draws it.
type typefaces struct{ regular, bold []*sfnt.Font }

// loadTypefaces parses the embedded fonts, which have Latin, Greek and Cyrillic letters, and a font for other scripts, unless
// other is nil.
func loadTypefaces(other []byte) (*typefaces, error) {
	t := &typefaces{}
	for _, one := range []struct {
		to   *[]*sfnt.Font
		font []byte
	}{{&t.regular, goregular.TTF}, {&t.bold, gobold.TTF}} {
		f, err := opentype.Parse(one.font)
		if err != nil {
			return nil, fmt.Errorf("parse an embedded font: %w", err)
		}
		*one.to = append(*one.to, f)
	}
	if other == nil {
		return t, nil
	}
	all, err := opentype.ParseCollection(other) // a file with one font is a collection too
	if err != nil {
		return nil, fmt.Errorf("parse the font of pictures: %w", err)
	}
	for i := range all.NumFonts() {
		f, err := all.Font(i)
		if err != nil {
			return nil, fmt.Errorf("parse font %d of pictures: %w", i, err)
		}
		t.regular, t.bold = append(t.regular, f), append(t.bold, f)
	}
	return t, nil
}

// legible returns a name, or other when a letter of the name can only be drawn as a box.
func (t *typefaces) legible(name, other string) string {
	var buf sfnt.Buffer
	for _, r := range visible(name) {
		if !slices.ContainsFunc(t.bold, func(f *sfnt.Font) bool {
			at, err := f.GlyphIndex(&buf, r)
			return err == nil && at != 0
		}) {
			return other
		}
	}
	return name
}

// first returns the first text whose letters can all be drawn. It leaves out signs that cannot, such as emoji; "": none.
func (t *typefaces) first(texts ...string) string {
	for _, text := range texts {
		bare := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.So, unicode.Sk, unicode.Mn) && t.legible(string(r), "") == "" {
				return ' '
			}
			return r
		}, string(visible(text)))), " ")
		if bare != "" && t.legible(bare, "") != "" {
			return bare
		}
	}
	return ""
}

// pen writes text of one size and colour.
type pen struct {
	on    *image.RGBA
	fonts []*sfnt.Font
	faces []font.Face
	ink   image.Image
	buf   sfnt.Buffer
}

func newPen(on *image.RGBA, fonts []*sfnt.Font, pixels float64, ink color.Color) (*pen, error) {
	p := &pen{on: on, fonts: fonts, ink: image.NewUniform(ink)}
	for _, f := range fonts {
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: pixels, DPI: 72, Hinting: font.HintingNone})
		if err != nil {
			return nil, fmt.Errorf("make a face: %w", err)
		}
		p.faces = append(p.faces, face)
	}
	return p, nil
}

// face returns the face of the first font with a letter. Without such a font it returns the first face, which draws a box.
func (p *pen) face(r rune) font.Face {
	for i, f := range p.fonts {
		if at, err := f.GlyphIndex(&p.buf, r); err == nil && at != 0 {
			return p.faces[i]
		}
	}
	return p.faces[0]
}

// visible returns the letters of a text that are drawn: no control characters, and none that turn the direction of text.
func visible(text string) (out []rune) {
	for _, r := range text {
		if !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			out = append(out, r)
		}
	}
	return out
}

// width returns the pixels that letters take.
func (p *pen) width(letters []rune) int {
	var w fixed.Int26_6
	for _, r := range letters {
		if advance, ok := p.face(r).GlyphAdvance(r); ok {
			w += advance
		}
	}
	return w.Ceil()
}

// fit returns as many letters as there is room for, with an ellipsis when some are left out. A number is shown whole or left out.
func (p *pen) fit(text string, room int) []rune {
	letters := visible(text)
	if p.width(letters) <= room {
		return letters
	}
	for n := len(letters) - 1; n > 0; n-- {
		if inNumber(letters, n) {
			continue
		}
		if cut := append(letters[:n:n], '…'); p.width(cut) <= room {
			return cut
		}
	}
	return []rune{'…'}
}

// inNumber reports whether a number continues at a letter, after its first digits, points or spaces.
func inNumber(letters []rune, at int) bool {
	first := at
	for first > 0 && !unicode.IsDigit(letters[first-1]) && (unicode.IsSpace(letters[first-1]) || strings.ContainsRune(".,:’'٬", letters[first-1])) {
		first--
	}
	return first > 0 && unicode.IsDigit(letters[first-1]) && slices.ContainsFunc(letters[at:min(at+2, len(letters))], unicode.IsDigit)
}

// write writes letters from x to the right on the line y, and returns where they end.
func (p *pen) write(letters []rune, x, y int) int {
	d := font.Drawer{Dst: p.on, Src: p.ink, Dot: fixed.P(x, y)}
	for _, r := range letters {
		d.Face = p.face(r)
		d.DrawString(string(r))
	}
	return d.Dot.X.Ceil()
}

// fill fills a rectangle.
func fill(on *image.RGBA, x, y, width, height int, c color.Color) {
	draw.Draw(on, image.Rect(x, y, x+width, y+height), image.NewUniform(c), image.Point{}, draw.Src)
}

// easel is the state of painting a picture.
type easel struct {
	on    *image.RGBA
	fonts *typefaces
	text  color.Color
	err   error // the first one
}

// pen makes one of regular or bold letters.
func (e *easel) pen(fonts []*sfnt.Font, pixels float64, ink color.Color) *pen {
	made, err := newPen(e.on, fonts, pixels, ink)
	if err != nil && e.err == nil {
		e.err = err
	}
	return made
}

// paint draws a picture as PNG.
func (t *typefaces) paint(p *picture) ([]byte, error) {
	ground, panel, text, faint := rgb{16, 18, 24}, rgb{43, 58, 115}, rgb{233, 235, 240}, rgb{155, 163, 180}
	e := &easel{on: image.NewRGBA(image.Rect(0, 0, pictureWidth, pictureHeight)), fonts: t, text: text}
	fill(e.on, 0, 0, pictureWidth, pictureHeight, ground)
	fill(e.on, 0, 0, pictureWidth, 14, p.Stripe)
	title, about, site := e.pen(t.bold, 58, text), e.pen(t.regular, 32, faint), e.pen(t.bold, 28, faint)
	row, bold, place := e.pen(t.regular, 44, text), e.pen(t.bold, 44, text), e.pen(t.bold, 38, rgb{32, 26, 0})
	if e.err != nil {
		return nil, e.err
	}
	const room = pictureWidth - 2*pictureMargin
	x := pictureMargin
	if logo := decoded(p.logo); logo != nil {
		x += e.show(logo, x, 30, 160, 44) + 16
	}
	site.write(site.fit(p.Site, pictureWidth-pictureMargin-x), x, 62)
	title.write(title.fit(p.Title, room), pictureMargin, 136)
	about.write(about.fit(p.About, room), pictureMargin, 184)
	medals := []rgb{{245, 215, 122}, {211, 217, 227}, {233, 189, 149}}
	for i := range p.Rows {
		r, y := &p.Rows[i], 222+92*i
		fill(e.on, pictureMargin, y, 64, 64, medals[min(i, len(medals)-1)])
		rank := place.fit(strconv.FormatInt(r.Rank, 10), 60)
		place.write(rank, pictureMargin+32-place.width(rank)/2, y+46)
		e.avatar(&r.person, pictureMargin+64+20, y)
		from := pictureMargin + 64 + 20 + 64 + 24
		at := e.score(r.Score, from+200, y+48)
		bold.write(bold.fit(r.Name, at-from-24), from, y+48)
	}
	if p.Shown != nil {
		fill(e.on, 0, pictureHeight-110, pictureWidth, 110, panel)
		e.avatar(p.Shown, pictureMargin, pictureHeight-87)
		does, from := visible(" "+p.Does), pictureMargin+64+24
		end := bold.write(bold.fit(p.Shown.Name, pictureWidth-pictureMargin-from-row.width(does)), from, pictureHeight-40)
		row.write(does, end, pictureHeight-40)
	}
	if e.err != nil {
		return nil, e.err
	}
	var out bytes.Buffer
	if err := png.Encode(&out, e.on); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return out.Bytes(), nil
}

// score writes a whole score up to the margin, in letters so small that it begins at least there, and returns where it begins. A score for which there
// is no room is left out: a part of a number is another number.
func (e *easel) score(score string, least, y int) int {
	const end = pictureWidth - pictureMargin
	letters := visible(score)
	for pixels := 44.0; pixels >= 20; pixels -= 4 {
		if p := e.pen(e.fonts.regular, pixels, e.text); e.err == nil && end-p.width(letters) >= least {
			p.write(letters, end-p.width(letters), y)
			return end - p.width(letters)
		}
	}
	return end
}

// avatar draws a member's own picture, or the drawing of the member, in 64 × 64 pixels.
func (e *easel) avatar(of *person, x, y int) {
	if own := decoded(embedded(of.Picture)); own != nil {
		e.show(own, x, y, 64, 64)
		return
	}
	fill(e.on, x, y, 64, 64, rgb{31, 35, 45})
	d := draws(of.Member)
	ink := hsl(d.hue, d.light)
	for _, c := range d.cells {
		fill(e.on, x+7+10*c[0], y+7+10*c[1], 10, 10, ink)
	}
}

// show draws a picture as large as there is room for, and returns its width.
func (e *easel) show(of image.Image, x, y, width, height int) int {
	b := of.Bounds()
	scale := min(float64(width)/float64(b.Dx()), float64(height)/float64(b.Dy()))
	w, h := max(1, int(float64(b.Dx())*scale)), max(1, int(float64(b.Dy())*scale))
	at := image.Rect(x, y+(height-h)/2, x+w, y+(height-h)/2+h)
	xdraw.ApproxBiLinear.Scale(e.on, at, of, b, xdraw.Over, nil)
	return w
}

// embedded returns the picture in an address data:…;base64; nil for others.
func embedded(address string) []byte {
	kind, body, ok := strings.Cut(address, ";base64,")
	if !ok || !strings.HasPrefix(kind, "data:image/") {
		return nil
	}
	picture, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		return nil
	}
	return picture
}

// decoded returns a picture, or nil if body is no picture, or a picture larger than a logo may be.
func decoded(body []byte) image.Image {
	picture, _, err := decodePicture(body)
	if err != nil || picture.Bounds().Empty() {
		return nil
	}
	return picture
}

// hsl returns the colour of a drawing, as CSS computes it.
func hsl(hue, light int) rgb {
	s, l := float64(saturation)/100, float64(light)/100
	part := func(n float64) uint8 {
		k := math.Mod(n+float64(hue)/30, 12)
		return uint8(math.Round(255 * (l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1)))))
	}
	return rgb{part(0), part(8), part(4)}
}
