package pages

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"strconv"
	"unicode"

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

// picture is what a share picture says.
type picture struct {
	Title, About string
	Rows         []pictureRow // three at most
	Stripe       rgb          // along the edge at the top
	Member, Does string       // a name, and what is said of it: "is 603rd of 5,001"; empty: nothing
}

type pictureRow struct {
	Rank        int64
	Name, Score string
}

// typefaces are fonts of regular and of bold text. The first one that has a letter draws it.
type typefaces struct{ regular, bold []*sfnt.Font }

// loadTypefaces parses the embedded fonts, which have Latin, Greek and Cyrillic letters, and one for other scripts, if there is one.
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

// face returns that of the first font that has a letter, or of the first one, which has a box for letters that it lacks.
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

// fit returns as many letters as there is room for, with an ellipsis when some are left out.
func (p *pen) fit(text string, room int) []rune {
	letters := visible(text)
	if p.width(letters) <= room {
		return letters
	}
	for n := len(letters) - 1; n > 0; n-- {
		if cut := append(letters[:n:n], '…'); p.width(cut) <= room {
			return cut
		}
	}
	return []rune{'…'}
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

// paint draws a picture as PNG.
func (t *typefaces) paint(p *picture) ([]byte, error) {
	ground, panel, text, faint := color.RGBA{16, 18, 24, 255}, color.RGBA{43, 58, 115, 255}, color.RGBA{233, 235, 240, 255}, color.RGBA{155, 163, 180, 255}
	on := image.NewRGBA(image.Rect(0, 0, pictureWidth, pictureHeight))
	fill(on, 0, 0, pictureWidth, pictureHeight, ground)
	fill(on, 0, 0, pictureWidth, 14, p.Stripe)
	var failed error
	with := func(fonts []*sfnt.Font, pixels float64, ink color.Color) *pen {
		made, err := newPen(on, fonts, pixels, ink)
		if err != nil {
			failed = err
		}
		return made
	}
	title, about, row, bold := with(t.bold, 62, text), with(t.regular, 32, faint), with(t.regular, 44, text), with(t.bold, 44, text)
	place := with(t.bold, 38, color.RGBA{32, 26, 0, 255})
	if failed != nil {
		return nil, failed
	}
	const room = pictureWidth - 2*pictureMargin
	title.write(title.fit(p.Title, room), pictureMargin, 120)
	about.write(about.fit(p.About, room), pictureMargin, 172)
	medals := []color.RGBA{{245, 215, 122, 255}, {211, 217, 227, 255}, {233, 189, 149, 255}}
	for i := range p.Rows {
		y := 222 + 92*i
		fill(on, pictureMargin, y, 64, 64, medals[min(i, len(medals)-1)])
		rank := place.fit(strconv.FormatInt(p.Rows[i].Rank, 10), 60)
		place.write(rank, pictureMargin+32-place.width(rank)/2, y+46)
		score := row.fit(p.Rows[i].Score, room/2)
		at := pictureWidth - pictureMargin - row.width(score)
		row.write(score, at, y+48)
		bold.write(bold.fit(p.Rows[i].Name, at-pictureMargin-64-28-24), pictureMargin+64+28, y+48)
	}
	if p.Member != "" {
		fill(on, 0, pictureHeight-110, pictureWidth, 110, panel)
		does := visible(" " + p.Does)
		end := bold.write(bold.fit(p.Member, room-row.width(does)), pictureMargin, pictureHeight-40)
		row.write(does, end, pictureHeight-40)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, on); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return out.Bytes(), nil
}
